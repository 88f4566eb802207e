"""Across a singular posture by extrapolation of the motion, which is smooth there.

Beside such a posture constraints hold too weakly: rounding grows with powers of the condition
of their matrix, in states as in rates.  The Hermite polynomial through states and rates of the
steps before leads to where the posture is as regular again as it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.errors import Problem
from vbg.simulate.steppers.beginning import TOO_SMALL

Array = NDArray[np.float64]
Step = tuple[float, Array, Array]

REMEMBERED = 40  # steps; some of them carry the motion across
LONGEST = 13  # the last steps that say how far across
SHORTEST = 3  # steps needed for that
NODES = 6  # of the polynomial
SMALL = 0.1  # part of a step at which the length of a leap is begun to be looked for
SPREAD = 0.5  # least distance of two nodes, in lengths of the leap
NAMED = 5  # singular postures that a note names
STAYS = "The posture stays singular: the mechanism has lost a constraint."


class History:
    """Time, state and rate of the last steps since the motion last had a kink."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque(maxlen=REMEMBERED)

    def add(self, t: float, x: Array, rate: Array) -> None:
        self._steps.append((t, x.copy(), rate.copy()))

    def clear(self) -> None:
        self._steps.clear()

    @property
    def last(self) -> tuple[float, Array]:
        """Time and state where the leap begins."""
        t, x, _ = self._steps[-1]
        return t, x

    def length(self, condition: Callable[[float, Array], float], step: float) -> float | str:
        """Of the leap: from a small part of the next `step` or the last one on lengthened until
        the posture is as regular beyond as it was before; a sentence if it does not get so."""
        if len(self._steps) < SHORTEST:
            return TOO_SMALL
        steps = list(self._steps)
        last, state, _ = steps[-1]
        polynomial = _hermite(_nodes(steps[-1 : -LONGEST - 1 : -2][::-1], 0.0))
        before, span = condition(last, state), last - steps[0][0]
        length = SMALL * min(step, last - steps[-2][0])
        while True:
            length *= 1.5
            if length > span:
                return STAYS
            if condition(last + length, polynomial(length)) < before:
                return length

    def across(self, length: float) -> Callable[[float], Array]:
        """The states at a time since the beginning of a leap of this length."""
        polynomial: Callable[[float], Array] = _hermite(_nodes(list(self._steps), SPREAD * length))
        return polynomial

    def doubt(self, length: float) -> Array:
        """What the extrapolation may miss by: with one node less it ends so far away."""
        nodes = _nodes(list(self._steps), SPREAD * length)
        return np.asarray(_hermite(nodes)(length) - _hermite(nodes[:-1] or nodes)(length))


def _nodes(steps: Sequence[Step], apart: float) -> list[Step]:
    """The last steps, the latest first, at least `apart` from each other: what rounding leaves
    in nodes much closer than the leap would grow with its powers."""
    nodes = [steps[-1]]
    for node in reversed(steps[:-1]):
        if nodes[-1][0] - node[0] >= apart and len(nodes) < NODES:
            nodes.append(node)
    return nodes


def _hermite(nodes: Sequence[Step]) -> Callable[[float], Array]:
    """Through states and rates, in the time from the first node on; what is constant stays so
    to the last digit, a mode 0 or 1."""
    from scipy.interpolate import KroghInterpolator

    begin, first, _ = nodes[0]
    values = np.stack([v for _, state, rate in nodes for v in (state - first, rate)])
    moved = KroghInterpolator(np.repeat([t for t, _, _ in nodes], 2) - begin, values)
    return lambda t: first + moved(t)


def notes_of(crossed: list[tuple[float, float]], remedy: str = "") -> tuple[Problem, ...]:
    """The singular postures that a run has passed, from when to when."""
    if not crossed:
        return ()
    spans = [f"{before:.6g} ... {after:.6g} s" for before, after in crossed[:NAMED]]
    more = len(crossed) - len(spans)
    return (
        Problem(
            "note",
            "simulate",
            "the mechanism passes a singular posture, where joints lose their grip: at t = "
            f"{', '.join(spans)}{f' and {more} times more' if more else ''}.",
            "The motion is carried across by extrapolation, onto the branch that is smooth. "
            "Forces may be without bounds there, and energy.residual shows what the passage "
            f"cost{remedy}.",
        ),
    )
