"""Piecewise polynomials as blocks.

The piece is chosen by halving, and each is a polynomial of the distance from its own begin.  A
sum over all pieces that lie before, c max(0, x - a)^n, would be shorter, and loses digits: the
cubes of a long table, or of a short ramp in a long move, are a million times what is left of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.blocks import Block, call, const, times


def chosen(x: Block, starts: Sequence[float], pieces: ArrayLike) -> Block:
    """The polynomial of the piece that x is in, of x less its begin: `starts` (k,), coefficients
    `pieces` (k, n) from the constant on.  A piece holds from its begin on, as rows do that stand
    at an edge; the first before its own, too."""
    return _halved(x, tuple(starts), np.asarray(pieces, dtype=float))


def _halved(x: Block, starts: tuple[float, ...], pieces: NDArray[np.float64]) -> Block:
    if len(pieces) == 1:
        return _polynomial(x - const(starts[0]), pieces[0])
    middle = len(pieces) // 2
    return call(
        "select",
        const(starts[middle]) - x,
        _halved(x, starts[:middle], pieces[:middle]),
        _halved(x, starts[middle:], pieces[middle:]),
    )


def _polynomial(d: Block, c: NDArray[np.float64]) -> Block:
    """c0 + d (c1 + d (c2 + ...)), without what is zero."""
    filled = np.flatnonzero(c)
    if not filled.size:
        return const(0.0)
    result = const(float(c[filled[-1]]))
    for k in range(int(filled[-1]) - 1, -1, -1):
        result = const(float(c[k])) + times(d, result)
    return result
