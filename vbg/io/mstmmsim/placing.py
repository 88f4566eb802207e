"""Nodes that stand where their joints do not allow it.

The printed file puts both links of its pendulum at the same place.  What a joint says is
meant, since it holds all the time: a body that contradicts the joint through which it is
reached from the ground is left to that joint, and this is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vbg.errors import Problem
from vbg.io.mstmmsim.joints import Joint
from vbg.io.mstmmsim.nodes import GROUND, End, Node
from vbg.io.mstmmsim.tree import refused
from vbg.io.mstmmsim.values import Scope
from vbg.spatial import Array

CLOSE = 1e-6  # of the machine's size: rounded positions are as near as that
COINCIDENT = ("revolute", "spherical", "universal", "fixed")


class _Crossing(NamedTuple):
    joint: Joint
    other: str


def contradicted(
    scope: Scope, nodes: Mapping[str, Node], joints: list[Joint]
) -> tuple[set[str], list[Problem]]:
    """The bodies whose written position contradicts the joint that reaches them, told.

    Raises ModelError where that joint leaves a position open (a slider), so that nobody can
    know what is meant.
    """
    places = {name: scope.values(node.p_WB, node.element) for name, node in nodes.items()}
    axes = {name: node.R_WN for name, node in nodes.items()}
    places[GROUND], axes[GROUND] = np.zeros(3), np.eye(3)
    arms = {
        joint.name: tuple(scope.values(e.at, e.element) for e in (joint.first, joint.second))
        for joint in joints
    }
    size = max(float(np.abs(v).max()) for v in (*places.values(), *sum(arms.values(), ())))
    moved: set[str] = set()
    notes: list[Problem] = []
    for joint, other in _outwards(joints, list(nodes)):
        gap = _gap(joint, places, axes, arms[joint.name])
        distance = float(np.linalg.norm(gap))
        if distance <= CLOSE * size:
            continue
        where = f"joints.{joint.name}"
        said = (
            f"its points on {joint.first.body} and {joint.second.body} are {distance:.4g} m apart"
        )
        if joint.kind not in COINCIDENT:
            remedy = "Check absoluteposition of the nodes and the offsets of the joint."
            raise refused(scope.file, joint.element, where, f"{said}, across its axis.", remedy)
        places[other] = places[other] + (gap if other == joint.first.body else -gap)
        moved.add(other)
        what = f"{said} as the nodes stand; {other} is placed by the joint."
        notes.append(Problem("warning", where, what, "", scope.file, joint.element.line, 1))
    return moved, notes


def _gap(
    joint: Joint, places: Mapping[str, Array], axes: Mapping[str, Array], arms: tuple[Array, ...]
) -> Array:
    """(3,) from the first joint point to the second, W [m], less what the joint leaves free."""

    def point(end: End, arm: Array) -> Array:
        return places[end.body] + axes[end.body] @ arm

    gap = point(joint.second, arms[1]) - point(joint.first, arms[0])
    if joint.kind in COINCIDENT or joint.first.R is None:
        return gap
    z = axes[joint.first.body] @ joint.first.R[:, 2]
    along = (gap @ z) * z
    return along if joint.kind == "point_on_plane" else gap - along


def _outwards(joints: list[Joint], bodies: list[str]) -> list[_Crossing]:
    """The joints by which each body is reached first, from the ground outwards; those
    that fix a point before sliders.  What nothing joins to the ground begins anew."""
    neighbours: dict[str, list[tuple[Joint, str]]] = {}
    for joint in joints:
        first, second = joint.first.body, joint.second.body
        neighbours.setdefault(first, []).append((joint, second))
        neighbours.setdefault(second, []).append((joint, first))
    order: list[_Crossing] = []
    reached: set[str] = set()
    for start in (GROUND, *bodies):
        if start in reached:
            continue
        sure: deque[_Crossing] = deque()
        loose: deque[_Crossing] = deque()

        def meet(body: str, sure: deque[_Crossing] = sure, loose: deque[_Crossing] = loose) -> None:
            reached.add(body)
            for joint, other in neighbours.get(body, ()):
                (sure if joint.kind in COINCIDENT else loose).append(_Crossing(joint, other))

        meet(start)
        while sure or loose:
            crossing = (sure or loose).popleft()
            if crossing.other not in reached:
                order.append(crossing)
                meet(crossing.other)
    return order
