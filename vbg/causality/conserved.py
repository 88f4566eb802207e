"""Structural rank deficits: linear combinations of stored quantities that never change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RANK = 1e-9  # of the largest singular value


@dataclass(frozen=True, slots=True)
class Conserved:
    """sum of weight * state is constant; `terms` are (weight, name of the state)."""

    terms: tuple[tuple[float, str], ...]

    def __str__(self) -> str:
        parts = [f"{weight:+.6g} {name}" for weight, name in self.terms]
        return " ".join(parts).removeprefix("+") + " = constant"


def conserved_quantities(
    slopes: NDArray[np.float64], names: tuple[str, ...]
) -> tuple[Conserved, ...]:
    """The left null space of d rate / d state, from `slopes` at several states side by
    side, reduced to echelon form so that each quantity names few states."""
    scale = np.linalg.norm(slopes, axis=1)
    rows = slopes / np.where(scale > 0.0, scale, 1.0)[:, None]
    U, values, _ = np.linalg.svd(rows)
    rank = int(np.count_nonzero(values > RANK * max(values.max(initial=0.0), 1e-300)))
    null = U[:, rank:].T / np.where(scale > 0.0, scale, 1.0)
    return tuple(_named(row, names) for row in row_echelon(null, 1e-8))


def _named(row: NDArray[np.float64], names: tuple[str, ...]) -> Conserved:
    largest = np.abs(row).max()
    kept = [i for i in range(len(row)) if abs(row[i]) > 1e-7 * largest]
    first = row[kept[0]]
    return Conserved(tuple((float(row[i] / first), names[i]) for i in kept))


def row_echelon(matrix: NDArray[np.float64], rounding: float) -> NDArray[np.float64]:
    """Reduced row echelon form, pivots by size; what is below `rounding` of the largest entry is
    no pivot, and rows of rounding are left out."""
    matrix = np.array(matrix, dtype=float)
    largest = np.abs(matrix).max(initial=0.0)
    done = 0
    for column in range(matrix.shape[1]):
        if done == len(matrix):
            break
        best = done + int(np.argmax(np.abs(matrix[done:, column])))
        if abs(matrix[best, column]) <= rounding * largest:
            continue
        matrix[[done, best]] = matrix[[best, done]]
        matrix[done] /= matrix[done, column]
        for i in range(len(matrix)):
            if i != done:
                matrix[i] -= matrix[i, column] * matrix[done]
        done += 1
    return matrix[:done]
