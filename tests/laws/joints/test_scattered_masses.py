"""Machines whose bodies weigh between 1e-12 kg and 1e9 kg: no force of the heavy ones is rounding
on the light ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from benchmarks.accuracy.mechanisms import compared, scattered, tree
from benchmarks.accuracy.oracle import exact
from tests.tail import tail
from vbg.io.toml import parse

ROBOT = Path(__file__).parents[3] / "examples" / "two-link-robot.toml"


@pytest.mark.parametrize("seed", tail([17, 22, *range(17), *range(23, 60)], 2))
def test_accelerations_and_forces_of_trees(seed):
    verdict = compared(scattered(seed, (-6.0, 6.0)), exact)
    assert verdict.passed, verdict


@pytest.mark.parametrize("seed", tail([11, 20, 45, 50, 53, *range(100, 130)], 1))
def test_they_are_right_or_refused_with_the_reason(seed):
    verdict = compared(scattered(seed), exact)
    assert verdict.passed or "lost in the digits" in verdict.refused, verdict


@pytest.mark.parametrize("mass", [1e6, 1e9, 1e12])
def test_what_arms_of_a_kilogram_hold_does_not_move(mass):
    """Drives of a robot that begin without acceleration."""
    text = ROBOT.read_text(encoding="utf-8").replace("mass = 2.0", f"mass = {mass}")
    start = vbg.start(parse(text, str(ROBOT)))
    rate = start.rate(0.0, start.state)
    at = {s.state.name: rate[s.first : s.last] for s in start.system.slices}
    assert np.abs(at["load.momentum"]).max() < 1e-9 * 9.81 * mass
    light = [at[f"{body}.momentum"] for body in ("upper", "forearm")]
    assert np.abs(light).max() < 1e-8


@pytest.mark.parametrize("seed", tail([3, *range(3), *range(4, 12)], 1))
@pytest.mark.parametrize("part", [1e-16, 1e-19, 1e-22])
def test_a_point_mass_at_the_end_of_a_tree(part, seed):
    """Where its joint leaves it free to spin, what rounding of its forces makes of that is seen,
    and it is refused; where it does not, it counts."""
    rng = np.random.default_rng(seed)
    made = tree(rng, int(rng.integers(1, 4)), ("revolute", "spherical", "universal"))
    bodies = [replace(b, v=0.0 * b.v, w=0.0 * b.w) for b in made.bodies]
    inertia = bodies[-1].inertia / np.linalg.norm(bodies[-1].inertia)
    bodies[-1] = replace(bodies[-1], inertia=part * bodies[-1].mass * inertia)
    verdict = compared(replace(made, bodies=bodies), exact)
    if verdict.refused:
        assert "lost in the digits" in verdict.refused
    else:
        assert max(verdict.error, verdict.of_forces) < 1e-6, verdict
