"""Joints of a parameter file as joints of a model.

Both ends give a frame: F on the first body, M on the second.  A revolute joint turns about
axis 3, a prismatic one and a line go along it, a plane is normal to it; a universal joint
turns about axis 3 of F and axis 2 of M (MBDyn's Cardano hinge).  What the frames say of the
joint's angle at the written posture becomes its start value, so that an angle means what
the file means by it.

MBDyn's `prismatic` only keeps two bodies parallel, and a slider is written as `inline` and
`prismatic` between the same nodes: these two are read as one joint.  A `prismatic` alone is
a slider along its axis 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.errors import Problem
from vbg.io.mstmmsim.nodes import End, Node, end_on, ends_with_ground
from vbg.io.mstmmsim.schema import KINDS, ONE_NODE
from vbg.io.mstmmsim.tree import Element, refused
from vbg.io.mstmmsim.values import Scope, entry_of, require_name, split
from vbg.plumbing.words import with_article
from vbg.spatial import Array

NO_AXES = ("spherical", "fixed")
TURNED = 1e-6  # [rad] frames nearer than this are written as equal; rounded files are
ZERO_ANGLE = 1e-12  # [rad]


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """One joint between `first` and `second`; `R_FM` at the written posture, None where
    an end gives no frame."""

    element: Element
    name: str
    kind: str
    first: End
    second: End
    R_FM: Array | None
    speed: str = ""  # of an axialrotation [rad/s], as written

    @property
    def pair(self) -> frozenset[str]:
        """The two bodies."""
        return frozenset((self.first.body, self.second.body))


def joints_of(
    scope: Scope, root: Element, nodes: Mapping[str, Node], axes: Mapping[str, Array]
) -> tuple[list[Joint], list[Problem]]:
    """The joints and what is to be told of them.  `axes`: R_WB of every body and the ground."""
    joints: dict[str, Joint] = {}
    notes: list[Problem] = []
    elements = root.find("elements")
    group = elements.find("joints") if elements is not None else None
    for element in group.children if group is not None else ():
        name = element.said("name")
        where = f"joints.{name}"
        require_name(scope, element, "joints", name)
        if name in joints:
            raise refused(scope.file, element, where, "a second joint of this name.")
        ends = _ends(scope, nodes, element)
        if ends is None:
            notes.append(_note(scope, element, where, "left out: its node is static already."))
            continue
        joints[name] = _joint(scope, element, name, ends, axes)
    return _with_sliders(scope, list(joints.values()), notes), notes


def _note(scope: Scope, element: Element, where: str, what: str) -> Problem:
    return Problem("note", where, what, "", scope.file, element.line, 1)


def _ends(scope: Scope, nodes: Mapping[str, Node], element: Element) -> tuple[End, End] | None:
    first, second = element.find("node1"), element.find("node2")
    one = element.find("node")
    where = f"joints.{element.said('name')}"
    if one is not None and first is None and second is None:
        return ends_with_ground(scope, nodes, element)
    if one is not None or first is None or second is None:
        raise refused(
            scope.file, element, where, "needs either <node> or both <node1> and <node2>."
        )
    if any(element.said(tag) for tag in ONE_NODE):
        what = "a joint of two nodes has its offsets and axes inside <node1> and <node2>."
        raise refused(scope.file, element, where, what)
    ends = end_on(scope, nodes, first, "name"), end_on(scope, nodes, second, "name")
    if ends[0].body == ends[1].body:
        raise refused(scope.file, element, where, f"joins {ends[0].body} with itself.")
    return ends


def _joint(
    scope: Scope, element: Element, name: str, ends: tuple[End, End], axes: Mapping[str, Array]
) -> Joint:
    kind = KINDS[element.tag]
    first, second = ends
    if kind not in NO_AXES and (first.R is None or (kind == "universal" and second.R is None)):
        raise refused(
            scope.file,
            first.element,
            f"joints.{name}",
            f"{with_article(element.tag)} needs its axes; relativeaxisorientation gives no axis 3.",
            "Write hinge, 1, x, y, z, 3, x, y, z.",
        )
    R_FM = None
    if first.R is not None and second.R is not None:
        R_FM = (axes[first.body] @ first.R).T @ axes[second.body] @ second.R
        _require_frames(scope, element, name, kind, R_FM)
    speed = element.find("angularvelocity")
    text = "" if speed is None else speed.text.removeprefix("const,").strip()
    if speed is not None:
        if len(split(text)) != 1:
            what = f"one constant speed [rad/s] is needed, found {speed.text!r}."
            raise refused(scope.file, speed, f"joints.{name}", what)
        scope.value(entry_of(text), speed)
    return Joint(element, name, kind, first, second, R_FM, text)


def _require_frames(scope: Scope, element: Element, name: str, kind: str, R_FM: Array) -> None:
    """The frames may differ by what the joint leaves free, and by nothing else."""
    off = {
        "revolute": float(np.linalg.norm(R_FM[:, 2] - (0.0, 0.0, 1.0))),
        "prismatic": float(np.abs(R_FM - np.eye(3)).max()),
        "fixed": float(np.abs(R_FM - np.eye(3)).max()),
        "universal": abs(float(R_FM[2, 1])),
    }.get(kind, 0.0)
    if off > TURNED:
        raise refused(
            scope.file,
            element,
            f"joints.{name}",
            f"its axes on the two nodes do not fit where these stand: off by {off:.3g} rad.",
            "Check the nodes' absoluteorientation and the hinge's axes 1 and 3.",
        )


def _with_sliders(scope: Scope, joints: list[Joint], notes: list[Problem]) -> list[Joint]:
    """Each `prismatic` and the `inline` between the same bodies as one slider."""
    beside: dict[frozenset[str], list[Joint]] = {}
    for joint in joints:
        beside.setdefault(joint.pair, []).append(joint)
    merged: dict[str, Joint | None] = {}
    for slider in joints:
        others = [joint for joint in beside[slider.pair] if joint is not slider]
        if slider.kind != "prismatic" or not others:
            continue
        where = f"joints.{slider.name}"
        line = others[0]
        if len(others) > 1 or line.kind != "point_on_line":
            names = ", ".join(f"{joint.name} ({joint.element.tag})" for joint in others)
            raise refused(
                scope.file,
                slider.element,
                where,
                f"a prismatic beside {names} between the same nodes keeps them parallel and"
                " nothing else; vbg has no such joint.",
                "Write the two as one joint.",
            )
        merged[line.name] = None
        merged[slider.name] = Joint(
            slider.element, slider.name, "prismatic", line.first, line.second, None
        )
        what = f"and the inline {line.name} between the same nodes are one prismatic joint."
        notes.append(_note(scope, slider.element, where, what))
    return [j for joint in joints if (j := merged.get(joint.name, joint)) is not None]


def document_of(joint: Joint, axes: Mapping[str, Array]) -> dict[str, Any]:
    """The joint as a model file says it."""
    ends = [{"body": end.body, "at": list(end.at)} for end in (joint.first, joint.second)]
    content: dict[str, Any] = {"kind": joint.kind, "between": ends}
    if joint.first.R is None or joint.kind in NO_AXES:
        return content
    content["axis"] = _direction(joint.first.R[:, 2])
    if joint.kind == "universal":
        assert joint.second.R is not None
        content["axis2"] = _direction(joint.second.R[:, 1])
    elif joint.kind in ("revolute", "prismatic") and joint.second.R is not None:
        seen = axes[joint.second.body].T @ axes[joint.first.body] @ joint.first.R[:, 2]
        if np.abs(seen - joint.second.R[:, 2]).max() > ZERO_ANGLE:
            content["axis_on_second"] = _direction(joint.second.R[:, 2])
    start = _start(joint)
    if start:
        content["initial"] = start
    if joint.speed:
        angle = f"{start['angle']!r} + " if start else ""
        content["drive"] = f"{angle}({joint.speed})*t"
    return content


def _start(joint: Joint) -> dict[str, float]:
    """The angles that the frames show at the written posture, where they are not zero."""
    R = joint.R_FM
    if R is None or joint.kind not in ("revolute", "universal"):
        return {}
    if joint.kind == "revolute":
        angles = {"angle": math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])}
    else:  # R = Rz(angle) Ry(angle2)
        angles = {"angle": math.atan2(-R[0, 1], R[1, 1]), "angle2": math.atan2(-R[2, 0], R[2, 2])}
    return angles if any(abs(angle) > ZERO_ANGLE for angle in angles.values()) else {}


def _direction(axis: Array) -> list[float]:
    return [float(x) for x in axis]
