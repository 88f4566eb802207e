"""Mass for links that lack it, taken from their neighbours so that the motion stays the same.

A body without mass, or without a moment of inertia, has no equation of its own.  But mass on
the axis of a hinge belongs to both of its bodies: moved from one to the other, it moves as it
did, and no drive notices (the regrouping of base parameters, Gautier and Khalil 1990).  So a
link that lacks mass is given, of each neighbour across a joint with origin o and axis a,

    revolute     two points, b/2 at o - s a and at o + s a
    planar       the same less b at o: the moments b s^2 (1 - a aᵀ) alone
    prismatic    the moments b s^2 of a ball, for both bodies turn alike

and the neighbour, which has mass enough, has that much less.  Two such links in a row have
nobody to take all moments from and keep a smallest one.  The motion and the drives' loads are
exact; forces in the bearings are off by about the part `SHARE` of the neighbour's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vbg.io.urdf.lump import Group, home_of
from vbg.io.urdf.robot import Array, Mass

SHARE = 1e-5  # of a neighbour's mass
FLOOR = 1e-8  # of the largest principal moment: what is less counts as none
GRAIN = 0.4e-10  # [m^2] of the mass: a ball of 10 um, the least moment of what has a mass
NOTHING = 1e-3  # of these: what is less after neighbours gave is missing still
REACH = 0.1  # [m] of two points that the ground gives


def lacks(mass: Mass | None, part: float = 1.0) -> bool:
    """Whether mass is missing, or a principal moment: less than `part` of the least ones."""
    if mass is None or mass.mass <= 0.0:
        return True
    moments = np.linalg.eigvalsh(mass.J)
    return bool(moments[0] < part * max(FLOOR * moments[-1], GRAIN * mass.mass))


def with_shared_mass(groups: dict[str, Group]) -> tuple[dict[str, Group], tuple[str, ...]]:
    """The groups with mass where it lacked, and the names of those that were given some."""
    needy = {
        name for name, group in groups.items() if group.joint is not None and lacks(group.mass)
    }
    if not needy:
        return groups, ()
    home = home_of(groups)
    found = {name: _Sum.of(group.mass) for name, group in groups.items()}
    for group in groups.values():
        joint = group.joint
        if joint is None:
            continue
        parent = groups[home[joint.parent]]
        if (parent.name in needy) == (group.name in needy):
            continue
        sign = 1.0 if group.name in needy else -1.0  # below zero the child gives
        giver = parent if group.name in needy else group
        amount, reach = _amount(giver.mass)
        on_parent = parent.members[joint.parent] @ joint.X_PJ
        moved = _Moved(joint.kind, sign * amount, reach)
        found[group.name] += moved.at(np.zeros(3), joint.axis)
        if parent.joint is not None:
            found[parent.name] -= moved.at(on_parent.p, on_parent.R @ joint.axis)
    shared = {n: replace(g, mass=found[n].mass()) for n, g in groups.items()}
    return shared, tuple(n for n in groups if n in needy and not lacks(shared[n].mass, NOTHING))


def _amount(giver: Mass | None) -> tuple[float, float]:
    """Mass to move [kg], and the half distance of the points [m], from a body that has some:
    within its own radii of gyration, so that its moments stay positive."""
    if giver is None:  # the ground
        return SHARE, REACH
    return SHARE * giver.mass, float(np.sqrt(np.linalg.eigvalsh(giver.J)[0] / giver.mass))


def least_moment(groups: dict[str, Group], name: str) -> float:
    """The smallest moment for a body among its neighbours [kg m^2]: `FLOOR` of the largest one
    of those next to it that lack nothing.  Below it the motion is lost in rounding."""
    home = home_of(groups)
    beside: dict[str, set[str]] = {n: set() for n in groups}
    for group in groups.values():
        if group.joint is not None:
            parent = home[group.joint.parent]
            beside[parent].add(group.name)
            beside[group.name].add(parent)
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
