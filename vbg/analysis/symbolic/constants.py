"""Constant matrices of formulas, with the sizes of the terms that were added up to their entries.

A product of such matrices is a sum in every entry; what is left of terms that cancel is nothing,
and is judged by these terms, number by number of what an entry has of parameters:

    A B:  |A| |B|,      |2 a - 3 b| = 2 a + 3 b
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.analysis.symbolic.rewriting.tidy import of_one_sign
from vbg.assemble.matrices.products import product
from vbg.assemble.matrices.symbolic import NEGLIGIBLE, beside, without_rounding
from vbg.blocks import Block


@dataclass(frozen=True, slots=True)
class Constant:
    """`values` and, of the same form with all numbers positive, the `sizes` of their terms: sympy
    matrices that do not change."""

    values: Any
    sizes: Any = field(compare=False)

    @property
    def transposed(self) -> Constant:
        return Constant(self.values.T, self.sizes.T)

    def __matmul__(self, other: Constant) -> Constant:
        sizes = product(self.sizes, other.sizes).applyfunc(_expanded)
        values = product(self.values, other.values).applyfunc(_expanded)
        return Constant(_kept(values, sizes), sizes)

    def scaled(self) -> tuple[Any, Constant | None]:
        """As number and matrix; None for the identity, the number 0 for zero."""
        import sympy

        values = self.values
        if values.is_zero_matrix:
            return sympy.Integer(0), None
        if values.rows == values.cols and values == values[0, 0] * sympy.eye(values.rows):
            return values[0, 0], None
        return sympy.Integer(1), self


def constant_of(block: Block, symbols: Any, exact: Callable[[Any], Any]) -> Constant:
    """A constant block, in `symbols` where it has them; numbers as `exact` writes them."""
    import sympy

    numbers = without_rounding(block)
    least = NEGLIGIBLE * beside(np.abs(numbers))
    data = block.data if symbols is None else symbols
    told = np.abs(numbers) > least

    def value(i: int, j: int) -> Any:
        return exact(data[i, j]) if told[i, j] else 0

    def size(i: int, j: int) -> Any:
        own = sympy.sympify(data[i, j])
        return sympy.Float(block.terms[i, j]) if own.is_Number else of_one_sign(own)

    return Constant(
        sympy.ImmutableMatrix(*block.shape, value), sympy.ImmutableMatrix(*block.shape, size)
    )


def _expanded(entry: Any) -> Any:
    return entry if entry.is_Atom else entry.expand()


def _kept(values: Any, sizes: Any) -> Any:
    """Without terms that are small beside their own."""
    import sympy

    def entry(i: int, j: int) -> Any:
        value, size = values[i, j], sizes[i, j]
        if value.is_Rational:
            return value
        beside_it = size.as_coefficients_dict()
        terms = value.as_coefficients_dict().items()
        least = {one: NEGLIGIBLE * beside_it.get(one, 0) for one, _ in terms}
        if all(abs(n) > least[one] for one, n in terms):
            return value
        return sympy.Add(*(n * one for one, n in terms if abs(n) > least[one]))

    return sympy.ImmutableMatrix(*values.shape, entry)
