"""The consistent start: loops closed, velocities admissible, faults named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.assembling import assemble
from vbg.assemble.derive.equations import HeldStart
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.program import Program
from vbg.assemble.programs import SHIFT
from vbg.assemble.start.modes import agree
from vbg.assemble.start.posture import Projector, Steps
from vbg.assemble.start.redundancy import Mask, involved, null_efforts
from vbg.assemble.start.remarks import MOVED, by_part, moved_bodies, overridden_starts, with_unit
from vbg.assemble.start.settle import settle
from vbg.assemble.start.singular import LostGrip, lost_grip
from vbg.assemble.start.written import keep_written, not_kept
from vbg.assemble.system import System
from vbg.causality import CausalGraph
from vbg.errors import AssemblyError, Problem, counted
from vbg.graph import BondGraph
from vbg.model import Model, Placed
from vbg.model.located import located
from vbg.plumbing.paused_collection import paused_collection

Array = NDArray[np.float64]

CLOSED = 1e-11  # position residual of an assembled mechanism [m or rad]
AT_REST = 1e-14  # velocity residual that no step makes smaller [part of the largest]
ITERATIONS = 60
NAMED = 4  # random combinations of redundant efforts that say which rows take part


@dataclass(frozen=True, eq=False)
class Start:
    """Where a motion begins, and what its assembly found.

    `state`: x, at t = 0.  `notes`: what moved, which start values could not be kept, which
    constraint directions are redundant.  `redundant`: names of constraint
    directions whose effort is not unique, `dependent` how many rows are too many.
    `freedoms`: degrees of freedom (None without constraints).  How the system is evaluated
    from here on depends on `redundant`: its programs, and all signals at a time and state.
    """

    system: System
    state: Array
    position_residual: float
    velocity_residual: float
    redundant: tuple[str, ...]
    dependent: int
    freedoms: int | None
    notes: tuple[Problem, ...]

    @property
    def shift(self) -> float:
        """Raise of the constraint matrix's diagonal: 0 where its rows are independent."""
        return SHIFT if self.redundant else 0.0

    @property
    def rate_program(self) -> Program:
        """Rate of x, in its order, and behind it the constraint efforts."""
        programs = self.system.programs
        return programs.refined_rate if self.redundant else programs.rate

    @property
    def effort_program(self) -> Program:
        """Constraint efforts, and the accelerations they leave along the constraints."""
        programs = self.system.programs
        return programs.refined_effort if self.redundant else programs.effort

    def rate(self, t: float, x: ArrayLike) -> Array:
        """dx/dt, shape (n,)."""
        evaluate = Evaluator(self.rate_program)
        return evaluate(t, np.asarray(x, dtype=float))[: self.system.size].copy()

    def constraint_efforts(self, t: float, x: ArrayLike) -> Array:
        """Constraint efforts, shape (m,), in the order of `System.constraint_names`, in the
        first body's axes; where they are not unique, the smallest in the metric
        diag(H4), averaged over the components of each force and torque: it weighs them by
        the motion they cause, whatever axes they are written in."""
        evaluate = Evaluator(self.rate_program)
        return evaluate(t, np.asarray(x, dtype=float))[self.system.size :].copy()

    def outputs(self, t: float, x: ArrayLike) -> dict[str, Array]:
        """All signals at (t, x) by name."""
        evaluate = Evaluator(self.system.programs.output)
        x = np.asarray(x, dtype=float)
        evaluate(t, x, self.constraint_efforts(t, x))
        return {name: evaluate.output(name).copy() for name in evaluate.program.outputs}


def assemble_start(source: System | CausalGraph | BondGraph | Placed | Model) -> Start:
    """The consistent start of a System, or of the System of a Model.

    Closes the mechanism from the written posture; problems and notes have their place in
    the model's file.

    Start coordinates and speeds that the engineer wrote are kept where the
    mechanism allows; what else moved is reported.  Raises AssemblyError where it
    cannot be closed, is locked, starts in a singular posture, or two drives
    contradict each other.
    """
    system = source if isinstance(source, System) else assemble(source)
    try:
        with paused_collection():
            start = _assembled(system)
    except AssemblyError as error:
        raise AssemblyError.of(located(system.model, error.problems)) from None
    return replace(start, notes=located(system.model, start.notes))


def _assembled(system: System) -> Start:
    written = system.written_state
    projector = Projector(system)
    _require_values(system, projector, written)
    x, coordinates_changed = _closed_posture(system, projector, written)
    projector.measure(0.0, x)
    settle(system, x)
    before = x
    x, speeds_changed = _closed_velocity(system, projector, x)
    agree(system, 0.0, x)
    position, velocity = projector.residuals(0.0, x)
    open_by = projector.residuals(0.0, written)[0]
    notes = [*moved_bodies(system, written, open_by, x), *overridden_starts(system, x)]
    notes += [note for note in (coordinates_changed, speeds_changed) if note is not None]
    notes += not_kept(system, x, before)
    redundant: tuple[str, ...] = ()
    dependent, freedoms = 0, None
    if projector.rows:
        redundant, dependent, freedoms, found = _examine(system, projector, x)
        notes += found
    return Start(
        system,
        x,
        _largest(position),
        _largest(velocity),
        redundant,
        dependent,
        freedoms,
        tuple(notes),
    )


def _require_values(system: System, projector: Projector, written: Array) -> None:
    """AssemblyError where a constraint row has no value at the written posture."""
    if projector.rows == 0:
        return
    position, velocity = projector.residuals(0.0, written)
    lost = ~(np.isfinite(position) & np.isfinite(velocity))
    if lost.any():
        part, label, _ = _worst(system, np.where(lost, 1.0, 0.0))
        raise AssemblyError.of(
            [
                Problem(
                    "error",
                    part,
                    f"its direction '{label}' has no value at the written posture.",
                    "Its two points coincide there, or a rolling disc lies flat on its plane. "
                    "Write positions in which it has a direction.",
                )
            ]
        )


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


class _HeldRows:
    """Newton steps with written start coordinates (or speeds) as further rows."""

    def __init__(self, held: HeldStart, evaluate: Evaluator, system: System):
        self.rows = held.rows
        self._evaluate = evaluate
        self._steps = Steps(system, evaluate, "step ")
        self._silent = np.zeros(held.size)

    def misses(self, x: Array) -> Array:
        """target - value of each row."""
        self._evaluate(0.0, x, self._silent)
        return np.array(
            [row.target - self._evaluate.output(f"value {row.name}")[0] for row in self.rows]
        )

    def move(self, x: Array, step: Array) -> None:
        self._evaluate(0.0, x, step)
        self._steps.add(x)


def _held_values(system: System) -> _HeldRows | None:
    held = system.equations.held_values
    return _HeldRows(held, Evaluator(system.programs.held_values), system) if held.rows else None


def _held_speeds(system: System) -> _HeldRows | None:
    held = system.equations.held_speeds
    return _HeldRows(held, Evaluator(system.programs.held_speeds), system) if held.rows else None


def _closed_posture(
    system: System, projector: Projector, written: Array
) -> tuple[Array, Problem | None]:
    """The assembled posture, and a warning if written coordinates could not be kept."""
    if projector.rows == 0:
        return written.copy(), None
    held = _held_values(system)
    if held is not None:
        x = _newton(projector, written, held)
        if x is not None:
            return x, None
    x = _newton(projector, written, None)
    if x is None:
        raise AssemblyError.of([_does_not_close(system, projector, written)])
    return x, None if held is None else _not_kept(system, held, x, "coordinates")


def _newton(projector: Projector, written: Array, held: _HeldRows | None) -> Array | None:
    """Newton from the written posture, halving steps that do not help."""
    x = written.copy()
    projector.measure(0.0, x)

    def misfit(at: Array) -> Array:
        position = -projector.residuals(0.0, at)[0]
        return position if held is None else np.concatenate([position, held.misses(at)])

    step = misfit(x)
    for _ in range(ITERATIONS):
        if np.abs(step).max() <= CLOSED:
            return x
        length = 1.0
        while True:
            trial = x.copy()
            if held is None:
                projector.move_posture(0.0, trial, length * step)
            else:
                held.move(trial, length * step)
                projector.normalise(trial)
            projector.measure(0.0, trial)
            following = misfit(trial)
            if np.abs(following).max() < np.abs(step).max() or length < 1e-3:
                break
            length *= 0.5
        x, step = trial, following
    return x if np.abs(step).max() <= 1e3 * CLOSED else None


def _closed_velocity(
    system: System, projector: Projector, x: Array
) -> tuple[Array, Problem | None]:
    """Momenta on the constraints; written speeds kept where possible."""
    if projector.rows == 0:
        return x, None
    held = _held_speeds(system)
    scale = 1.0 + float(np.abs(projector.residuals(0.0, x)[1]).max())
    if held is not None:

        def with_held(at: Array) -> Array:
            return _with_held_speeds(projector, held, at)

        trial = with_held(x)
        left = _largest(projector.residuals(0.0, trial)[1])
        if max(left, _largest(held.misses(trial))) < 1e-9 * scale:
            return keep_written(system, with_held, trial, x), None
    result = _admissible(projector, x, scale)
    velocity = projector.residuals(0.0, result)[1]
    if np.any(np.abs(velocity) > 1e-8 * scale + 1e2 * _rounding(projector, result, velocity)):
        raise AssemblyError.of([_contradiction(system, velocity)])
    result = keep_written(system, lambda at: _admissible(projector, at, scale), result, x)
    return result, None if held is None else _not_kept(system, held, result, "speeds")


def _with_held_speeds(projector: Projector, held: _HeldRows, x: Array) -> Array:
    trial = x.copy()
    for _ in range(2):
        velocity = -projector.residuals(0.0, trial)[1]
        held.move(trial, np.concatenate([velocity, held.misses(trial)]))
    return trial


def _admissible(projector: Projector, x: Array, scale: float) -> Array:
    """The state nearest to x, in the energy metric, whose velocities the constraints allow."""
    result = x.copy()
    velocity, before = projector.residuals(0.0, result)[1], np.inf
    while AT_REST * scale < (left := _largest(velocity)) < 0.5 * before:
        projector.move_velocity(0.0, result, -velocity)
        velocity, before = projector.residuals(0.0, result)[1], left
    return result


def _rounding(projector: Projector, x: Array, velocity: Array) -> Array:
    """What a change of x in its last digits changes in each row: rows of dependent stores
    compare pressures of 1e7 Pa, those of joints speeds near 1."""
    nearby = projector.residuals(0.0, x * (1.0 + 4.0 * np.finfo(float).eps))[1]
    return np.asarray(np.abs(nearby - velocity))


def _worst(system: System, residual: Array) -> tuple[str, str, float]:
    """Part, direction and value of the largest residual."""
    worst = int(np.argmax(np.abs(residual)))
    for c in system.equations.constraints:
        if c.first <= worst < c.first + len(c.labels):
            return c.part, c.labels[worst - c.first], float(residual[worst])
    raise AssertionError("residual outside of all constraints")


def _drives(system: System) -> list[str]:
    return [c.part for c in system.equations.constraints if c.labels == ("drive",)]


def _does_not_close(system: System, projector: Projector, written: Array) -> Problem:
    """The gap of the mechanism by joint, where damped steps leave the smallest."""
    x = written.copy()
    projector.measure(0.0, x)
    position, _ = projector.residuals(0.0, x)
    smallest = position
    for _ in range(ITERATIONS):
        projector.move_posture(0.0, x, -0.5 * position)
        projector.measure(0.0, x)
        position, _ = projector.residuals(0.0, x)
        if _largest(position) < _largest(smallest):
            smallest = position
    position = smallest
    part, label, value = _worst(system, position)
    if label == "drive" or ((drives := _drives(system)) and len(drives) > 1 and part in drives):
        return Problem(
            "error",
            part,
            "its drive cannot be followed at t = 0: "
            f"{with_unit(system, part, label, value)} is left after assembly.",
            f"Drives here: {', '.join(_drives(system))}; two of them contradict each other, or "
            "one asks for a posture that the mechanism cannot reach. Remove or change one.",
        )
    return Problem(
        "error",
        part,
        "the loop through this joint cannot be closed: "
        f"{with_unit(system, part, label, value)} is left in direction '{label}' at this "
        "joint in the nearest posture that was found.",
        "Check the lengths around the loop and the written positions; start nearer to a "
        "posture that closes.",
    )


def _contradiction(system: System, velocity: Array) -> Problem:
    part, label, value = _worst(system, velocity)
    drives = _drives(system)
    return Problem(
        "error",
        part,
        "no velocities satisfy all joints and drives at the start: "
        f"{with_unit(system, part, label, value, rate='/s')} is left in direction '{label}'.",
        f"Drives that contradict each other: {', '.join(drives)}. Remove one of them."
        if drives
        else "Check the written speeds.",
    )


def _not_kept(system: System, held: _HeldRows, x: Array, what: str) -> Problem | None:
    changed = [
        f"{row.name} (by {-miss:.4g} {system.signal_units.get(row.name, '')})"
        for row, miss in zip(held.rows, held.misses(x), strict=True)
        if abs(miss) > MOVED
    ]
    if not changed:
        return None
    return Problem(
        "warning",
        "joints",
        f"not all written start {what} could be kept; changed: {', '.join(changed)}.",
        "Write only as many as the mechanism has freedoms.",
    )


def _examine(
    system: System, projector: Projector, x: Array
) -> tuple[tuple[str, ...], int, int, list[Problem]]:
    """Redundant directions, mobility, locks and singular starts."""
    evaluate = Evaluator(system.programs.rate)
    evaluate(0.0, x)
    dependent = int(np.count_nonzero(evaluate.inverse_pivots() == 0.0))
    lasting = _lasting_rows(system)
    freedoms = _momenta(system) - (lasting - dependent)
    if dependent and freedoms > 0:
        lost = lost_grip(system, projector, x, evaluate, dependent)
        if lost is not None:
            raise AssemblyError.of([_singular(system, lost)])
    if freedoms == 0 and lasting and not _drives(system):
        _require_motion(system)
    if not dependent:
        return (), 0, freedoms, []
    redundant = _names(system, involved(null_efforts(evaluate, NAMED)))
    note = Problem(
        "warning",
        "joints",
        f"{counted(dependent, 'constraint direction')} {_is(dependent)} redundant;"
        f" efforts not unique: {by_part(redundant, system.constraint_names)}.",
        "The motion is unique; the forces shown are the smallest in the least-squares "
        "sense. Free a direction (a spherical or universal joint) to make them unique.",
    )
    return redundant, dependent, freedoms, [note]


def _names(system: System, rows: Mask) -> tuple[str, ...]:
    return tuple(n for n, here in zip(system.constraint_names, rows, strict=True) if here)


def _momenta(system: System) -> int:
    """Momenta of all inertias, each one freedom without constraints."""
    vertices = system.causal.graph.vertices.values()
    names = {v.state.data for v in vertices if v.kind == "I" and v.state is not None}
    return sum(s.last - s.first for s in system.slices if s.state.name in names)


def _singular(system: System, lost: LostGrip) -> Problem:
    """A posture beside which the mechanism has fewer freedoms."""
    first = next(
        c.part
        for c in system.equations.constraints
        if lost.rows[c.first : c.first + len(c.labels)].any()
    )
    names = by_part(_names(system, lost.rows), system.constraint_names)
    return Problem(
        "error",
        first,
        f"the start is a singular posture: {counted(lost.count, 'constraint direction')} without"
        f" grip there, combinations of {names}; the mechanism may go on along different branches,"
        " or not at all.",
        "Start a little away from it (links not all on one line).",
    )


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _lasting_rows(system: System) -> int:
    """Rows on speeds that hold all the time: not those of sticking friction, nor those of
    dependent capacitors and springs, which keep efforts equal."""
    vertices = system.causal.graph.vertices
    sources = [(c, vertices.get(f"{c.name}.Sc")) for c in system.equations.constraints]
    return sum(
        len(c.labels)
        for c, source in sources
        if c.active is None and not (source is not None and source.dual)
    )


def _require_motion(system: System) -> None:
    """AssemblyError for a structure with joints but no freedom and no drive."""
    coordinates = [
        s.state.name for s in system.slices if s.state.kind == "displacement" and s.state.measured
    ]
    moving = [
        c.part
        for c in system.equations.constraints
        if c.part.startswith("joints.") and len(c.labels) < 6
    ]
    if not moving:
        return
    raise AssemblyError.of(
        [
            Problem(
                "error",
                moving[0],
                "the mechanism is locked: 0 degrees of freedom. "
                f"Joints that cannot move: {', '.join(moving)}"
                + (f" ({', '.join(coordinates)})." if coordinates else "."),
                "Replace one joint by one with more freedom, or remove a body from the loop.",
            )
        ]
    )
