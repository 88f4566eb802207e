"""Solutions of linear systems as blocks: the constraint system of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from vbg.blocks.node import Block

Piece = tuple[int, int, int, int, Block]


def symmetric_factor(sizes: tuple[int, ...], pieces: Sequence[Piece]) -> Block:
    """LDL^T factor of a symmetric positive semidefinite block matrix.

    `sizes` are the sizes of its diagonal blocks; each piece is added into block
    (i, j) with its upper left corner at (row, col) of the block.  Diagonal blocks
    are given whole, of (i, j) and (j, i) only one.  Rows that depend on others (a
    pivot below the threshold of the reader) get the solution zero.
    """
    data = (sizes, tuple((i, j, row, col) for i, j, row, col, _ in pieces))
    return Block("factor", tuple(piece[-1] for piece in pieces), data, sum(sizes), sum(sizes))


def solve(factor: Block, rhs: Block) -> Block:
    """Solution of factor @ x = rhs (a column)."""
    return Block("solve", (factor, rhs), None, rhs.rows, 1)
