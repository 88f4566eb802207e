"""The machine as it moves: bodies from their shapes or as sticks, joint forces as arrows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vbg.draw.edges import Edges, edges_of
from vbg.draw.mesh import faces_of
from vbg.draw.text.wire import (
    DIM,
    FOCUS,
    Camera,
    Scene,
    Solid,
    box,
    contour,
    fitted,
    frustum,
    sphere,
)
from vbg.errors import ModelError, UsageError
from vbg.spatial import rotation_matrix

if TYPE_CHECKING:
    from vbg.fields import Shape
    from vbg.model import Model
    from vbg.solution import Solution

FRAME_PART = 0.06  # of the machine's size, the length of a frame's axes
ARROW_PART = 0.25  # of the machine's size, for the largest force of the run
_PULSE = 6  # inks
GHOSTS = 8  # postures of a run that stand behind


@dataclass(frozen=True, eq=False)
class Moving:
    """One body over time: p (n, 3) [m], quat (n, 4), what it looks like in its axes; `points` by
    name (body.POINT) and `frames` where they are in them."""

    name: str
    p: np.ndarray
    quat: np.ndarray
    solids: tuple[Solid, ...]
    sticks: np.ndarray
    reach: float
    frames: tuple[tuple[str, np.ndarray, np.ndarray], ...] = ()  # names, origins, axes as columns
    points: tuple[tuple[str, np.ndarray], ...] = ()


@dataclass(frozen=True, eq=False)
class Acting:
    """A joint: where on its second body (or in the world) it acts, and its force (n, 3) [N]."""

    name: str
    body: str
    at: np.ndarray
    force: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Motion:
    """A machine over time; one instant if it has not been run."""

    time: np.ndarray
    bodies: tuple[Moving, ...]
    joints: tuple[Acting, ...]
    size: float
    strongest: float

    def index(self, time: float) -> int:
        """The sample nearest to `time`."""
        return int(np.argmin(np.abs(self.time - time)))


def motion_of(model: Model, solution: Solution | None) -> Motion:
    """The motion of `model` in `solution`, or its written posture without one.

    Raises
    ------
    ModelError
        the written posture cannot be found.
    """
    from vbg.model.placing.placed import place

    placed = place(model)
    frames, poses = placed.frames, placed.poses
    time = np.zeros(1) if solution is None else solution.time
    points: dict[str, list[np.ndarray]] = {name: [] for name in model.bodies}
    for frame in frames.values():
        for body, at in ((frame.first, frame.p_AF_A), (frame.second, frame.p_BM_B)):
            points.setdefault(body, []).append(np.asarray(at))
    bodies = []
    for name, body in model.bodies.items():
        own = [*points[name], *(np.array(at) for at in body.points.values())]
        if solution is not None and f"{name}.position" in solution.signals:
            p, quat = solution[f"{name}.position"], solution[f"{name}.rotation"]
        else:
            from vbg.spatial import quaternion_from_matrix

            pose = poses[name]
            p = np.tile(pose.p_WB, (len(time), 1))
            quat = np.tile(quaternion_from_matrix(pose.R_WB), (len(time), 1))
        axes = tuple(
            (end.frame, np.array(end.at), rotation_matrix(end.rotation))
            for end in (frame.end(label) for label, frame in model.frames.items())
            if end.body == name
        )
        named = tuple((f"{name}.{point}", np.array(at)) for point, at in body.points.items())
        bodies.append(replace(_moving(name, p, quat, body.shape, own, axes), points=named))
    joints = tuple(
        Acting(name, frame.second, np.asarray(frame.p_BM_B), _force(solution, name))
        for name, frame in frames.items()
    )
    cloud = _cloud(tuple(bodies))
    size = float(np.ptp(cloud, axis=0).max()) if len(cloud) else 1.0
    strongest = max((_largest(joint.force) for joint in joints), default=0.0)
    return Motion(time, tuple(bodies), joints, max(size, 1e-9), strongest)


def _force(solution: Solution | None, joint: str) -> np.ndarray | None:
    if solution is None or f"{joint}.force" not in solution.signals:
        return None
    force = solution[f"{joint}.force"]
    return force if force.ndim == 2 and force.shape[1] == 3 else None


def _largest(force: np.ndarray | None) -> float:
    if force is None or len(force) == 0:
        return 0.0
    size = np.linalg.norm(force, axis=1)
    size = size[np.isfinite(size)]
    return float(size.max()) if len(size) else 0.0


def _moving(
    name: str,
    p: np.ndarray,
    quat: np.ndarray,
    shapes: tuple[Shape, ...],
    points: list[np.ndarray],
    frames: tuple[tuple[str, np.ndarray, np.ndarray], ...],
) -> Moving:
    solids = tuple(_solid(shape) for shape in shapes)
    sticks = np.zeros((0, 2, 3))
    if not solids and points:
        sticks = np.array([[np.zeros(3), at] for at in points])
    corners = [solid.corners for solid in solids] + [np.array(points).reshape(-1, 3)]
    far = np.vstack(corners)
    reach = float(np.linalg.norm(far, axis=1).max()) if len(far) else 0.0
    return Moving(name, np.asarray(p), np.asarray(quat), solids, sticks, reach, frames)


def _solid(shape: Shape) -> Solid:
    """A shape as a convex solid in the body's axes."""
    s = shape.sizes
    shift = np.zeros(3)
    if shape.measured is not None:
        low, high = np.array(shape.measured.low), np.array(shape.measured.high)
        solid, shift = box(tuple(high - low)), (low + high) / 2
        solid = replace(solid, surface=_surface(shape, shift))
    elif shape.kind == "box":
        solid = box((s["x"], s["y"], s["z"]))
    elif shape.kind == "sphere":
        solid = sphere(s["radius"])
    elif shape.kind == "cone":
        solid = frustum(s["radius"], 0.0, s["height"])
        shift = np.array([0.0, 0.0, s["height"] / 2])
    else:
        solid = frustum(s["radius"], s["radius"], s["length"])
    R = rotation_matrix(np.array(shape.rotation))
    return solid.placed(R, np.array(shape.position) + R @ shift, 1)


def _surface(shape: Shape, shift: np.ndarray) -> Edges | None:
    """Its edges from the middle of its box, in its own axes; None where its file has gone."""
    alone = replace(shape, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0))
    try:
        return edges_of(faces_of(alone)).placed(np.eye(3), -shift)
    except (ModelError, UsageError):
        return None


def _cloud(bodies: tuple[Moving, ...]) -> np.ndarray:
    """Points that hold the whole motion: boxes about the paths of all bodies."""
    found = []
    for body in bodies:
        p = body.p[np.isfinite(body.p).all(axis=1)]
        if len(p):
            found += [p.min(axis=0) - body.reach, p.max(axis=0) + body.reach]
    return np.array(found).reshape(-1, 3)


def camera_of(
    motion: Motion, azimuth: float, elevation: float, zoom: float, width: int, height: int
) -> Camera:
    """A camera that has the whole motion in sight, then nearer by `zoom`."""
    camera = fitted(_cloud(motion.bodies), Camera(azimuth, elevation), width, height)
    return Camera(azimuth, elevation, camera.centre, camera.scale * zoom)


def scene_of(motion: Motion, time: float, *, selected: str, forces: bool, trace: str) -> Scene:
    """The machine at `time`: the selected body or joint marked, names, arrows, a path."""
    i = motion.index(time)
    solids: list[Solid] = []
    lines: list[tuple[np.ndarray, int]] = []
    names: list[tuple[np.ndarray, str, str]] = []
    where: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for number, body in enumerate(motion.bodies):
        p, R = body.p[i], rotation_matrix(body.quat[i])
        where[body.name] = (p, R)
        ink = FOCUS if body.name == selected else 1 + number % _PULSE
        solids += [solid.placed(R, p, ink) for solid in body.solids]
        if len(body.sticks):
            lines.append((body.sticks @ R.T + p, ink))
        names.append(
            (p, body.name, "focus" if body.name == selected else f"ink{1 + number % _PULSE}")
        )
        for label, at, axes in body.frames:
            origin = p + R @ at
            tips = origin + FRAME_PART * motion.size * (R @ axes).T
            lines.append((np.stack([np.tile(origin, (3, 1)), tips], axis=1), ink))
            names.append((origin, label, "dim"))
    path = _path(motion, trace, i)
    if len(path) > 1:
        lines.append((np.stack([path[:-1], path[1:]], axis=1), DIM))
        names.append((path[-1], trace, "dim"))
    arrows: list[tuple[np.ndarray, int]] = []
    for joint in motion.joints:
        p, R = where.get(joint.body, (np.zeros(3), np.eye(3)))
        at = p + R @ joint.at
        chosen = joint.name == selected
        names.append((at, joint.name, "focus" if chosen else "dim"))
        if forces and joint.force is not None and motion.strongest > 0:
            arrow = ARROW_PART * motion.size / motion.strongest * joint.force[i]
            if np.isfinite(arrow).all():
                arrows.append((np.array([[at, at + arrow]]), FOCUS if chosen else 6))
    return Scene(tuple(solids), tuple(lines), tuple(names), tuple(arrows))


def traceable(motion: Motion, selected: str) -> tuple[str, ...]:
    """What has a path when `selected` is marked: of a body its mass centre, points and frames; a
    frame; where a joint acts.  Without such a part the last body."""
    by_name = {body.name: body for body in motion.bodies}
    places = {name for body in motion.bodies for name, _, _ in body.frames}
    places |= {joint.name for joint in motion.joints}
    if selected in places:
        return (selected,)
    body = by_name.get(selected, motion.bodies[-1])
    return (
        body.name,
        *(name for name, _ in body.points),
        *(name for name, _, _ in body.frames),
    )


def _path(motion: Motion, name: str, last: int) -> np.ndarray:
    """Where a body's mass centre, a point, a frame or a joint has been until the sample `last`, (m,
    3) [m], some 200 of them; none for other names."""
    places = {body.name: (body, np.zeros(3)) for body in motion.bodies}
    joints = {joint.name: joint for joint in motion.joints}
    if name in joints and joints[name].body in places:
        places[name] = (places[joints[name].body][0], joints[name].at)
    for body in motion.bodies:
        places |= {point: (body, at) for point, at in body.points}
        places |= {frame: (body, at) for frame, at, _ in body.frames}
    if name not in places:
        return np.zeros((0, 3))
    body, at = places[name]
    along = np.arange(0, last + 1, max((last + 1) // 200, 1))
    return np.array([body.p[k] + rotation_matrix(body.quat[k]) @ at for k in along])


def with_ghosts(scene: Scene, motion: Motion, towards: np.ndarray) -> Scene:
    """`scene` before the outlines of the machine at `GHOSTS` other times, evenly spread."""
    lines: list[tuple[np.ndarray, int]] = []
    for i in np.linspace(0, len(motion.time) - 1, GHOSTS).astype(int):
        for body in motion.bodies:
            p, R = body.p[i], rotation_matrix(body.quat[i])
            outlines = [contour(solid.placed(R, p, DIM), towards) for solid in body.solids]
            if len(body.sticks):
                outlines.append(body.sticks @ R.T + p)
            lines += [(outline, DIM) for outline in outlines]
    return replace(scene, lines=(*lines, *scene.lines))


def middle_of(motion: Motion, body: str, time: float) -> np.ndarray:
    """Where `body` is at `time`, or the middle of all bodies if there is none, (3,) [m]."""
    i = motion.index(time)
    at = [one.p[i] for one in motion.bodies if one.name == body] or [b.p[i] for b in motion.bodies]
    return np.mean(at, axis=0)


def force_at(motion: Motion, joint: str, time: float) -> float:
    """The size of a joint's force at `time` [N]; NaN without one."""
    for acting in motion.joints:
        if acting.name == joint and acting.force is not None:
            return float(np.linalg.norm(acting.force[motion.index(time)]))
    return math.nan
