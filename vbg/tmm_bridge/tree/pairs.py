"""Every kinematic pair as a series of elementary hinges, or as rows of a cut joint.

A series starts in the inboard joint frame and lists (rotation before the hinge,
kind of hinge, name of its coordinate); `after` leads from the last hinge's frame
to the outboard joint frame.  A hinge turns about, or slides along, the third
axis.  Met from behind (the second body first), a turn about z is a turn about
-z: frames flipped by half a turn about x before and after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.junctions.cylindrical import Cylindrical
from vbg.junctions.distance import Distance
from vbg.junctions.fixed import Fixed
from vbg.junctions.guide import Guide
from vbg.junctions.helical import Helical
from vbg.junctions.latch import opens
from vbg.junctions.planar import Planar
from vbg.junctions.point_on_line import PointOnLine
from vbg.junctions.point_on_plane import PointOnPlane
from vbg.junctions.prismatic import Prismatic
from vbg.junctions.revolute import Revolute
from vbg.junctions.rolling import Rolling
from vbg.junctions.spherical import Spherical
from vbg.junctions.universal import Universal
from vbg.tmm_bridge.kernels.motion.rotation import CARDAN, CYCLE, FLIP, Array, quaternion_of
from vbg.tmm_bridge.kernels.rows import BALL, ELASTIC, PRISMATIC, REVOLUTE, RIGID, SCREW
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_FIRST,
    COORDINATE_SECOND,
    COORDINATE_SLIDE,
    COORDINATE_TURN,
    ROW_DISTANCE,
    ROW_DOT,
    ROW_ROLL,
    ROW_SCREW,
    ROW_SLIDE,
    ROW_TOUCH,
)

ONE = np.eye(3)


@dataclass(frozen=True)
class Hinge:
    """One elementary hinge: rotation before it, kind, coordinate ("angle", ... or "")."""

    before: Array
    kind: int
    coordinate: str = ""


@dataclass(frozen=True)
class Series:
    """Hinges in the order from root to tip, and the rotation after the last."""

    hinges: tuple[Hinge, ...]
    after: Array


@dataclass(frozen=True)
class CutRow:
    """A constraint row: primitive, axis i of F, axis j of M, parameter."""

    primitive: int
    i: int = 0
    j: int = 0
    parameter: float = 0.0


FREE = Series(
    (
        Hinge(CYCLE, PRISMATIC),
        Hinge(CYCLE, PRISMATIC),
        Hinge(CYCLE, PRISMATIC),
        Hinge(ONE, BALL),
    ),
    ONE,
)
SIX = Series((Hinge(ONE, ELASTIC),), ONE)
_PLANAR = Series((Hinge(CYCLE, PRISMATIC), Hinge(CYCLE, PRISMATIC), Hinge(CYCLE, REVOLUTE)), ONE)

_FORWARD: Mapping[type, Series] = {
    Revolute: Series((Hinge(ONE, REVOLUTE, "angle"),), ONE),
    Prismatic: Series((Hinge(ONE, PRISMATIC, "slide"),), ONE),
    Helical: Series((Hinge(ONE, SCREW, "angle"),), ONE),
    Cylindrical: Series((Hinge(ONE, PRISMATIC, "slide"), Hinge(ONE, REVOLUTE, "angle")), ONE),
    Universal: Series((Hinge(ONE, REVOLUTE, "angle"), Hinge(CARDAN, REVOLUTE, "angle2")), ONE),
    Spherical: Series((Hinge(ONE, BALL),), ONE),
    Planar: _PLANAR,
    PointOnLine: Series((Hinge(ONE, PRISMATIC, "slide"), Hinge(ONE, BALL)), ONE),
    PointOnPlane: Series(
        (Hinge(CYCLE, PRISMATIC), Hinge(CYCLE, PRISMATIC), Hinge(CYCLE, BALL)), ONE
    ),
    Fixed: Series((Hinge(ONE, RIGID),), ONE),
}
_BACKWARD: Mapping[type, Series] = {
    Revolute: Series((Hinge(FLIP, REVOLUTE, "angle"),), FLIP),
    Prismatic: Series((Hinge(FLIP, PRISMATIC, "slide"),), FLIP),
    Helical: Series((Hinge(FLIP, SCREW, "angle"),), FLIP),
    Cylindrical: Series((Hinge(FLIP, PRISMATIC, "slide"), Hinge(ONE, REVOLUTE, "angle")), FLIP),
    Universal: Series(
        (Hinge(FLIP, REVOLUTE, "angle2"), Hinge(FLIP @ CARDAN.T @ FLIP, REVOLUTE, "angle")), FLIP
    ),
    Spherical: Series((Hinge(ONE, BALL),), ONE),
    Planar: _PLANAR,
    PointOnLine: Series((Hinge(ONE, BALL), Hinge(FLIP, PRISMATIC, "slide")), FLIP),
    PointOnPlane: Series(
        (Hinge(ONE, BALL), Hinge(CYCLE, PRISMATIC), Hinge(CYCLE, PRISMATIC)), CYCLE
    ),
    Fixed: Series((Hinge(ONE, RIGID),), ONE),
}
_TRANSLATIONS = tuple(CutRow(ROW_SLIDE, i) for i in range(3))
_SAME_AXIS = (CutRow(ROW_DOT, 0, 2), CutRow(ROW_DOT, 1, 2))
_ROWS: Mapping[type, tuple[CutRow, ...]] = {
    Revolute: _TRANSLATIONS + _SAME_AXIS,
    Prismatic: (*_TRANSLATIONS[:2], *_SAME_AXIS, CutRow(ROW_DOT, 0, 1)),
    Helical: _TRANSLATIONS[:2] + _SAME_AXIS,
    Cylindrical: _TRANSLATIONS[:2] + _SAME_AXIS,
    Universal: (*_TRANSLATIONS, CutRow(ROW_DOT, 2, 2)),
    Spherical: _TRANSLATIONS,
    Planar: (_TRANSLATIONS[2], *_SAME_AXIS),
    PointOnLine: _TRANSLATIONS[:2],
    PointOnPlane: _TRANSLATIONS[2:],
    Guide: (),  # what is prescribed has a row of its own
    Fixed: (*_TRANSLATIONS, *_SAME_AXIS, CutRow(ROW_DOT, 0, 1)),
}
_MEASURED: Mapping[type, tuple[tuple[str, int], ...]] = {
    Revolute: (("angle", COORDINATE_TURN),),
    Prismatic: (("slide", COORDINATE_SLIDE),),
    Helical: (("angle", COORDINATE_TURN),),
    Cylindrical: (("angle", COORDINATE_TURN), ("slide", COORDINATE_SLIDE)),
    Universal: (("angle", COORDINATE_FIRST), ("angle2", COORDINATE_SECOND)),
    PointOnLine: (("slide", COORDINATE_SLIDE),),
    Guide: (("slide", COORDINATE_SLIDE),),
}
# Joints to keep in the tree, best first: what keeps coordinates and needs few rows.
_WORTH: Mapping[type, float] = {
    Fixed: 90.0,
    Helical: 60.0,
    Revolute: 30.0,
    Prismatic: 30.0,
    Cylindrical: 20.0,
    Universal: 20.0,
    Planar: 10.0,
    Spherical: 5.0,
    PointOnLine: 3.0,
    PointOnPlane: 1.0,
}


def series_of(joint: Any, *, backward: bool) -> Series:
    """The joint as hinges from its first body to its second, or from behind."""
    return (_BACKWARD if backward else _FORWARD)[type(joint)]


def can_be_in_tree(joint: Any) -> bool:
    """Whether the joint has joint coordinates; a rod, a guide and a rolling disc have not, nor one
    that opens."""
    return type(joint) in _FORWARD and not opens(joint)


def worth_in_tree(joint: Any) -> float:
    """How much is gained by keeping this kind of joint uncut."""
    return _WORTH[type(joint)]


def rows_of(joint: Any, *, written_distance: float) -> tuple[CutRow, ...]:
    """Constraint rows of the joint when it is cut."""
    if isinstance(joint, Distance):
        length = written_distance if joint.length is None else joint.length
        return (CutRow(ROW_DISTANCE, parameter=length),)
    if isinstance(joint, Rolling):
        return (
            CutRow(ROW_TOUCH, 2, parameter=joint.radius),
            CutRow(ROW_ROLL, 0, parameter=joint.radius),
            CutRow(ROW_ROLL, 1, parameter=joint.radius),
        )
    if isinstance(joint, Helical):
        return (*_ROWS[Helical], CutRow(ROW_SCREW, 2, parameter=joint.lead))
    return _ROWS[type(joint)]


def measured_coordinates(joint: Any) -> tuple[tuple[str, int], ...]:
    """Coordinates that are measured across the joint when it is cut: (name, kind)."""
    return _MEASURED.get(type(joint), ())


def _angle(R: Array) -> float:
    return math.atan2(R[1, 0], R[0, 0])


def _universal(R: Array, d: Array) -> dict[str, float]:
    return {"angle": math.atan2(-R[0, 2], R[1, 2]), "angle2": math.atan2(-R[2, 0], -R[2, 1])}


_READ: Mapping[type, Callable[[Array, Array], dict[str, float]]] = {
    Revolute: lambda R, d: {"angle": _angle(R)},
    Prismatic: lambda R, d: {"slide": d[2]},
    Helical: lambda R, d: {"angle": _angle(R)},
    Cylindrical: lambda R, d: {"angle": _angle(R), "slide": d[2]},
    Universal: _universal,
    PointOnLine: lambda R, d: {"slide": d[2]},
    Guide: lambda R, d: {"slide": d[2]},
}


def named_coordinates(joint: Any, R: Array, d: Array) -> dict[str, float]:
    """Coordinates by name at R_FM and p_FM (F axes); angles in (-pi, pi]."""
    read = _READ.get(type(joint))
    return read(R, d) if read else {}


def unnamed_coordinates(joint: Any, R: Array, d: Array, *, backward: bool) -> list[float]:
    """Coordinates of the hinges without a name, in the order of the series."""
    ball = list(quaternion_of(R.T if backward else R))
    if isinstance(joint, Spherical | PointOnLine):
        return ball
    if isinstance(joint, Planar):
        seen, turn = (-R.T @ d, R.T) if backward else (d, R)
        return [seen[0], seen[1], _angle(turn)]
    if isinstance(joint, PointOnPlane):
        return [*ball, -d[0], -d[1]] if backward else [d[0], d[1], *ball]
    return []
