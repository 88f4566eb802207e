"""What rounding leaves of the accelerations of open chains, and when rates are closed once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from benchmarks.machines import chain, windows

AT_DEFAULT = 1e-10  # two digits below the default tolerance


def of_light_links(part: float) -> vbg.Model:
    """Six rods as a chain, every second one `part` of the others' mass."""
    rods = {
        f"rod{k}": {
            "mass": (mass := 1.0 if k % 2 else part),
            "inertia": {"xx": 1e-3 * mass, "yy": mass / 12, "zz": mass / 12},
            "points": {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]},
        }
        for k in range(6)
    }
    names = ["ground", *(f"rod{k}.B" for k in range(5))]
    joints = {
        f"J{k}": {
            "kind": "revolute",
            "between": [end, f"rod{k}.A"],
            "axis": [0, 1, 0],
            "initial": {"angle": 0.3 * k, "speed": 1.0},
        }
        for k, end in enumerate(names)
    }
    return vbg.Model(bodies=rods, joints=joints, gravity=[0, -9.81, -9.81])


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
