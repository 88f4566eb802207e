"""Directions told by frames: ``axis = "tool.z"``, ``"frame:x"``, or none where a joint stands on
frames.

A direction counts in the axes of the body at one end of its part, `Field.end`.  A frame of that
body tells it by name, and ``frame:x`` is x of the frame at that end; where a part on frames leaves
a direction out that it needs, it is the z axis of the frame at that end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg import expressions
from vbg.fields import Attachment, Field
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope
from vbg.spatial import axes_of_frame

GROUND = "ground"
_OWN = re.compile(r"\s*(-?)\s*frame:([xyz])\s*\Z")
_AXIS = re.compile(r"\s*(-?)\s*([^\W\d][\w-]*)\.([xyz])\s*\Z")

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class FrameAxis:
    """An axis of a frame: the frame as an end, and the direction in its body's axes."""

    frame: Attachment
    direction: Vector


@dataclass(frozen=True, slots=True)
class OwnAxis:
    """x, y or z (0, 1, 2), against it where `back`, of the frame at the end of the part."""

    column: int
    back: bool


def read_axis(reading: Reading, scope: Scope, path: Path, text: str) -> FrameAxis | OwnAxis | None:
    """The axis that ``FRAME.z``, ``-FRAME.x`` or ``frame:z`` names."""
    if own := _OWN.match(text):
        return OwnAxis("xyz".index(own[2]), back=bool(own[1]))
    word = _AXIS.match(text)
    if word is None:
        shown = expressions.shown(text)
        remedy = (
            "Write [x, y, z], or FRAME.x, FRAME.y, FRAME.z of a frame of [frames], or frame:z "
            "where the part stands on one."
        )
        reading.fail(path, f"expected a direction, found the text {shown}.", remedy)
        return None
    sign, name, letter = word.groups()
    if name not in scope.frames:
        reading.unknown(path, "unknown frame", name, scope.frames, "frames")
        return None
    frame = scope.frames[name]
    if frame is None:
        return None
    direction = axis_of(frame, "xyz".index(letter))
    return FrameAxis(frame, _against(direction) if sign else direction)


def _against(direction: Vector) -> Vector:
    x, y, z = direction
    return (-x, -y, -z)


def axis_of(frame: Attachment, column: int) -> Vector:
    """x, y or z (0, 1, 2) of a frame, in the axes of its body."""
    x, y, z = axes_of_frame(frame.rotation or (1.0, 0.0, 0.0, 0.0))[:, column] + 0.0
    length = float(np.sqrt(x * x + y * y + z * z))
    return (float(x) / length, float(y) / length, float(z) / length)


def take_axes(
    reading: Reading, path: Path, fields: Mapping[str, Field], values: dict[str, Any]
) -> None:
    """The axes of frames in `values` as directions in the body at their end, and z of the frame
    at its end for a direction that is needed and not written; notes frames of other bodies."""
    ends = values.get("between")
    for key in [key for key, value in values.items() if isinstance(value, OwnAxis)]:
        own: OwnAxis = values.pop(key)
        if ends is not None:
            direction = _own(reading, (*path, key), own, ends, fields[key].end)
            values |= {} if direction is None else {key: direction}
    for key in [key for key, value in values.items() if isinstance(value, FrameAxis)]:
        told: FrameAxis = values.pop(key)
        if ends is None:
            continue  # what is wrong with them has been told
        body = _body_of(ends, fields[key].end)
        if told.frame.body == body:
            values[key] = told.direction
            continue
        what = f"{told.frame.frame} is a frame of {told.frame.body}, and {key} counts in the axes"
        remedy = f"Name a frame of {body}, or write [x, y, z] in its axes."
        if "axis_on_second" in fields and told.frame.body == _body_of(ends, 1 - fields[key].end):
            other = "axis" if key == "axis_on_second" else "axis_on_second"
            remedy = f'Name a frame of {body}; {other} takes "{told.frame.frame}.z".'
        reading.fail((*path, key), f"{what} of {body}.", remedy)
    if isinstance(ends, tuple) and "axis" in fields and path[0] == "joints":
        _from_ends(fields, values, ends)


def _own(
    reading: Reading,
    path: Path,
    own: OwnAxis,
    ends: tuple[Attachment | None, Attachment | None],
    number: int,
) -> Vector | None:
    """The axis of the frame at end `number`; None, told, where it is on none."""
    end = ends[number]
    if end is None or end.rotation is None:
        which = ("first", "second")[number]
        what = f"the {which} end, on {_body_of(ends, number)}, is no frame"
        remedy = "Write a frame of [frames] in between, or [x, y, z]."
        reading.fail(
            path, f'"frame:{"xyz"[own.column]}" is an axis of a frame, and {what}.', remedy
        )
        return None
    direction = axis_of(end, own.column)
    return _against(direction) if own.back else direction


def _from_ends(
    fields: Mapping[str, Field], values: dict[str, Any], ends: tuple[Attachment, Attachment]
) -> None:
    """z of the frames a joint stands on, for the directions that it leaves out."""
    left_out = [key for key in ("axis", "axis2") if key in fields and key not in values]
    if "axis" in left_out and "axis_on_second" in fields and "axis_on_second" not in values:
        left_out.append("axis_on_second")
    for key in left_out:
        end = ends[fields[key].end]
        if end.rotation is not None:
            values[key] = axis_of(end, 2)


def _body_of(ends: tuple[Attachment | None, Attachment | None], number: int) -> str:
    """The body at an end; of a free end the one at the other, or the ground."""
    end = ends[number] or ends[1 - number]
    return GROUND if end is None else end.body
