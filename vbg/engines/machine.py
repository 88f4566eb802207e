"""A Model as an engine sees it: a tree of bodies, and joints that close its loops.

Everything is taken from the Model's values and worked out here once more; neither the frames
nor the rotations of vbg's own solvers are used, so that an error in them shows.  The meaning of
angles is that of the model file (docs/model-file.md, "Joints and the written posture").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.engines.masses import inertia_of
from vbg.engines.pose import Array, Place, Z, of_quaternion, shortest, triad, turn
from vbg.engines.written import written_rotation
from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model import Model
from vbg.tmm_bridge.formulas.written import function_of

GROUND = "ground"
TURN, SLIDE, BALL, FREE = "turn", "slide", "ball", "free"
IN_TREE = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "helical": 2,
    "cylindrical": 2,
    "universal": 2,
    "planar": 3,
    "spherical": 3,
}
"""Joints that may carry a body, and their coordinates (a screw's two are tied by a row)."""
CUT_ONLY = ("point_on_line", "point_on_plane", "guide", "distance")
COUPLINGS = ("gear", "belt", "rack_pinion")
COORDINATES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "revolute": (("angle", "speed"),),
    "prismatic": (("slide", "speed"),),
    "helical": (("slide", ""), ("angle", "speed")),
    "cylindrical": (("slide", "slide_speed"), ("angle", "speed")),
    "universal": (("angle", "speed"), ("angle2", "speed2")),
    "point_on_line": (("slide", "speed"),),
    "guide": (("slide", "speed"),),
}
"""The signals of a joint's coordinates and their rates, in the order of its elements."""


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One elementary joint about or along `axis`, (3,) in the frame before all of its branch."""

    kind: str
    axis: Array


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """`body` below `parent`: its elements sit at `before` in the parent's axes from its mass
    centre; `after` is the body (its mass centre and axes) in the frame behind them."""

    body: str
    parent: str
    joint: str
    before: Place
    elements: tuple[Element, ...]
    after: Place


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """A joint with frame F on its first body and M on its second, from their mass centres."""

    name: str
    kind: str
    first: str
    second: str
    X_AF: Place
    X_BM: Place
    part: Any


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """`branches` depth first; `cuts` close the loops; `joints` are all between bodies, of which
    the `opened` hold nothing."""

    model: Model
    masses: Mapping[str, tuple[float, Array]]
    branches: tuple[Branch, ...]
    cuts: tuple[Ends, ...]
    joints: Mapping[str, Ends]
    opened: tuple[Ends, ...] = ()


def machine_of(model: Model, opened: frozenset[str] = frozenset()) -> Machine:
    """The machine whose joints `opened` are open; raises UsageError for joints that no engine here
    can express, by name."""
    joints = dict(_ends(model))
    masses = {name: inertia_of(model, name) for name in model.bodies}
    holding = {name: ends for name, ends in joints.items() if name not in opened}
    branches, cuts = _tree(model, holding)
    apart = tuple(ends for name, ends in joints.items() if name in opened)
    return Machine(model, masses, branches, cuts, joints, apart)


def _ends(model: Model) -> Iterator[tuple[str, Ends]]:
    strange = [f"bodies.{n} (flexible)" for n, body in model.bodies.items() if body.flexible]
    for name, part in model.joints.items():
        if not isinstance(part.between[0], Attachment):
            if part.kind not in COUPLINGS:
                strange.append(f"joints.{name} ({part.kind})")
            continue
        if part.kind not in IN_TREE and part.kind not in CUT_ONLY:
            strange.append(f"joints.{name} ({part.kind})")
            continue
        first, second = part.between
        R_AF, R_BM = _axes(model, part)
        F, M = Place(R_AF, np.array(first.at)), Place(R_BM, np.array(second.at))
        if part.kind == "helical" and part.initial.angle is None:
            F = _screw_seat(model, part, F, M)
        yield name, Ends(name, part.kind, first.body, second.body, F, M, part)
    if strange:
        raise UsageError(f"the engines have no {', '.join(strange)}.")


def written_axes(model: Model, body: str) -> Array | None:
    """Axes of the body as its file places it; None where it says nothing."""
    if body == GROUND:
        return np.eye(3)
    part = model.bodies[body]
    if part.rotation is not None:
        found = written_rotation(model, body)
        return of_quaternion(part.rotation) if found is None else found
    return None if part.position is None else np.eye(3)


def _axes(model: Model, part: Any) -> tuple[Array, Array]:
    """Axes of F in the first body and of M in the second."""
    first, second = (written_axes(model, end.body) for end in part.between)
    R_AB = None if first is None or second is None else first.T @ second
    if _joins_frames(part):
        F, M = (of_quaternion(end.rotation) for end in part.between)
        return F, M
    if not hasattr(part, "axis"):
        return np.eye(3), np.eye(3) if R_AB is None else R_AB.T
    initial = getattr(part, "initial", None)
    angle = getattr(initial, "angle", None) or 0.0
    if part.kind == "universal":
        return _cardan(part, R_AB, angle, getattr(initial, "angle2", None) or 0.0)
    R_AF = triad(part.axis)
    other = getattr(part, "axis_on_second", None)
    if R_AB is None:
        return R_AF, R_AF if other is None else shortest(part.axis, other) @ R_AF
    R_BM = R_AB.T @ R_AF @ turn(Z, angle)
    return R_AF, R_BM if other is None else triad(other, R_BM[:, 0])


def _joins_frames(part: Any) -> bool:
    """Whether both ends are frames, and the axis, where the joint has one, is z of both: then
    they are F and M, wherever the bodies are written."""
    if part.kind == "universal" or None in [end.rotation for end in part.between]:
        return False
    F, M = (of_quaternion(end.rotation) for end in part.between)
    told = (getattr(part, "axis", F[:, 2]), getattr(part, "axis_on_second", M[:, 2]))
    if told[1] is None:
        return False
    return bool(F[:, 2] @ told[0] > 1.0 - 1e-12 and M[:, 2] @ told[1] > 1.0 - 1e-12)


def _screw_seat(model: Model, part: Any, F: Place, M: Place) -> Place:
    """F of a screw whose bodies are both placed: it turns from where they are written, the slide
    being lead * angle there with the angle of its drive, or 0."""
    ends = [written_place(model, end.body) for end in part.between]
    if ends[0] is None or ends[1] is None:
        return F
    apart = (ends[0] @ F).inverse() @ ends[1] @ M
    angle = 0.0 if part.drive is None else function_of(model, part.drive).value(0.0)
    return Place(F.R, F.p + (apart.p[2] - part.lead * angle) * F.R[:, 2])


def written_place(model: Model, body: str) -> Place | None:
    """Of a body as its file places it; None where it gives no position."""
    R = written_axes(model, body)
    if body == GROUND or R is None:
        return Place() if body == GROUND else None
    position = model.bodies[body].position
    return None if position is None else Place(R, np.array(position))


def _cardan(part: Any, R_AB: Array | None, angle: float, angle2: float) -> tuple[Array, Array]:
    """F's z is the first axis, M's z the second, which lies along F's y at angle 0."""
    axis, axis2 = np.array(part.axis), np.array(part.axis2)
    if R_AB is None:
        R_AB, angle, angle2 = shortest(axis2, _across(axis, axis2)), 0.0, 0.0
    y = turn(axis, -angle) @ _across(axis, R_AB @ axis2)
    R_AF = np.column_stack((np.cross(y, axis), y, axis))
    R_FM = turn(Z, angle) @ CROSS @ turn(Z, angle2)
    return R_AF, triad(axis2, (R_AB.T @ R_AF @ R_FM)[:, 0])


CROSS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""M in F of a universal joint at zero: M's z along F's y."""


def _across(axis: Array, vector: Array) -> Array:
    return triad(axis, vector)[:, 0]


def _elements(ends: Ends, *, forward: bool) -> tuple[tuple[Element, ...], Array]:
    """The elements in the frame of the parent's side, and the rotation behind them.  Seen from
    the second body every coordinate goes the other way, and the last one comes first."""
    sign = 1.0 if forward else -1.0
    z, behind = sign * Z, np.eye(3)
    one = {"revolute": (TURN,), "prismatic": (SLIDE,), "cylindrical": (SLIDE, TURN)}
    one["helical"] = one["cylindrical"]
    if ends.kind in one:
        return tuple(Element(kind, z) for kind in one[ends.kind]), behind
    if ends.kind == "spherical":
        return (Element(BALL, Z),), behind
    if ends.kind == "planar":
        x, y, _ = np.eye(3)
        return (Element(SLIDE, x), Element(SLIDE, y), Element(TURN, Z)), behind
    if ends.kind == "universal":
        if forward:  # Rz(a) C Rz(a2) = Rz(a) R(Cz, a2) C
            return (Element(TURN, Z), Element(TURN, CROSS @ Z)), CROSS
        return (Element(TURN, -Z), Element(TURN, -CROSS.T @ Z)), CROSS.T
    return (), behind


def _tree(model: Model, joints: Mapping[str, Ends]) -> tuple[tuple[Branch, ...], tuple[Ends, ...]]:
    """Branches from the ground on; joints whose coordinates are asked for come first."""
    asked = _asked_for(model)
    order = sorted(
        (e for e in joints.values() if e.kind in IN_TREE),
        key=lambda e: (e.name not in asked, IN_TREE[e.kind]),
    )
    reached, branches, used = {GROUND}, [], set()
    while len(reached) <= len(model.bodies):
        ends = next((e for e in order if (e.first in reached) != (e.second in reached)), None)
        if ends is None:
            body = next(name for name in model.bodies if name not in reached)
            branches.append(Branch(body, GROUND, "", Place(), (Element(FREE, Z),), Place()))
            reached.add(body)
            continue
        forward = ends.first in reached
        elements, behind = _elements(ends, forward=forward)
        near, far = (ends.X_AF, ends.X_BM) if forward else (ends.X_BM, ends.X_AF)
        parent, body = (ends.first, ends.second) if forward else (ends.second, ends.first)
        after = Place(behind) @ far.inverse()
        branches.append(Branch(body, parent, ends.name, near, elements, after))
        reached.add(body)
        used.add(ends.name)
    cuts = tuple(e for e in joints.values() if e.name not in used)
    for ends in cuts:
        if ends.name in asked:
            raise UsageError(
                f"joints.{ends.name} closes a loop, and its coordinate is driven or acted on: the "
                "engines know coordinates of a tree's joints only."
            )
    return tuple(_depth_first(branches)), cuts


def _depth_first(branches: list[Branch]) -> Iterator[Branch]:
    """Every branch before those on it, and all of these before the next: Pinocchio's order."""
    below: dict[str, list[Branch]] = {}
    for branch in branches:
        below.setdefault(branch.parent, []).append(branch)
    waiting = below.get(GROUND, [])[::-1]
    while waiting:
        branch = waiting.pop()
        yield branch
        waiting += below.get(branch.body, [])[::-1]


def _asked_for(model: Model) -> set[str]:
    """Joints with a drive, with friction or a stop, and those that parts act on."""
    asked = {
        name
        for name, part in model.joints.items()
        if any(getattr(part, key, None) is not None for key in ("drive", "friction", "stop"))
    }
    texts: list[Any] = [
        getattr(part, "on", None)
        for table in ("forces", "electric", "hydraulic", "rotational", "translational")
        for part in getattr(model, table).values()
    ]
    for part in model.joints.values():
        if part.kind in COUPLINGS:
            texts += part.between
    return asked | {
        t.split(".")[1] for t in texts if isinstance(t, str) and t.startswith("joints.")
    }
