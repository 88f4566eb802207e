"""Efforts that one solver recorded, as smooth functions of time for the other.

The transfer-matrix solver integrates one-dimensional parts and controllers itself.  Where one of
them has no twin there, what all of them exert on the mechanism is taken from the bond-graph
run instead.  The joint forces that follow from it are compared, the parts themselves are
not; the verdict says for which joints that was done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.model import Model
from vbg.plumbing.words import with_article
from vbg.solution import Solution
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction, constant, of_spline
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.loading import (
    acts_on_mechanism,
    has_dry_friction,
    joints_reached,
    one_dimensional,
)
from vbg.tmm_bridge.motion.rate.recording import program_of
from vbg.tmm_bridge.onedim.offsets import between_shafts
from vbg.tmm_bridge.onedim.rawbonds import OuterBond, outer_bonds
from vbg.tmm_bridge.onedim.trains import paths_of, side_of, tie_of, tying_parts
from vbg.tmm_bridge.tree.forest import coordinate_joint, coordinate_key
from vbg.tmm_bridge.tree.pairs import measured_coordinates

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Samples of an effort; between them a cubic spline.  One sample alone is a constant."""

    time: Array
    effort: Array

    def function(self) -> TimeFunction:
        """The effort as a function of time."""
        from scipy.interpolate import CubicSpline

        if len(self.time) == 1:
            return constant(float(self.effort[0]))
        return of_spline(CubicSpline(self.time, self.effort))

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


# what a part tells of the effort on its first and second end, of those that have two
_ON_ENDS = {
    "gear": ((-1.0, "torque1"), (1.0, "torque2")),
    "belt": ((-1.0, "torque1"), (1.0, "torque2")),
    "ball_screw": ((-1.0, "shaft_torque"), (1.0, "thrust")),
}


@dataclass(frozen=True)
class Push:
    """What a part exerts on the mechanism: the key of its replay (see
    `vbg.tmm_bridge.mechanism.layout.lay_out`), `sign` times an output of the part, called
    `told`, or torque or force if that is empty."""

    key: str
    name: str
    part: Any
    sign: float = 1.0
    told: str = ""


def parts_on_mechanism(model: Model) -> Iterator[Push]:
    """What one-dimensional parts exert on joints or between points.

    Raises UsageError for a part on a coordinate that a replay does not reach."""
    for name, part in one_dimensional(model):
        for end, path in joints_reached(part):
            joint = coordinate_joint(path)
            if coordinate_key(model, path) != coordinate_key(model, f"joints.{joint}"):
                raise UsageError(f"{part.table}.{name}: what is exerted on {path} is not replayed.")
            second = end in ("on", "second", "slide") or (end == "first" and len(part.nodes) == 1)
            sign, told = 1.0 if second else -1.0, ""
            if part.kind in _ON_ENDS:
                sign, told = _ON_ENDS[part.kind][second]
            yield Push(joint, name, part, sign, told)
        if getattr(part, "between", None) is not None:  # what is told pushes the points apart
            yield Push(f"{part.table}.{name}", name, part, -1.0)


def feedback(model: Model) -> Iterator[tuple[str, Any]]:
    """(name, part) of the forces and torques with a signal that is no function of time."""
    for name, part in model.forces.items():
        for given in getattr(part, part.kind, ()) if part.kind in ("force", "torque") else ():
            try:
                function_of(model, given)
            except UsageError:
                yield name, part
                break


def replayed_parts(model: Model) -> tuple[str, ...]:
    """Names of the parts whose efforts a replay takes from the first run."""
    names = [name for name, part in one_dimensional(model) if acts_on_mechanism(part)]
    names += [name for name, joint in model.joints.items() if has_dry_friction(joint)]
    names += [outer.vertex for outer in outer_bonds(model) if outer.owner in model.joints]
    names += [name for name, _ in feedback(model)]
    return tuple(dict.fromkeys(names))


def with_units_recorded(model: Model, exchanged: Mapping[str, Array]) -> Model:
    """The same machine, its FMUs with what they told in a run (`Solution.exchanged`): native code
    has no twin, so that the other solver reads that record, exactly, as functions of time."""
    units = {
        name: replace(part, recorded=exchanged[f"fmu.{name}"]) for name, part in model.fmu.items()
    }
    twin = type(model).__new__(type(model))
    twin.__dict__.update(model.__dict__ | {"fmu": MappingProxyType(units)})
    return twin


def without_twin(model: Model) -> str:
    """Why the transfer-matrix solver needs the record of the other one; empty if it does not."""
    try:
        program_of(lay_out(model))
    except UsageError as error:
        return str(error)
    return ""


def has_twins(model: Model) -> bool:
    """Whether the transfer-matrix solver has something one-dimensional to integrate, and can."""
    return lay_out(model).network is not None


def replays_from(
    model: Model,
    solution: Solution,
    without: Collection[str] = (),
    *,
    frictions_apart: bool = False,
) -> dict[str, Recorded]:
    """Recorded efforts by their keys; of a motor its rotor and bearing too:
    torque - B speed - J speed'.  Between two points the effort draws together.  `without` are
    one-dimensional parts that the other solver knows itself.  With `frictions_apart` a joint's dry
    friction is joints.NAME.friction, and not in what acts on NAME.

    Raises UsageError for a part whose effort the solution does not tell.
    """
    total: dict[str, np.ndarray[Any, Any]] = {}
    for name, part in one_dimensional(model):
        known = name in without or part.kind != "speed"
        if not known and _strikes(model, part) and _moves_joints(model, part):
            raise UsageError(
                f"{part.table}.{name}: this speed source, which moves a joint, can"
                " only be replayed, and its effort alone does not tell what it strikes at the"
                " start. Begin with speed 0, or give the joint a drive."
            )
    for push in parts_on_mechanism(model):
        if push.name in without:
            continue
        effort = push.sign * _effort(solution, push)
        total[push.key] = total.get(push.key, np.zeros(len(solution.time))) + effort
    for name, joint in model.joints.items():
        if has_dry_friction(joint):
            key = f"joints.{name}.friction" if frictions_apart else name
            total[key] = total.get(key, 0.0) + np.ravel(solution[f"{name}.friction"])
    for outer in outer_bonds(model):
        if outer.owner in model.joints:
            effort = outer.sign * _bond_effort(model, solution, outer)
            total[outer.owner] = total.get(outer.owner, 0.0) + effort
    for name, part in feedback(model):
        recorded = np.array(solution[f"{name}.{part.kind}"])
        if isinstance(part.on, str):
            total[f"forces.{name}"] = np.ravel(recorded)
        else:
            total |= {f"forces.{name}[{k}]": recorded[:, k] for k in range(3)}
    return {key: Recorded(np.array(solution.time), effort) for key, effort in total.items()}


def _strikes(model: Model, part: Any) -> bool:
    """Whether a speed source is not zero at the start, or may not be."""
    try:
        return function_of(model, part.speed).value(0.0) != 0.0
    except UsageError:  # it reads what moves
        return False


def _moves_joints(model: Model, part: Any) -> bool:
    """Whether gears or further sources lead from a speed source to a joint."""
    ties = [tie_of(model, tie)[:2] for _, tie in tying_parts(model)]
    ties += [(first, second) for _, _, first, second in between_shafts(model)]
    reached = {end for path in paths_of(model, part) for end in side_of(path, ties)}
    return any(end.startswith("joints.") for end in reached)


def _bond_effort(model: Model, solution: Solution, outer: OuterBond) -> Array:
    """Effort of a raw bond on a joint's only coordinate."""
    signal = f"{outer.vertex}.effort"
    if signal not in solution or len(measured_coordinates(model.joints[outer.owner])) != 1:
        raise UsageError(
            f"The effort of the bond {outer.bond} is not recorded by itself either, which could be"
            " replayed. Write a store on a joint as a part of [rotational] or [translational], or"
            " take it out of a copy to have the rest compared."
        )
    return np.ravel(np.array(solution[signal], dtype=float))


def _effort(solution: Solution, push: Push) -> Array:
    """What the part tells of its effort, without what its own rotor takes."""
    from scipy.interpolate import CubicSpline

    name, part = push.name, push.part
    for signal in (
        f"{name}.{word}" for word in ([push.told] if push.told else ("torque", "force"))
    ):
        if signal in solution:
            effort = np.array(solution[signal], dtype=float)
            break
    else:
        raise UsageError(
            f"{part.table}.{name}: what {with_article(part.kind)} exerts on its joint is not"
            " recorded, so the transfer-matrix solver cannot replay it."
        )
    inertia, loss = getattr(part, "J", 0.0), getattr(part, "B", 0.0)
    if loss:
        effort -= loss * np.ravel(solution[f"{name}.speed"])
    if inertia and len(solution.time) == 1:
        raise UsageError(
            f"{part.table}.{name}: what its rotor takes follows from how its speed changes, which"
            " a run of no duration does not show. Give t_end more than 0 to have it replayed."
        )
    if inertia:
        effort -= inertia * CubicSpline(solution.time, solution[f"{name}.speed"])(solution.time, 1)
    return effort
