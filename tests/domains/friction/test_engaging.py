"""Clutches that begin to engage, frictions under what is sampled at the start: both solvers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import tmm_bridge
from vbg.simulate.events.sticking import alone
from vbg.tmm_bridge.motion.events.endless import remedy_for
from vbg.tmm_bridge.motion.events.sticking import by_few

pytestmark = pytest.mark.filterwarnings("error")
SOLVERS = [vbg.simulate, tmm_bridge.simulate]
J_A, J_B = 1.0, 2.0  # kg m^2


def clutched(load: object) -> vbg.Model:
    """Two shafts at rest, a load on the first, a clutch of t N*m between them."""
    parts = {
        "Ja": {"kind": "inertia", "nodes": ["a"], "J": J_A},
        "Jb": {"kind": "inertia", "nodes": ["b"], "J": J_B},
        "c": {"kind": "clutch", "nodes": ["a", "b"], "capacity": 1.0, "engaged": "t"},
        "T": {"kind": "torque", "nodes": ["a"], "torque": load},
    }
    return vbg.Model(rotational=parts, simulate={"t_end": 0.8, "output_step": 0.1})


@pytest.mark.parametrize("run", SOLVERS)
@pytest.mark.parametrize("rise", [0.0, 0.3, 3.0, -3.0])
def test_a_clutch_engages_from_nothing_under_a_load_that_grows(run, rise):
    """Load rise t, capacity t: it holds where J_b / (J_a + J_b) rise < 1, else it gives t to b."""
    solution = run(clutched(f"{rise}*t"))
    assert solution.status.code == "finished", solution.status
    held = abs(rise) * J_B / (J_A + J_B) < 1.0
    torque = rise * J_B / (J_A + J_B) if held else np.sign(rise)
    square = 0.5 * solution.time**2
    assert_allclose(solution["rotational.a.speed"], (rise - torque) / J_A * square, atol=1e-9)
    assert_allclose(solution["rotational.b.speed"], torque / J_B * square, atol=1e-9)


@pytest.mark.parametrize("run", SOLVERS)
@pytest.mark.parametrize("load", [1e-6, 1e-3, 0.1])
def test_a_clutch_that_slips_for_an_instant_only(run, load):
    """A constant load, capacity t: the speeds differ until 2 load / (1 + J_a / J_b), however soon
    that is, and are one from there on."""
    solution = run(clutched(load))
    assert solution.status.code == "finished", solution.status
    expected = load / (J_A + J_B) * solution.time
    behind = solution.time > 2.0 * load / (1.0 + J_A / J_B)
    for shaft in "ab":
        assert_allclose(solution[f"rotational.{shaft}.speed"][behind], expected[behind], atol=1e-9)


@pytest.mark.parametrize("run", SOLVERS)
@pytest.mark.parametrize("engaged", ["t - 2", "if(t > 2, 1, 0)", "-1"])
@pytest.mark.parametrize("speed", [3.0, -3.0, 2e-3])
def test_an_open_brake_on_what_begins_to_be_pulled_has_no_word(run, engaged, speed):
    """A disc at rest behind a spring whose other end moves: nothing pushes it at t = 0.  Speeds
    J_b w / (J_a + J_b) (1 - cos(omega t)) and the rest of the momentum."""
    k, omega = 50.0, np.sqrt(50.0 * (1.0 / J_A + 1.0 / J_B))
    parts = {
        "Ja": {"kind": "inertia", "nodes": ["a"], "J": J_A},
        "Jb": {"kind": "inertia", "nodes": ["b"], "J": J_B, "speed": speed},
        "s": {"kind": "spring", "nodes": ["a", "b"], "k": k},
        "c": {"kind": "clutch", "nodes": ["a", "frame"], "capacity": 9.0, "engaged": engaged},
    }
    solution = run(vbg.Model(rotational=parts, simulate={"t_end": 1.0, "output_step": 0.1}))
    assert solution.status.code == "finished", solution.status
    assert not [n for n in solution.notes if "no modes were found" in n.what]
    expected = J_B * speed / (J_A + J_B) * (1.0 - np.cos(omega * solution.time))
    assert_allclose(solution["rotational.a.speed"], expected, atol=1e-8 * abs(speed) + 1e-9)


@pytest.mark.parametrize("run", SOLVERS)
def test_the_first_row_is_under_what_is_sampled_there(run):
    """Pushed ahead by a constant and back by a controller that samples at t = 0 for the first
    time: what slips from rest slips back at once."""
    parts = {
        "J": {"kind": "inertia", "nodes": ["a"], "J": 1.0},
        "rubs": {"kind": "friction", "nodes": ["a"], "coulomb": 0.5},
        "T": {"kind": "torque", "nodes": ["a"], "torque": 1.0},
        "u": {"kind": "torque", "nodes": ["a"], "torque": "-command"},
    }
    command = {"kind": "sample_and_hold", "input": "3 - t", "period": 0.1}
    model = vbg.Model(
        rotational=parts,
        signals={"command": command},
        simulate={"t_end": 0.2, "output_step": 0.05},
    )
    assert_allclose(run(model)["rubs.torque"][:2], 0.5, rtol=1e-12)


@pytest.mark.parametrize(("choice", "holds"), [(alone, True), (by_few, False)])
def test_what_can_hold_nothing_takes_no_share(choice, holds):
    """Two brakes and an open clutch on one shaft; beside a brake alone in the second solver, too,
    whose rows that hold share the load."""
    ahead, f = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.3, 0.4])
    modes = choice(np.ones((3, 3)), f, ahead, ahead, np.zeros(3))
    assert (modes[0] == 0) == holds
    assert np.count_nonzero(modes[1:] == 0) == 1
    modes = choice(np.ones((2, 2)), f[:2], ahead[:2], ahead[:2], np.zeros(2))
    assert (modes[0] == 0) == holds and modes[1] == 0
    apart = choice(np.eye(2), f[:2], ahead[:2], ahead[:2], np.zeros(2))
    assert (apart == 0).all()


def test_the_remedy_of_a_freewheel_that_switches_endlessly_is_one():
    """`engaged` = m.speed - l.speed + 1e-6 is taken back by what the clutch makes of it; grown over
    a small slip, as is told, it holds and lets go."""
    engaged = "(m.speed - l.speed)/0.01"
    shafts = {
        "m": {"kind": "inertia", "nodes": ["a"], "J": 0.1},
        "l": {"kind": "inertia", "nodes": ["b"], "J": 0.5},
        "T": {"kind": "torque", "nodes": ["a"], "torque": "5*sin(2*t)"},
        "d": {"kind": "damper", "nodes": ["b"], "c": 0.2},
        "fw": {"kind": "clutch", "nodes": ["a", "b"], "capacity": 1000.0, "engaged": engaged},
    }
    model = vbg.Model(rotational=shafts, simulate={"t_end": 2.0, "output_step": 0.1})
    assert "(a.speed - b.speed)/0.01" in remedy_for(model, "rotational.fw")
    assert tmm_bridge.simulate(model).status.code == "finished"
