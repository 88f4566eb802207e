"""Redundant constraint directions, from the pivots of the elimination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

INVOLVED = 1e-7  # part of the largest effort of a combination, below which a row is not in it


def null_efforts(evaluate: Evaluator, count: int) -> Array:
    """Columns of length 1 (unknowns x count): combinations of constraint efforts that do
    nothing, drawn at random among all.

    With H = L D L^T and pivots that vanish at the rows S, L^T n = w for any w on S gives
    H n = 0.  The factor is the last one of `evaluate`, by plain elimination.
    """
    plan, work = evaluate.program.schedules[0], evaluate.work.real
    dependent = np.flatnonzero(evaluate.inverse_pivots() == 0.0)
    result = np.zeros((plan.unknowns, count))
    result[dependent] = np.random.default_rng(1).standard_normal((len(dependent), count))
    for p in reversed(plan.pivots):
        here = slice(p.first, p.first + p.size)
        for c in p.couplings:
            block = work[c.block : c.block + c.size * p.size].reshape(c.size, p.size)
            result[here] -= block.T @ result[c.first : c.first + c.size]
        lower = work[p.block : p.block + p.size * p.size].reshape(p.size, p.size)
        for row in range(p.first + p.size - 2, p.first - 1, -1):
            after = slice(row + 1, p.first + p.size)
            result[row] -= lower[row - p.first + 1 :, row - p.first] @ result[after]
    return result / np.linalg.norm(result, axis=0)


def involved(efforts: Array) -> Mask:
    """Rows that take part in the random combinations `efforts`: if in any, then in each."""
    size = np.abs(efforts)
    return np.asarray(np.any(size > INVOLVED * size.max(axis=0), axis=1))
