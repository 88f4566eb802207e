"""Solids that overlap while a machine moves (extra `cad`).

Boxes about the solids first, turned with them, at every row; where two boxes meet, the solids
themselves are intersected by OpenCASCADE, in a process of its own.  Bodies that a joint holds
together are left out: a pin is in its hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, groupby, pairwise, product
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.solids.made import Solids
from vbg.spatial import rotation_matrix

Array = np.ndarray[Any, Any]
LEAST = 1e-9  # of the smaller solid: what shares less touches
MOST_ROWS = 200  # of a pair, spread over those where its boxes meet


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two bodies overlap from `begin` to `end` [s], most at `deepest` [s]: there they share
    `volume` [m^3], and the least extent of it is `depth` [m]."""

    first: str
    second: str
    begin: float
    end: float
    deepest: float
    depth: float
    volume: float


@dataclass(frozen=True, slots=True)
class Interference:
    """`overlaps` in the order of their begin; the pairs `held` by a joint, not looked at; and of
    the pair with the most of them the number of rows `unseen`: its boxes meet there, and its
    solids were not intersected, with at most `gap` [s] from one that was to the next."""

    overlaps: tuple[Overlap, ...]
    held: tuple[tuple[str, str], ...]
    unseen: int
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class _Solid:
    """One solid of a body in its axes: its file, its box (centre and half its sides) [m], volume
    [m^3]."""

    file: str
    centre: Array
    half: Array
    volume: float


@dataclass(frozen=True, slots=True, eq=False)
class _Moving:
    """The solids of a body, its positions (n, 3), its rotations as quaternions (n, 4) and as
    matrices (n, 3, 3)."""

    name: str
    solids: tuple[_Solid, ...]
    positions: Array
    quaternions: Array
    rotations: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """Two bodies; solids of either with the rows (n,) where their boxes meet; where any do; and,
    by row, what the bodies share there: volume [m^3] and depth [m], or None."""

    first: _Moving
    second: _Moving
    time: Array
    solids: tuple[tuple[_Solid, _Solid, Array], ...]
    near: Array
    seen: dict[int, tuple[float, float] | None] = field(default_factory=dict)

    def known(self) -> list[int]:
        """The rows of which it is known whether the bodies overlap."""
        return sorted({*np.flatnonzero(~self.near).tolist(), *self.seen})

    def shared(self, room: Solids, row: int) -> tuple[float, float] | None:
        if not self.near[row]:
            return None
        if row not in self.seen:
            self.seen[row] = _shared(room, self, row)
        return self.seen[row]


def interference(model: Model, time: Array, signals: Mapping[str, Array]) -> Interference:
    """Overlaps of bodies at the instants `time` (n,), with NAME.position (n, 3) and
    NAME.rotation (n, 4) among the `signals`.

    Where the boxes of two bodies meet at more than `MOST_ROWS` rows, their solids are intersected
    at so many of them, evenly spread, and between one that is clear and one that is not until
    begin and end are known to the row.  An overlap that ends and comes back counts again.
    Raises UsageError without OpenCASCADE, or without two solids; ModelError where OpenCASCADE
    fails over two of them.
    """
    shaped = [n for n, body in model.bodies.items() if body.shape]
    if len(shaped) < 2:
        raise UsageError("solids of two bodies are needed: give the bodies shapes.")
    joined = {frozenset(pair) for pair in _joined(model)}
    overlaps: list[Overlap] = []
    unseen, gap = 0, 0.0
    with Solids() as room:
        moving = [_moving(room, n, model.bodies[n].shape, signals) for n in shaped]
        for first, second in combinations(moving, 2):
            if frozenset((first.name, second.name)) in joined:
                continue
            pair = _pair(first, second, time)
            overlaps += _overlaps(room, pair)
            missed = int(pair.near.sum()) - len(pair.seen)
            if missed > unseen:
                unseen, gap = missed, float(np.diff(time[pair.known()]).max())
    overlaps.sort(key=lambda o: (o.begin, o.first, o.second))
    held = (p for p in combinations(shaped, 2) if frozenset(p) in joined)
    return Interference(tuple(overlaps), tuple(held), unseen, gap)


def _overlaps(room: Solids, pair: _Pair) -> Iterator[Overlap]:
    near = np.flatnonzero(pair.near)
    if not len(near):
        return
    for k in np.unique(np.linspace(0, len(near) - 1, MOST_ROWS).round().astype(int)):
        pair.shared(room, int(near[k]))
    for before, after in pairwise(pair.known()):
        _between(room, pair, before, after)
    for shared, rows in groupby(pair.known(), key=lambda row: bool(pair.shared(room, row))):
        if shared:
            yield _overlap(pair, list(rows))


def _between(room: Solids, pair: _Pair, before: int, after: int) -> None:
    """Look, by bisection, at the row where an overlap begins or ends between two known rows."""
    first = pair.shared(room, before) is None
    if first == (pair.shared(room, after) is None):
        return
    while after - before > 1:
        middle = (before + after) // 2
        if (pair.shared(room, middle) is None) == first:
            before = middle
        else:
            after = middle


def _overlap(pair: _Pair, rows: list[int]) -> Overlap:
    """That of consecutive rows."""
    shares = {row: share for row in rows if (share := pair.seen[row])}
    deepest = max(shares, key=lambda row: shares[row])
    begin, end, most = (float(pair.time[row]) for row in (rows[0], rows[-1], deepest))
    volume, depth = shares[deepest]
    return Overlap(pair.first.name, pair.second.name, begin, end, most, depth, volume)


def _moving(room: Solids, name: str, shapes: Any, signals: Mapping[str, Array]) -> _Moving:
    solids = []
    for shape in shapes:
        file, part = room.put(shape)
        low, high = np.array(part.low), np.array(part.high)
        solids.append(_Solid(file, (low + high) / 2.0, (high - low) / 2.0, part.volume))
    quaternions = signals[f"{name}.rotation"]
    rotations = np.array([rotation_matrix(quaternion) for quaternion in quaternions])
    return _Moving(name, tuple(solids), signals[f"{name}.position"], quaternions, rotations)


def _joined(model: Model) -> Iterator[tuple[str, str]]:
    for joint in model.joints.values():
        if isinstance(joint.between[0], Attachment):
            yield joint.between[0].body, joint.between[1].body


def _pair(first: _Moving, second: _Moving, time: Array) -> _Pair:
    solids = tuple(
        (a, b, _boxes_meet(first, a, second, b)) for a, b in product(first.solids, second.solids)
    )
    return _Pair(first, second, time, solids, np.any([meet for _, _, meet in solids], axis=0))


def _boxes_meet(first: _Moving, a: _Solid, second: _Moving, b: _Solid) -> Array:
    """(n,) where none of the 15 axes on which boxes can be apart tells them so: the three of
    each, and their products (Gottschalk, Lin and Manocha, OBBTree, SIGGRAPH 1996).

    With C = A^T B, the axes of b in those of a, and t from the centre of a to that of b in the
    axes of a, a is apart from b along n where |n.t| exceeds what both boxes reach along n.
    """
    across = np.swapaxes(first.rotations, 1, 2)
    turn = across @ second.rotations
    ends = second.positions + second.rotations @ b.centre - first.positions
    t = np.einsum("nij,nj->ni", across, ends) - a.centre
    eye = np.broadcast_to(np.eye(3), turn.shape)
    sides = [eye[:, :, i] for i in range(3)] + [turn[:, :, j] for j in range(3)]
    edges = [np.cross(eye[:, :, i], turn[:, :, j]) for i, j in product(range(3), repeat=2)]
    rounding = 1e-12 * (np.abs(t).max(axis=1) + a.half.max() + b.half.max())
    meet = np.ones(len(t), bool)
    for axis in sides + edges:
        reach = np.abs(axis) @ a.half + np.abs(np.einsum("ni,nij->nj", axis, turn)) @ b.half
        meet &= np.abs(np.einsum("ni,ni->n", axis, t)) <= reach + rounding
    return meet


def _shared(room: Solids, pair: _Pair, row: int) -> tuple[float, float] | None:
    """Volume and depth of what the two bodies share; None where they do not."""
    bodies = (pair.first, pair.second)
    volume, depth = 0.0, 0.0
    what = f"{pair.first.name} and {pair.second.name} at t = {pair.time[row]:.6g} s"
    places = [(m.positions[row].tolist(), m.quaternions[row].tolist()) for m in bodies]
    for a, b, meet in pair.solids:
        if not meet[row]:
            continue
        shared, deep = room.shared((a.file, places[0]), (b.file, places[1]), what)
        if shared > LEAST * min(a.volume, b.volume):
            volume, depth = volume + shared, max(depth, deep)
    return (volume, depth) if volume > 0.0 else None
