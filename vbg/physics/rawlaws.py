"""Laws of raw bond-graph vertices: matrices, energies and expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import (
    Block,
    Coefficients,
    Tangent,
    call,
    inverse,
    leaf,
    rows,
    transpose,
    zeros,
)
from vbg.expressions import names, parse
from vbg.physics.laws import block_of

Matrix = tuple[tuple[float, ...], ...]
_AS_MANY = "Write as many, or change the size."
MOST = 6  # components that an expression can name
LARGEST = 100  # components of a bond
SYMMETRIC = 1e-12  # of the largest entry: rounding of matrices that were computed


def width_faults(
    key: str, signals: Sequence[Any] | None, matrix: Matrix | None = None
) -> Iterator[tuple[str, str, str]]:
    """More components of a bond than a vertex can have: of a source's signals, or of the rows
    and columns of a ratio."""
    widest = max(len(signals or ()), len(matrix or ()), *(len(row) for row in matrix or ((),)))
    if widest > LARGEST:
        told = f"has {widest} components; a bond has {LARGEST} at most."
        yield key, told, "Write as many bonds, each between vertices of its own."


def components(letter: str) -> tuple[str, ...]:
    """p, p0, p1, ...: the variables of an expression of a vector."""
    return (letter, *(f"{letter}{i}" for i in range(MOST)))


def expression(text: str, letter: str, variable: Block) -> Block:
    """The block of an expression in the components of `variable`."""

    def resolve(name: str) -> Block:
        if name == letter:
            return rows(variable, 0, 1)
        at = int(name.removeprefix(letter))
        return rows(variable, at, at + 1)

    return block_of(parse(text), resolve)


def component_faults(
    key: str, texts: tuple[str, ...], letter: str, size: int
) -> Iterator[tuple[str, str, str]]:
    """Expressions in components that a part of `size` has not, or in anything else."""
    used = sorted({name for text in texts for name in names(parse(text))})
    beyond = [name for name in used if name in components(letter)[1 + size :]]
    if beyond:
        told = f"has {', '.join(beyond)}, the size is {size}."
        yield key, told, f"Write {letter}0 to {letter}{size - 1}, or change the size."
    others = [name for name in used if name not in components(letter)]
    if others:
        told = f"reads {', '.join(others)}; it must be a law of {letter} and parameters alone."
        yield key, told, "What follows a signal is a source Se or Sf on a junction beside it."


def gradient(energy: Block, state: Block) -> Block:
    """d energy / d state as a column."""
    direction = leaf("direction", state.rows)
    slope = Coefficients([direction])(Tangent({state: direction})(energy)).get(direction)
    return zeros(state.rows) if slope is None else transpose(slope)


def square(size: int, value: float | None, matrix: Matrix | None) -> NDArray[np.float64]:
    """The matrix of a linear law."""
    return np.eye(size) * (value or 0.0) if matrix is None else np.array(matrix)


def inverse_of(law: Block) -> Block | None:
    """The inverse of a ratio where it has one."""
    if law.is_const:
        regular = law.rows == law.cols and np.linalg.matrix_rank(law.data) == law.rows
        return inverse(law) if regular else None
    return call("reciprocal", law) if law.shape == (1, 1) else None


def _not_a_store(matrix: Matrix) -> Iterator[tuple[str, str, str]]:
    """A matrix of which there is no energy, or none that grows in every direction."""
    A = np.array(matrix)
    largest = float(np.abs(A).max())
    scaled = A / (largest or 1.0)
    off = np.abs(scaled - scaled.T)
    if off.max() > SYMMETRIC:
        i, j = sorted(int(k) for k in np.unravel_index(int(off.argmax()), off.shape))
        told = f"is not symmetric: its entries {i},{j} and {j},{i} are {A[i, j]:g} and {A[j, i]:g}."
        yield "matrix", told, "Only a symmetric one has an energy."
    elif (least := float(np.linalg.eigvalsh(scaled)[0])) <= SYMMETRIC:
        told = f"is not positive definite: its least eigenvalue is {least * largest:.3g}."
        yield "matrix", told, "What stores has an energy in every direction; look at its signs."


def store_faults(
    part: Any, value: float | None, matrix: Matrix | None, letter: str
) -> Iterator[tuple[str, str, str]]:
    """Not exactly one law, or sizes that differ."""
    if (value is not None) + (matrix is not None) + (part.energy is not None) != 1:
        yield "", "needs exactly one of value, matrix and energy.", ""
    if matrix is not None and len(matrix) != part.size:
        yield "matrix", f"has {len(matrix)} rows, the size is {part.size}.", _AS_MANY
    elif matrix is not None:
        yield from _not_a_store(matrix)
    if part.energy is not None:
        yield from component_faults("energy", (part.energy,), letter, part.size)
    if part.initial is not None and len(part.initial) != part.size:
        told = f"has {len(part.initial)} numbers, the size is {part.size}."
        yield "initial", told, _AS_MANY
