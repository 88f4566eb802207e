"""Mass for links that lack it, taken from their neighbours so that the motion stays the same.

A body without mass, or without a moment of inertia, has no equation of its own.  But mass on
the axis of a hinge belongs to both of its bodies: moved from one to the other, it moves as it
did, and no drive notices (the regrouping of base parameters, Gautier and Khalil 1990).  So a
link that lacks mass is given, of each neighbour across a joint with origin o and axis a,

    revolute     two points, b/2 at o - s a and at o + s a
    planar       the same less b at o: the moments b s^2 (1 - a aᵀ) alone
    prismatic    the moments b s^2 of a ball, for both bodies turn alike

and the neighbour has that much less.  Of several such links in a row each passes a part of what it
was given on to the next.  Then one of them may be left with a negative moment, and must be: three
hinges through one point, with nothing between them, have a posture without inertia about some
axis, which no row of positive bodies has.  The motion and the drives' loads are exact, and so is
the kinetic energy of the whole; forces in the bearings are off by about the part `SHARE` of the
neighbour's, moments by the part `TURNING` of what its least moment of inertia asks for: with ten
times less of that rounding would show in the drives' loads.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vbg.io.urdf.lump import Group, home_of
from vbg.io.urdf.robot import Array, Mass

SHARE = 1e-6  # of a neighbour's mass: by it forces in bearings are off
TURNING = 1e-3  # of its smallest moment of inertia: by it moments in bearings are off
FLOOR = 1e-8  # of the largest principal moment: what is less counts as none
GRAIN = 0.4e-10  # [m^2] of the mass: a ball of 10 um, the least moment of what has a mass
NOTHING = 1e-3  # of these: what is less after neighbours gave is missing still


def lacks(mass: Mass | None, part: float = 1.0) -> bool:
    """Whether mass is missing, or a principal moment: less than `part` of the least ones, of
    either sign.  A negative one that is more than rounding is what the file says."""
    if mass is None or mass.mass <= 0.0:
        return True
    moments = np.abs(np.linalg.eigvalsh(mass.J))
    return bool(moments.min() < part * max(FLOOR * moments.max(), GRAIN * mass.mass))


def with_shared_mass(
    groups: dict[str, Group], *, free: bool
) -> tuple[dict[str, Group], tuple[str, ...]]:
    """The groups with mass where it lacked, and the names of those that were given some; whether
    a root that has mass is `free`, or the ground."""
    needy = {
        name for name, group in groups.items() if group.joint is not None and lacks(group.mass)
    }
    if not needy:
        return groups, ()
    home = home_of(groups)
    held = {n for n, g in groups.items() if g.joint is None and not (free and g.mass is not None)}
    gifts = _gifts(groups, needy, held)
    found = {name: _Sum.of(group.mass) for name, group in groups.items()}
    for group in groups.values():
        joint = group.joint
        if joint is None:
            continue
        parent = groups[home[joint.parent]]
        if needy.isdisjoint((parent.name, group.name)):
            continue
        ends = sorted((parent.name, group.name), key=lambda n: (n in needy, -gifts[n].moment))
        gift = gifts[ends[0]]
        sign = 1.0 if ends[0] == parent.name else -1.0  # below zero the child gives
        on_parent = parent.members[joint.parent] @ joint.X_PJ
        moved = _Moved(joint.kind, sign * gift.amount, gift.reach)
        found[group.name] += moved.at(np.zeros(3), joint.axis)
        if parent.name not in held:
            found[parent.name] -= moved.at(on_parent.p, on_parent.R @ joint.axis)
    shared = {n: replace(g, mass=found[n].mass()) for n, g in groups.items()}
    return shared, tuple(n for n in groups if n in needy and not lacks(shared[n].mass, NOTHING))


@dataclass(frozen=True, slots=True)
class _Gift:
    """What a body gives across each of its joints: mass [kg], and how far its two points are from
    the joint's middle [m]."""

    amount: float
    reach: float

    @property
    def moment(self) -> float:
        return self.amount * self.reach**2


def _gifts(groups: dict[str, Group], needy: set[str], held: set[str]) -> Mapping[str, _Gift]:
    """Of bodies that have mass enough, by their own; the ground, which is `held`, gives as much as
    the largest of them; each that needs some passes on, to all its neighbours together, less
    than the largest gift that reaches it."""
    beside = _neighbours(groups)
    gifts = {n: _own_gift(group.mass) for n, group in groups.items() if n not in needy}
    most = max(gifts.values(), key=lambda gift: gift.moment)
    gifts |= dict.fromkeys(held, most)
    waiting = [(-gift.moment, name) for name, gift in gifts.items()]
    heapq.heapify(waiting)
    while waiting:
        _, name = heapq.heappop(waiting)
        for other in sorted(beside[name] - gifts.keys()):
            part = gifts[name].amount / len(beside[other])
            gifts[other] = _Gift(part, gifts[name].reach)
            heapq.heappush(waiting, (-gifts[other].moment, other))
    return gifts


def _own_gift(mass: Mass | None) -> _Gift:
    """Two points whose mass and moment are small beside the body's own."""
    if mass is None or mass.mass <= 0.0:  # a root that is held, or floats without mass
        return _Gift(0.0, 0.0)
    smallest = float(np.abs(np.linalg.eigvalsh(mass.J)).min())
    amount = SHARE * mass.mass
    return _Gift(amount, float(np.sqrt(TURNING * smallest / amount)))


def _neighbours(groups: dict[str, Group]) -> dict[str, set[str]]:
    """Of each group, those that a joint holds to it."""
    home = home_of(groups)
    beside: dict[str, set[str]] = {n: set() for n in groups}
    for group in groups.values():
        if group.joint is not None:
            parent = home[group.joint.parent]
            beside[parent].add(group.name)
            beside[group.name].add(parent)
    return beside


def least_moment(groups: dict[str, Group], name: str) -> float:
    """The smallest moment for a body among its neighbours [kg m^2]: `FLOOR` of the largest one
    of those next to it that lack nothing.  Below it the motion is lost in rounding."""
    beside = _neighbours(groups)
    seen, waiting, largest = {name}, [name], 0.0
    while waiting:
        for other in beside[waiting.pop()] - seen:
            seen.add(other)
            mass = groups[other].mass
            if mass is None or lacks(mass):
                waiting.append(other)
            else:
                largest = max(largest, float(np.linalg.eigvalsh(mass.J)[-1]))
    return FLOOR * largest


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """Mass [kg], mass times centre [kg m], and inertia about the link's origin [kg m^2]."""

    m: float
    h: Array
    J: Array

    @staticmethod
    def of(mass: Mass | None) -> _Sum:
        if mass is None:
            return _Sum(0.0, np.zeros(3), np.zeros((3, 3)))
        return _Sum(mass.mass, mass.mass * mass.centre, mass.J + mass.mass * _steiner(mass.centre))

    def __add__(self, other: _Sum) -> _Sum:
        return _Sum(self.m + other.m, self.h + other.h, self.J + other.J)

    def __sub__(self, other: _Sum) -> _Sum:
        return _Sum(self.m - other.m, self.h - other.h, self.J - other.J)

    def mass(self) -> Mass | None:
        """As mass, centre and inertia about it."""
        if self.m <= 0.0:
            return None if not self.J.any() else Mass(0.0, np.zeros(3), self.J)
        centre = self.h / self.m
        return Mass(self.m, centre, self.J - self.m * _steiner(centre))


def _steiner(p: Array) -> Array:
    inertia: Array = p @ p * np.eye(3) - np.outer(p, p)
    return inertia


@dataclass(frozen=True, slots=True)
class _Moved:
    """What is moved across a joint of `kind`: `amount` [kg], points `reach` [m] away."""

    kind: str
    amount: float
    reach: float

    def at(self, o: Array, a: Array) -> _Sum:
        """The same at the point o [m] with the axis a of a link."""
        b, none = self.amount, np.zeros(3)
        moments = b * self.reach**2 * (np.eye(3) - np.outer(a, a))
        if self.kind in ("revolute", "continuous"):
            return _Sum(b, b * o, moments + b * _steiner(o))
        if self.kind == "planar":
            return _Sum(0.0, none, moments)
        if self.kind == "prismatic":
            return _Sum(0.0, none, b * self.reach**2 * np.eye(3))
        return _Sum(0.0, none, np.zeros((3, 3)))
