"""One step of Dormand and Prince's method in compiled code, and the states inside it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import (
    NO_PIVOTS,
    Attempt,
    Tableau,
    attempt,
    inside,
    interpreter,
    terms,
)
from vbg.assemble.start.constraints.conditioning import pivot_places
from vbg.plumbing.dormand_prince import DENSE, END, ERROR_3, ERROR_5, NODES, STAGES, TABLEAU

Array = NDArray[np.float64]

COEFFICIENTS = Tableau(TABLEAU, NODES, ERROR_5, ERROR_3, DENSE)


class Compiled:
    """Steps whose rates are the first outputs of a program.

    A step leads from the state `x` with the rate K[0] to `end`; `atol`, `rtol` (n,) and `K` (16, n)
    are read and written in place, `staged` counts the rates.
    """

    def __init__(self, rate: Evaluator, n: int, *, watched: bool = True):
        """`watched`: whether it looks at the condition, which is 1 else."""
        self.x, self.end, self.atol, self.rtol = np.zeros((4, n))
        self.K, self.F = np.zeros((STAGES, n)), np.zeros((7, n))
        self.staged = 0
        self._found = np.zeros(2)
        arrays = self.K, self.x, self.end, self.F, self.atol, self.rtol, self._found
        pivots = pivot_places(rate) if watched else NO_PIVOTS
        self._plan = Attempt(rate.reader, COEFFICIENTS, pivots, *arrays)
        self._rate, self._address = rate, interpreter()

    def unwatched(self) -> Compiled:
        """Another one, for steps inside of a step."""
        return Compiled(self._rate, len(self.x), watched=False)

    def attempt(self, t: float, h: float) -> tuple[float, float]:
        """A step of h from t: its error over the tolerance, and the condition of the constraint
        matrix at its end."""
        self.staged += END
        attempt(self._address, self._plan, t, h)
        return float(self._found[0]), float(self._found[1])

    def polynomial(self, t: float, h: float) -> Polynomial | None:
        """The states inside the step just made; None where they leave the motion (`terms`): in a
        stiff model the three additional stages, which no error estimate sees, may be anything
        while the step is right."""
        self.staged += STAGES - END
        if terms(self._address, self._plan, t, h):
            return None
        return Polynomial(t, h, self.x.copy(), self.F.copy())


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The state between the ends of a step from (begin, x) of length h, of order 7:
    x + s (F0 + (1 - s) (F1 + s (F2 + ...)))."""

    begin: float
    h: float
    x: Array
    F: Array

    def __call__(self, t: float) -> Array:
        """The state at t."""
        return np.asarray(self.each(np.array([t], dtype=float))[0])

    def each(self, times: Array) -> Array:
        """Those at several times, as rows."""
        states = np.empty((len(times), len(self.x)))
        inside(self.F, self.x, self.begin, self.h, times, states)
        return states


@dataclass(frozen=True, slots=True)
class Pieces:
    """The state inside a step by the polynomials of shorter ones, which end at `ends`."""

    ends: Sequence[float]
    polynomials: Sequence[Polynomial]

    def __call__(self, t: float) -> Array:
        """The state at t."""
        last = len(self.polynomials) - 1
        return self.polynomials[min(bisect_left(self.ends, t), last)](t)

    def each(self, times: Array) -> Array:
        """Those at several times, as rows."""
        return np.stack([self(t) for t in times])


def inside_still(t: float, x: Any) -> Polynomial:
    """A step of no length, or of no state."""
    return Polynomial(t, 1.0, x, np.zeros((7, len(x))))
