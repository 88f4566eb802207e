"""Matrices of numbers beside the sizes of the terms that were summed into their entries.

    a + b:  |a| + |b|       A B:  |A| |B|       A^-1:  |A^-1| |A| |A^-1|

with |A| the sizes that A has itself.  An entry is rounding where it is small beside its own terms,
whatever its units and those of its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.matrices.numbers import Grid, Numbers
from vbg.assemble.matrices.symbolic import NEGLIGIBLE, beside
from vbg.blocks import Block, dependencies

Array = NDArray[np.float64]
READ = ("sum", "mul", "product", "times", "transpose", "stack", "rows", "skew")


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """A matrix and the `sizes` of its terms."""

    value: Array
    sizes: Array

    __array_ufunc__ = None  # an array before an operator leaves it to this class

    @classmethod
    def of(cls, value: Any) -> Sized:
        """An array as it is: every entry one term."""
        return value if isinstance(value, Sized) else cls(value, np.abs(value))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the matrix."""
        return self.value.shape

    @property
    def kept(self) -> Array:
        """The matrix without its entries that are rounding."""
        return np.where(np.abs(self.value) <= NEGLIGIBLE * self.sizes, 0.0, self.value)

    def __matmul__(self, other: Any) -> Sized:
        b = Sized.of(other)
        return Sized(self.value @ b.value, self.sizes @ b.sizes)

    def __rmatmul__(self, other: Any) -> Sized:
        return Sized.of(other) @ self

    def __add__(self, other: Any) -> Sized:
        b = Sized.of(other)
        return Sized(self.value + b.value, self.sizes + b.sizes)

    def __sub__(self, other: Any) -> Sized:
        b = Sized.of(other)
        return Sized(self.value - b.value, self.sizes + b.sizes)

    def __rsub__(self, other: Any) -> Sized:
        return Sized.of(other) - self


def inverse(matrix: Sized) -> Sized:
    """Of an identity, as P and A1 mostly are, itself."""
    value: Array = np.asarray(np.linalg.inv(matrix.value), dtype=float)
    if np.array_equal(matrix.value, np.eye(len(value))):
        return matrix
    return Sized(value, np.abs(value) @ matrix.sizes @ np.abs(value))


class SizedNumbers:
    """Blocks at one time and state with the sizes of their terms; `given`, by keys, of leaves that
    are shares of larger ones."""

    def __init__(self, numbers: Numbers, given: Mapping[bytes, Array]):
        self._numbers, self._given = numbers, given
        self._sizes: dict[bytes, Array] = {}

    def __call__(self, grid: Grid, rows: int, columns: int) -> Sized:
        value = self._numbers(grid, rows, columns)
        blocks = [block for row in grid for block in row if block.rows and block.cols]
        if not blocks:
            return Sized.of(value)
        self._read(blocks)
        sizes = np.block([[self._size_of(block) for block in row] for row in grid])
        return Sized(value, sizes)

    def _size_of(self, block: Block) -> Array:
        return self._sizes.get(block.key, np.zeros((block.rows, block.cols)))

    def _read(self, blocks: list[Block]) -> None:
        """The sizes of `blocks`; what is no sum or product of others is one term."""
        every = [b for b in dependencies(blocks) if b.key not in self._sizes]
        whole = {str(i): b for i, b in enumerate(every) if b.op not in (*READ, "const", "rotation")}
        values: Mapping[str, Array] = self._numbers.values(whole)
        for name, block in whole.items():
            self._sizes[block.key] = np.maximum(
                np.abs(values[name]), self._given.get(block.key, 0.0)
            )
        for block in every:
            if block.key not in self._sizes:
                args = [self._size_of(arg) for arg in block.args]
                self._sizes[block.key] = _size(block, args)


def _size(block: Block, args: list[Array]) -> Array:
    match block.op:
        case "const":
            data = np.abs(np.asarray(block.data, dtype=float))
            return np.where(data > 0.0, np.maximum(block.terms, beside(data)), 0.0)
        case "rotation":
            return np.ones((3, 3))
        case "sum":
            terms = [abs(f) * a for f, a in zip(block.data, args, strict=True)]
            return np.asarray(sum(terms[1:], terms[0]))
        case "mul" | "product":
            result = args[-1]
            for factor in reversed(args[:-1]):
                result = factor @ result
            return result
        case "times":
            return np.asarray(args[0][0, 0] * args[1])
        case "transpose":
            return args[0].T
        case "stack":
            return np.vstack(args)
        case "rows":
            return args[0][block.data[0] : block.data[1], :]
        case _:  # skew
            x, y, z = args[0].ravel()
            return np.array([[0.0, z, y], [z, 0.0, x], [y, x, 0.0]])
