"""Inverse dynamics: the efforts of motors that make a machine move as its drives prescribe.

The drives s of the model (motions of joint coordinates, paths of points) determine its motion.
With the motors m idle they need the efforts l (n_s,).  A motor of effort tau_m relieves them;
since constraints do no work and the motion is the same (virtual work, d'Alembert),

    l - B' tau = 0,      B[m, s] = d(speed of m) / d(speed of s)     (n_m, n_s)

B is measured: the run is made again with a constant effort P of one motor, which changes l by
-B[m] P, and what the joints pass on in proportion.  With as many motors as drives tau is unique;
with more it is the one of least sum of squares, tau = B (B'B)^-1 l (J. Nakamura and
M. Ghodoussi, IEEE Trans. Robotics Automat. 5, 1989, on redundant actuation).  Joints' forces
belong to these efforts, not to those of the drives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start, assemble_start
from vbg.errors import UsageError, counted
from vbg.model import Model
from vbg.model.text.names import suggestion
from vbg.simulate.simulating import simulate
from vbg.solution import Solution

Array = NDArray[np.float64]

LOST = 1e-9  # of the largest singular value of B: below it the motors do not hold the motion

Run = Callable[[Model], Solution]


@dataclass(frozen=True, slots=True, eq=False)
class Motor:
    """What the motor on one joint does: its effort [N*m or N] and speed over the run, (n,), and
    the work [J] that it gives and takes back; P = effort * speed is positive into the machine."""

    joint: str
    unit: str
    effort: Array
    speed: Array
    given: float
    taken: float

    @property
    def power(self) -> Array:
        """(n,) [W], positive into the machine."""
        return self.effort * self.speed


@dataclass(frozen=True, slots=True, eq=False)
class Inverse:
    """The motors, and the run with their efforts: ``JOINT.drive`` of each, joint forces.

    `drives` prescribe the motion; `shared` says that there are more motors than those, so
    that the efforts are those of least sum of squares.
    """

    solution: Solution
    motors: tuple[Motor, ...]
    drives: tuple[str, ...]
    shared: bool


def inverse(
    model: Model, motors: Sequence[str] = (), *, run: Run | None = None, **settings: Any
) -> Inverse:
    """The efforts of the motors on the joints `motors`, by default on all joints with a drive.

    Where more joints are driven than the machine has freedoms, all of them are motors and as
    many as it has prescribe the motion.  `settings` are those of `vbg.simulate`; `run` solves
    a model otherwise than that does (`vbg.tmm_bridge.simulate`).

    Raises UsageError where nothing is driven, a motor is on no joint with one coordinate, the
    drives leave freedoms that motors elsewhere would have to control, or the motors cannot
    hold the motion.
    """
    driven = tuple(n for n, j in model.joints.items() if getattr(j, "drive", None) is not None)
    if not driven:
        raise UsageError(
            f"{model.name}: nothing prescribes its motion. Write drive = ... on joints, a function "
            "of t or a signal; joints of kind guide prescribe paths of points."
        )
    wanted = tuple(dict.fromkeys(motors)) or driven
    for name in wanted:
        _require_coordinate(model, name)
    start = assemble_start(model)
    drives = driven
    if start.dependent and start.freedoms == 0:
        model, drives = _independent(model, driven, start)
        start = assemble_start(model)
    solve = partial(_run, run or partial(_simulated, settings=settings))
    first = solve(model)
    if set(wanted) == set(drives):
        return _as_driven(model, first, wanted)
    if start.freedoms:
        raise UsageError(
            f"{model.name}: its drives leave {counted(start.freedoms, 'degree')} of freedom, which "
            "motors elsewhere would move, too. Drive them, or leave --motors out."
        )
    return _shared(model, first, drives, wanted, solve)


def _require_coordinate(model: Model, name: str) -> None:
    if name not in model.joints:
        remedy = suggestion(name, model.joints, "joints")
        raise UsageError(f"the model {model.name} has no joint {name!r} for a motor. {remedy}")
    if not hasattr(model.joints[name], "drive"):
        raise UsageError(
            f"a motor moves one coordinate; the joint {name} is {model.joints[name].kind}."
        )


def _independent(model: Model, driven: tuple[str, ...], start: Start) -> tuple[Model, Any]:
    """The model without drives that say what others say already, and those left."""
    kept = list(driven)
    for name in driven:
        without = model.edited(("joints", name, "drive"), None)
        tried = assemble_start(without)
        if tried.freedoms == 0 and tried.dependent < start.dependent:
            model, start = without, tried
            kept.remove(name)
    return model, tuple(kept)


def _simulated(model: Model, settings: Mapping[str, Any]) -> Solution:
    return simulate(assemble_start(model), **settings)


def _run(run: Run, model: Model) -> Solution:
    solution = run(model)
    if solution.status.code != "finished":
        raise UsageError(f"no motion: {solution.status.sentence} {solution.status.remedy}".strip())
    return solution


def _as_driven(model: Model, solution: Solution, motors: tuple[str, ...]) -> Inverse:
    """Motors on the very coordinates that are prescribed."""
    found = tuple(_motor(model, solution, m, solution[f"{m}.drive"]) for m in motors)
    return Inverse(solution, found, motors, shared=False)


def _motor(model: Model, solution: Solution, name: str, effort: Array) -> Motor:
    slides = f"{name}.slide" in solution and f"{name}.angle" not in solution
    speed = solution[f"{name}.speed"]
    given, taken = _work(solution.time, effort * speed)
    return Motor(name, "N" if slides else "N*m", effort, speed, given, taken)


def _work(time: Array, power: Array) -> tuple[float, float]:
    """Integrals of the positive and of the negative part of `power`, which is linear between
    the rows."""
    a, b, h = power[:-1], power[1:], np.diff(time)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(a * b < 0.0, np.abs(a) / (np.abs(a) + np.abs(b)), 1.0)
    ends = np.where(a * b < 0.0, 0.5 * h * a * share, 0.5 * h * (a + b))
    rest = np.where(a * b < 0.0, 0.5 * h * b * (1.0 - share), 0.0)
    pieces = np.concatenate([ends, rest])
    return float(pieces[pieces > 0.0].sum()), float(-pieces[pieces < 0.0].sum())


def _shared(
    model: Model,
    first: Solution,
    drives: tuple[str, ...],
    motors: tuple[str, ...],
    solve: Run,
) -> Inverse:
    """Motors elsewhere than the drives, or more of them."""
    needed = np.column_stack([first[f"{name}.drive"] for name in drives])  # (n, n_s)
    largest = float(np.abs(needed).max(initial=0.0)) or 1.0
    effects, ratios = [], []
    for name in motors:
        run = solve(_pushed(model, name, largest))
        effects.append(run)
        relief = needed - np.column_stack([run[f"{d}.drive"] for d in drives])
        ratios.append(relief / largest)
    B = np.stack(ratios, axis=1)  # (n, n_m, n_s)
    efforts = _least(first, B, needed, motors)
    solution = _superposed(model, first, effects, efforts / largest, drives)
    signals = dict(solution.signals)
    signals |= {f"{name}.drive": efforts[:, k] for k, name in enumerate(motors)}
    found = tuple(_motor(model, solution, m, efforts[:, k]) for k, m in enumerate(motors))
    units = {**solution.units, **{f"{motor.joint}.drive": motor.unit for motor in found}}
    solution = replace(solution, signals=signals, units=units)
    return Inverse(solution, found, drives, shared=len(motors) > len(drives))


def _least(first: Solution, B: Array, needed: Array, motors: tuple[str, ...]) -> Array:
    """(n, n_m) of least sum of squares with B' tau = needed.

    Raises UsageError where the motors leave a direction of the motion without effort.
    """
    sizes = np.linalg.svd(B, compute_uv=False)
    n_s = B.shape[2]
    weakest = sizes[:, n_s - 1] if sizes.shape[1] >= n_s else np.zeros(len(sizes))
    lost = weakest < LOST * sizes.max(initial=1.0)
    if lost.any():
        t = first.time[int(np.argmax(lost))]
        raise UsageError(
            f"the motors {', '.join(motors)} cannot hold the motion at t = {t:.6g} s: "
            f"{counted(n_s, 'motion')} prescribed, and some direction of it moves none of them. "
            "Name further motors; at a dead centre no motor at that place helps."
        )
    inverses = np.linalg.pinv(np.swapaxes(B, 1, 2))
    return np.asarray((inverses @ needed[:, :, None])[:, :, 0])


def _pushed(model: Model, joint: str, effort: float) -> Model:
    """The model with a constant effort on the coordinate of a joint."""
    name = "probing"
    while name in model.forces or name in model.joints or name in model.bodies:
        name += "_"
    part = {"kind": "torque", "on": f"joints.{joint}", "torque": [effort]}
    return model.edited(("forces", name), part)


def _superposed(
    model: Model,
    first: Solution,
    effects: Sequence[Solution],
    amounts: Array,
    drives: tuple[str, ...],
) -> Solution:
    """The run with the efforts `amounts` (n, n_m) of what was tried: what joints pass on is
    affine in them, the motion is the same."""
    signals = dict(first.signals)
    for name in drives:
        del signals[f"{name}.drive"]
    for joint in model.joints:
        for name in (f"{joint}.force", f"{joint}.torque", f"{joint}.effort"):
            if name not in signals:
                continue
            whole = np.array(first.signals[name])
            for k, run in enumerate(effects):
                share = amounts[:, k] if whole.ndim == 1 else amounts[:, k, None]
                whole = whole + share * (run.signals[name] - first.signals[name])
            signals[name] = whole
    units = {name: unit for name, unit in first.units.items() if name in signals}
    return replace(first, signals=signals, units=units)
