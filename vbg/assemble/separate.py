"""Dense algebra on matrices that fall apart into blocks which share neither row nor column.

A model of many machines has one block for each: what costs the third power of a block's
size then grows with their number only.
"""

from __future__ import annotations

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
    height = np.linalg.norm(G, axis=1)
    scaled = G / np.where(height > 0.0, height, 1.0)[:, None]
    return sum(
        int(np.linalg.matrix_rank(scaled[np.ix_(rows, columns)], tol=tolerance))
        for rows, columns in blocks(G)
        if len(rows) and len(columns)
    )


def null_part(G: Array, v: Array, tolerance: float) -> Array:
    """The part of v (columns,) in the null space of G: the identity less its row space."""
    result = v.copy()
    for rows, columns in blocks(G):
        if len(rows) and len(columns):
            block = G[np.ix_(rows, columns)]
            along = np.linalg.svd(block, full_matrices=False)[2][: rank(block, tolerance)]
            result[columns] -= along.T @ (along @ v[columns])
    return result
