"""Blocks of H4 = G M^-1 G^T from the constraint rows of each store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vbg.blocks import Block, Piece, const, is_zero, linear, mul, stack, transpose

Place = tuple[int, int, Block]  # row, column and block of a part of a product


@dataclass(slots=True)
class Products:
    """Products of rows with compliances, each formed once in a derivation: the rows of the
    constraints stand in the factors of three sets of equations (`factor_of`)."""

    _roots: dict[Block, Block | None] = field(default_factory=dict)
    _halves: dict[tuple[Block, Block], Block] = field(default_factory=dict)
    _products: dict[tuple[Block, Block], list[Place]] = field(default_factory=dict)

    def pieces(
        self, coefficients: Sequence[Mapping[Block, Block]], compliances: Mapping[Block, Block]
    ) -> list[Piece]:
        """H4 as pieces (i, j, row, col, block) with i <= j.

        coefficients[i][Z] is the matrix G of constraint i on the co-energy Z; F of a
        store is compliances[Z].  A constant F = L L^T is split, so that G L is formed
        once per constraint and store, and H4_ij = sum over stores of (G_i L) (G_j L)^T.
        """
        of_stores: dict[Block, list[tuple[int, Block, Block]]] = {}
        for i, row in enumerate(coefficients):
            for z, matrix in row.items():
                of_stores.setdefault(z, []).append((i, *self._sides(matrix, compliances[z])))
        return [
            (i, j, row, col, block)
            for users in of_stores.values()
            for a, (i, left, _) in enumerate(users)
            for j, _, right in users[a:]
            for row, col, block in self._product(left, right)
        ]

    def _sides(self, matrix: Block, compliance: Block) -> tuple[Block, Block]:
        """What stands left and right in the products of a row: G L twice, or G F and G."""
        if compliance not in self._roots:
            self._roots[compliance] = _root(compliance)
        root = self._roots[compliance]
        key = matrix, compliance
        half = self._halves.get(key)
        if half is None:
            half = mul(matrix, compliance) if root is None else _half(matrix, root)
            self._halves[key] = half
        return half, matrix if root is None else half

    def _product(self, left: Block, right: Block) -> list[Place]:
        """left @ right^T by its parts."""
        found = self._products.get((left, right))
        if found is None:
            found = self._products[left, right] = _outer(left, right)
        return found


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


def _outer(left: Block, right: Block) -> list[Place]:
    """left @ right^T; by parts where some rows are zero."""
    left_parts, right_parts = _parts(left), _parts(right)
    whole = sum(p.rows for _, p in left_parts) == left.rows and (
        sum(p.rows for _, p in right_parts) == right.rows
    )
    if whole and (len(left_parts) > 1 or len(right_parts) > 1):
        return [(0, 0, mul_transposed(left, right))]
    products = [(row, col, mul_transposed(a, b)) for row, a in left_parts for col, b in right_parts]
    return [product for product in products if not is_zero(product[-1])]


def mul_transposed(a: Block, b: Block) -> Block:
    """a @ b^T, with a stack kept whole as one factor."""
    if a.op == "stack" or b.op == "stack":
        return Block("product", (a, transpose(b)), None, a.rows, b.rows)
    return mul(a, transpose(b))
