"""How near the constraint matrix is to losing rank, read off its factor."""

from __future__ import annotations

import numpy as np

from vbg.assemble.evaluator import Evaluator


class Conditioning:
    """Watches the factor that `evaluate` computed last."""

    def __init__(self, evaluate: Evaluator):
        self._evaluate = evaluate
        self._at: np.ndarray = np.zeros(0, dtype=int)
        self._diagonal: np.ndarray = self._at
        if evaluate.program.schedules:
            self._at, self._diagonal = _pivot_places(evaluate)

    def worst(self) -> float:
        """Largest diagonal over independent pivot: 1 at best; it grows with the inverse
        square of the distance to a singular posture."""
        if self._at.size == 0:
            return 1.0
        work = self._evaluate.work
        return float((work[self._at].real * work[self._diagonal].real).max())


def _pivot_places(evaluate: Evaluator) -> tuple[np.ndarray, np.ndarray]:
    """Offsets in the workspace of the inverse pivots and of the original diagonal."""
    plan = evaluate.program.schedules[0]
    pivots, diagonal = [], []
    stream = iter(plan.stream.tolist())
    for _ in range(next(stream)):
        size, block, first, later = (next(stream) for _ in range(4))
        pivots += [block + i * (size + 1) for i in range(size)]
        diagonal += [plan.scratch + first + i for i in range(size)]
        for a in range(later):
            for _ in range(3 + a + 1):
                next(stream)
    return np.array(pivots), np.array(diagonal)
