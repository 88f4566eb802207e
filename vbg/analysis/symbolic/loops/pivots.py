"""Columns of a matrix in the order in which they add most to those before.

Businger and Golub (1965): next comes the longest of what the columns so far leave of the others.
Of columns that are equally long, as those of like legs are, the first one comes: a coordinate is
not chosen by rounding.  (`scipy.linalg.qr` leaves that open, and takes 0.25 s to be imported.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EQUAL = 1e-9  # relative difference of lengths that are one


def pivots(matrix: Array) -> tuple[list[int], Array]:
    """All columns in that order, and how much each of the first min(rows, columns) adds."""
    rest = np.array(matrix, dtype=float)
    left, chosen, sizes = list(range(rest.shape[1])), [], []
    for _ in range(min(rest.shape)):
        lengths = np.linalg.norm(rest[:, left], axis=0)
        first = int(np.argmax(lengths >= (1.0 - EQUAL) * lengths.max()))
        sizes.append(lengths[first])
        chosen.append(left.pop(first))
        if sizes[-1] > 0.0:
            along = rest[:, chosen[-1]] / sizes[-1]
            rest -= np.outer(along, along @ rest)
    return chosen + left, np.array(sizes)
