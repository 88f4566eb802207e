"""How a run ends that cannot go on, and what to do then."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.remarks import unit_of
from vbg.errors import Problem
from vbg.model import Model
from vbg.solution import Status

STIFF = Problem(
    "note",
    "simulate.formulation",
    "stability, not accuracy, sets the steps: the model is stiff, and 'minimal' has no implicit "
    "method.",
    "formulation = 'constraint' will be faster.",
)


def strayed(t: float) -> Status:
    """Steps of an explicit method that creep."""
    return Status(
        "failed",
        f"The integration stopped at t = {t:.6g} s: the steps of dop853 creep or "
        "are right only at their ends, the model is stiff there.",
        "Take method = 'auto' or 'radau'.",
    )


def not_closed(projector: Projector, t: float, x: NDArray[np.float64]) -> Status:
    """Constraints that cannot be met any more; x is the nearest to it."""
    system = projector.system
    position, _ = projector.residuals(t, x)
    worst = int(np.argmax(np.abs(position) / projector.lengths))
    name, about = system.constraint_names[worst], system.equations.constraints
    unit = [unit_of(system, c.part, label) for c in about for label in c.labels][worst]
    drives = sorted(c.part for c in system.equations.constraints if c.labels == ("drive",))
    return Status(
        "failed",
        f"At t = {t:.6g} s the joints cannot be kept closed any more: "
        f"{abs(position[worst]):.3g}{f' {unit}' if unit else ''} is left, most of it at {name}.",
        f"Drives that may contradict each other from there on: {', '.join(drives)}."
        if drives
        else "The mechanism may have reached the end of its reach; add a stop before it.",
    )


def refused(t: float, apart: str, undetermined: str) -> Status | None:
    """Where an event has no outcome: a joint closes that is `apart`, impulses act on what is
    `undetermined` by laws that are not linear, act through dampers or change meanwhile."""
    if apart:
        return not_met(t, apart)
    if not undetermined:
        return None
    return Status(
        "failed",
        f"At t = {t:.6g} s an impulse acts on {undetermined} by a law of forces that is not "
        "linear, acts through dampers alone, or changes with what jumps: what it steps follows "
        "from how these grow, which a jump does not tell.",
        "Write the jump as a ramp (min(max((t - t0)/1e-3, 0), 1)), limit what the law gives, or "
        "put a spring between what jumps and what the law acts on, or a mass where it acts.",
    )


def not_met(t: float, apart: str) -> Status:
    """A joint that is to close, `apart` by something."""
    return Status(
        "failed",
        f"At t = {t:.6g} s a joint is to close whose frames have not met: {apart}.",
        "Write engage so that it comes true where they meet, or hold with a bushing.",
    )


def half_turned(t: float, name: str) -> Status:
    """What counts a rotation vector, beyond half a turn."""
    return Status(
        "failed",
        f"At about t = {t:.6g} s the ends of {name} are turned by half a turn against each other: "
        "its law has two opposite torques there, and none beyond.",
        "What winds on is a torsion_spring on a joint, or several bushings or elements of a beam "
        "one behind the other.",
    )


def undefined(t: float, names: str) -> Status:
    """Switching functions that are no numbers."""
    return Status(
        "failed",
        f"At t = {t:.6g} s what switches has no value: {names}.",
        "Look for a root or a logarithm of a negative number in its expression.",
    )


def chattering(model: Model, t: float, names: str) -> Status:
    """What switches over and over at one instant."""
    parts = {name.partition(".")[0] for name in names.split(", ")}
    kinds = {getattr(model.forces.get(part), "kind", "") for part in parts}
    return Status(
        "failed",
        f"At t = {t:.6g} s something switches endlessly: {names}.",
        "Stops that touch at one instant: rounding of their gaps turns one over with the other. "
        "Move one of them, or a body before it, by a billionth of its way, and each touches by "
        "itself."
        if kinds == {"stop"} and len(parts) > 1
        else "Two laws contradict each other at the switching point; add a little "
        "resistance, inertia or hysteresis there. For dry friction take `friction`, "
        "which sticks, and not sign(speed).",
    )


def not_agreed(unsettled: Mapping[str, float]) -> tuple[Problem, ...]:
    """A warning about modes that were taken though they do not agree with their conditions."""
    if not unsettled:
        return ()
    first = min(unsettled.values())
    return (
        Problem(
            "warning",
            "simulate",
            f"at t = {first:.6g} s no modes were found that agree with their conditions: "
            f"{', '.join(sorted(unsettled))}. The run went on with the last that were tried.",
            "Two laws contradict each other there: look at the energy audit, and add a little "
            "resistance, inertia or hysteresis.",
        ),
    )


def remedy_of(method: str, formulation: str) -> str:
    """What is left to try where a run by these stopped."""
    another = "method = 'dop853'" if method == "radau" else "method = 'radau'"
    if formulation == "minimal":
        another = "formulation = 'constraint'"
    return (
        f"Near a singular posture or in a stiff model: try {another}, a larger tolerance, or a"
        " start away from the singular posture."
    )
