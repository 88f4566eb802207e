"""How near the constraint matrix is to losing rank, read off its factor."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import LOST, NO_PIVOTS, Pivots


class Conditioning:
    """Watches the factor that `evaluate` computed last."""

    def __init__(self, evaluate: Evaluator):
        self._evaluate = evaluate
        self._at, self._diagonal, self._row = pivot_places(evaluate)

    def worst(self) -> float:
        """Largest diagonal over pivot of the kept rows: 1 at best; it grows with the inverse
        square of the distance to a singular posture."""
        if self._at.size == 0:
            return 1.0
        work = self._evaluate.work
        inverse = work[self._at].real
        if not inverse.all() and np.any(self._evaluate.kept[self._row[inverse == 0.0]] != 0.0):
            return LOST
        return float(np.abs(inverse * work[self._diagonal].real).max())


def pivot_places(evaluate: Evaluator) -> Pivots:
    """Offsets in the workspace of the inverse pivots and of the original diagonal, and the
    numbers of their rows."""
    if not evaluate.program.schedules:
        return NO_PIVOTS
    plan = evaluate.program.schedules[0]
    pivots = [p.block + i * (p.size + 1) for p in plan.pivots for i in range(p.size)]
    rows = np.array([p.first + i for p in plan.pivots for i in range(p.size)], dtype=np.int64)
    return Pivots(np.array(pivots, dtype=np.int64), plan.scratch + rows, rows)
