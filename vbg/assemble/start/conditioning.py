"""How near the constraint matrix is to losing rank, read off its factor."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.evaluator import Evaluator


class Conditioning:
    """Watches the factor that `evaluate` computed last.

    `dependent` is the number of rows that depend on others at the start; as many of
    the smallest pivots say nothing about a singular posture.
    """

    def __init__(self, evaluate: Evaluator, dependent: int):
        self._evaluate = evaluate
        self._dependent = dependent
        self._at: np.ndarray = np.zeros(0, dtype=int)
        self._diagonal: np.ndarray = self._at
        if evaluate.program.schedules:
            self._at, self._diagonal = _pivot_places(evaluate)

    def worst(self) -> float:
        """Largest diagonal over independent pivot: 1 at best; it grows with the inverse
        square of the distance to a singular posture."""
        if self._at.size <= self._dependent:
            return 1.0
        work = self._evaluate.work
        ratio = np.abs(work[self._at].real * work[self._diagonal].real)
        at = self._at.size - 1 - self._dependent
        return float(np.partition(ratio, at)[at])


def _pivot_places(evaluate: Evaluator) -> tuple[np.ndarray, np.ndarray]:
    """Offsets in the workspace of the inverse pivots and of the original diagonal."""
    plan = evaluate.program.schedules[0]
    pivots = [p.block + i * (p.size + 1) for p in plan.pivots for i in range(p.size)]
    diagonal = [plan.scratch + p.first + i for p in plan.pivots for i in range(p.size)]
    return np.array(pivots), np.array(diagonal)
