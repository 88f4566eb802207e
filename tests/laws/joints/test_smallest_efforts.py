"""The smallest efforts of machines with many dependent rows, against a dense least-squares one:
loaded in directions that these rows hold, with light bodies or thin rods, whose rows weigh very
differently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vbg
from benchmarks.accuracy.mechanisms import doubled, model_of, unit
from benchmarks.machines import scissor_lift, windows
from tests.tail import tail
from vbg.assemble.start.constraints.choice import RowChoice

GRAVITY = 9.81
RANK = 1e-9  # singular values below this part of the largest are zero


def light(seed):
    """A tree with every second joint made twice, some of its bodies of 1e-8 kg."""
    rng = np.random.default_rng(seed)
    made = doubled(rng, 15)
    bodies = [
        replace(b, mass=1e-8 * b.mass, inertia=1e-8 * b.inertia) if rng.uniform() < 0.35 else b
        for b in made.bodies
    ]
    return model_of(replace(made, bodies=bodies))


def across(model, seed):
    """With gravity in any direction."""
    return model.edited("gravity", [*(GRAVITY * unit(np.random.default_rng(seed)))])


def dense(start, efforts):
    """The smallest efforts that do what these do: W^-1/2 (G^T W^-1/2)^+ G^T U."""
    choice = RowChoice(start.system)
    rows = choice.unscaled_at(0.0, start.state)
    widths = {z: block.shape[1] for row in rows for z, block in row.items()}
    first = dict(zip(widths, np.cumsum([0, *widths.values()]), strict=False))
    G = np.zeros((len(efforts), sum(widths.values())))
    at = 0
    for row in rows:
        size = len(next(iter(row.values())))
        for z, block in row.items():
            G[at : at + size, first[z] : first[z] + widths[z]] = block
        at += size
    root = np.sqrt(weights(start))
    seen = G / root[:, None]
    height = np.linalg.norm(seen, axis=0)
    return np.linalg.lstsq((seen / height).T, G.T @ efforts / height, rcond=RANK)[0] / root


def weights(start):
    """Diagonal of the constraint matrix, its mean for the components of one force or torque."""
    evaluate = start.evaluator("recorded")
    evaluate(0.0, start.state)
    plan, rows = evaluate.program.schedules[0], len(start.system.constraint_names)
    found = evaluate.work[plan.scratch : plan.scratch + rows].real.copy()
    for at, size in plan.vectors:
        found[at : at + size] = found[at : at + size].mean()
    return found


def required(model):
    """The smallest efforts do what others do, and none that do are shorter."""
    start = vbg.start(model)
    size, root = start.system.size, np.sqrt(weights(start))
    some = start.evaluator("rate")(0.0, start.state)[size:].copy()
    found = start.constraint_efforts(0.0, start.state)
    choice = RowChoice(start.system)
    does, do = (choice.forces_at(0.0, start.state, each) for each in (found, some))
    assert np.abs(does - do).max() < 1e-9 * np.abs(do).max()
    shortest = np.linalg.norm(dense(start, some) * root)
    assert np.linalg.norm(found * root) == pytest.approx(shortest, rel=1e-7)


@pytest.mark.parametrize("seed", tail(range(2, 22), 1))
def test_light_bodies(seed):
    required(light(seed))


@pytest.mark.parametrize("seed", tail(range(3), 0))
@pytest.mark.parametrize("made", [scissor_lift, windows], ids=["lift", "windows"])
def test_thin_rods_loaded_across_their_plane(made, seed):
    """Conjugate gradients alone told 1e41 N of a lift of 160 stages, for 8e4 N."""
    n = (12, 40, 80)[seed]
    required(across(made(n) if made is scissor_lift else made(n, redundant=True), seed))
