"""Which bodies of MuJoCo move as one, and which of these are bodies of the model.

Bodies without joints are welded to their parents.  MuJoCo lets the body that has the joints be
without mass where one welded on it has some: so it is the group that moves, and the first of
its bodies that could stand alone carries the group's joints.  Masses of bodies that could not
stand alone (no moment of inertia) are added to it, by Steiner's theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.spatial import Array, rotation_matrix


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """mass [kg], mass centre (3,) [m] and inertia about it (3, 3) [kg m^2], axes of the world."""

    mass: float
    centre: Array
    J: Array

    def __add__(self, other: Solid) -> Solid:
        mass = self.mass + other.mass
        centre = (self.mass * self.centre + other.mass * other.centre) / mass
        J = self.J + other.J
        for one in (self, other):
            r = one.centre - centre
            J = J + one.mass * (r @ r * np.eye(3) - np.outer(r, r))
        return Solid(mass, centre, J)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """`solids`: the bodies of the model, by MuJoCo's number, in the posture of the data;
    `holders`: of every body the one of these that it moves with, 0 for the ground; `first`: the
    one that carries the joints of a group, by the group's topmost body; `lumped`: the bodies whose
    masses were added to others."""

    solids: Mapping[int, Solid]
    holders: Mapping[int, int]
    first: Mapping[int, int]
    lumped: tuple[int, ...]


def groups_of(m: Any, d: Any) -> Groups:
    """Of a compiled model in the posture of its data."""
    heavy = {b: _solid(m, d, b) for b in range(1, m.nbody) if m.body_mass[b] > 0.0}
    standing = {b: s for b, s in heavy.items() if np.linalg.eigvalsh(s.J)[0] > 0.0}
    first: dict[int, int] = {0: 0}
    for b in [*standing, *heavy]:  # in this order: those that stand come before others
        first.setdefault(int(m.body_weldid[b]), b)
    kept = {b: heavy[b] for b in sorted({*standing, *first.values()} - {0})}
    holders = {0: 0}
    for b in range(1, m.nbody):  # parents come first
        above, group = int(m.body_parentid[b]), int(m.body_weldid[b])
        near = holders[above] if int(m.body_weldid[above]) == group else first.get(group, 0)
        holders[b] = b if b in kept else near
    lumped = tuple(b for b in heavy if b not in kept)
    for b in lumped:
        if holders[b]:
            kept[holders[b]] = kept[holders[b]] + heavy[b]
    return Groups(kept, holders, first, lumped)


def _solid(m: Any, d: Any, b: int) -> Solid:
    R = d.xmat[b].reshape(3, 3) @ rotation_matrix(m.body_iquat[b])
    J = R @ np.diag(m.body_inertia[b]) @ R.T
    return Solid(float(m.body_mass[b]), np.array(d.xipos[b]), J)
