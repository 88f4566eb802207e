"""Dense algebra on matrices that fall apart into blocks which share neither row nor column.

A model of many machines has one block for each: what costs the third power of a block's
size then grows with their number only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def blocks(matrix: Array) -> list[tuple[Places, Places]]:
    """Rows and columns of each block; a row or a column of zeros is one of its own."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = matrix.shape
    at_row, at_column = np.nonzero(matrix)
    size = rows + columns
    links = coo_array((np.ones(len(at_row)), (at_row, rows + at_column)), shape=(size, size))
    count, label = connected_components(links, directed=False)
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=count))[:-1]
    members = np.split(order, ends) if size else []
    return [(m[m < rows], m[m >= rows] - rows) for m in members]


def rank(G: Array, tolerance: float) -> int:
    """Rank of G, each row divided by its norm; singular values up to `tolerance` are zero."""
    return sum(
        int(np.linalg.matrix_rank(block, tol=tolerance)) for _, block in _blocks_of_unit_rows(G)
    )


def null_part(G: Array, v: Array, tolerance: float) -> Array:
    """The part of v (columns,) in the null space of G: v less what lies in the row space,
    singular values as in `rank`."""
    result = v.copy()
    for columns, block in _blocks_of_unit_rows(G):
        _, values, right = np.linalg.svd(block, full_matrices=False)
        along = right[values > tolerance]
        result[columns] -= along.T @ (along @ v[columns])
    return result


def _blocks_of_unit_rows(G: Array) -> Iterator[tuple[Places, Array]]:
    """Columns and entries of each block that has any, rows divided by their norms."""
    height = np.linalg.norm(G, axis=1)
    scaled = G / np.where(height > 0.0, height, 1.0)[:, None]
    for rows, columns in blocks(G):
        if len(rows) and len(columns):
            yield columns, scaled[np.ix_(rows, columns)]
