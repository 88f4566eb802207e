"""A joint between two bodies as geometry: its attachments, axes and start values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg import expressions
from vbg.errors import ModelError
from vbg.fields import Attachment
from vbg.model.forms.parts import coordinates_of
from vbg.model.model import Model
from vbg.spatial import (
    Array,
    across,
    axes_of_frame,
    frame_of_axis,
    perpendicular,
    rotation_about,
    rotation_between,
    rotation_matrix,
)

GROUND = "ground"
_Z = np.array([0.0, 0.0, 1.0])
TO_SECOND_AXIS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # Rx(-90 deg)


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One joint between bodies.  `start` has each coordinate's `initial` value,
    `speed` its rate, None where not written; `drive` is a drive's value and
    rate at t = 0, None without one or where a signal gives it."""

    name: str
    part: Any
    first: Attachment
    second: Attachment
    start: Mapping[str, float | None]
    speed: Mapping[str, float | None]
    drive: tuple[float, float] | None

    @property
    def kind(self) -> str:
        """The kind of the joint."""
        kind: str = self.part.kind
        return kind

    def value(self, coordinate: str) -> float:
        """The coordinate at which the joint places a body."""
        return self._first_known(self.start[coordinate], 0)

    def rate(self, coordinate: str) -> float:
        """The coordinate's speed with which the joint moves a body."""
        return self._first_known(self.speed[coordinate], 1)

    def _first_known(self, written: float | None, order: int) -> float:
        if written is not None:
            return written
        return 0.0 if self.drive is None else self.drive[order]


def links_of(model: Model) -> tuple[Link, ...]:
    """The joints between bodies, in the order of the file; couplings are none."""
    return tuple(
        _link(name, part)
        for name, part in model.joints.items()
        if isinstance(part.between[0], Attachment)
    )


def elements_of(model: Model) -> tuple[Link, ...]:
    """Elements of beams and points of flexible bodies, across which bodies are placed as they are
    without load."""
    beams = (
        Link(name, part, part.between[0], part.between[1], {}, {}, None)
        for name, part in model.forces.items()
        if part.kind == "beam_element"
    )
    points = (
        Link(
            name, part, Attachment(part.on.body, tuple(part.place)), Attachment(name), {}, {}, None
        )
        for name, part in model.bodies.items()
        if part.kind == "flexible_point"
    )
    return (*beams, *points)


def _link(name: str, part: Any) -> Link:
    joint: type = type(part)
    names = coordinates_of(joint)
    initial = getattr(part, "initial", None)
    start = {coordinate: getattr(initial, coordinate) for coordinate in names}
    speed = {coordinate: getattr(initial, _rate_name(initial, coordinate)) for coordinate in names}
    first, second = part.between
    return Link(name, part, first, second, start, speed, _drive_at_start(part))


def _rate_name(initial: Any, coordinate: str) -> str:
    if coordinate == "angle2":
        return "speed2"
    return "slide_speed" if coordinate == "slide" and hasattr(initial, "slide_speed") else "speed"


def _drive_at_start(part: Any) -> tuple[float, float] | None:
    drive = getattr(part, "drive", None)
    if drive is None:
        return None
    if not isinstance(drive, str):
        return float(drive), 0.0
    node = expressions.parse(drive)
    if expressions.names(node) - {"t"}:
        return None
    start = expressions.evaluate(node, {"t": 0.0})
    try:
        return start, expressions.evaluate(expressions.derivative(node, "t"), {"t": 0.0})
    except ModelError:
        return start, 0.0  # `check` reports a drive that starts with an infinite speed


def written_rotation(model: Model, body: str) -> Array | None:
    """R_WB as the file has it; None for a body of which neither position nor
    rotation is written."""
    if body == GROUND:
        return np.eye(3)
    part = model.bodies[body]
    if part.rotation is not None:
        return rotation_matrix(part.rotation)
    return np.eye(3) if part.position is not None else None


def axes_of(model: Model, link: Link) -> tuple[Array, Array]:
    """R_AF, R_BM : (3, 3) axes of the joint's frames in its two bodies."""
    R_WA = written_rotation(model, link.first.body)
    R_WB = written_rotation(model, link.second.body)
    own = _frames_joined(link)
    if own is not None:
        return own
    if not hasattr(link.part, "axis"):
        if R_WA is None or R_WB is None:
            return np.eye(3), np.eye(3)
        return np.eye(3), R_WB.T @ R_WA
    if link.kind == "rolling":
        return frame_of_axis(link.part.axis), frame_of_axis(link.part.axis2)
    if link.kind == "universal":
        return _universal_axes(link, None if R_WA is None or R_WB is None else R_WA.T @ R_WB)
    R_AF = frame_of_axis(link.part.axis)
    on_second = getattr(link.part, "axis_on_second", None)
    if R_WA is None or R_WB is None:
        if on_second is None:
            return R_AF, R_AF
        return R_AF, rotation_between(on_second, link.part.axis).T @ R_AF
    R_BM = R_WB.T @ R_WA @ R_AF @ rotation_about(_Z, link.start.get("angle") or 0.0)
    return R_AF, R_BM if on_second is None else frame_of_axis(on_second, R_BM[:, 0])


def _frames_joined(link: Link) -> tuple[Array, Array] | None:
    """R_AF, R_BM of a joint between two frames whose axis, if it has one, is z of both; None of
    any other.  Such a joint has the frames as its own: its zero is where they agree."""
    first, second = link.first.rotation, link.second.rotation
    if first is None or second is None or link.kind in ("universal", "rolling"):
        return None
    R_AF, R_BM = axes_of_frame(first), axes_of_frame(second)
    z_F = getattr(link.part, "axis", R_AF[:, 2])
    z_M = getattr(link.part, "axis_on_second", R_BM[:, 2])
    if z_M is None or not (np.allclose(z_F, R_AF[:, 2]) and np.allclose(z_M, R_BM[:, 2])):
        return None
    return R_AF, R_BM


def _universal_axes(link: Link, R_AB: Array | None) -> tuple[Array, Array]:
    """Axes of a universal joint; `R_AB` is the written posture, None for parallel axes.

    y_F is where the second axis points at angle 0, so it follows from the
    posture by turning back the start angle.
    """
    axis, axis2 = np.array(link.part.axis), np.array(link.part.axis2)
    angle, angle2 = link.start["angle"] or 0.0, link.start["angle2"] or 0.0
    if R_AB is None:
        R_AB, angle, angle2 = rotation_between(axis2, _across(axis, axis2)), 0.0, 0.0
    y_F = rotation_about(axis, -angle) @ _across(axis, R_AB @ axis2)
    R_AF = frame_of_axis(axis, np.cross(y_F, axis))
    R_BM = R_AB.T @ R_AF @ universal_rotation(angle, angle2)
    return R_AF, frame_of_axis(axis2, R_BM[:, 0])


def _across(axis: Array, vector: Array) -> Array:
    """The unit vector nearest to `vector` that is perpendicular to `axis`."""
    nearest = across(vector, axis)
    return perpendicular(axis) if nearest is None else nearest


def universal_rotation(angle: float, angle2: float) -> Array:
    """R_FM of a universal joint, Rz(angle) Rx(-90 deg) Rz(angle2)."""
    return rotation_about(_Z, angle) @ TO_SECOND_AXIS @ rotation_about(_Z, angle2)


def relative_pose(link: Link, R_AF: Array, R_BM: Array) -> tuple[Array, Array]:
    """p_FM_F : (3,) and R_FM : (3, 3) at the coordinates at which the joint places a body."""
    values = {coordinate: link.value(coordinate) for coordinate in link.start}
    angle, slide = values.get("angle", 0.0), values.get("slide", 0.0)
    match link.kind:
        case "universal":
            return np.zeros(3), universal_rotation(angle, values["angle2"])
        case "helical":
            slide = link.part.lead * angle
        case "rolling":
            # parallel body axes; the rim touches: height = radius * sine of the tilt
            R_FM = R_AF.T @ R_BM
            tilt = math.sqrt(max(0.0, 1.0 - float(R_FM[2, 2]) ** 2))
            return link.part.radius * tilt * _Z, R_FM
        case "distance":
            return np.array([link.part.length or 0.0, 0.0, 0.0]), np.eye(3)
    return slide * _Z, rotation_about(_Z, angle)


def relative_rates(link: Link, R_FM: Array) -> tuple[Array, Array]:
    """v_FM_F, w_FM_F : (3,) velocities of M in F at the joint's start speeds."""
    rates = {coordinate: link.rate(coordinate) for coordinate in link.start}
    turn, slide = rates.get("angle", 0.0), rates.get("slide", 0.0)
    if link.kind == "helical":
        slide = link.part.lead * turn
    return slide * _Z, turn * _Z + rates.get("angle2", 0.0) * R_FM[:, 2]
