"""Structural rank deficits: linear combinations of stored quantities that never change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RANK = 1e-9  # of the largest singular value
ROUNDING = (
    1e-3  # of a row that changes by as much of itself between two states, equal but for rounding
)


@dataclass(frozen=True, slots=True)
class Conserved:
    """sum of weight * state is constant; `terms` are (weight, name of the state)."""

    terms: tuple[tuple[float, str], ...]

    def __str__(self) -> str:
        parts = [_sign(weight) + _size(weight) + name for weight, name in self.terms]
        return " ".join(parts).removeprefix("+ ") + " = constant"


def _sign(weight: float) -> str:
    return "- " if weight < 0.0 else "+ "


def _size(weight: float) -> str:
    size = f"{abs(weight):.6g}"
    return "" if size == "1" else f"{size} "


def conserved_quantities(
    slopes: NDArray[np.float64], again: NDArray[np.float64], names: tuple[str, ...]
) -> tuple[Conserved, ...]:
    """The left null space of d rate / d state, from `slopes` at several states side by
    side, reduced to echelon form so that each quantity names few states.  `again`: the slopes at
    the same states moved by rounding; rows that are nothing but rounding do not come out alike."""
    scale = np.linalg.norm(slopes, axis=1)
    scale[np.linalg.norm(again - slopes, axis=1) >= ROUNDING * scale] = 0.0
    size = np.where(scale > 0.0, scale, 1.0)
    rows = np.where(scale[:, None] > 0.0, slopes / size[:, None], 0.0)
    U, values, _ = np.linalg.svd(rows)
    rank = int(np.count_nonzero(values > RANK * max(values.max(initial=0.0), 1e-300)))
    return tuple(_named(row, size, names) for row in row_echelon(U[:, rank:].T, 1e-8))


def _named(
    row: NDArray[np.float64], size: NDArray[np.float64], names: tuple[str, ...]
) -> Conserved:
    """`row` on rates divided by their `size`."""
    kept = np.flatnonzero(np.abs(row) > 1e-7 * np.abs(row).max())
    weights = row[kept] / size[kept]
    return Conserved(
        tuple((float(w), names[i]) for w, i in zip(weights / weights[0], kept, strict=True))
    )


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
