"""The rows that a system is eliminated with, chosen at a posture."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.program.elimination import Elimination, eliminate
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.rows.independent import TOLERANCE, Independent, independent_rows
from vbg.assemble.rows.scaled import ScaledRows, only, scaled
from vbg.assemble.start.constraints.sizes import typical_length
from vbg.assemble.system import System
from vbg.blocks import Block
from vbg.plumbing.once import once
from vbg.plumbing.one_thread import one_thread

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

LOOSEST = 1e-2  # tolerance up to which a known rank is looked for


class RowChoice:
    """Chooses independent rows of a system; holds the workspace of its rows.

    `lengths` (m,): those of the rows where they were looked at last, such that a gap divided by
    them is an angle; 1 for a row of zeros.  `turning`: stores whose flow is the spin of a body,
    `sliding`: those whose flow is a speed."""

    def __init__(self, system: System):
        self._evaluate = Evaluator(system.programs.rows)
        self._places = _places(system)
        self._constraints = len(system.equations.rows_on_stores)
        self.turning, self.sliding = _turning(system), _sliding(system)
        self._length, self._order = typical_length(system), _order(system)
        constraints = system.equations.constraints
        idle = [c.active is not None for c in constraints for _ in c.labels]
        self._idle = np.array(idle, dtype=bool)
        self.lengths: Array = np.ones(len(idle))

    def unscaled_at(self, t: float, x: Array) -> list[dict[int, Array]]:
        """Coefficients of each constraint on each of its stores at (t, x)."""
        self._evaluate(t, x)
        rows: list[dict[int, Array]] = [{} for _ in range(self._constraints)]
        work = self._evaluate.work
        for i, z, at, shape in self._places:
            rows[i][z] = work[at : at + shape[0] * shape[1]].reshape(shape).copy()
        return rows

    def forces_at(self, t: float, x: Array, efforts: Array) -> Array:
        """What these efforts of all constraints are on the stores at (t, x), G^T e, those of one
        store behind the other's."""
        column, each = self._forces(t, x, efforts)
        return np.asarray(np.bincount(column, each), dtype=float)

    def terms_at(self, t: float, x: Array, efforts: Array) -> Array:
        """How large the terms are of which each of `forces_at` is the sum: of their magnitudes."""
        column, each = self._forces(t, x, efforts)
        return np.asarray(np.bincount(column, np.abs(each)), dtype=float)

    def _forces(self, t: float, x: Array, efforts: Array) -> tuple[Places, Array]:
        self._evaluate(t, x)
        words, row, column = self._entries
        return column, self._evaluate.work[words] * efforts[row]

    @cached_property
    def _entries(self) -> tuple[Places, Places, Places]:
        """Of each coefficient its word, the number of its row and that of its column."""
        constraint, store, at, shape = map(np.array, zip(*self._places, strict=True))
        height, width = shape.T
        lines = np.repeat(width, height)  # of each line of a block its length
        within = spans(np.zeros(len(height), dtype=np.int64), height)
        begin = np.repeat(at, height) + within * lines
        row = np.repeat(_first(constraint, height)[constraint], height) + within
        column = np.repeat(_first(store, width)[store], height)
        return spans(begin, lines), np.repeat(row, lines), spans(column, lines)

    def rows_at(self, t: float, x: Array) -> ScaledRows:
        found = scaled(self.unscaled_at(t, x), self.turning, self.sliding, self._length)
        self.lengths = np.where(found.lengths > 0.0, found.lengths, 1.0)
        return found

    def choose(
        self, t: float, x: Array, tolerance: float = TOLERANCE, among: Mask | None = None
    ) -> Independent:
        """Rows (of those `among`) that are independent at (t, x) as far as `tolerance` tells."""
        rows = self.rows_at(t, x)
        if among is not None:
            rows = only(rows, among)
        with one_thread():
            return independent_rows(rows, self._order, tolerance)

    def choose_number(self, t: float, x: Array, number: int) -> Independent | None:
        """As many independent rows; None where no tolerance gives that number."""
        rows, tolerance = self.rows_at(t, x), TOLERANCE
        with one_thread():
            while tolerance <= LOOSEST:
                found = independent_rows(rows, self._order, tolerance)
                count = int(np.count_nonzero(found.kept))
                if count <= number:
                    return found if count == number else None
                tolerance *= 10.0
        return None

    def kept(self, found: Independent) -> Mask:
        """The rows to eliminate with: independent ones, and those that are idle, whose effort
        is zero."""
        return found.kept | self.idle(found)

    def idle(self, found: Independent) -> Mask:
        """Rows of zeros that may come to life."""
        there = found.kept.copy()
        there[found.dependent] = True
        return self._idle & ~there


def spans(first: ArrayLike, sizes: ArrayLike) -> Places:
    """first, first + 1, ... of each span, one span behind the other."""
    sizes = np.asarray(sizes, dtype=np.int64)
    begin = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(np.asarray(first, dtype=np.int64) - begin, sizes)


def _first(number: Places, size: Places) -> Places:
    """Where what has each number begins, of things of these sizes, one behind the other."""
    sizes = np.zeros(number.max() + 1, dtype=np.int64)
    sizes[number] = size
    return np.cumsum(sizes) - sizes


def every_row(system: System) -> Array:
    """Room for a choice of rows: 1 for each row, and for each held coordinate behind them."""
    e = system.equations
    return np.ones(max(len(system.constraint_names), e.held_values.size, e.held_speeds.size))


@once
def _places(system: System) -> list[tuple[int, int, int, tuple[int, int]]]:
    """Of each block of coefficients its constraint, its store, its first word and its shape."""
    found = []
    for name, (at, rows, columns) in system.programs.rows.outputs.items():
        i, z = map(int, name.split())
        found.append((i, z, at, (rows, columns)))
    return found


@once
def _order(system: System) -> Elimination:
    """Least degree among constraints that share a store."""
    rows = system.equations.rows_on_stores
    users: dict[Block, list[int]] = {}
    for i, row in enumerate(rows):
        for z in row:
            users.setdefault(z, []).append(i)
    pairs = [pair for group in users.values() for pair in combinations(group, 2)]
    return eliminate(len(rows), pairs)


@once
def _turning(system: System) -> frozenset[int]:
    """Stores whose flow is the spin of a body; that of a flexible one holds the speeds of its
    modes, too, which have units of their own."""
    spins = {f"Z of {body}.angular_momentum.I" for body in system.causal.graph.bodies}
    stores = enumerate(system.equations.stores_of_rows)
    return frozenset(k for k, z in stores if z.data in spins and z.rows == 3)


@once
def _sliding(system: System) -> frozenset[int]:
    """Stores whose flow is a speed, of bodies or along a line."""
    vertices = system.causal.graph.vertices
    stores = enumerate(system.equations.stores_of_rows)
    names = ((k, z.data.removeprefix("Z of ")) for k, z in stores)
    return frozenset(k for k, n in names if n in vertices and vertices[n].domain == "translation")
