"""The start of a run as poses, and what may be done where the two solvers' starts differ.

The file writes a start.  Where it closes, both solvers begin just there, and a solver that
does not is at fault.  Where it does not close, each assembles a posture near it in its own
way: then the second solver begins again from the first one's, as far as the assembly was
free to choose and no further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg.elements.flexible import STIFF
from vbg.model import Model
from vbg.model.placing.placed import place
from vbg.plumbing.components import component
from vbg.solution import Solution
from vbg.validate.comparison.scales import scales_of

Array = np.ndarray[Any, Any]
SAME = 1e-7  # relative difference of two starts that counts as none
BESIDE = 1e-9  # of the machine's own magnitude of the unit: no difference either
CHOSEN = 1e-3  # of a difference of two starts: so much of it may lie along the change of speeds
PLACES, SPEEDS = ("p_WB", "R_WB"), ("v_WB", "w_WB_B")
_UNITS = {"p_WB": "m", "R_WB": "1", "v_WB": "m/s", "w_WB_B": "rad/s"}
_WORDS = {"p_WB": "position", "R_WB": "rotation", "v_WB": "velocity", "w_WB_B": "angular_velocity"}
_SPEED_OF = {"angle": "speed", "slide": "speed", "angle2": "speed2"}


@dataclass(frozen=True, eq=False)
class StartPose:
    """Mass centre and its velocity (W), R_WB, angular velocity (body axes)."""

    p_WB: Array
    R_WB: Array
    v_WB: Array
    w_WB_B: Array


Poses = Mapping[str, StartPose]


def first_poses(solution: Solution, bodies: tuple[str, ...]) -> dict[str, StartPose]:
    """Poses at the first output time."""
    return {
        body: StartPose(
            np.array(solution[f"{body}.position"][0]),
            matrix_of(solution[f"{body}.rotation"][0]),
            np.array(solution[f"{body}.velocity"][0]),
            np.array(solution[f"{body}.angular_velocity"][0]),
        )
        for body in bodies
    }


def written_poses(model: Model) -> dict[str, StartPose]:
    """The start as the file writes it."""
    return {
        body: StartPose(pose.p_WB, pose.R_WB, pose.v_WB, pose.w_WB_B)
        for body, pose in place(model).poses.items()
    }


def at_written_speeds(poses: Poses, model: Model) -> dict[str, StartPose]:
    """The same places with the speeds that the file writes."""
    written = written_poses(model)
    return {
        body: replace(pose, v_WB=written[body].v_WB, w_WB_B=written[body].w_WB_B)
        for body, pose in poses.items()
    }


def matrix_of(quaternion: Array) -> Array:
    """The rotation matrix of a quaternion, scalar first."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@dataclass(frozen=True)
class Apart:
    """Where two starts differ most: `quantity` as "rod.velocity", `by` relative to the largest
    of its kind, or 0 where they do not differ; the values as texts."""

    quantity: str = ""
    by: float = 0.0
    one: str = ""
    other: str = ""

    def __bool__(self) -> bool:
        return bool(self.quantity)


def starts_differ(
    first: Poses,
    second: Poses,
    scales: Mapping[str, float] | None = None,
    entries: tuple[str, ...] = (*PLACES, *SPEEDS),
) -> Apart:
    """The entry whose start differs most between two runs; `scales` are the machine's own
    magnitudes by unit."""
    worst = Apart()
    for entry in entries:
        sizes = [
            float(np.abs(getattr(p, entry)).max()) for p in (*first.values(), *second.values())
        ]
        size = max(sizes, default=0.0)
        beside = BESIDE / SAME * (scales or {}).get(_UNITS[entry], 1e-2)
        for body, pose in first.items():
            a, b = getattr(pose, entry), getattr(second[body], entry)
            relative = float(np.abs(a - b).max()) / max(size, beside)
            if not relative <= max(SAME, worst.by):
                name = f"{body}.{_WORDS[entry]}"
                worst = Apart(name, relative, _said(a, entry), _said(b, entry))
    return worst


def _said(values: Array, entry: str) -> str:
    numbers = ", ".join(f"{v:.6g}" for v in np.ravel(values)[:9])
    return f"[{numbers}] {_UNITS[entry]}".removesuffix(" 1")


@dataclass(frozen=True)
class Remedy:
    """What follows from two starts that differ: `fault`, or a restart of the second solver
    from `poses` because of `reason`, their speeds still those of the file if
    `speeds_as_written`; nothing where they are the same."""

    fault: str = ""
    poses: Poses | None = None
    reason: str = ""
    speeds_as_written: bool = False


def remedy_for(model: Model, first: Solution, second: Solution) -> Remedy:
    """What two runs' starts ask for: nothing, a restart, or a FAIL."""
    bodies = tuple(model.bodies)
    scales = scales_of(model, first, second, shown=True)
    one, two, written = (
        first_poses(first, bodies),
        first_poses(second, bodies),
        written_poses(model),
    )
    for entries in (PLACES, SPEEDS):
        apart = starts_differ(one, two, scales, entries)
        if not apart:
            continue
        closes = [not starts_differ(poses, written, scales, entries) for poses in (one, two)]
        if any(closes):
            return Remedy(
                _differ(apart, f"the {'second' if closes[0] else 'first'} solver left it")
            )
        why = f"({apart.quantity}, by {apart.by:.2g})"
        if entries == PLACES:
            return Remedy("", at_written_speeds(one, model), f"another posture {why}", True)
        if left := left_written(model, first, second, scales, rates_only=True):
            return Remedy(left)
        if not _may_choose_speeds(model, (one, two, written), (first, second)):
            return Remedy(_differ(apart, "the joints leave no choice of the speeds"))
        return Remedy("", one, f"other speeds {why}")
    return Remedy(left_written(model, first, second, scales))


def _differ(apart: Apart, why: str) -> str:
    return (
        f"The starts differ: {apart.quantity} is {apart.one} in the bond-graph solver and"
        f" {apart.other} in the transfer-matrix solver; {why}."
    )


def _may_choose_speeds(
    model: Model, poses: tuple[Poses, Poses, Poses], runs: tuple[Solution, Solution]
) -> bool:
    """Whether the first solver's speeds may be those of a start that the written ones
    contradict; `poses` at both starts and as written.

    Both keep what is written and change the rest least, in kinetic energy: where some speeds
    are written there is one such start.  Where all or none are, the change from the written
    ones is orthogonal, in the metric of the masses, to every motion that the joints
    leave, and so to the difference of two starts.  Modes count STIFF times their mass there.
    """
    one, two, written = poses
    told = [
        getattr(body, name) is not None
        for body in model.bodies.values()
        for name in ("velocity", "angular_velocity")
    ]
    if any(told) and not all(told):
        return False
    if model.rotational or model.electric or model.translational or model.hydraulic:
        return True  # rotors and pistons weigh in
    along = size = 0.0
    for body, pose in one.items():
        part = model.bodies[body]
        xx, yy, zz, xy, yz, zx = part.inertia
        J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        dv, dw = pose.v_WB - two[body].v_WB, pose.w_WB_B - two[body].w_WB_B
        cv, cw = pose.v_WB - written[body].v_WB, pose.w_WB_B - written[body].w_WB_B
        along += part.mass * float(cv @ dv) + float(cw @ J @ dw)
        size += part.mass * float(dv @ dv) + float(dw @ J @ dw)
    for name, body in model.bodies.items():
        if body.flexible is not None:
            a, b = (run[f"{name}.modal_speed"][0] for run in runs)
            along += STIFF * float((a - np.array(body.flexible.start_speed)) @ (a - b))
            size += STIFF * float((a - b) @ (a - b))
    return abs(along) <= CHOSEN * size


def left_written(
    model: Model,
    first: Solution,
    second: Solution,
    scales: Mapping[str, float],
    *,
    rates_only: bool = False,
) -> str:
    """A start value that the file writes and one solver keeps, the other not; empty if there
    is none.  Speeds, `rates_only`, are kept where the joints allow it, whatever moves the rest."""
    written = [
        *written_coordinates(model),
        *(
            (component(f"{name}.{entry}", k, 3), unit, value)
            for name, body in model.bodies.items()
            for entry, unit in (("velocity", "m/s"), ("angular_velocity", "rad/s"))
            for k, value in enumerate(getattr(body, entry) or ())
        ),
    ]
    for signal, unit, value in written:
        if signal not in first or signal not in second or (rates_only and unit in ("m", "rad")):
            continue
        gaps = [abs(float(s[signal][0]) - value) for s in (first, second)]
        allowed = SAME * max(abs(value), BESIDE / SAME * scales.get(unit, 1.0))
        if (gaps[0] <= allowed) != (gaps[1] <= 10.0 * allowed) and max(gaps) > 10.0 * allowed:
            who = "transfer-matrix" if gaps[0] <= allowed else "bond-graph"
            return (
                f"The starts differ: the file writes {signal} = {value:.6g} {unit}, and the {who}"
                f" solver starts {max(gaps):.3g} {unit} from it."
            )
    return ""


def written_coordinates(model: Model) -> Iterator[tuple[str, str, float]]:
    """(signal, unit, value) of what joints have in `initial`."""
    units = {"angle": "rad", "angle2": "rad", "slide": "m"}
    for name, joint in model.joints.items():
        initial = getattr(joint, "initial", None)
        if initial is None or getattr(joint, "drive", None) is not None:
            continue
        for key, unit in units.items():
            value = getattr(initial, key, None)
            if value is not None:
                yield f"{name}.{key}", unit, value
            both = key == "slide" and hasattr(initial, "slide_speed")
            rate = "slide_speed" if both else _SPEED_OF[key]
            value = getattr(initial, rate, None) if hasattr(initial, key) else None
            if value is not None:
                yield f"{name}.{rate}", f"{unit}/s", value
