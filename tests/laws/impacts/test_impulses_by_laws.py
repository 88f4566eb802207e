"""A source that reads the force of one whose speed jumps: its impulse is that of a ramp that gets
steeper and steeper, or the run ends and says why."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.tmm_bridge import simulate as second

AT = 0.53


def carts(law, speed, rng):
    """A source moves one mass, another source pushes a second one by a law of the first's force."""
    masses = np.exp(rng.uniform(-1.0, 1.0, 2))
    parts = {
        "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": speed},
        "A": {"kind": "mass", "nodes": ["a"], "m": float(masses[0])},
        "B": {"kind": "mass", "nodes": ["b"], "m": float(masses[1]), "speed": 0.7},
        "P": {"kind": "force", "nodes": ["frame", "b"], "force": law},
    }
    settings = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-11}
    model = vbg.Model(translational=parts, simulate=settings, outputs={"energy": True})
    return model, masses


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_law_shares_the_impulse(seed):
    """m_b dv_b = c m_a dv_a; either source supplies its impulse times the mean of its speeds."""
    rng = np.random.default_rng(seed)
    low, high, c = rng.uniform(-1.0, 1.0, 3).tolist()
    model, (a, b) = carts(f"{c!r}*S.force", f"if(t > {AT}, {high!r}, {low!r})", rng)
    for start in shaken(vbg.start(vbg.assemble(model))):
        run = vbg.simulate(start)
        assert run.status.code == "finished" and not run.audit.failures
        push = c * a * (high - low)
        step = run["B.speed"][-1] - run["B.speed"][0]
        assert_allclose(step, push / b, rtol=1e-9)
        work = push * (run["B.speed"][0] + 0.5 * step)
        rise = 0.5 * a * (high**2 - low**2)
        gained = run["energy.supplied"][-1] - run["energy.supplied"][0]
        assert_allclose(gained, work + rise, rtol=1e-8, atol=1e-10)


LAWS = (
    "0.4*S.force + 0.1*sin(5*t)",
    "0.4*abs(S.force)",
    "min(max(0.4*S.force, -2), 2)",
    "3*atan(S.force)",
    "0.1*sqrt(abs(S.force))",
    "max(0.4*S.force, -1)",
    "0.01*S.force^2",
    "0.4*S.force*B.speed",
    "0.2*S.force + 0.1*abs(S.force)",
)


@pytest.mark.parametrize("law", tail(LAWS, 7))
def test_no_law_is_wrong_without_a_word(law):
    """Against a ramp of 1e-7 s, whose bounded efforts do next to nothing."""

    def ended(speed):
        return vbg.simulate(carts(law, speed, np.random.default_rng(4))[0])

    found = ended(f"if(t > {AT}, 1.0, 0.2)")
    steep = ended(f"0.2 + 0.8*min(max((t - {AT})/1e-7, 0), 1)")
    assert steep.status.code == "finished" and not steep.audit.failures
    alike = found["B.speed"][-1] == pytest.approx(steep["B.speed"][-1], abs=1e-4)
    told = found.status.code == "failed" and "law of forces" in found.status.sentence
    assert told != alike or found.audit.failures


def test_bounded_laws_run_through():
    for law in LAWS[2:5]:
        model, _ = carts(law, f"if(t > {AT}, 1.0, 0.2)", np.random.default_rng(5))
        run = vbg.simulate(model)
        assert run.status.code == "finished" and not run.audit.failures


@pytest.mark.parametrize("seed", range(2))
def test_signals_that_read_the_force_take_its_impulse(seed):
    """An integral of |F| steps by |m dv|, a filter of T x' = F - x by m dv / T."""
    rng = np.random.default_rng(seed)
    m, low, high, T = float(rng.uniform(0.5, 2.0)), 0.2, float(rng.uniform(-1.0, 1.0)), 0.3
    block = {"kind": "transfer_function", "numerator": [1.0]}
    model = vbg.Model(
        translational={
            "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": f"if(t>{AT}, {high}, {low})"},
            "A": {"kind": "mass", "nodes": ["a"], "m": m},
        },
        signals={
            "sum": {**block, "input": "abs(S.force)", "denominator": [1.0, 0.0]},
            "lag": {**block, "input": "S.force", "denominator": [T, 1.0]},
        },
        simulate={"t_end": 1.0, "output_step": 0.1, "rtol": 1e-10, "atol": 1e-12},
    )
    for start in shaken(vbg.start(vbg.assemble(model))):
        run = vbg.simulate(start)
        behind = run.time > AT
        impulse = m * (high - low)
        assert_allclose(run["sum"], np.where(behind, abs(impulse), 0.0), rtol=0, atol=1e-9)
        decay = np.where(behind, np.exp(-(run.time - AT) / T), 0.0)
        assert_allclose(run["lag"], impulse / T * decay, rtol=0, atol=1e-7)


BEHIND = {
    "damper": {"kind": "damper", "nodes": ["b", "frame"], "c": 2.0},
    "speed": {"kind": "speed", "nodes": ["frame", "b"], "speed": "0.4"},
}
NAMED = {"damper": "translational.b.position", "speed": "translational.P"}


@pytest.mark.parametrize("kind", BEHIND)
@pytest.mark.parametrize("high", [0.9, 1.7])
def test_work_beyond_all_numbers_ends_the_run(kind, high):
    """exp of an impulse on a node that holds no momentum: what pushes there does work without an
    end; exp(-F^2) does none at all."""
    rng = np.random.default_rng(3)
    for law, code in (("exp(S.force)", "failed"), ("exp(-S.force^2)", "finished")):
        document = carts(law, f"if(t > {AT}, {high!r}, 0.2)", rng)[0].document
        parts = {**document["translational"], "B": BEHIND[kind]}
        for start in shaken(
            vbg.start(vbg.assemble(vbg.Model(**document | {"translational": parts})))
        ):
            run = vbg.simulate(start)
            assert run.status.code == code, run.status
            if code == "failed":
                assert f"{NAMED[kind]} by a law of forces" in run.status.sentence


def test_the_second_solver_has_no_twin_of_an_impulse_that_is_read():
    """It ends where the speed jumps; a ramp, whose force is no impulse, runs through."""
    for law in LAWS[:2]:
        jump = carts(law, f"if(t > {AT}, 1.0, 0.2)", np.random.default_rng(6))[0]
        found = second(jump)
        assert found.status.code == "failed" and "its effort is read" in found.status.sentence
        assert "rise over a short time" in found.status.remedy
        assert found.time[-1] <= AT
        ramp = f"0.2 + 0.8*min(max((t - {AT})/1e-3, 0), 1)"
        model = carts(law, ramp, np.random.default_rng(6))[0]
        runs = [solve(model)["B.speed"] for solve in (vbg.simulate, second)]
        assert_allclose(*runs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("spring", [True, False])
@pytest.mark.parametrize("law", ["0.3*S.force", "abs(S.force)", "S.force^2", "exp(S.force)"])
def test_no_impulse_on_a_damper_alone_is_lost(law, spring):
    """It would move the node at once, by infinite power; what is bounded does not."""
    c, k = 2.0, 3.0
    for force in (law, f"min(max({law}, -2), 2)"):
        parts = {
            "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": f"if(t > {AT}, 0.9, 0.2)"},
            "A": {"kind": "mass", "nodes": ["a"], "m": 1.3},
            "P": {"kind": "force", "nodes": ["frame", "b"], "force": force},
            "D": {"kind": "damper", "nodes": ["b", "frame"], "c": c},
        }
        if spring:
            parts["K"] = {"kind": "spring", "nodes": ["b", "frame"], "k": k}
        run = vbg.simulate(vbg.Model(translational=parts), t_end=1.0, output_step=0.1)
        if force == law:
            assert run.status.code == "failed" and "through dampers" in run.status.sentence
        else:
            assert run.status.code == "finished" and not run.audit.failures
