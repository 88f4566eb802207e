"""Joints that the geometry of two solids suggests.

    round faces on one axis, pin in hole            cylindrical; with a shoulder revolute
    round faces on two or more axes                 fixed (two pins)
    a ball in a socket                              spherical
    plane faces on one another, one normal          planar; two normals prismatic, three fixed

A pin is a cylinder with material inside, a hole one with material outside; they belong together
where their axes are one, their radii differ by at most `CLEARANCE`, and they overlap along it.  A
shoulder is a pair of plane faces across that axis which touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vbg.solids.occ import Array, Part, Surface

CLEARANCE = 0.02  # of the radius
PARALLEL = 1e-6  # [rad]
TOGETHER = 1e-6  # of the parts' size


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A joint of `kind` at `point` [m] with `axis`, in the axes of the file, and why."""

    first: str
    second: str
    kind: str
    point: Array
    axis: Array | None
    evidence: str


def proposals(parts: Sequence[Part]) -> tuple[Proposal, ...]:
    """What the faces of every two parts suggest, in the order of the file."""
    faces = {part.name: part.surfaces() for part in parts}
    found = []
    for a, b in combinations(parts, 2):
        size = float(max(np.linalg.norm(p.high - p.low) for p in (a, b)))
        near = TOGETHER * size
        if (a.low > b.high + near).any() or (b.low > a.high + near).any():
            continue
        proposal = _between(a.name, b.name, faces[a.name], faces[b.name], near)
        if proposal is not None:
            found.append(proposal)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Seat:
    """A pin in a hole: the middle of what they share along `axis`, its length, both radii."""

    point: Array
    axis: Array
    length: float
    pin: float
    hole: float


def _between(
    first: str, second: str, a: Sequence[Surface], b: Sequence[Surface], near: float
) -> Proposal | None:
    balls = list(_balls(a, b, near))
    if balls:
        centre, radius = balls[0]
        why = f"a ball and a socket of {1e3 * radius:.4g} mm about one centre"
        return Proposal(first, second, "spherical", centre, None, why)
    seats, contacts = list(_seats(a, b, near)), list(_contacts(a, b, near))
    if not seats:
        return _on_planes(first, second, contacts)
    axes = [seats[0]]
    axes += [s for s in seats[1:] if not any(_one_axis(s, other, near) for other in axes)]
    seat = max(seats, key=lambda s: s.length)
    why = (
        f"a pin of {1e3 * seat.pin:.4g} mm radius in a hole of {1e3 * seat.hole:.4g} mm, over "
        f"{1e3 * seat.length:.4g} mm"
    )
    if len(axes) > 1:
        why = f"{len(axes)} pins in holes on axes apart, {why}"
        return Proposal(first, second, "fixed", seat.point, None, why)
    if any(_across(seat.axis, plane.axis) for plane in contacts):
        why += ", with a shoulder"
        return Proposal(first, second, "revolute", seat.point, seat.axis, why)
    return Proposal(first, second, "cylindrical", seat.point, seat.axis, why)


def _across(axis: Array, normal: Array) -> bool:
    return float(np.linalg.norm(np.cross(axis, normal))) < PARALLEL


def _seats(a: Sequence[Surface], b: Sequence[Surface], near: float) -> Iterator[_Seat]:
    for one in a:
        for other in b:
            if one.kind != "cylinder" or other.kind != "cylinder" or one.hollow == other.hollow:
                continue
            pin, hole = (other, one) if one.hollow else (one, other)
            if not -near <= hole.radius - pin.radius <= CLEARANCE * hole.radius + near:
                continue
            away = other.point - one.point
            if not _across(one.axis, other.axis):
                continue
            if np.linalg.norm(away - (away @ one.axis) * one.axis) > near:
                continue
            sign = 1.0 if one.axis @ other.axis > 0 else -1.0
            ends = sorted(float(away @ one.axis) + sign * s for s in other.span)
            low, high = max(min(one.span), ends[0]), min(max(one.span), ends[1])
            if high - low > near:
                middle = one.point + 0.5 * (low + high) * one.axis
                yield _Seat(middle, one.axis, high - low, pin.radius, hole.radius)


def _one_axis(a: _Seat, b: _Seat, near: float) -> bool:
    away = b.point - a.point
    return _across(a.axis, b.axis) and bool(np.linalg.norm(away - (away @ a.axis) * a.axis) <= near)


def _balls(
    a: Sequence[Surface], b: Sequence[Surface], near: float
) -> Iterator[tuple[Array, float]]:
    for one in a:
        for other in b:
            if one.kind == other.kind == "sphere" and one.hollow != other.hollow:
                pin, hole = sorted((one.radius, other.radius))
                close = hole - pin <= CLEARANCE * hole + near
                if close and np.linalg.norm(one.point - other.point) <= near:
                    yield one.point, pin


def _contacts(a: Sequence[Surface], b: Sequence[Surface], near: float) -> Iterator[Surface]:
    """Plane faces of the first that lie on one of the second, normals against each other."""
    for one in a:
        for other in b:
            if one.kind != "plane" or other.kind != "plane" or one.axis @ other.axis > 0:
                continue
            if not _across(one.axis, other.axis):
                continue
            if abs((other.point - one.point) @ one.axis) > near:
                continue
            shared = np.minimum(one.high, other.high) - np.maximum(one.low, other.low)
            flat = np.abs(one.axis) > 0.9
            boxes = (shared[~flat] > near).all() and (shared > -near).all()
            if boxes and one.apart(other) <= near:
                yield one
                break


def _on_planes(first: str, second: str, contacts: Sequence[Surface]) -> Proposal | None:
    """What plane faces alone leave free."""
    if not contacts:
        return None
    normals: list[Array] = []
    for plane in contacts:
        if not any(_across(plane.axis, normal) for normal in normals):
            normals.append(plane.axis)
    why = f"plane faces on one another, normals along {len(normals)} of the axes of space"
    point = 0.5 * (contacts[0].low + contacts[0].high)
    if len(normals) == 1:
        return Proposal(first, second, "planar", point, normals[0], why)
    along = np.cross(normals[0], normals[1])
    along = along / np.linalg.norm(along)
    if all(abs(along @ normal) < PARALLEL for normal in normals):
        return Proposal(first, second, "prismatic", point, along, why)
    return Proposal(first, second, "fixed", point, None, why)
