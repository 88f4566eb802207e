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
    norms = [{z: np.linalg.norm(block, axis=1) for z, block in row.items()} for row in rows]
    known = dict.fromkeys(sliding, length) | dict.fromkeys(turning, 1.0)
    units = _first_units(norms, known)
    for _ in range(SWEEPS):
        sums, counts = dict.fromkeys(units, 0.0), dict.fromkeys(units, 0)
        for row in norms:
            whole = _length(row, units)
            inverse = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole > 0.0)
            for z, norm in row.items():
                share = norm * units[z] * inverse
                sums[z] += float(share @ share)
                counts[z] += int(np.count_nonzero(norm))
        for z, total in sums.items():
            if total > 0.0:
                units[z] /= np.sqrt(total / counts[z])
    spins = [units[z] for z in turning if z in units]
    common = float(np.exp(np.mean(np.log(spins)))) if spins else 1.0
    units = {z: unit / common for z, unit in units.items()}
    lengths, blocks = [], []
    for written, norm in zip(rows, norms, strict=True):
        whole = _length(norm, units)
        whole[whole <= NOTHING * whole.max(initial=0.0)] = 0.0
        inverse = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole > 0.0)
        lengths.append(whole)
        blocks.append({z: block * (units[z] * inverse)[:, None] for z, block in written.items()})
    return ScaledRows(sizes, tuple(blocks), np.concatenate([*lengths, np.zeros(0)]), units)


def _first_units(
    norms: Sequence[Mapping[int, Array]], known: Mapping[int, float]
) -> dict[int, float]:
    """Units of all stores: those that are `known`, and such that the entries of another are as
    long as those of the known ones in the same rows, on the average; 1 where there are none."""
    units = {z: known.get(z, 1.0) for row in norms for z in row}
    shares: dict[int, list[Array]] = {}
    for row in norms:
        beside = {z: norm for z, norm in row.items() if z in known}
        if not beside:
            continue
        whole = _length(beside, units)
        for z, norm in row.items():
            both = (whole > 0.0) & (norm > 0.0)
            shares.setdefault(z, []).append(np.log(whole[both] / norm[both]))
    for z in shares.keys() - known.keys():
        ratios = np.concatenate(shares[z])
        if len(ratios):
            units[z] = float(np.exp(ratios.mean()))
    return units


def _length(norms: Mapping[int, Array], units: Mapping[int, float]) -> Array:
    total = sum((norm * units[z]) ** 2 for z, norm in norms.items())
    return np.asarray(np.sqrt(total))


def only(rows: ScaledRows, among: NDArray[np.bool_]) -> ScaledRows:
    """The same with zeros for all rows that are not `among` these."""
    blocks, first = [], rows.first
    for i, row in enumerate(rows.blocks):
        here = among[first[i] : first[i + 1], None]
        blocks.append({z: block * here for z, block in row.items()})
    return replace(rows, blocks=tuple(blocks), lengths=rows.lengths * among)
