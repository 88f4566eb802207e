"""Redundant constraint directions, from the pivots of the elimination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.evaluator import Evaluator
from vbg.assemble.separate import blocks

Array = NDArray[np.float64]


def _factors(evaluate: Evaluator, index: int) -> tuple[Array, Array, list[int]]:
    plan = evaluate.program.schedules[index]
    work, count, order = evaluate.work.real, plan.unknowns, plan.scalar_order()
    place = {unknown: row for row, unknown in enumerate(order)}
    lower, pivots = np.eye(count), np.zeros(count)
    for p in plan.pivots:
        here = slice(place[p.first], place[p.first] + p.size)
        values = work[p.block : p.block + p.size * p.size].reshape(p.size, p.size)
        inverse = np.diag(values)
        independent = inverse != 0.0
        pivots[here] = np.where(independent, 1.0 / np.where(independent, inverse, 1.0), 0.0)
        lower[here, here] = np.tril(values, -1) + np.eye(p.size)
        for c in p.couplings:
            there = slice(place[c.first], place[c.first] + c.size)
            block = work[c.block : c.block + c.size * p.size]
            lower[there, here] = block.reshape(c.size, p.size)
    return lower, pivots, order


def null_space(evaluate: Evaluator, factor: int = 0) -> Array:
    """Orthonormal columns: combinations of constraint efforts that do nothing."""
    lower, pivots, order = _factors(evaluate, factor)
    dependent = np.flatnonzero(pivots == 0.0)
    if dependent.size == 0:
        return np.zeros((len(order), 0))
    result = np.zeros((len(order), len(dependent)))
    places = np.asarray(order)
    for members, _ in blocks(lower):
        here = np.flatnonzero(np.isin(dependent, members))
        if here.size:
            unit = (members[:, None] == dependent[here]).astype(float)
            vectors = np.linalg.solve(lower[np.ix_(members, members)].T, unit)
            result[np.ix_(places[members], here)] = np.linalg.qr(vectors)[0]
    return result
