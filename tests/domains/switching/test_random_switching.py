"""Networks and slides in which much switches: none switches endlessly, and each holds its laws."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.domains.random_switching import UNITS, circuit, driveline, oil, slides
from tests.tail import tail
from vbg import tmm_bridge

QUANTITIES = {oil: ".pressure", circuit: ".voltage", slides: ".slide"}


@pytest.mark.parametrize("make", (oil, circuit, slides))
@pytest.mark.parametrize("seed", tail(range(24), 1))
def test_both_solvers_agree_on_what_switches(make, seed):
    """Slides for a third of the time: every blow on a stop magnifies what there was."""
    model = vbg.Model(name=f"{make.__name__} {seed}", **make(seed))
    end = model.simulate.t_end * (0.3 if make is slides else 1.0)
    first, second = (
        run(model, rtol=1e-8, t_end=end) for run in (vbg.simulate, tmm_bridge.simulate)
    )
    assert first.status.code == "finished", first.status
    assert second.status.code == "finished", second.status
    names = [n for n in first.signals if n.endswith(QUANTITIES[make]) and n in second.signals]
    peak = max(np.abs(first[name]).max() for name in names)
    for name in names:
        # a row beside an event may be on its other side: most of the rows
        assert np.median(np.abs(first[name] - second[name])) <= 1e-5 * peak + 1e-20, name


def test_diodes_conduct_by_their_laws_from_a_source_that_begins_at_zero():
    """All functions of three diodes are zero there in every mode: what they grow by tells.  i = u /
    Ron where u > 0, Goff u else; Kirchhoff's sum at n1."""
    document = circuit(73)
    parts = document["electric"]
    for start in shaken(vbg.start(vbg.Model(name="circuit 73", **document)), 3):
        found = vbg.simulate(start, rtol=1e-8)
        assert found.status.code == "finished" and not found.audit.failures
        u = {n: found[f"electric.{n}.voltage"] for n in ("n0", "n1", "n3")} | {"gnd": 0.0}
        currents = {"p1": (u["n0"] - u["n1"]) / parts["p1"]["R"]}
        for name in ("p0", "p3", "p4"):
            plus, minus = (u[n] for n in parts[name]["nodes"])
            over = plus - minus
            currents[name] = over * np.where(over > 0, 1 / parts[name]["Ron"], parts[name]["Goff"])
            told, most = found[f"{name}.current"], np.abs(currents[name]).max()
            np.testing.assert_allclose(currents[name], told, atol=1e-8 * most)
        balance = currents["p1"] + currents["p3"] - currents["p4"] - found["p5.current"]
        assert np.abs(balance).max() < 1e-8 * np.abs(currents["p1"]).max()


@pytest.mark.parametrize("seed", tail(range(6, 50), 5))
def test_every_dry_part_of_a_driveline_resists_what_moves(seed):
    """The motion is the only one that keeps these laws.

    Not held: 0, 5 and 55 end, where one of two dry parts on a motion loses or gains its grip."""
    document = driveline(seed)
    start = vbg.start(vbg.Model(name=f"driveline {seed}", **document))
    for one in shaken(start, 2):
        resists(vbg.simulate(one), document["rotational"])


# at rest (19, 55, 59, 74) and with several on one motion that hold, slip and can hold nothing
@pytest.mark.parametrize("seed", tail((5, 19, 74, 89, 96, 101, 55, 59, 110), 5))
def test_in_the_second_solver_no_part_holds_more_than_it_can(seed):
    """An open clutch beside a brake held half of its load, where both had stuck at once; and
    what is held at rest has an energy that is rounding of its torques and accelerations."""
    document = driveline(seed)
    found = tmm_bridge.simulate(vbg.Model(name=f"driveline {seed}", **document))
    resists(found, document["rotational"])


def resists(found, parts):
    """A torque with the sign of the speed it is taken from, of what slips as large as it says, of
    what rests no larger than it can hold; and the audit."""
    assert found.status.code == "finished", found.status
    assert found.audit.energy_residual < 1e-5
    pace = UNITS / found.time[-1]
    for name, part in parts.items():
        if part["kind"] not in ("friction", "clutch"):
            continue
        speed = sum(
            sign * found[f"rotational.{node}.speed"]
            for node, sign in zip((*part["nodes"], "frame"), (1.0, -1.0), strict=False)
            if node != "frame"
        )
        torque = found[f"{name}.torque"]
        slips = np.abs(speed) > 1e-6 * max(np.abs(speed).max(), pace)
        most = sizes(part, found.time, speed, pace)
        assert np.all(np.abs(torque) <= most[0] + 1e-6 * most[0].max()), name
        np.testing.assert_allclose(
            torque[slips],
            (np.sign(speed) * most[1])[slips],
            rtol=1e-6,
            atol=1e-9 * most[0].max(),
            err_msg=name,
        )


def sizes(part, time, speed, pace):
    """What a dry part holds at rest, and what it takes of what slips at its speed [N*m]."""
    if part["kind"] == "clutch":
        unit = UNITS / time[-1]
        engaged = 1.0 if part["engaged"] == "1" else np.maximum(np.sin(time * unit), 0.0)
        both = part["capacity"] * engaged * np.ones(len(time))
        return both, both
    coulomb, static = part["coulomb"], part.get("static", part["coulomb"])
    falls = np.exp(-np.abs(speed) / part.get("stribeck", pace))
    return np.full(len(time), static), coulomb + (static - coulomb) * falls
