"""Looks at switching functions inside a step, close enough that no crossing lies between two.

A step is looked at in a few places.  Where all that moves is held, its length follows from
nothing, and a load may swing between two looks.  A function is believed to keep its sign between
them where the cubic through every other look meets the rest, by little beside their distance from
zero, or where they vary by less than that, and where the polynomial through all of them keeps it,
also at its turning points, for it may be beyond zero for less than lies between its own places;
else both halves of the step are looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOOKS = 8  # in a step, or in a part of it
HALVINGS = 7  # of a step at most
ALIKE = 0.1  # of what a function varies by: a cubic that misses by more is none of it
NEAR = 0.25  # of the least distance from zero, by which one may miss
FLAT = 1e-10  # of the largest value seen: a function this small has no sign
HALVES = 40  # of a part of a step, in which what was set going may have come back
SOON = 1e-6  # of a way behind an event: what leaves its sign within it does so at the event,
CLOCK = 1e-12  # of the time, if that is more: nearer to an event no speed has digits
# Chebyshev's places, at which no swing is in step with the looks
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(LOOKS + 1) / LOOKS)


def _weights(nodes: Array, at: Array) -> Array:
    """Of values at the nodes, for the polynomial through them at other places (Lagrange)."""
    through = [np.prod([(at - b) / (a - b) for b in nodes if b != a], axis=0) for a in nodes]
    return np.stack(through, axis=1)


CUBIC = _weights(PLACES[2::2], PLACES[3::2])  # through every other look but the begin
THROUGH_ALL = _weights(PLACES[1:], np.linspace(PLACES[1], 1.0, 4 * LOOKS))


# A function that varies by v and keeps w from zero misses the cubic by v |weights| / 2 at most, and
# the polynomial misses the middle by as much: where v SURE <= w neither is in doubt.
_MISSES = 1.0 + np.abs(CUBIC).sum(axis=1).max(), np.abs(THROUGH_ALL).sum(axis=1).max()
SURE = max(0.5 * _MISSES[0] / NEAR, 0.5 * _MISSES[1], 1.0)


def places(begin: float, end: float) -> Array:
    """LOOKS + 1 times from `begin` to `end`."""
    times = begin + (end - begin) * PLACES
    times[-1] = end
    return times


def closer(
    values: Callable[[Array], Array],
    points: Array,
    looks: Array,
    floor: Array,
    left: int = HALVINGS,
) -> tuple[Array, Array]:
    """Times `points` (k + 1,), begin first, and the functions (k, n) at all but that, so many
    that signs between them are sure; those given are LOOKS + 1 and LOOKS.  floor (n,): what is
    less is rounding."""
    if left == 0 or not is_doubtful(looks, floor):
        return points, looks
    middle = LOOKS // 2
    found = []
    for begin, end in ((points[0], points[middle]), (points[middle], points[-1])):
        part = places(begin, end)
        found.append(closer(values, part, values(part[1:]), floor, left - 1))
    (first, early), (second, late) = found
    return np.concatenate([first, second[1:]]), np.concatenate([early, late])


def is_doubtful(looks: Array, floor: Array) -> bool:
    """Whether LOOKS looks (k, n) do not tell all signs between them, but for what is below the
    floor."""
    nearest, low, high = np.abs(looks).min(axis=0), looks.min(axis=0), looks.max(axis=0)
    varied = high - low
    if (SURE * varied <= nearest).all():  # as of most steps
        return False
    missed = np.abs(CUBIC @ looks[1::2] - looks[2::2]).max(axis=0)
    unlike = (missed > ALIKE * varied) & (varied > nearest)
    doubtful = (unlike | (missed > NEAR * nearest)) & (missed > floor)
    inside = THROUGH_ALL @ looks
    lowest, highest = np.minimum(low, _lowest(inside)), np.maximum(high, -_lowest(-inside))
    kept = ((lowest < 0.0) == (low < 0.0)) & ((highest > 0.0) == (high > 0.0))
    return bool((doubtful | (~kept & (nearest > floor))).any())


def _lowest(values: Array) -> Array:
    """(n,): the lowest of the parabolas through three neighbours of (k, n), at their vertices."""
    left, middle, right = values[:-2], values[1:-1], values[2:]
    slope, bend = 0.5 * (right - left), left - 2.0 * middle + right
    turns = np.abs(slope) < bend  # between the neighbours, upwards
    below = np.divide(0.5 * slope**2, bend, out=np.zeros_like(bend), where=turns)
    lowest: Array = np.minimum(values.min(axis=0), (middle - below).min(axis=0))
    return lowest


def end_of(holds: Callable[[float], bool], before: float, after: float) -> float:
    """The last time between two at which it still holds, as it does before."""
    while before < (middle := 0.5 * (before + after)) < after:
        before, after = (middle, after) if holds(middle) else (before, middle)
    return before


def under_way(value: Callable[[float], float], sign: float, before: float, after: float) -> float:
    """The latest time by halves at which a function, zero at `before`, has its sign, and `before`
    if it never had it."""
    for k in range(1, HALVES):
        t = before + (after - before) * 0.5**k
        if value(t) * sign > 0.0:
            return t
    return before


def goes_on(
    looked: Callable[[Array], Array], first: float, after: float, signs: Array
) -> NDArray[np.bool_]:
    """Whether functions that are zero at an event leave their signs just behind it: what is
    `looked` at between it and a later look grows faster than the root of the time, as no rounding
    does and the cube of a speed that friction ends."""
    parts = np.geomspace(1.0, np.clip(CLOCK * abs(first) / (after - first), SOON, 1.0), 5)
    beyond = -signs * looked(first + (after - first) * parts)
    grows = beyond[1:] < np.sqrt(parts[1:] / parts[:-1])[:, None] * beyond[:-1]
    return np.asarray((beyond > 0.0).all(axis=0) & grows.all(axis=0))
