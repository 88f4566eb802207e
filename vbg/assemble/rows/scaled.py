"""Constraint rows as blocks on the stores, scaled so that nothing but geometry is left.

A row of forces is a unit vector on velocities and a lever on spins, a row of torques a unit
vector on spins alone; rows on volumes and charges have other units again.  Each row is
divided by its length, each store by the size of its entries in those rows, in turn: for a
body that is a length, that of its levers.  What is left does not know units, nor how large
the machine is, nor where its masses are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SWEEPS = 3
SEEN = 1e-7  # part of its row: a lever that only the posture makes so short tells no size
NOTHING = 1e-14  # part of the longest row of a constraint, below which a row is zero


@dataclass(frozen=True, slots=True)
class ScaledRows:
    """`blocks[i][z]` (sizes[i], columns of z): rows of constraint i on store z; each row of
    length 1 or 0.  `lengths` (m,): what the rows were divided by, 0 for a row of zeros;
    `units[z]`: what the columns of a store were multiplied by."""

    sizes: tuple[int, ...]
    blocks: tuple[Mapping[int, Array], ...]
    lengths: Array
    units: Mapping[int, float]

    @property
    def first(self) -> NDArray[np.int64]:
        """Number of the first row of each constraint, and behind them that of all rows."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)


def scaled(
    rows: Sequence[Mapping[int, Array]],
    turning: Collection[int] = frozenset(),
    sliding: Collection[int] = frozenset(),
    length: float = 1.0,
) -> ScaledRows:
    """`rows[i][z]`: coefficients of constraint i on store z, as they stand.  `turning`: stores
    whose flow is a spin; they have the unit 1 on the average, so that a gap of a row,
    divided by its length, is an angle.  `sliding`: those whose flow is a speed; the sweeps begin
    with `length` for them, one of the machine, and for others, as the modes of flexible bodies,
    with what moves their rows alike: from metres they would not come down to micrometres."""
    sizes = tuple(len(next(iter(row.values()))) for row in rows)
    entries = _Entries.of(rows, sizes)
    known = dict.fromkeys(sliding, length) | dict.fromkeys(turning, 1.0)
    units = entries.first_units(known)
    seen = entries.shares(units) > SEEN
    counts = np.bincount(entries.store[seen], minlength=len(units))
    for _ in range(SWEEPS):
        shares = np.where(seen, entries.shares(units), 0.0)
        totals = np.bincount(entries.store, shares**2, len(units))
        there = totals > 0.0
        units[there] /= np.sqrt(totals[there] / counts[there])
    spins = [units[k] for k, z in enumerate(entries.stores) if z in turning]
    units = units / (float(np.exp(np.mean(np.log(spins)))) if spins else 1.0)
    lengths, first = entries.whole(units), np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for i, last in enumerate(first[1:]):
        own = lengths[first[i] : last]
        own[own <= NOTHING * own.max(initial=0.0)] = 0.0
    inverse, unit = _inverse(lengths), dict(zip(entries.stores, units.tolist(), strict=True))
    blocks = tuple(
        {z: block * (unit[z] * inverse[first[i] : first[i + 1], None]) for z, block in row.items()}
        for i, row in enumerate(rows)
    )
    return ScaledRows(sizes, blocks, lengths, unit)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The rows of all blocks, one behind the other: the length `norm` of each, the number `row`
    of the row it is part of among all `rows`, and that of its store among the `stores`."""

    stores: tuple[int, ...]
    rows: int
    norm: Array
    row: NDArray[np.int64]
    store: NDArray[np.int64]

    @staticmethod
    def of(rows: Sequence[Mapping[int, Array]], sizes: Sequence[int]) -> _Entries:
        stores = tuple(dict.fromkeys(z for row in rows for z in row))
        number = {z: k for k, z in enumerate(stores)}
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        blocks = [block for row in rows for block in row.values()]
        widths = np.repeat([b.shape[1] for b in blocks], [len(b) for b in blocks]).astype(int)
        squares = np.concatenate([np.zeros(0), *(b.ravel() for b in blocks)]) ** 2
        begin = np.cumsum(widths) - widths
        norm = np.sqrt(np.add.reduceat(squares, begin)) if len(begin) else np.zeros(0)
        row = [np.arange(first[i], first[i + 1]) for i, row in enumerate(rows) for _ in row]
        store = [np.full(len(b), number[z]) for row in rows for z, b in row.items()]
        none = [np.zeros(0, dtype=int)]
        joined = np.concatenate(none + row), np.concatenate(none + store)
        return _Entries(stores, int(first[-1]), norm, *joined)

    def whole(self, units: Array, among: NDArray[np.bool_] | None = None) -> Array:
        """Lengths of all rows, of the stores `among` these only."""
        squares = (self.norm * units[self.store]) ** 2
        if among is not None:
            squares[~among[self.store]] = 0.0
        return np.sqrt(np.bincount(self.row, squares, self.rows))

    def shares(self, units: Array) -> Array:
        """What part of its row each entry is."""
        return np.asarray(self.norm * units[self.store] * _inverse(self.whole(units))[self.row])

    def first_units(self, known: Mapping[int, float]) -> Array:
        """Units of all stores: those that are `known`, and such that the entries of another are as
        long as those of the known ones in the same rows, on the average; 1 where there are
        none."""
        units = np.array([known.get(z, 1.0) for z in self.stores])
        told = np.array([z in known for z in self.stores], dtype=bool)
        beside = self.whole(units, told)[self.row]
        both = (beside > 0.0) & (self.norm > 0.0) & ~told[self.store]
        ratios = np.log(beside[both] / self.norm[both])
        count = np.bincount(self.store[both], minlength=len(units))
        totals = np.bincount(self.store[both], ratios, len(units))
        there = count > 0
        units[there] = np.exp(totals[there] / count[there])
        return units


def _inverse(lengths: Array) -> Array:
    """1 / length, 0 of a row of zeros."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def only(rows: ScaledRows, among: NDArray[np.bool_]) -> ScaledRows:
    """The same with zeros for all rows that are not `among` these."""
    blocks, first = [], rows.first
    for i, row in enumerate(rows.blocks):
        here = among[first[i] : first[i + 1], None]
        blocks.append({z: block * here for z, block in row.items()})
    return replace(rows, blocks=tuple(blocks), lengths=rows.lengths * among)
