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
    FACTOR = 9  # LDL^T of the block matrix of schedule `m`, diagonal raised by alpha of it
    SOLVE = 10  # solution with the factor of schedule `m`: D, right-hand side a; refined
    #             against the matrix kept at b (if not 0) with spare words at c


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


@dataclass(frozen=True, slots=True)
class Slot:
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
class Schedule:
    """Elimination of one block matrix, see `vbg.assemble.elimination`.

    `stream` is read by the factor and solve kernels; `storage` is the offset of the
    factor in the workspace, `pivots` that of its inverse pivots by unknown (zero
    where a row depends on others), `scratch` of the work space,
    `kept` of a copy of the matrix where solutions are refined (else 0).
    """

    stream: NDArray[np.int64]
    storage: int
    size: int
    unknowns: int
    scratch: int
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    """The tape and its workspace.

    `workspace` holds the constants, zero elsewhere; `inputs` and `outputs` give
    offset and shape by name.  Copies of `workspace` belong to a run.
    """

    workspace: NDArray[np.float64]
    segments: NDArray[np.int64]
    operands: NDArray[np.int64]
    factors: NDArray[np.float64]
    schedules: tuple[Schedule, ...]
    stream: NDArray[np.int64]
    inputs: Mapping[str, tuple[int, int, int]]
    outputs: Mapping[str, tuple[int, int, int]]

    @property
    def operations(self) -> int:
        return int(self.segments[:, 1].sum())
