"""What the engineer should know of an assembled start: bodies that were moved or turned,
written start values that a drive overrides, and how far a direction is from closing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.facing import turning
from vbg.assemble.start.constraints.sizes import typical_length
from vbg.assemble.system import System
from vbg.errors import Problem

Array = NDArray[np.float64]

MOVED = 1e-9  # of its size: a body that moves less has not moved
TURNED = 1e-8  # nor turned below this [rad]
FAR = 0.01  # of its size: a body that was written there was not meant to be moved farther
OBLIQUE = np.radians(1.0)  # nor to be turned farther
SINE = "torque normal"  # label of a universal joint's row, a sine that no half turn makes zero


def moved_bodies(system: System, written: Array, residual: Array, x: Array) -> Iterator[Problem]:
    """Bodies whose pose was changed to close the mechanism: a warning where it was written and
    changed by more than rounding of figures, with the joint that was furthest from closing.
    `residual`: position residuals, turns as such, at the `written` state."""
    moved: dict[str, float] = {}
    turned: dict[str, float] = {}
    for s in system.slices:
        body = s.state.name.rpartition(".")[0]
        before, after = written[s.first : s.last], x[s.first : s.last]
        if s.state.kind == "position":
            moved[body] = float(np.linalg.norm(after - before))
        elif s.state.kind == "quaternion":
            turned[body] = _angle_between(before, after)
    sizes = _sizes(system)
    for body, angle in turned.items():
        distance, size = moved[body], sizes[body]
        changes = [f"moved by {distance:.4g} m"] if distance > MOVED * size else []
        changes += [f"turned by {np.degrees(angle):.4g} deg"] if angle > TURNED else []
        if not changes:
            continue
        what = f"{' and '.join(changes)} to close the mechanism"
        guessed = system.causal.graph.placed.poses[body].is_guessed
        if guessed or (distance <= FAR * size and angle <= OBLIQUE):
            yield Problem("note", f"bodies.{body}", f"{what}.")
            continue
        yield Problem(
            "warning",
            f"bodies.{body}",
            f"{what}, which is not what is written: {_pulling(system, body, size, residual)}.",
            "Write the posture in which the mechanism closes, or leave out what should follow.",
        )


def _sizes(system: System) -> dict[str, float]:
    """Of each body from the mass centre to the farthest joint or point, at least the radius of
    gyration."""
    bodies = system.model.bodies
    places = {name: list(part.points.values()) for name, part in bodies.items()}
    for joint in system.model.joints.values():
        for end in joint.between:
            if getattr(end, "body", "") in places:
                places[end.body].append(end.at)
    sizes = {}
    for name, part in bodies.items():
        mass = part.mass or 1.0  # 0 of a point of a flexible body, as its inertia
        gyration = float(np.sqrt(sum(map(abs, part.inertia[:3])) / (2.0 * mass)))
        sizes[name] = max([gyration, *(float(np.linalg.norm(place)) for place in places[name])])
    return sizes


def _pulling(system: System, body: str, size: float, residual: Array) -> str:
    """The joint of the body, or else of any, that was furthest from closing, with its gap."""
    own: list[tuple[float, str, str, float]] = []
    every: list[tuple[float, str, str, float]] = []
    for c in system.equations.constraints:
        ends = getattr(system.model.joints.get(c.part.removeprefix("joints.")), "between", ())
        turn = float(np.linalg.norm(residual[c.first :][: len(c.labels)][turning(c.labels)]))
        for label, value in zip(c.labels, residual[c.first :], strict=False):
            turns = label.startswith("torque")
            value = turn if turns else float(value)
            every.append((abs(value) * (size if turns else 1.0), c.part, label, value))
            if any(getattr(end, "body", "") == body for end in ends):
                own.append(every[-1])
    gap, part, label, value = max(own, default=(0.0, "", "", 0.0))
    if gap <= MOVED * size:
        gap, part, label, value = max(every)
    return f"pulled by {part}, which was open by {with_unit(system, part, label, value)}"


def _angle_between(a: Array, b: Array) -> float:
    """Of two unit quaternions, q and -q being one rotation [rad]: 4 asin(|a - b| / 2),
    which keeps its digits at small angles."""
    chord = min(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    return 4.0 * float(np.arcsin(min(chord / 2.0, 1.0)))


def overridden_starts(system: System, x: Array) -> Iterator[Problem]:
    """Start values written for a coordinate whose drive begins elsewhere."""
    driven = {
        name: joint.initial
        for name, joint in system.model.joints.items()
        if getattr(joint, "drive", None) is not None
    }
    if not driven:
        return
    places = {s.state.name: s.first for s in system.slices}
    rates, length = Evaluator(system.programs.posture_rate), typical_length(system)
    rates(0.0, x)
    for name, initial in driven.items():
        coordinate, unit = ("angle", "rad") if hasattr(initial, "angle") else ("slide", "m")
        state = f"{name}.{coordinate}"
        begins = (
            (coordinate, unit, x[places[state]]),
            ("speed", f"{unit}/s", rates.output(state)[0]),
        )
        for key, in_unit, value in begins:
            written, size = getattr(initial, key), length if unit == "m" else 1.0
            if written is None or abs(value - written) <= MOVED * (size + abs(value)):
                continue
            yield Problem(
                "note",
                f"joints.{name}.initial.{key}",
                f"{written:.6g} {in_unit} is written, but the drive begins at "
                f"{value:.6g} {in_unit}, which is followed.",
                "Leave the written value out, or begin the drive there.",
            )


def by_part(names: tuple[str, ...], every: tuple[str, ...]) -> str:
    """Directions ("A.force.x") in few words: all of A, all of B, C (force.x, force.y)."""
    found: dict[str, list[str]] = {}
    for name in names:
        part, _, direction = name.partition(".")
        found.setdefault(part, []).append(direction)
    sizes = Counter(name.partition(".")[0] for name in every)
    return ", ".join(
        f"all of {part}" if len(labels) == sizes[part] else f"{part} ({', '.join(labels)})"
        for part, labels in found.items()
    )


def unit_of(system: System, part: str, label: str) -> str:
    """Of the gap of a constraint direction: forces close a distance, torques an angle, a drive its
    coordinate; empty where it is none of a motion."""
    if label.startswith("torque"):
        return "rad"
    if label == "drive" and part.startswith("joints."):
        initial = getattr(system.model.joints[part.removeprefix("joints.")], "initial", None)
        return "m" if hasattr(initial, "slide") and not hasattr(initial, "angle") else "rad"
    if label.startswith("force") or label in ("slip.x", "slip.y", "touch"):
        return "m"
    return ""


def with_unit(system: System, part: str, label: str, value: float, *, rate: str = "") -> str:
    """A residual of a constraint direction in its unit; `rate` is "/s" for a velocity."""
    unit = unit_of(system, part, label)
    if label.startswith("torque") and not rate:
        turn = np.arcsin(min(abs(value), 1.0)) if label == SINE else abs(value)
        return f"{np.degrees(turn):.4g} deg"
    if not unit:
        return f"{abs(value):.3g} (SI)"
    return f"{abs(value):.3g} {unit}{rate}"
