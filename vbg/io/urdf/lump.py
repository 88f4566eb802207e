"""Links that move as one, as one body: what fixed joints hold, and what has no mass.

A group is a link with all that fixed joints carry on it.  Its mass properties are sums over
its links (Steiner), in the axes of its first link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vbg.io.urdf.robot import Mass, Place, Robot, UrdfJoint


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Links that move as one: `members` are their places in the axes of the link `name`,
    `joint` carries the group (None for the root's)."""

    name: str
    joint: UrdfJoint | None
    members: dict[str, Place]
    mass: Mass | None


def groups_of(robot: Robot, *, keep_fixed: bool) -> dict[str, Group]:
    """The groups by their first link, parents before children.

    With `keep_fixed`, a fixed joint whose child could stand alone stays a joint.
    """
    found: dict[str, Group] = {}
    below = robot.below()
    waiting: list[tuple[str, UrdfJoint | None]] = [(robot.root, None)]
    while waiting:
        name, joint = waiting.pop(0)
        members = {name: Place()}
        open_links = [name]
        while open_links:
            link = open_links.pop(0)
            for at in below[link]:
                if at.kind == "fixed" and not (keep_fixed and _stands(robot, at.child)):
                    members[at.child] = members[link] @ at.X_PJ
                    open_links.append(at.child)
                else:
                    waiting.append((at.child, at))
        found[name] = Group(name, joint, members, _sum(robot, members))
    return found


def home_of(groups: dict[str, Group]) -> dict[str, str]:
    """link -> the name of its group."""
    return {link: group.name for group in groups.values() for link in group.members}


def without_massless_ends(groups: dict[str, Group]) -> tuple[dict[str, Group], list[str]]:
    """The groups less those that nothing with a mass hangs on; their joints move nothing."""
    home = home_of(groups)
    heavy: set[str] = set()
    for group in groups.values():
        if group.mass is not None or group.joint is None:
            heavy.update(_upwards(group, groups, home))
    return {n: g for n, g in groups.items() if n in heavy}, [n for n in groups if n not in heavy]


def _upwards(group: Group, groups: dict[str, Group], home: dict[str, str]) -> Iterator[str]:
    while True:
        yield group.name
        if group.joint is None:
            return
        group = groups[home[group.joint.parent]]


def _stands(robot: Robot, link: str) -> bool:
    """Whether the link alone is a body: a mass, and moments of inertia above zero."""
    mass = robot.links[link].mass
    return mass is not None and mass.mass > 0.0 and float(np.linalg.eigvalsh(mass.J)[0]) > 0.0


def _sum(robot: Robot, members: dict[str, Place]) -> Mass | None:
    """m = sum m_i, c = sum m_i c_i / m, J = sum (R_i J_i R_iᵀ + m_i (d_i² 1 - d_i d_iᵀ)); without
    any mass c is 0."""
    parts = []
    for link, place in members.items():
        mass = robot.links[link].mass
        if mass is not None:
            at = place.p + place.R @ mass.centre
            parts.append((mass.mass, at, place.R @ mass.J @ place.R.T))
    if not parts:
        return None
    total = sum(m for m, _, _ in parts)
    centre = sum((m * c for m, c, _ in parts), np.zeros(3)) / (total or 1.0)
    J = np.zeros((3, 3))
    for m, c, own in parts:
        d = c - centre
        J += own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(total, centre, J)
