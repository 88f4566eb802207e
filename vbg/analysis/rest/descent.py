"""The ways to rest: down the stored energy, and with the machine's own motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.pace import pace
from vbg.analysis.rest.manifold import Manifold, Places
from vbg.analysis.rest.resting import without_friction
from vbg.assemble.program.evaluator import Evaluator
from vbg.errors import UsageError

Array = NDArray[np.float64]
Local = tuple[Array, Array, Array, Array]  # x, basis, slopes, rates
Slopes = Callable[[Array], Local]  # of x

DESCENTS = 200
LONGER, SHORTER = 2.0, 0.3  # times h: the next where a step led down, and where it did not
UPRIGHT = 0.5  # of the time in which a posture falls over: no step takes longer
LONGEST = 1e6  # times of the machine, of a step: no inertia counts beside it
LEAST = 1e-10  # of any component of a posture: a smaller step leads nowhere
SHORT = 1e-6  # the same: what V changes by may be rounding, so that a longer step is tried first
FILLED = 1e-6  # of a deviation: if less than this part of it moves, none does
RELAXATIONS = 80  # steps of implicit Euler towards rest
FIRST, GROWTH = 0.1, 1.6  # the first step of the shortest time of the machine, the next of the last


def settled(manifold: Manifold, t: float, x: Array, slopes: Slopes) -> Array:
    """Down the stored energy V from rest, in the mass metric: implicit steps of time h that
    begin at rest,

        (M / h^2 + C / h + K) dq = F,   M, C, K, F: inertia, damping, stiffness, forces at q,

    which is (1 / h - A) dz = rates with the machine's slopes A and momenta of zero.  A short step
    goes along the acceleration from rest, a long one is Newton's, and what is stiff follows what
    is soft: explicit steps are as short as the stiffest part asks for.  Taken is what lowers V
    (K. Levenberg, Quart. Appl. Math. 2, 1944, 164-168), in less than the time in which the
    posture falls over, where M / h^2 + K is positive: a saddle is left, a minimum is found.
    `slopes`: with rates of zero for postures.
    """
    x = manifold.at_rest(t, x)
    if manifold.momenta.size == 0 or manifold.postures.size == 0:
        return x
    energy = Evaluator(manifold.probe.start.system.programs.energy)

    def stored(at: Array) -> float:
        return float(energy(t, at)[0])

    here = slopes(x)
    h = FIRST / np.sqrt(max(_largest(here[2]), pace(manifold.probe.system) ** 2))
    for _ in range(DESCENTS):
        lower = _lower(manifold, t, here, h, stored, slopes)
        if lower is None:
            break
        here, h = lower
    return here[0]


def _lower(
    manifold: Manifold,
    t: float,
    here: Local,
    h: float,
    stored: Callable[[Array], float],
    slopes: Slopes,
) -> tuple[Local, float] | None:
    """Where the longest of ever shorter steps that leads down ends, and the time for the next;
    None where there is no way down."""
    x, basis, A, rates = here
    if not _is_finite(here) or manifold.is_away(x):
        return None
    before = stored(x)
    moving = manifold.moving
    swings = _swinging(basis, np.union1d(moving, manifold.momenta))
    basis, A, rates = basis[:, swings], A[np.ix_(swings, swings)], rates[swings]
    falling = float(np.linalg.eigvals(A).real.max(initial=0.0))
    longest = LONGEST / pace(manifold.probe.system)
    longest = min(longest, UPRIGHT / falling) if falling > 0.0 else longest
    h, is_shorter = min(h, longest), False
    while True:
        dx = np.zeros(len(x))
        dx[moving] = (basis @ _implicit(A, rates, h))[moving]
        way = _largest(dx)
        if way < SHORT and h < longest and not is_shorter:
            h = min(LONGER * h, longest)
            continue
        if not way >= LEAST:
            return None
        part = min(1.0, manifold.longest(dx))
        trial = manifold.at_rest(t, x + part * dx)
        is_closed = manifold.is_closed
        trial = without_friction(manifold.probe.start, t, trial)[0]
        if is_closed and stored(trial) < before:
            try:
                return slopes(trial), LONGER * h if part == 1.0 else h
            except UsageError:
                pass  # a law divides by zero there
        h, is_shorter = SHORTER * h, True


def _swinging(basis: Array, moving: Places) -> Places:
    """Deviations in which bodies move or turn; in the others nothing but stores fill (rotors
    behind springs, oil, coils): these keep what they hold."""
    height = np.abs(basis).max(axis=1, initial=0.0)  # momenta of rotors are small beside bodies'
    whole = basis / np.where(height > 0.0, height, 1.0)[:, None]
    part = np.linalg.norm(whole[moving], axis=0) / np.linalg.norm(whole, axis=0)
    return np.flatnonzero(part > FILLED)


def relaxed(manifold: Manifold, t: float, x: Array, slopes: Slopes) -> Array:
    """Where growing steps of implicit Euler lead (pseudo-transient continuation: C. Kelley,
    D. Keyes, SIAM J. Numer. Anal. 35, 1998, 508-523): the machine's own way to rest, which
    meets the valves that open and the stops that are touched on it.  No step takes longer than the
    posture takes to fall over: a longer one is Newton's, which leads back to where it falls from.
    A machine that runs away is followed no further."""
    h = 0.0
    for _ in range(RELAXATIONS):
        here = slopes(x)
        x, basis, A, rates = here
        if not _is_finite(here) or manifold.is_away(x):
            break
        poles = np.linalg.eigvals(A)  # the entries of A have the units of what they connect
        falling = float(poles.real.max(initial=0.0))
        h = GROWTH * h if h else FIRST / (_largest(poles) or 1.0)
        h = min(h, UPRIGHT / falling) if falling > 0.0 else h
        x, _ = manifold.moved(t, x, basis @ _implicit(A, rates, h))
    return x


def _implicit(A: Array, rates: Array, h: float) -> Array:
    """dz = h (rates + A dz), each row and each deviation over its largest term: stiff ones hide no
    soft one, nor heavy ones light ones."""
    whole = np.eye(len(A)) / h - A
    height = np.abs(whole).max(axis=1, initial=0.0)
    whole = whole / height[:, None]
    width = np.abs(whole).max(axis=0, initial=0.0)
    dz = np.linalg.lstsq(whole / width, rates / height, rcond=None)[0] / width
    return np.asarray(dz)


def _is_finite(here: Local) -> bool:
    return bool(np.all(np.isfinite(here[2])) and np.all(np.isfinite(here[3])))


def _largest(values: NDArray[Any]) -> float:
    return float(np.abs(values).max(initial=0.0))
