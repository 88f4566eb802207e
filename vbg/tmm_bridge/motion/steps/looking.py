"""Where something changes its sign inside a step.

Indicators are looked at in some places of the step.  Between these they follow the polynomial
through all of them, as far as the polynomial through every other one tells the rest; where it
does not, and zero is not farther away than they vary, the halves of the step are looked at.  So a
load that swings while all is stuck, and no rate shortens the step, does not pass unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array

LOOKS, FINE = 8, 32  # intervals of a step between looks, and at which the polynomial is seen
HALVINGS = 7  # of a step at most
ALIKE = 0.1  # of what an indicator varies by: a polynomial that misses by more is none of it
NEAR = 0.25  # of the least distance from zero, by which one may miss
FLAT = 1e-9  # of the largest value so far: what changes by less is rounding

Values = Callable[[float], Array]


def _through(nodes: Array, at: Array) -> Array:
    """Weights (places, nodes) of the polynomial through values at the nodes (Lagrange)."""
    weights = np.ones((len(at), len(nodes)))
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        weights[:, i] = np.prod((at[:, None] - others) / (node - others), axis=1)
    return weights


# Chebyshev's, of which a swing in step with the looks has none
_PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(LOOKS + 1) / LOOKS)
_SKIPPED = _through(_PLACES[::2], _PLACES[1::2])
_BETWEEN = np.linspace(0.0, 1.0, FINE + 1)
_ALL = _through(_PLACES, _BETWEEN)


@dataclass
class Looks:
    """Looks at the indicators of one run; `largest` is the largest of each so far."""

    largest: Array = field(default_factory=lambda: np.zeros(1))

    def first_change(self, value: Values, span: tuple[float, float], signs: Array) -> Change:
        """The first change of sign inside `span`; indicators whose sign is 0 have none."""
        found = self._bracket(value, span, value(span[0]), signs, HALVINGS)
        if found is None:
            return span[1], -1
        early, late, which = found
        while early < (middle := 0.5 * (early + late)) < late:
            crossed = _crossed(value(middle), signs)
            if len(crossed):
                late, which = middle, crossed
            else:
                early = middle
        return late, int(which[0])

    def _bracket(
        self, value: Values, span: tuple[float, float], first: Array, signs: Array, deeper: int
    ) -> tuple[float, float, Array] | None:
        """Times between which the first change lies, and what has changed at the second."""
        begin, end = span
        times = begin + (end - begin) * _PLACES
        times[-1] = end
        looks = np.array([first, *(value(float(t)) for t in times[1:])])
        if deeper and self._doubtful(looks, signs):
            middle = float(times[LOOKS // 2])
            halves = ((begin, middle), first), ((middle, end), looks[LOOKS // 2])
            for half, there in halves:
                found = self._bracket(value, half, there, signs, deeper - 1)
                if found is not None:
                    return found
            return None
        seen = [(float(t), look) for t, look in zip(times, looks, strict=True)]
        seen += [(t, value(t)) for t in _likely(begin, end, looks, signs)]
        seen.sort(key=lambda one: one[0])
        for (before, _), (after, look) in pairwise(seen):
            if len(which := _crossed(look, signs)):
                return before, after, which
        return None

    def _doubtful(self, looks: Array, signs: Array) -> bool:
        """Whether the looks do not tell the signs between them."""
        sizes = np.abs(looks)
        self.largest = np.maximum(self.largest, sizes.max(axis=0))
        nearest, varied = sizes[1:].min(axis=0), np.ptp(looks, axis=0)
        missed = np.abs(_SKIPPED @ looks[::2] - looks[1::2]).max(axis=0)
        unlike = (missed > ALIKE * varied) & (varied > nearest)
        doubtful = (unlike | (missed > NEAR * nearest)) & (missed > FLAT * self.largest)
        return bool((doubtful & (signs != 0.0)).any())


Change = tuple[float, int]  # just behind the change, and which has changed; -1: none


def _crossed(values: Array, signs: Array) -> Array:
    now = np.sign(values)
    return np.flatnonzero((now != signs) & (now != 0.0) & (signs != 0.0))


def _likely(begin: float, end: float, looks: Array, signs: Array) -> list[float]:
    """Times between the looks at which one has another sign by the polynomial through them all,
    where the looks beside it have not.  The first is behind the begin, whose signs are the given
    ones whatever rounding makes of a value that is none: nothing changes there again."""
    if len(_crossed(looks[-1], signs)):
        return []
    ahead = _ALL[1:] @ (signs * looks)
    lowest = np.argmin(ahead, axis=0)
    below = ahead[lowest, np.arange(len(signs))] < 0.0
    return [float(begin + (end - begin) * _BETWEEN[1 + i]) for i in np.unique(lowest[below])]
