"""How products are associated, and when they are computed as their transpose."""

from __future__ import annotations

from vbg.blocks.node import Block


def last_product(block: Block) -> tuple[Block, Block]:
    """A product of many matrices as a product of two.

    Neighbouring matrices that are not constant are joined first, because such
    pairs (R_AB = R_AW R_WB) are shared by many products.
    """
    factors = list(block.args)
    while len(factors) > 2:
        at = next(
            (
                i
                for i in range(len(factors) - 1)
                if not factors[i].is_const and not factors[i + 1].is_const
            ),
            0,
        )
        a, b = factors[at], factors[at + 1]
        factors[at : at + 2] = [Block("product", (a, b), None, a.rows, b.cols)]
    return factors[0], factors[1]


def is_turned(rows: int, inner: int, cols: int) -> bool:
    """Whether D = A B is computed as Dᵀ = Bᵀ Aᵀ: of an inner size of 3, three or four rows are
    unrolled for any number of columns (`machine.operations.products`), so that as many columns
    become rows."""
    return inner == 3 and ((cols == 3 and rows not in (2, 3)) or (cols == 4 and rows > 4))
