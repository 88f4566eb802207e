"""Random mechanisms against the project's own dense oracle: `benchmarks.accuracy.mechanisms`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from benchmarks.accuracy.mechanisms import (
    at_state,
    compared,
    corner,
    doubled,
    model_of,
    moving,
    polygon,
    random_mechanism,
    random_rotation,
    windows,
    wrongly_refused,
)
from tests.tail import tail

EACH = 20


@pytest.mark.parametrize("first", tail(range(0, 200, EACH), 2))
def test_accelerations_and_joint_forces_are_those_of_the_oracle(first):
    """Trees, loops in space and in planes, redundant and rigid ones, links down to 1e-8 of their
    mass, postures 1e-4 rad beside a singular one: nothing above max(1e-9, 1e-16 cond^2)."""
    for seed in range(first, first + EACH):
        verdict = compared(random_mechanism(seed))
        if verdict.refused:
            assert not wrongly_refused(verdict), verdict.refused
        else:
            assert verdict.passed, verdict


@pytest.mark.parametrize("first", tail([8, 0, *range(16, 320, 8)], 1))
def test_light_links_beside_a_singular_posture(first):
    """Conditions up to 2e8, whose square one elimination loses: none refused, and errors by the
    first power of it only."""
    for seed in range(first, first + 8):
        verdict = compared(corner(seed), power=1)
        assert verdict.passed, verdict


@pytest.mark.parametrize("first", tail([16, 0, *range(32, 160, 16)], 1))
@pytest.mark.parametrize("what", ["rate", "recorded"])
def test_what_drives_supply_there_is_what_bodies_get(first, what):
    """d/dt of kinetic energy less the power of weights: what reads the efforts of joints reads
    those that accelerations were closed with."""
    for seed in range(first, first + 16, 2):  # those with a drive
        made = corner(seed)
        start = vbg.start(model_of(made))
        found = start.evaluator(what)(0.0, start.state)
        rate = dict(zip(start.system.state_names, found, strict=False))
        got, size = 0.0, 0.0
        for k, b in enumerate(at_state(made, start.system, start.state).bodies):
            force = np.array([rate[f"b{k}.momentum.{i}"] for i in "xyz"]) - b.mass * made.gravity
            torque = [rate[f"b{k}.angular_momentum.{i}"] for i in "xyz"]
            terms = np.concatenate([b.v * force, b.w * torque])
            got, size = got + terms.sum(), size + np.abs(terms).sum()
        assert abs(rate["energy.supplied"] - got) <= 1e-9 * size


@pytest.mark.parametrize("part", [1e-6, 1e-8])
@pytest.mark.parametrize("links", [(0,), (1,), (0, 2)], ids=["crank", "coupler", "both cranks"])
def test_a_parallelogram_with_light_links(links, part):
    """Ordinary masses but for links of 1e-6 kg and less: not singular."""
    rng = np.random.default_rng(3)
    up, base = np.array([0.2, 0.55]), np.array([1.1, 0.0])
    corners = np.array([np.zeros(2), up, up + base, base])
    made = polygon(rng, corners, random_rotation(rng), np.array([0.3, -0.2, 0.5]), ("revolute",))
    bodies = list(made.bodies)
    for k in links:
        b = bodies[k]
        bodies[k] = replace(b, mass=part * b.mass, inertia=part * b.inertia)
    verdict = compared(moving(rng, replace(made, bodies=bodies)))
    assert verdict.passed, verdict


@pytest.mark.parametrize("first", tail([20, 0, *range(30, 100, 5)], 1))
def test_light_bodies_between_others(first):
    """Trees with joints made twice, up to 40 rows too many, most bodies of 1e-8 kg: what these
    would do alone is 1e8 times what they do, and light ones weigh the smallest efforts."""
    for seed in range(first, first + 5):
        verdict = compared(mostly_light(seed))
        assert verdict.passed, verdict


def mostly_light(seed):
    rng = np.random.default_rng(seed)
    made = doubled(rng, int(rng.integers(10, 16)))
    parts = np.where(rng.uniform(size=len(made.bodies)) < 0.7, 1e-8, 1.0)
    bodies = [
        replace(b, mass=part * b.mass, inertia=part * b.inertia)
        for b, part in zip(made.bodies, parts, strict=True)
    ]
    return moving(rng, replace(made, name=f"{made.name} {seed}", bodies=bodies))


@pytest.mark.parametrize("seed", tail([8, *range(8), *range(9, 20)], 1))
def test_what_opens_by_a_force_reads_the_force_that_is_reported(seed):
    """Beside light bodies, too, where one elimination loses six digits of it and more."""
    made = mostly_light(seed)
    k = next(k for k, j in enumerate(made.joints) if made.bodies[j.second].mass > 1e-3)
    start = vbg.start(model_of(made, {k: f"j{k}.force[0] > 1"}))
    force = start.outputs(0.0, start.state)[f"j{k}.force"]
    trigger = start.evaluator("switch")(0.0, start.state)[0]
    assert abs(trigger - (force[0] - 1.0)) < 1e-10 * max(1.0, np.abs(force).max())


@pytest.mark.parametrize("n", [1, 4, 8])
def test_parallelogram_chains_are_not_locked(n):
    rng = np.random.default_rng(n)
    verdict = compared(moving(rng, windows(rng, n)))
    assert verdict.passed, verdict
