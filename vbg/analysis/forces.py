"""Why a joint force is as large as it is: the momentum balance of one body after the other.

For a body B of mass m at a joint J (d'Alembert's form of Newton's second law, world axes)

    s_J F_J = m a - m g - sum over its other joints s_k F_k - R

F : JOINT.force [N], what the first body of the joint exerts on the second; s = +1 where B is the
second, -1 where it is the first;  a : acceleration of the mass centre [m/s^2];  g : gravity;
R : what all else exerts on B: springs, cylinders, contacts, stops and friction.

Each term counts by its component along e = s_J F_J / |F_J|, so that the terms add up to |F_J|.
Effort, flow and power of a joint on its bodies: `joint_bonds`, `joint_powers`.

The joint with the largest term is asked next, on its other body, until the largest term is an
acceleration, a weight or another part, or until the path is at ground.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.fields import Attachment
from vbg.model.catalogue import TABLES
from vbg.spatial import rotation_matrix

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution

Array = NDArray[np.float64]

GROUND = "ground"
_MOTION = ("position", "velocity", "rotation", "angular_velocity")


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a joint force: how many newtons of it, and the joint that passes it on, or ""."""

    what: str
    value: float
    joint: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A joint force |F| = `size` [N] on `body`, and its terms, the largest first."""

    joint: str
    body: str
    size: float
    terms: tuple[Term, ...]


def explained(model: Model, solution: Solution, joint: str, time: float) -> tuple[Step, ...]:
    """The path of the largest force from `joint` back to where it comes from, at the row of
    `solution` nearest to `time` [s].

    Raises
    ------
    UsageError
        the model has no such joint between bodies, or the result has no force of it.
    """
    ends = _joint_ends(model)
    if joint not in ends or f"{joint}.force" not in solution.signals:
        known = ", ".join(name for name in ends if f"{name}.force" in solution.signals)
        raise UsageError(f"{joint}: no joint with a force of its own; there are {known or 'none'}.")
    row = int(np.argmin(np.abs(solution.time - time)))
    first, second = ends[joint]
    body, steps = second if second != GROUND else first, []
    seen: set[str] = set()
    while True:
        seen.add(joint)
        step = _balance(model, solution, ends, joint, body, row)
        steps.append(step)
        following = step.terms[0].joint if step.terms else ""
        if not following or following in seen:
            return tuple(steps)
        a, b = ends[following]
        joint, body = following, b if a == body else a
        if body == GROUND:
            size = float(np.linalg.norm(solution[f"{joint}.force"][row]))
            return (*steps, Step(joint, GROUND, size, ()))


@dataclass(frozen=True, slots=True)
class JointBond:
    """Efforts on a body at its joint, and the flows there, (3,) in world axes: `force` [N] with the
    `velocity` [m/s] of the joint point of the body, `torque` [N*m] with its `turn` [rad/s]."""

    force: Array
    velocity: Array
    torque: Array
    turn: Array

    @property
    def power(self) -> float:
        """What goes into the body [W]: F . v + M . w."""
        return float(self.force @ self.velocity + self.torque @ self.turn)


def joint_powers(model: Model, solution: Solution, time: float) -> dict[tuple[str, str], float]:
    """The power [W] of `joint_bonds`, (joint, body) -> P.  Both of a joint add up to what a drive
    puts in, to zero without one."""
    return {key: bond.power for key, bond in joint_bonds(model, solution, time).items()}


def joint_bonds(model: Model, solution: Solution, time: float) -> dict[tuple[str, str], JointBond]:
    """What each joint passes into each of its bodies, (joint, body) -> bond, at the row of
    `solution` nearest to `time` [s]:

        s F  with  v + w x (p - c),    s M  with  w

    F, M : JOINT.force [N] and JOINT.torque [N*m] about the second body's joint point p [m];
    c, v, w : mass centre, its velocity and the angular velocity of the body, world axes;
    s : +1 for the second body, -1 for the first.
    """
    row = int(np.argmin(np.abs(solution.time - time)))
    found: dict[tuple[str, str], JointBond] = {}
    for name, two in _joint_ends(model).items():
        if not {f"{name}.force", f"{name}.torque"} <= solution.signals.keys():
            continue
        force, torque = (solution[f"{name}.{kind}"][row] for kind in ("force", "torque"))
        point = _place(solution, model.joints[name].between[1], row)
        for sign, body in ((-1.0, two[0]), (1.0, two[1])):
            wanted = {f"{body}.{name}" for name in _MOTION}
            if point is not None and wanted <= solution.signals.keys():
                # BODY.angular_velocity is in the body's own axes
                turned = rotation_matrix(solution[f"{body}.rotation"][row])
                turn = turned @ solution[f"{body}.angular_velocity"][row]
                arm = point - solution[f"{body}.position"][row]
                pace = solution[f"{body}.velocity"][row] + np.cross(turn, arm)
                found[name, body] = JointBond(sign * force, pace, sign * torque, turn)
    return found


def _place(solution: Solution, end: Attachment, row: int) -> np.ndarray | None:
    """Where an attachment is, world axes [m]; None where its body is no rigid one."""
    if end.body == GROUND:
        return np.asarray(end.at)
    if not {f"{end.body}.position", f"{end.body}.rotation"} <= solution.signals.keys():
        return None
    turned = rotation_matrix(solution[f"{end.body}.rotation"][row]) @ np.asarray(end.at)
    return solution[f"{end.body}.position"][row] + turned


def _joint_ends(model: Model) -> dict[str, tuple[str, str]]:
    """The two bodies of each joint between bodies, first and second."""
    found = {}
    for name, part in model.joints.items():
        between: Any = getattr(part, "between", ())
        if len(between) == 2 and all(isinstance(end, Attachment) for end in between):
            found[name] = (between[0].body, between[1].body)
    return found


def _balance(
    model: Model,
    solution: Solution,
    ends: dict[str, tuple[str, str]],
    joint: str,
    body: str,
    row: int,
) -> Step:
    """The terms of the force of `joint` on `body`; none where the body is no rigid one."""

    def on_body(name: str) -> np.ndarray:
        sign = 1.0 if ends[name][1] == body else -1.0
        return sign * solution[f"{name}.force"][row]

    force = on_body(joint)
    size = float(np.linalg.norm(force))
    rigid = model.bodies.get(body)
    if rigid is None or f"{body}.acceleration" not in solution.signals or size == 0.0:
        return Step(joint, body, size, ())
    along = force / size
    acceleration = solution[f"{body}.acceleration"][row]
    inertia, weight = rigid.mass * acceleration, rigid.mass * np.asarray(model.gravity)
    others = {
        name: -on_body(name)
        for name, two in ends.items()
        if name != joint and body in two and f"{name}.force" in solution.signals
    }
    rest = force - (inertia - weight + sum(others.values(), np.zeros(3)))
    pace = float(np.linalg.norm(acceleration))
    terms = [
        Term(f"{body} accelerates: {rigid.mass:.4g} kg, {pace:.4g} m/s²", float(inertia @ along)),
        Term(f"the weight of {body}: {rigid.mass:.4g} kg", float(-weight @ along)),
        *(Term(f"joint {name}", float(f @ along), name) for name, f in others.items()),
        Term(_others(model, body, ends), float(rest @ along)),
    ]
    terms = [term for term in terms if abs(term.value) > 1e-6 * size]
    return Step(joint, body, size, tuple(sorted(terms, key=lambda term: -abs(term.value))))


def _others(model: Model, body: str, ends: dict[str, tuple[str, str]]) -> str:
    """What else may act on a body, by name."""
    own = {f"joints.{name}" for name, two in ends.items() if body in two}
    names = [
        name
        for table in TABLES
        if table not in ("bodies", "joints")
        for name, part in (getattr(model, table, None) or {}).items()
        if _touches(part, body, own)
    ]
    return (
        f"other parts: {', '.join(names)}" if names else "friction, stops and drives of its joints"
    )


def _touches(part: Any, body: str, own: set[str]) -> bool:
    """Whether a part is attached to `body`, or acts on the coordinate of one of its joints."""
    for field in fields(part) if hasattr(part, "__dataclass_fields__") else ():
        value = getattr(part, field.name)
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, Attachment) and entry.body == body:
                return True
            if isinstance(entry, str) and entry in own:
                return True
    return False
