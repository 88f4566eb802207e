"""Solutions of systems of equations as blocks: the constraint system of a mechanism, small
linear systems, implicit equations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vbg.blocks.calls import call
from vbg.blocks.cancelling import remembered
from vbg.blocks.node import Block, const, is_zero, mul, times

Piece = tuple[int, int, int, int, Block]
Span = tuple[int, int]

KEPT_ALONE = "kept"  # data of a solution that is not shared with rows that are not kept


def symmetric_factor(
    sizes: tuple[int, ...], pieces: Sequence[Piece], vectors: tuple[Span, ...] = ()
) -> Block:
    """LDL^T factor of a symmetric positive semidefinite block matrix.

    `sizes` are the sizes of its diagonal blocks; each piece is added into block
    (i, j) with its upper left corner at (row, col) of the block.  Diagonal blocks
    are given whole, of (i, j) and (j, i) only one.  Rows that depend on others (a
    pivot below the threshold of the reader) get the solution zero.  `vectors` are the
    unknowns (first, number) that are components of one vector: where a solution is not
    unique, they weigh alike, so that it does not depend on their axes.
    """
    data = (sizes, tuple((i, j, row, col) for i, j, row, col, _ in pieces), vectors)
    return Block("factor", tuple(piece[-1] for piece in pieces), data, sum(sizes), sum(sizes))


def solve(factor: Block, rhs: Block, *, alone: bool = False) -> Block:
    """Solution of factor @ x = rhs (a column).  `alone`: of the rows that are kept, also in a
    program of smallest solutions, where the others have a share in it."""
    return Block("solve", (factor, rhs), KEPT_ALONE if alone else None, rhs.rows, 1)


def smallest(factor: Block, solution: Block) -> Block:
    """In a program of smallest solutions, the smallest one that has the same part in the range of
    the kept rows as `solution`, which is zero at the others; else `solution`."""
    return Block("smallest", (factor, solution), None, solution.rows, 1)


class Implicit:
    """The equations of an "implicit" block: `residual` and its derivative `slope` by the
    `unknown`, in that leaf and in `inputs`, which stand for the block's arguments."""

    __slots__ = ("inputs", "residual", "slope", "unknown")

    def __init__(self, unknown: Block, inputs: tuple[Block, ...], residual: Block, slope: Block):
        self.unknown, self.inputs = unknown, inputs
        self.residual, self.slope = residual, slope

    def __repr__(self) -> str:
        return f"{self.unknown.data}: {self.residual.key.hex()} {self.slope.key.hex()}"


def inverse(a: Block) -> Block:
    """Of a constant matrix, A^-1 with the sizes |A^-1| |A| |A^-1| of its terms."""
    found: NDArray[np.float64] = np.linalg.inv(a.data)
    own = np.abs(found)
    return const(found, remembered(found, own @ a.terms @ own))


def linear_solve(a: Block, b: Block) -> Block:
    """A^-1 B by elimination with partial pivoting; A need not be symmetric."""
    if is_zero(b):
        return b
    if a.is_const:
        return mul(inverse(a), b)
    if a.shape == (1, 1):
        return times(call("reciprocal", a), b)
    return Block("linear_solve", (a, b), None, *b.shape)


def implicit(equations: Implicit, arguments: tuple[Block, ...]) -> Block:
    """The root y of residual(y, arguments) = 0, by Newton from where the last
    evaluation ended."""
    rows = equations.unknown.rows
    return Block("implicit", arguments, equations, rows, 1)
