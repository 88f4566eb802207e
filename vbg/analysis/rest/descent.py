"""The ways to rest: down the stored energy, and with the machine's own motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.rest.manifold import Manifold
from vbg.analysis.rest.resting import without_friction
from vbg.assemble.program.evaluator import Evaluator

Array = NDArray[np.float64]
Slopes = Callable[[Array], tuple[Array, Array, Array, Array]]  # x -> x, basis, slopes, rates

DESCENTS = 200
RELAXATIONS = 80  # steps of implicit Euler towards rest, the first one `FIRST` of the shortest
FIRST, GROWTH = 0.1, 1.6  # time of the machine, each the `GROWTH` of the one before


def settled(manifold: Manifold, t: float, x: Array) -> Array:
    """Steepest descent of the stored energy from rest, in the mass metric: the
    acceleration from rest is the direction, so that a saddle is left and a minimum
    is found.  Ends near it; Newton does the rest."""
    start, momenta = manifold.probe.start, manifold.momenta
    rate = start.evaluator("rate")
    energy = Evaluator(start.system.programs.energy)
    x = manifold.at_rest(t, x)
    if momenta.size == 0 or manifold.postures.size == 0:
        return x
    moving = np.union1d(manifold.postures, manifold.followers)
    stored, length = float(energy(t, x)[0]), 1e-2
    for _ in range(DESCENTS):
        pushed = x.copy()
        same = without_friction(start, t, x)
        pushed[momenta] = np.mean([rate(t, one)[momenta] for one in same], axis=0)
        direction = np.zeros(len(x))
        direction[moving] = rate(t, pushed)[moving]
        if float(np.abs(direction).max()) * length < 1e-10:
            break
        trial = x + min(length, manifold.longest(direction)) * direction
        trial = without_friction(start, t, manifold.at_rest(t, trial))[0]
        following = float(energy(t, trial)[0])
        if following < stored:
            x, stored, length = trial, following, 1.6 * length
        else:
            length *= 0.3
    return x


def relaxed(manifold: Manifold, t: float, x: Array, slopes: Slopes) -> Array:
    """Where growing steps of implicit Euler lead (pseudo-transient continuation: C. Kelley,
    D. Keyes, SIAM J. Numer. Anal. 35, 1998, 508-523): the machine's own way to rest, which
    meets the valves that open and the stops that are touched on it.  A machine that runs away
    is followed no further."""
    h = 0.0
    for _ in range(RELAXATIONS):
        x, basis, A, rates = slopes(x)
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(rates))) or manifold.is_away(x):
            break
        h = GROWTH * h if h else FIRST / max(float(np.abs(A).max(initial=0.0)), 1.0)
        dz = np.linalg.lstsq(np.eye(len(A)) / h - A, rates, rcond=None)[0]
        x, _ = manifold.moved(t, x, basis @ dz)
    return x
