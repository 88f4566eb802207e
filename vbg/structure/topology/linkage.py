"""A topology with geometry: frames of the pairs and a posture of the bodies.

The smallest kinematic description that group kinematics and the search for
geometric exceptions need; `linkage_at` makes one from points and axes in
world, `vbg.structure.topology.models` from a Model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.spatial import frame_of_axis
from vbg.structure.topology.pairs import BY_CODE, PLANAR
from vbg.structure.topology.topology import Pair, Topology

Array = NDArray[np.float64]

COORDINATES = {
    "R": ("angle",),
    "P": ("slide",),
    "H": ("angle",),
    "C": ("angle", "slide"),
    "U": ("angle", "angle2"),
    "ER": ("angle", "angle2"),
    "PL": ("x", "y", "angle"),
    "FP": ("x", "y", "angle"),
    "F": ("x", "y", "z", "rotation x", "rotation y", "rotation z"),
}


@dataclass(frozen=True, slots=True, eq=False)
class PairFrame:
    """Frame F on the first body and M on the second, in body axes.

    p_AF_A, p_BM_B : (3,) from the bodies' origins [m]; R_AF, R_BM : (3, 3),
    z along the axis (first and second axis of a universal pair, R_FM =
    Rz(angle) Rx(-90 deg) Rz(angle2)).  `lead` [m/rad] of a helicoidal pair,
    `length` [m] of a distance, `radius` [m] of a rolling disc; the disc's
    axis is z of M, the plane's normal z of F.
    """

    p_AF_A: Array
    R_AF: Array
    p_BM_B: Array
    R_BM: Array
    lead: float = 0.0
    length: float = 0.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Coupling:
    """coordinate 2 - ratio * coordinate 1 = constant; a coordinate is (pair, name)."""

    pair: int
    first: tuple[int, str]
    second: tuple[int, str]
    ratio: float


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """Bodies with poses, pairs with frames, driven coordinates by name.

    `frames[i]`, `drives[i]` belong to pair i of `topology`.  p_WB : (n, 3)
    [m]; R_WB : (n, 3, 3); body 0 is the frame, at the origin.  In the plane,
    `normal` (3,) in W is perpendicular to it.  `bilateral` says that pairs
    which look like contacts are joints that pull as well as push.
    """

    topology: Topology
    frames: tuple[PairFrame, ...]
    drives: tuple[tuple[str, ...], ...]
    p_WB: Array
    R_WB: Array
    couplings: tuple[Coupling, ...] = ()
    normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    bilateral: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PairAt:
    """A pair as it stands in the world: `point` (3,) [m], `axis` and `axis2` (3,).

    `point2` is where the second body is attached, where it differs (distance,
    point on line or plane, prismatic).  `drives` are coordinates by name.
    """

    code: str
    first: int
    second: int
    point: Sequence[float]
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    axis2: Sequence[float] | None = None
    point2: Sequence[float] | None = None
    drives: tuple[str, ...] = ()
    lead: float = 0.0
    radius: float = 0.0


def linkage_at(
    dimension: int,
    positions: Sequence[Sequence[float]],
    pairs: Sequence[PairAt],
    *,
    names: Sequence[str] = (),
    normal: Sequence[float] = (0.0, 0.0, 1.0),
) -> Linkage:
    """The linkage whose bodies stand at `positions` (moving ones) with world axes.

    Angles and slides are zero as it stands, of a universal pair both angles
    where its two axes are perpendicular.
    """
    p_WB = np.vstack([np.zeros(3), np.array(positions, dtype=float).reshape(-1, 3)])
    bodies = tuple(names) or tuple(str(i + 1) for i in range(len(p_WB)))
    made, frames = [], []
    for at in pairs:
        name = f"KP({bodies[at.first]}-{bodies[at.second]})"
        grade = BY_CODE[at.code].grade
        made.append(Pair(name, (at.first, at.second), at.code, grade, len(at.drives)))
        frames.append(_frame_at(at, p_WB))
    R_WB = np.repeat(np.eye(3)[None], len(p_WB), axis=0)
    drives = tuple(at.drives for at in pairs)
    topology = Topology(dimension, bodies, tuple(made))
    return Linkage(topology, tuple(frames), drives, p_WB, R_WB, normal=np.array(normal, float))


def _frame_at(at: PairAt, p_WB: Array) -> PairFrame:
    point = np.array(at.point, dtype=float)
    point2 = point if at.point2 is None else np.array(at.point2, dtype=float)
    R_WF = R_WM = frame_of_axis(_unit(at.axis))
    if at.code in ("U", "ER"):
        if at.axis2 is None:
            raise UsageError(f"a universal pair of bodies {at.first}, {at.second} needs axis2")
        z_F, z_M = R_WF[:, 2], _unit(at.axis2)
        R_WF = frame_of_axis(z_F, np.cross(z_M, z_F))  # y_F = z_M at angle 0
        R_WM = R_WF @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    elif at.axis2 is not None:
        R_WM = frame_of_axis(_unit(at.axis2))
    length = float(np.linalg.norm(point2 - point))
    first, second = point - p_WB[at.first], point2 - p_WB[at.second]
    return PairFrame(first, R_WF, second, R_WM, at.lead, length, at.radius)


def _unit(vector: Sequence[float]) -> Array:
    return np.array(vector, dtype=float) / np.linalg.norm(vector)


def in_plane(linkage: Linkage) -> bool:
    """Whether the linkage is described as planar, three freedoms a body."""
    return linkage.topology.dimension == PLANAR
