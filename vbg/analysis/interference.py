"""Solids that overlap while a machine moves (extra `cad`).

Boxes about the solids first; where two boxes meet, the solids themselves are intersected by
OpenCASCADE, in a process of its own.  Bodies that a joint holds together are left out: a pin is in
its hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.solids.made import Solids

Array = np.ndarray[Any, Any]
LEAST = 1e-9  # of the smaller solid: what shares less touches
MOST_INSTANTS = 200


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


@dataclass(frozen=True, slots=True, eq=False)
class _Solid:
    """One solid of a body in its axes: its file, corners of its box (8, 3) [m], volume [m^3]."""

    file: str
    corners: Array
    volume: float


def interference(
    model: Model, time: Array, signals: Mapping[str, Array]
) -> tuple[tuple[Overlap, ...], tuple[tuple[str, str], ...]]:
    """Overlaps of bodies at the instants `time` (n,), with NAME.position (n, 3) and
    NAME.rotation (n, 4) among the `signals`; and the pairs that a joint holds, not looked at.

    At most `MOST_INSTANTS` instants are looked at, evenly spread.  An overlap that ends and
    comes back counts again.  Raises UsageError without OpenCASCADE, or without two solids;
    ModelError where OpenCASCADE fails over two of them.
    """
    shaped = [n for n, body in model.bodies.items() if body.shape]
    if len(shaped) < 2:
        raise UsageError("solids of two bodies are needed: give the bodies shapes.")
    with Solids() as room:
        solids = {n: list(_solids(room, model.bodies[n].shape)) for n in shaped}
        return _overlaps(model, time, signals, room, solids)


def _overlaps(
    model: Model,
    time: Array,
    signals: Mapping[str, Array],
    room: Solids,
    solids: Mapping[str, list[_Solid]],
) -> tuple[tuple[Overlap, ...], tuple[tuple[str, str], ...]]:
    rows = np.unique(np.linspace(0, len(time) - 1, MOST_INSTANTS).round().astype(int))
    held = {frozenset(pair) for pair in _held(model)}
    pairs = [pair for pair in combinations(solids, 2) if frozenset(pair) not in held]
    found: list[Overlap] = []
    open_: dict[tuple[str, str], Overlap] = {}
    for row in rows:
        t = float(time[row])
        now = {n: (signals[f"{n}.position"][row], signals[f"{n}.rotation"][row]) for n in solids}
        boxes = {n: [_box(s, *now[n]) for s in solids[n]] for n in solids}
        for pair in pairs:
            shared = _shared(room, solids, boxes, now, pair, t)
            if shared is None:
                if pair in open_:
                    found.append(open_.pop(pair))
                continue
            open_[pair] = _grown(open_.get(pair), pair, t, *shared)
    found += open_.values()
    ordered = sorted(found, key=lambda o: (o.begin, o.first, o.second))
    left_out = [p for p in combinations(solids, 2) if frozenset(p) in held]
    return tuple(ordered), tuple(left_out)


def _grown(
    old: Overlap | None, pair: tuple[str, str], t: float, volume: float, depth: float
) -> Overlap:
    if old is None:
        return Overlap(*pair, t, t, t, depth, volume)
    if volume > old.volume:
        return Overlap(*pair, old.begin, t, t, depth, volume)
    return Overlap(*pair, old.begin, t, old.deepest, old.depth, old.volume)


def _solids(room: Solids, shapes: Any) -> Iterator[_Solid]:
    for shape in shapes:
        file, part = room.put(shape)
        ends = np.stack([part.low, part.high])
        corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i, j, k in _SIDES])
        yield _Solid(file, corners, part.volume)


_SIDES = tuple(product((0, 1), repeat=3))


def _held(model: Model) -> Iterator[tuple[str, str]]:
    for joint in model.joints.values():
        if isinstance(joint.between[0], Attachment):
            yield joint.between[0].body, joint.between[1].body


def _box(solid: _Solid, position: Array, quaternion: Array) -> tuple[Array, Array]:
    from vbg.spatial import rotation_matrix

    corners = solid.corners @ rotation_matrix(quaternion).T + position
    return corners.min(axis=0), corners.max(axis=0)


def _shared(
    room: Solids,
    solids: Mapping[str, list[_Solid]],
    boxes: Mapping[str, list[tuple[Array, Array]]],
    now: Mapping[str, tuple[Array, Array]],
    pair: tuple[str, str],
    t: float,
) -> tuple[float, float] | None:
    """Volume and depth of what the two bodies share; None where they do not."""
    first, second = pair
    volume, depth, what = 0.0, 0.0, f"{first} and {second} at t = {t:.6g} s"
    places = [(now[body][0].tolist(), now[body][1].tolist()) for body in pair]
    for a, (a_low, a_high) in zip(solids[first], boxes[first], strict=True):
        for b, (b_low, b_high) in zip(solids[second], boxes[second], strict=True):
            if (a_low >= b_high).any() or (b_low >= a_high).any():
                continue
            shared, deep = room.shared((a.file, places[0]), (b.file, places[1]), what)
            if shared > LEAST * min(a.volume, b.volume):
                volume, depth = volume + shared, max(depth, deep)
    return (volume, depth) if volume > 0.0 else None
