"""What of a joint force is determined though its components are not.

Where rows are redundant, efforts are unique up to combinations that do nothing.  The part of
these at the three components of one force spans directions; across them the force is
determined, whatever axes it is written in: in a plane loop of hinges the whole force in the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.constraints import vectors_of
from vbg.assemble.derive.equations import Constraint

Array = NDArray[np.float64]

NOTHING = 1e-7  # part of the largest entry of a combination, below which it is zero


@dataclass(frozen=True, slots=True)
class Projection:
    """`axes` (k, size): unit vectors along which the `quantity` of `part` is determined, in the
    axes of its `components`, those of the joint's first body."""

    part: str
    quantity: str
    components: tuple[str, ...]
    axes: Array

    def __str__(self) -> str:
        lines = (", ".join(f"{value:.4g}" for value in _rounded(axis)) for axis in self.axes)
        along = " and ".join(f"({line})" for line in lines)
        return f"{self.part}.{self.quantity} ({', '.join(self.components)}) along {along}"


def determined(
    constraints: Sequence[Constraint], null: Array, lengths: Array
) -> tuple[Projection, ...]:
    """Projections that are determined of vectors of which some component is not, and which are
    no components themselves.  `null` (m, d): efforts that do nothing; `lengths` (m,): those of
    their rows, along which forces count as torques, all of one force alike."""
    labels = {c.first + i: (c.name, label) for c in constraints for i, label in enumerate(c.labels)}
    alike = lengths.copy()
    for first, count in vectors_of(constraints):
        alike[first : first + count] = lengths[first : first + count].mean()
    null = null * alike[:, None]
    size = np.abs(null).max(axis=0, initial=0.0)
    null = null / np.where(size > 0.0, size, 1.0)
    found = []
    for first, count in vectors_of(constraints):
        here = null[first : first + count]
        U, values, _ = np.linalg.svd(here)
        free = int(np.count_nonzero(values > NOTHING))
        marked = int(np.count_nonzero(np.abs(here).max(axis=1, initial=0.0) > NOTHING))
        if 0 < free < marked:
            rows = [labels[first + i] for i in range(count)]
            (name, label), *_ = rows
            components = tuple(label.rpartition(".")[2] for _, label in rows)
            quantity = label.rpartition(".")[0]
            found.append(Projection(name, quantity, components, _along(U[:, free:])))
    return tuple(found)


def _along(U: Array) -> Array:
    """An orthonormal basis of the columns of U that does not depend on how they came: from
    the projections of the axes, the largest first."""
    onto = U @ U.T
    basis: list[Array] = []
    for _ in range(U.shape[1]):
        axis = onto[:, int(np.argmax(np.diag(onto)))]
        axis = axis / np.linalg.norm(axis)
        basis.append(axis)
        onto = onto - np.outer(axis, axis @ onto)
    return np.array(basis)


def _rounded(axis: Array) -> Array:
    return np.where(np.abs(axis) < 1e-6, 0.0, axis)
