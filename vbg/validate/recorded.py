"""Efforts that one solver recorded, as smooth functions of time for the other.

The embedded solver has no twins of electric and hydraulic parts, nor of feedback:
what these exert on a joint is taken from the bond-graph run.  The joint forces
that follow from it are compared, the parts themselves are not; the verdict says
for which joints that was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.solution import Solution
from vbg.tmm_bridge.timefunctions import function_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Samples of an effort; between them a cubic spline."""

    time: Array
    effort: Array

    @property
    def rates(self) -> Any:
        """Function of time that gives the effort and two derivatives."""
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(self.time, self.effort)
        slope, curvature = spline.derivative(), spline.derivative(2)
        return lambda t: (float(spline(t)), float(slope(t)), float(curvature(t)))

    def spline_error(self) -> float:
        """What the spline misses between samples, relative to the peak: the error of the
        spline through every other sample, less the factor 16 of its order."""
        from scipy.interpolate import CubicSpline

        peak = float(np.abs(self.effort).max(initial=0.0))
        if peak == 0.0 or len(self.time) < 8:
            return 0.0
        half = CubicSpline(self.time[::2], self.effort[::2])
        inside = self.time <= self.time[::2][-1]
        return float(np.abs(half(self.time) - self.effort)[inside].max()) / (16.0 * peak)


def parts_on_joints(model: Model) -> Iterator[tuple[str, str, Any]]:
    """(joint, name, part) of the one-dimensional parts that act on joints."""
    for table in (model.electric, model.hydraulic, model.rotational, model.translational):
        for name, part in table.items():
            on = getattr(part, "on", None)
            if isinstance(on, str) and on.startswith("joints."):
                yield on.removeprefix("joints."), name, part


def feedback_torques(model: Model) -> Iterator[str]:
    """Torques on joints whose signal is no function of time."""
    for name, part in model.forces.items():
        if part.kind == "torque" and isinstance(part.on, str):
            try:
                function_of(model, part.torque[0])
            except UsageError:
                yield name


def needs_replay(model: Model) -> bool:
    """Whether the embedded solver cannot run before the other one has."""
    return any(True for _ in parts_on_joints(model)) or any(True for _ in feedback_torques(model))


def replays_from(model: Model, solution: Solution) -> dict[str, Recorded]:
    """Recorded efforts on each joint; of a motor its rotor and bearing too:
    torque - B speed - J speed'.

    Raises UsageError for a part whose effort the solution does not tell.
    """
    total: dict[str, np.ndarray[Any, Any]] = {}
    for joint, name, part in parts_on_joints(model):
        total[joint] = total.get(joint, np.zeros(len(solution.time))) + _effort(
            solution, name, part
        )
    for name in feedback_torques(model):
        total[f"forces.{name}"] = np.ravel(solution[f"{name}.torque"])
    return {key: Recorded(np.array(solution.time), effort) for key, effort in total.items()}


def _effort(solution: Solution, name: str, part: Any) -> Array:
    """What the part exerts on the joint's second body along the coordinate."""
    from scipy.interpolate import CubicSpline

    for signal in (f"{name}.torque", f"{name}.force"):
        if signal in solution:
            effort = np.array(solution[signal], dtype=float)
            break
    else:
        raise UsageError(
            f"{part.table}.{name}: what a {part.kind} exerts on its joint is not recorded, so the"
            " embedded solver cannot replay it."
        )
    if getattr(part, "J", 0.0) or getattr(part, "B", 0.0):
        speed = CubicSpline(solution.time, solution[f"{name}.speed"])
        effort -= part.B * speed(solution.time) + part.J * speed(solution.time, 1)
    return effort
