"""Where the factors of a sparse matrix are not zero, and in which order it is eliminated.

Order and pivots are those that SuperLU takes for one matrix z - J.  Those of other times and
other steps have the same places, and mostly bear the same pivots, so that only numbers are computed
anew (as circuit simulators do: T. Davis, E. Palamadai Natarajan, ACM Trans. Math. Softw. 37, 2010).

A set of columns is an integer whose bit j stands for column j, as in `sparsity`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.implicit.entries import Fill
from vbg.simulate.steppers.implicit.shifted import Singular
from vbg.simulate.steppers.implicit.sparsity import members

Places = NDArray[np.int64]


def fill_of(J: Any, z: float) -> Fill:
    """Of z - J in the order that is best for it, J by compressed columns.

    Raises Singular where it cannot be factored.
    """
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    n = J.shape[0]
    try:
        factors = splu((z * identity(n, format="csc") - J).tocsc())
    except RuntimeError as error:  # exactly singular
        raise Singular from error
    row_of, column_of = factors.perm_r.astype(np.int64), factors.perm_c.astype(np.int64)
    rows = row_of[J.indices]
    columns = column_of[np.repeat(np.arange(n), np.diff(J.indptr))]
    shifted = np.empty(n, dtype=np.int64)
    shifted[row_of] = column_of
    by_row = np.argsort(rows, kind="stable")
    given = np.searchsorted(rows[by_row], np.arange(n + 1))
    places = _filled(rows, columns, shifted)
    lengths = [len(row) for row in places]
    begin = np.concatenate([[0], np.cumsum(lengths)])
    column = np.concatenate([np.array(row, dtype=np.int64) for row in places])
    below = [sum(j < i for j in row) for i, row in enumerate(places)]
    return Fill(
        row_of=row_of,
        column_of=column_of,
        begin=begin.astype(np.int64),
        diagonal=(begin[:-1] + below).astype(np.int64),
        column=column,
        given=given.astype(np.int64),
        to=columns[by_row],
        source=by_row.astype(np.int64),
        shifted=shifted,
    )


def _filled(rows: Places, columns: Places, shifted: Places) -> list[list[int]]:
    """Columns of each row of the factors: its own, and those right of the diagonal of each row that
    is taken off it."""
    sets = [1 << j | 1 << i for i, j in enumerate(shifted.tolist())]
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        sets[i] |= 1 << j
    right: list[int] = []
    for i in range(len(sets)):
        whole, left = sets[i], (1 << i) - 1
        rest = whole & left
        while rest:
            k = (rest & -rest).bit_length() - 1
            more = right[k] & ~whole
            whole |= more
            rest = (rest | more & left) & ~(1 << k)
        sets[i] = whole
        right.append(whole >> (i + 1) << (i + 1))
    return [list(members(row)) for row in sets]
