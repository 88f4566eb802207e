"""Redundant constraint directions, from the pivots of the elimination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.evaluator import Evaluator

Array = NDArray[np.float64]


def _factors(evaluate: Evaluator, index: int) -> tuple[Array, Array, list[int]]:
    plan = evaluate.program.schedules[index]
    work, count = evaluate.work, plan.unknowns
    first = np.concatenate([[0], np.cumsum(plan.sizes)]).astype(int)
    order = [int(i) for b in plan.order for i in range(first[b], first[b + 1])]
    place = {unknown: row for row, unknown in enumerate(order)}
    lower, pivots = np.eye(count), np.zeros(count)
    stream = iter(plan.stream.tolist())
    for _ in range(next(stream)):
        size, block, start, later = (next(stream) for _ in range(4))
        here = place[start]
        values = work[block : block + size * size].reshape(size, size).real
        inverse = np.diag(values)
        pivots[here : here + size] = np.where(
            inverse == 0.0, 0.0, 1.0 / np.where(inverse, inverse, 1.0)
        )
        lower[here : here + size, here : here + size] = np.tril(values, -1) + np.eye(size)
        for a in range(later):
            other, coupled, begin = (next(stream) for _ in range(3))
            there = place[begin]
            lower[there : there + other, here : here + size] = (
                work[coupled : coupled + other * size].reshape(other, size).real
            )
            for _ in range(a + 1):
                next(stream)
    return lower, pivots, order


def null_space(evaluate: Evaluator, factor: int = 0) -> Array:
    """Orthonormal columns: combinations of constraint efforts that do nothing."""
    lower, pivots, order = _factors(evaluate, factor)
    dependent = np.flatnonzero(pivots == 0.0)
    if dependent.size == 0:
        return np.zeros((len(order), 0))
    vectors = np.linalg.solve(lower.T, np.eye(len(order))[:, dependent])
    result = np.empty_like(vectors)
    result[order] = vectors
    return np.linalg.qr(result)[0]
