"""What rounding leaves of the accelerations of open chains, and when rates are closed once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from benchmarks.machines import chain, windows
from tests.tail import tail
from vbg.assemble.start.constraints.rounding import LossOfLoads
from vbg.simulate.losses import LossWatch

AT_DEFAULT = 1e-10  # two digits below the default tolerance


def of_light_links(part: float, n: int = 6, push: str | None = None) -> vbg.Model:
    """n rods as a chain, every second one `part` of the others' mass; `push` acts on each across
    its hinge, else gravity does."""
    rods = {
        f"rod{k}": {
            "mass": (mass := 1.0 if k % 2 else part),
            "inertia": {"xx": 1e-3 * mass, "yy": mass / 12, "zz": mass / 12},
            "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]},
        }
        for k in range(n)
    }
    names = ["ground", *(f"rod{k}.B" for k in range(n - 1))]
    joints = {
        f"J{k}": {
            "kind": "revolute",
            "between": [end, f"rod{k}.A"],
            "axis": [0, 1, 0],
            "initial": {"angle": 0.3 * k, "speed": 1.0},
        }
        for k, end in enumerate(names)
    }
    across = 0.0 if push else -9.81
    pushed = range(n if push else 0)
    return vbg.Model(
        bodies=rods,
        joints=joints,
        forces={
            f"push{k}": {"kind": "force", "on": f"rod{k}.B", "force": [0.0, push, 0.0]}
            for k in pushed
        },
        gravity=[0.0, across, -9.81],
    )


def momentum_rates(start: vbg.Start) -> np.ndarray:
    rate = start.rate(0.0, start.state)
    slices = start.system.slices
    return np.concatenate([rate[s.first : s.last] for s in slices if "momentum" in s.state.name])


@pytest.mark.parametrize("across", [1.0, 1.0 + 1e-13, 0.3])
def test_the_loss_of_a_long_chain_is_seen_before(across):
    """Its condition is that of a beam, 7e6; pulled across its hinges' axes, which bends it, it
    loses no more than was said, and a run at default tolerance does without the second turn."""
    start = vbg.start(chain(30, 9.81 * across))
    assert start.condition > 1e6 and 1e-13 < start.rounding < AT_DEFAULT
    once, twice = (momentum_rates(replace(start, bearable=b)) for b in (AT_DEFAULT, 0.0))
    assert np.abs(once - twice).max() < start.rounding * np.abs(twice).max()
    assert len(replace(start, bearable=AT_DEFAULT).rate_program.segments) < len(
        start.rate_program.segments
    )


@pytest.mark.parametrize("part", [1e-8, 1e-6])
def test_light_links_of_a_chain_are_closed_once_more(part):
    start = vbg.start(of_light_links(part))
    assert start.rounding > AT_DEFAULT
    assert replace(start, bearable=AT_DEFAULT).rate_program is start.rate_program


def test_loops_are_closed_whatever_a_run_bears():
    """Their condition changes with the posture."""
    start = vbg.start(windows(10, redundant=True, tilt=0.3))
    assert start.rounding == np.inf
    assert replace(start, bearable=AT_DEFAULT).rate_program is start.rate_program


@pytest.mark.parametrize("part", tail([1.0, 0.1], 1))
@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("across", [True, False])
def test_a_look_at_the_loads_finds_what_one_elimination_loses(n, part, across):
    start = vbg.start(of_light_links(part, n, None if across else "0.0"))
    once, twice = (replace(start, rounding=1.0, bearable=b) for b in (1.0, 0.0))
    x, size = start.state, start.system.size
    efforts = once.evaluator("rate")(0.0, x)[size:].copy()
    seen = LossOfLoads(start.system, start.kept, x).at(0.0, x, efforts)
    rates = momentum_rates(once), momentum_rates(twice)
    lost = np.abs(rates[0] - rates[1]).max() / np.abs(rates[1]).max()
    assert 0.1 * seen < lost + 1e-15 and lost < 10.0 * seen + 1e-15


def test_rates_are_closed_once_more_from_where_the_loads_ask_for_it():
    """Rods that swing in their plane, from some time on pushed across it."""
    start = vbg.start(of_light_links(1.0, 40, "if(t > 0.02, 20.0, 0.0)"))
    rtol = 2.0 * start.rounding
    watch = LossWatch(start, rtol)
    assert not watch.is_large(0.0, start.state)
    assert watch.start.rate_program is not start.rate_program
    watch.look_soon()
    assert watch.is_large(0.04, start.state)
    assert watch.start.rate_program is start.rate_program
    looked, closed = (
        vbg.simulate(replace(start, rounding=r), t_end=0.04, output_step=1e-3, rtol=rtol)
        for r in (start.rounding, 1.0)
    )
    assert looked.status.code == closed.status.code == "finished"
    assert abs(looked.made_by.n_steps - closed.made_by.n_steps) < 5
    for k in range(40):
        torque = closed[f"J{k}.torque"]
        bound = 10.0 * rtol * np.abs(torque).max()
        np.testing.assert_allclose(looked[f"J{k}.torque"], torque, rtol=0.0, atol=bound)
