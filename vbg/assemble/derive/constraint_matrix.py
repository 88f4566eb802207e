"""Blocks of H4 = G M^-1 G^T from the constraint rows of each store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vbg.blocks import Block, Piece, const, is_zero, linear, mul, stack, transpose


def constraint_pieces(
    coefficients: Sequence[Mapping[Block, Block]], compliances: Mapping[Block, Block]
) -> list[Piece]:
    """H4 as pieces (i, j, row, col, block) with i <= j.

    coefficients[i][Z] is the matrix G of constraint i on the co-energy Z; F of a
    store is compliances[Z].  A constant F = L L^T is split, so that G L is formed
    once per constraint and store, and H4_ij = sum over stores of (G_i L) (G_j L)^T.
    """
    halves: dict[Block, list[tuple[int, Block]]] = {}
    roots = {z: _root(f) for z, f in compliances.items()}
    for i, of_stores in enumerate(coefficients):
        for z, matrix in of_stores.items():
            halves.setdefault(z, []).append((i, matrix))
    pieces: list[Piece] = []
    for z, users in halves.items():
        root = roots[z]
        for a, (i, left) in enumerate(users):
            for j, right in users[a:]:
                if root is None:
                    pieces += _outer(i, j, mul(left, compliances[z]), right)
                else:
                    pieces += _outer(i, j, _half(left, root), _half(right, root))
    return pieces


def _half(matrix: Block, root: Block) -> Block:
    """G L; a number times the identity behind it, as a mass or a sign leaves, as that number: it
    goes with another product."""
    half = mul(matrix, root)
    if half.op == "stack":
        return stack(*(_without_identity(part) for part in half.args))
    return _without_identity(half)


def _without_identity(block: Block) -> Block:
    last = block.args[-1] if block.op == "product" else block
    if last is block or not last.is_const or last.rows != last.cols:
        return block
    number = float(last.data[0, 0])
    if not np.array_equal(last.data, number * np.eye(last.rows)):
        return block
    first, *others = block.args[:-1]
    before = block.args[-2]
    # Its transpose would meet it: the identity in one block of H, in others what its quaternion
    # makes of it, whose length rounding changes.  H would be no product of halves any more, and
    # beside a singular posture, whose pivot is theta^2, a run ends.
    if "rotation" in (before.op, *(inner.op for inner in before.args if before.op == "transpose")):
        return block
    for factor in others:
        first = mul(first, factor)
    return linear((number, first))


def _root(matrix: Block) -> Block | None:
    """L of a constant positive definite matrix = L L^T."""
    if not matrix.is_const or not np.allclose(matrix.data, matrix.data.T):
        return None
    try:
        return const(np.linalg.cholesky(matrix.data))
    except np.linalg.LinAlgError:
        return None


def _parts(block: Block) -> list[tuple[int, Block]]:
    """(first row, part) of the rows that are not constant zero."""
    if block.op == "sum" and len(block.args) == 1 and block.args[0].op == "stack":
        block = stack(*(block.data[0] * part for part in block.args[0].args))
    if block.op != "stack":
        return [(0, block)]
    result, row = [], 0
    for part in block.args:
        if not is_zero(part):
            result.append((row, part))
        row += part.rows
    return result


def _outer(i: int, j: int, left: Block, right: Block) -> list[Piece]:
    """left @ right^T as pieces; by parts where some rows are zero."""
    left_parts, right_parts = _parts(left), _parts(right)
    whole = sum(p.rows for _, p in left_parts) == left.rows and (
        sum(p.rows for _, p in right_parts) == right.rows
    )
    if whole and (len(left_parts) > 1 or len(right_parts) > 1):
        return [(i, j, 0, 0, mul_transposed(left, right))]
    pieces: list[Piece] = []
    for row, a in left_parts:
        for col, b in right_parts:
            product = mul_transposed(a, b)
            if not is_zero(product):
                pieces.append((i, j, row, col, product))
    return pieces


def mul_transposed(a: Block, b: Block) -> Block:
    """a @ b^T, with a stack kept whole as one factor."""
    if a.op == "stack" or b.op == "stack":
        return Block("product", (a, transpose(b)), None, a.rows, b.rows)
    return mul(a, transpose(b))
