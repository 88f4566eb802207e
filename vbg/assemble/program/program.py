"""The assembled graph as data: a tape of block operations over one workspace.

A `Program` is what causality leaves to be computed, in an order that is fixed
once.  Operations of the same kind and shape that do not wait for one another
stand together in one segment, so an interpreter decides once per segment and
not once per operation: the cost of interpretation does not grow with the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Op(IntEnum):
    """Operations; D is the destination, strides are (row, column) in words."""

    GEMM = 0  # D (+)= alpha A B
    AXPY = 1  # D (+)= alpha A
    CROSS = 2  # D (+)= alpha a x b
    ROTATION = 3  # D = R of quaternion a
    SKEW = 4  # D = skew(a)
    QUATERNION_RATE = 5  # D = 1/2 a o (0, b)
    TIMES = 6  # D (+)= alpha s A
    CALL = 7  # D = function(a, b, c)
    COPY = 8  # D = a, `m` words
    FACTOR = 9  # LDL^T of the kept rows of the block matrix of schedule `m`; pivots below alpha
    #             of their diagonal are held there, or count as zero if `k`
    SOLVE = 10  # solution with the factor of schedule `m`: D, right-hand side a (or a solution,
    #             if `k`); the smallest one where a copy of the matrix stands at b (if not 0),
    #             spare words at c
    LINEAR_SOLVE = 11  # D holds B (m x n) and becomes A^-1 B, A (m x m) at a is used up
    NEWTON = 12  # begins the iteration on the m words at D; its record is at a
    NEWTON_STEP = 13  # residual at a, slope at b (used up), record at c; back to segment `k`
    #                   until it has converged, where the terms of the residual are measured
    LOOKUP = 14  # D = the row of n words that the scalar a is in, of m rows at c that begin at b


SEGMENT_FIELDS = (
    "op",
    "count",
    "first",  # first instance in `operands`
    "accumulate",
    "m",
    "k",
    "n",
    "d_row",
    "d_col",
    "a_row",
    "a_col",
    "b_row",
    "b_col",
)
OPERANDS = 4  # d, a, b, c


class Slot(NamedTuple):
    """Where a matrix stands in the workspace."""

    offset: int
    row: int
    col: int

    @property
    def transposed(self) -> Slot:
        return Slot(self.offset, self.col, self.row)

    def at(self, row: int, col: int = 0) -> Slot:
        """The slot of the sub-matrix that begins at (row, col)."""
        return Slot(self.offset + row * self.row + col * self.col, self.row, self.col)


@dataclass(frozen=True, slots=True)
class Coupling:
    """A block below a pivot: rows of a later unknown, where it stands, and the blocks
    that it and the couplings up to itself bring their product to."""

    size: int
    block: int
    first: int
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pivot:
    """One step of an elimination: `size` unknowns from `first` on, the offset of their
    diagonal block, the couplings to later unknowns in order of their elimination."""

    size: int
    block: int
    first: int
    couplings: tuple[Coupling, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Elimination of one block matrix, in a fixed order (`vbg.assemble.program.elimination`).

    `vectors` are the unknowns (first, number) whose diagonal counts as their mean,
    `scratch` is the offset of the work space, `matrix` that of a copy of the matrix
    where the smallest solutions are wanted (else 0).  After the factorisation the
    diagonals of the pivot blocks hold the inverse pivots, 0 where a row is not kept.
    """

    pivots: tuple[Pivot, ...]
    unknowns: int
    scratch: int
    matrix: int = 0
    vectors: tuple[tuple[int, int], ...] = ()

    def scalar_order(self) -> list[int]:
        """Scalar unknowns in the order of their elimination."""
        return [i for p in self.pivots for i in range(p.first, p.first + p.size)]

    def stream(self) -> list[int]:
        """As the compiled machine reads it: number of pivots; place of each; number of
        unknowns; place of the vectors; for each pivot size, block, first, number of
        couplings, and for each of those size, block, first and targets; then the number
        of vectors and each of them."""
        places: list[int] = []
        words: list[int] = []
        start = len(self.pivots) + 3
        for p in self.pivots:
            places.append(start + len(words))
            words += [p.size, p.block, p.first, len(p.couplings)]
            for c in p.couplings:
                words += [c.size, c.block, c.first, *c.targets]
        vectors = [len(self.vectors), *(word for span in self.vectors for word in span)]
        head = [len(self.pivots), *places, self.unknowns, start + len(words)]
        return [*head, *words, *vectors]


@dataclass(frozen=True, slots=True)
class Program:
    """The tape and its workspace.

    `workspace` holds the constants, zero elsewhere; `inputs` and `outputs` give
    offset and shape by name.  Copies of `workspace` belong to a run.
    """

    workspace: NDArray[np.float64]
    segments: NDArray[np.int64]
    operands: NDArray[np.int32]
    factors: NDArray[np.float64]
    schedules: tuple[Schedule, ...]
    stream: NDArray[np.int64]
    inputs: Mapping[str, tuple[int, int, int]]
    outputs: Mapping[str, tuple[int, int, int]]

    @property
    def operations(self) -> int:
        return int(self.segments[:, 1].sum())
