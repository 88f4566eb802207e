"""How well the dependent stores of a run hold together, at the output times.

What ties them is a balance g = 0 of the instant, of which only the rate is integrated: where
something jumps unseen they stay what they were.  Each g is off relative to its largest term
|dg/dx| |x|, with x the largest that each state has had, or would have after the jump onto g = 0
by impulses: that counts in the tie's own terms, whatever its units and whatever stores of other
nets hold.  (States count in nothing of their own: one that no tie reaches has rounding in the
jump, and one of a bridge that balances holds nothing else.)

What g is the sum of is rounded.  With P the states' jump for a unit of each g, and r what g
reads, what is left of

    eps (ROUNDINGS + steps) |dg/dx| |P| (|dg/dr| |r|)

is nothing but that: a store between two that balance holds no more, whether in farads or in
picofarads.  So are rates, x' = f(z) of the unknowns z: in a time T rounding of their terms moves
the states by r = eps T |df/dz| |z| at most, which leaves

    |dg/dx| |P| |dg/dx| r

as of a motor that turns into a shut line, whose torques balance at the largest pressure.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.signals.channels import Record

STEPS = 1e3  # allowed, in rtol of the run, between two bounds
CLOSEST, LOOSEST = 1e-8, 1e-4
EPS = float(np.finfo(float).eps)
ROUNDINGS = 16.0


def tied(mechanism: Mechanism, record: Record, steps: int) -> float:
    """The largest that ties are off by after so many `steps`, each of its largest term [1]."""
    plant = Plant(mechanism)
    if plant.dependence is None or not len(record.held):
        return 0.0
    own, off = mechanism.size, 0.0
    drift: Array | None = None
    largest = np.abs(record.states[:, own:]).max(axis=0)
    told = np.abs(record.held)
    told[~np.isfinite(told).all(axis=1)] = 0.0
    for row in np.unique(told.argmax(axis=0)):
        if not told[row].any():
            continue
        y = record.states[row]
        plant.evaluate(record.inside[row], y)
        memory = plant.program.memory
        onto, _ = plant.dependence.consistent(memory, y[own:])
        left = np.abs(memory[plant.dependence.held])
        terms = plant.dependence.ties(memory) * np.maximum(largest, np.abs(onto))
        rounded = EPS * (ROUNDINGS + steps) * plant.dependence.summed(memory)
        if (left > rounded).any():
            drift = _drift(plant, record) if drift is None else drift
            plant.evaluate(record.inside[row], y)
            rounded = rounded + plant.dependence.left_by(memory, drift)
        left = np.where(left > rounded, left, 0.0)
        size = np.abs(terms).max(axis=1)
        apart = np.divide(left, size, out=np.zeros_like(left), where=left > 0.0)
        off = max(off, float(apart.max(initial=0.0)))
    return off


def _drift(plant: Plant, record: Record) -> Array:
    """What rounding of the largest terms of their rates makes of the states in the whole run."""
    assert plant.dependence is not None
    memory, z = plant.program.memory, plant.dependence.z
    largest = np.zeros(record.states.shape[1] - plant.mechanism.size)
    for t, y in zip(record.inside, record.states, strict=True):
        plant.evaluate(t, y)
        largest = np.maximum(largest, plant.dependence.terms(memory, memory[z])[0])
    span: float = record.time[-1] - record.time[0]
    return EPS * span * largest


def untied(off: float, rtol: float) -> tuple[str, ...]:
    """In words that dependent stores are off by more than a run with `rtol` may make them."""
    limit = float(np.clip(STEPS * rtol, CLOSEST, LOOSEST))
    if off <= limit:
        return ()
    return (
        f"its dependent stores are {off:.2g} of what they hold apart from what ties them (limit"
        f" {limit:.1g}): something jumps or bends unseen",
    )
