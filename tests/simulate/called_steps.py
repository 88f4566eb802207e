"""Dormand and Prince's steps by calls of a function: the slow twin of what runs compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from vbg.assemble.program.machine.series.stepping import DEFECT
from vbg.plumbing.dormand_prince import DENSE, END, ERROR_3, ERROR_5, NODES, STAGES, TABLEAU
from vbg.simulate.steppers.dormand_prince import Polynomial
from vbg.simulate.steppers.explicit import SteadyDOP853


class Called:
    """As `Compiled`, of a rate f(t, x) with n states."""

    def __init__(self, f: Callable[[float, Any], Any], n: int):
        self.f, self.staged = f, 0
        self.K = np.zeros((STAGES, n))
        self.x, self.end, self.atol, self.rtol = np.zeros((4, n))

    def unwatched(self):
        return Called(self.f, len(self.x))

    def _fill(self, t, h, begin, end):
        for s in range(begin, end):
            at = self.x + h * (TABLEAU[s, :s] @ self.K[:s])
            self.K[s] = self.f(t + h * NODES[s], at)
        self.staged += end - begin
        return at

    def attempt(self, t, h):
        self.end[:] = self._fill(t, h, 1, END + 1)
        scale = self.atol + np.maximum(abs(self.x), abs(self.end)) * self.rtol
        fifth, third = (np.sum((w @ self.K[: END + 1] / scale) ** 2) for w in (ERROR_5, ERROR_3))
        below = math.sqrt((fifth + 0.01 * third) * len(self.x))
        return (h * fifth / below if below else 0.0), 1.0

    def polynomial(self, t, h):
        self._fill(t, h, END + 1, STAGES)
        step, added = self.K[: END + 1], self.K[END + 1 :]
        low, high = step.min(axis=0), step.max(axis=0)
        slack = high - low + (self.atol + self.rtol * abs(self.end)) / h
        if not np.all((added >= low - slack) & (added <= high + slack)):
            return None
        moved, first, last = self.end - self.x, h * self.K[0], h * self.K[END]
        F = [moved, first - moved, 2.0 * moved - first - last, *(h * (DENSE @ self.K))]
        found = Polynomial(t, h, self.x.copy(), np.array(F))
        middle, apart = t + 0.5 * h, 1e-3 * h
        ends = [found(middle + s * apart) for s in (-2, -1, 1, 2)]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * apart)
        missed = h * (self.f(middle, found(middle)) - slope)
        self.staged += 1
        scale = self.atol + np.maximum(abs(self.x), abs(self.end)) * self.rtol
        return found if math.sqrt(np.mean((missed / scale) ** 2)) <= DEFECT else None


def called(f, t, x, t_end, **settings) -> SteadyDOP853:
    """The solver with such steps; `f` may be changed in its `maker`."""
    return SteadyDOP853(f, t, x, t_end, step=Called(f, len(x)), **settings)
