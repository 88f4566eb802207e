"""What the engineer should know of an assembled start: bodies that were moved or turned,
written start values that a drive overrides, and how far a direction is from closing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.errors import Problem

Array = NDArray[np.float64]

MOVED = 1e-9  # a body that moves less than this [m] has not moved
TURNED = 1e-8  # nor turned below this [rad]


def moved_bodies(system: System, written: Array, x: Array) -> Iterator[Problem]:
    """Bodies whose written pose was changed to close the mechanism."""
    poses: dict[str, list[str]] = {}
    for s in system.slices:
        body = s.state.name.rpartition(".")[0]
        before, after = written[s.first : s.last], x[s.first : s.last]
        if s.state.kind == "position":
            distance = float(np.linalg.norm(after - before))
            if distance > MOVED:
                poses.setdefault(body, []).append(f"moved by {distance:.4g} m")
        elif s.state.kind == "quaternion":
            angle = _angle_between(before, after)
            if angle > TURNED:
                poses.setdefault(body, []).append(f"turned by {np.degrees(angle):.4g} deg")
    for body, changes in poses.items():
        what = f"{' and '.join(changes)} to close the mechanism."
        yield Problem("note", f"bodies.{body}", what)


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
    rates = Evaluator(system.programs.posture_rate)
    rates(0.0, x)
    for name, initial in driven.items():
        coordinate, unit = ("angle", "rad") if hasattr(initial, "angle") else ("slide", "m")
        state = f"{name}.{coordinate}"
        begins = (
            (coordinate, unit, x[places[state]]),
            ("speed", f"{unit}/s", rates.output(state)[0]),
        )
        for key, in_unit, value in begins:
            written = getattr(initial, key)
            if written is None or abs(value - written) <= MOVED * (1.0 + abs(value)):
                continue
            yield Problem(
                "note",
                f"joints.{name}.initial.{key}",
                f"{written:.6g} {in_unit} is written, but the drive begins at "
                f"{value:.6g} {in_unit}, which is followed.",
                "Leave the written value out, or begin the drive there.",
            )


def by_part(names: tuple[str, ...], every: tuple[str, ...]) -> str:
    """Directions ("A.force x") in few words: all of A, all of B, C (force x, force y)."""
    found: dict[str, list[str]] = {}
    for name in names:
        part, _, direction = name.partition(".")
        found.setdefault(part, []).append(direction)
    sizes = Counter(name.partition(".")[0] for name in every)
    return ", ".join(
        f"all of {part}" if len(labels) == sizes[part] else f"{part} ({', '.join(labels)})"
        for part, labels in found.items()
    )


def with_unit(system: System, part: str, label: str, value: float, *, rate: str = "") -> str:
    """A residual of a constraint direction in its unit: forces close a distance, torques an
    angle, a drive its coordinate.  `rate` is "/s" for a velocity."""
    if label.startswith("torque"):
        if not rate:
            return f"{np.degrees(np.arcsin(min(abs(value), 1.0))):.3g} deg"
        unit = "rad"
    elif label == "drive" and part.startswith("joints."):
        initial = getattr(system.model.joints[part.removeprefix("joints.")], "initial", None)
        unit = "m" if hasattr(initial, "slide") and not hasattr(initial, "angle") else "rad"
    elif label.startswith("force") or label in ("slip x", "slip y", "touch"):
        unit = "m"
    else:
        return f"{abs(value):.3g} (SI)"
    return f"{abs(value):.3g} {unit}{rate}"
