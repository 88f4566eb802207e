"""A machine over time as polygons, lines and arrows: what every animation shows.

Bodies are drawn from their shapes, or as sticks from their mass centre to their
joint points where they have none.  Joint axes are short lines, axes of frames three (x red, y
green, z blue), joint forces arrows at the joint (on its second body), traces the paths of chosen
points; parts between two points (springs, dampers, cylinders, rods) are lines from one to the
other, flexible bodies the lines of their meshes, whose nodes are films of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.draw.bent import bent_nodes, members
from vbg.draw.mesh import Faces, faces_of
from vbg.errors import UsageError
from vbg.model.placing.placed import place
from vbg.spatial import rotation_matrix

if TYPE_CHECKING:
    from vbg.model import Model, Placed
    from vbg.solution import Solution

Array = NDArray[np.float64]

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e3b505", "#72b7b2", "#9d755d", "#e45756")
LARGEST_ARROW = 0.25  # of the machine's size, for the largest joint force of the run
FRAME_PART = 0.05  # of the machine's size, the length of a frame's axes
FRAME_COLOURS = ("#c62828", "#2e7d32", "#1565c0")  # of x, y, z
TRACED = 2000  # points of a trace besides those of the pictures
AXIS_PART = 0.06  # of the machine's size, half the length of a joint axis
WITH_AXIS = ("revolute", "prismatic", "cylindrical", "helical", "universal")


@dataclass(frozen=True, eq=False)
class BodyFilm:
    """faces: polygons in body axes, each (k, 3); sticks (m, 2, 3); pose (n, 7): p_WB, quat_WB;
    tints: colour of each face, "" for that of the body, or none at all."""

    name: str
    colour: str
    faces: Faces
    sticks: Array
    pose: Array
    tints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class JointFilm:
    """Where the joint is on its second body (`body` number, `at`), its axis there, and
    its force over time (n, 3) in world axes [N]."""

    name: str
    body: int
    at: Array
    axis: Array | None
    force: Array


@dataclass(frozen=True, eq=False)
class FrameFilm:
    """A frame: the number of its body (-1: the ground), its origin in that body's axes (3,) [m]
    and its axes there, the columns of (3, 3)."""

    name: str
    body: int
    at: Array
    axes: Array


@dataclass(frozen=True, eq=False)
class LinkFilm:
    """A part between two points: its kind, and for each end the number of the body (-1:
    the ground) and the point in its axes (3,) [m]."""

    name: str
    kind: str
    ends: tuple[tuple[int, Array], tuple[int, Array]]


@dataclass(frozen=True, eq=False)
class Film:
    """All of it: time (n,) [s], traces by name (m, 3) with m >= n, of which picture k shows the
    first traced[k], centre (3,) and size [m] of the space that is used, newton: arrow length
    per force [m/N]."""

    title: str
    time: Array
    bodies: tuple[BodyFilm, ...]
    joints: tuple[JointFilm, ...]
    links: tuple[LinkFilm, ...]
    traces: tuple[tuple[str, Array], ...]
    traced: NDArray[np.intp]
    centre: Array
    size: float
    newton: float
    frames: tuple[FrameFilm, ...] = ()


def film_of(
    model: Model, solution: Solution, *, frames: int = 300, traces: Sequence[str] = ()
) -> Film:
    """The film of a result with at most `frames` pictures at equal distances.

    `traces` are points ("crank.B") or bodies.  Raises UsageError for a result that does
    not hold the model's bodies, or a point that it does not have.
    """
    if not model.bodies:
        raise UsageError(f"{model.name} has no bodies to show; `vbg plot` draws its curves.")
    missing = [name for name in model.bodies if f"{name}.position" not in solution]
    if missing:
        raise UsageError(
            f"this result has no motion of {', '.join(missing)}: it was not made by "
            f"{model.name}, or only some signals were kept."
        )
    picked, placed = _picked(solution.time, frames), place(model)
    numbers = {name: i for i, name in enumerate(model.bodies)}
    bodies = _bodies(placed, solution, picked)
    joints = _joints(placed, solution, picked, numbers)
    for name, pose in bent_nodes(model, solution, picked).items():
        numbers[name] = len(bodies)
        bodies = (*bodies, BodyFilm(name, COLOURS[0], (), np.zeros((0, 2, 3)), pose))
    links = _links(model, solution, numbers)
    along = _along(solution.time, picked)
    paths = tuple((name, _trace(solution, name)[along]) for name in traces)
    fixed = [at for link in links for number, at in link.ends if number < 0]
    cloud = np.vstack([_cloud(bodies), *fixed])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    size = max(float(np.linalg.norm(high - low)), 1e-9)
    strongest = max(
        (float(np.linalg.norm(j.force, axis=1).max(initial=0.0)) for j in joints), default=0.0
    )
    newton = LARGEST_ARROW * size / strongest if strongest > 0.0 else 0.0
    tips = [_tips(bodies[joint.body], joint, newton) for joint in joints]
    cloud = np.vstack([low, high, *tips])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    size = max(float(np.linalg.norm(high - low)), 1e-9)
    return Film(
        model.name,
        solution.time[picked],
        bodies,
        joints,
        links,
        paths,
        np.searchsorted(along, picked) + 1,
        (low + high) / 2.0,
        size,
        newton,
        _frames(model, numbers),
    )


def _frames(model: Model, numbers: dict[str, int]) -> tuple[FrameFilm, ...]:
    ends = [frame.end(name) for name, frame in model.frames.items()]
    return tuple(
        FrameFilm(
            end.frame, numbers.get(end.body, -1), np.array(end.at), rotation_matrix(end.rotation)
        )
        for end in ends
    )


def _picked(time: Array, frames: int) -> NDArray[np.intp]:
    if len(time) == 0:
        raise UsageError("this result has no rows to show.")
    wanted = np.linspace(time[0], time[-1], min(frames, len(time)))
    return np.unique(np.searchsorted(time, wanted).clip(0, len(time) - 1))


def _along(time: Array, picked: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows of a trace: those of the pictures, and as many between them as the eye can tell."""
    between = np.linspace(0, len(time) - 1, min(TRACED, len(time))).round().astype(np.intp)
    return np.union1d(picked, between)


def _bodies(placed: Placed, solution: Solution, picked: NDArray[np.intp]) -> tuple[BodyFilm, ...]:
    ends: dict[str, list[Array]] = {name: [] for name in placed.model.bodies}
    for frame in placed.frames.values():
        for body, at in ((frame.first, frame.p_AF_A), (frame.second, frame.p_BM_B)):
            if body in ends:
                ends[body].append(np.asarray(at, dtype=float))
    found = []
    for number, (name, body) in enumerate(placed.model.bodies.items()):
        points = [*ends[name], *(np.array(p) for p in body.points.values())]
        sticks = [] if body.shape else [(np.zeros(3), p) for p in points]
        surfaces = [faces_of(shape) for shape in body.shape]
        colours = [shape.measured.colour if shape.measured else "" for shape in body.shape]
        tints = [c for c, own in zip(colours, surfaces, strict=True) for _ in own]
        pose = np.hstack([solution[f"{name}.position"], solution[f"{name}.rotation"]])[picked]
        found.append(
            BodyFilm(
                name,
                COLOURS[number % len(COLOURS)],
                tuple(face for own in surfaces for face in own),
                np.array(sticks).reshape(-1, 2, 3),
                pose,
                tuple(tints) if any(colours) else (),
            )
        )
    return tuple(found)


def _joints(
    placed: Placed, solution: Solution, picked: NDArray[np.intp], numbers: dict[str, int]
) -> tuple[JointFilm, ...]:
    found = []
    for name, frame in placed.frames.items():
        if frame.second not in numbers:
            continue
        kind = type(placed.model.joints[name]).kind
        force = f"{name}.force"
        found.append(
            JointFilm(
                name,
                numbers[frame.second],
                np.asarray(frame.p_BM_B, dtype=float),
                np.asarray(frame.R_BM, dtype=float)[:, 2] if kind in WITH_AXIS else None,
                solution[force][picked] if force in solution else np.zeros((len(picked), 3)),
            )
        )
    return tuple(found)


def _links(model: Model, solution: Solution, numbers: dict[str, int]) -> tuple[LinkFilm, ...]:
    """All parts that stand between two points of bodies, joints of this kind, and the lines of
    flexible bodies."""
    from vbg.fields import Attachment

    tables = (model.forces, model.hydraulic, model.translational)
    parts = [item for table in tables for item in table.items()]
    parts += [(name, joint) for name, joint in model.joints.items() if joint.kind == "distance"]
    found = []
    for name, part in parts:
        ends = getattr(part, "between", None) or ()
        if len(ends) == 2 and all(isinstance(end, Attachment) for end in ends):
            first, second = ((numbers.get(end.body, -1), np.array(end.at)) for end in ends)
            found.append(LinkFilm(name, part.kind, (first, second)))
    for a, b in members(model, solution):
        ends = ((numbers[a], np.zeros(3)), (numbers[b], np.zeros(3)))
        found.append(LinkFilm(f"{a} to {b}", "member", ends))
    return tuple(found)


def _trace(solution: Solution, name: str) -> Array:
    signal = f"{name}.position"
    if signal not in solution:
        raise UsageError(f"there is no point or body {name!r} to trace; points are BODY.POINT.")
    return solution[signal]


def _tips(body: BodyFilm, joint: JointFilm, newton: float) -> Array:
    """Where the force arrow of a joint ends, over time."""
    at = [rotation_matrix(pose[3:]) @ joint.at + pose[:3] for pose in body.pose]
    return np.array(at) + newton * joint.force


def _cloud(bodies: Sequence[BodyFilm]) -> Array:
    """Everything that is ever drawn, coarsely: (m, 3)."""
    points = []
    for body in bodies:
        corners = [np.zeros((1, 3)), *body.faces, body.sticks.reshape(-1, 3)]
        own = np.vstack([c for c in corners if len(c)])
        low, high = own.min(axis=0), own.max(axis=0)
        box = np.array(
            [
                [x, y, z]
                for x in (low[0], high[0])
                for y in (low[1], high[1])
                for z in (low[2], high[2])
            ]
        )
        for pose in body.pose[:: max(1, len(body.pose) // 60)]:
            points.append(box @ rotation_matrix(pose[3:]).T + pose[:3])
    return np.vstack(points)
