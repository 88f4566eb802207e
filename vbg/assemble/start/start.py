"""The consistent start: loops closed, velocities admissible, faults named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.assemble.assembling import assemble
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.program import Program
from vbg.assemble.start.constraints.admissible import admissible
from vbg.assemble.start.constraints.choice import every_row
from vbg.assemble.start.constraints.closing import (
    CLOSED,
    NEARLY,
    Closer,
    HeldRows,
    Mask,
    missed_speeds,
    with_held_speeds,
)
from vbg.assemble.start.constraints.determined import Projection
from vbg.assemble.start.constraints.nearby import LostGrip, lost_grip
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.constraints.rounding import (
    condition_of,
    lost_pivots,
    lost_to_rounding,
    lost_when_closed,
    weakest_pivots,
)
from vbg.assemble.start.constraints.signs import require_positive
from vbg.assemble.start.lengths import held_lengths, held_not_kept, row_lengths
from vbg.assemble.start.redundant import redundancy_of
from vbg.assemble.start.refused import (
    DRIVE,
    contradiction,
    does_not_close,
    drives_of,
    singular,
    without_inertia,
    worst_gap,
)
from vbg.assemble.start.remarks import (
    moved_bodies,
    overridden_starts,
)
from vbg.assemble.start.ties import with_ties
from vbg.assemble.start.values.modes import agree
from vbg.assemble.start.values.settle import settle
from vbg.assemble.start.values.tied import level
from vbg.assemble.start.values.valueless import with_values, without_speed
from vbg.assemble.start.values.written import keep_written, not_kept
from vbg.assemble.system import System
from vbg.causality import CausalGraph
from vbg.errors import AssemblyError, Problem
from vbg.graph import BondGraph
from vbg.model import Model, Placed
from vbg.model.located import located
from vbg.model.trains import closed_trains
from vbg.plumbing.paused_collection import paused_collection

Array = NDArray[np.float64]

CLEAR = 1e-5  # of a row of length 1: what is left of one that is certainly independent
WEAK, WEAKER = 1e5, 1e7  # condition of the constraint matrix: rates closed once, and well
DOUBTFUL = 1e13  # condition from which on one elimination may have no digit left
FALLS = 1e-2  # loss of one elimination of which four leave nothing
BEARABLE = 1e-6  # of accelerations: what closing may leave there, a run's usual tolerance
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Start:
    """Where a motion begins, and what its assembly found.

    `state`: x, at t = 0.  `notes`: what moved, which start values could not be kept, which
    constraint directions are redundant.  `redundant`: names of constraint
    directions whose effort is not unique, `dependent` how many rows are too many;
    `determined`: what of these forces is determined all the same, in other directions.
    `freedoms`: degrees of freedom (None without constraints).

    How the system is evaluated from here on: `kept` is 1 for each constraint row that is
    eliminated with, 0 for those that depend on these (`vbg.assemble.rows`), with a 1 for each
    held coordinate behind them; `condition` an estimate of that of their constraint matrix,
    divided by its diagonal; `rounding` what one elimination may lose of accelerations where
    that is large, and `bearable` how much of it may stay: a run's tolerance says that.
    """

    system: System
    state: Array
    position_residual: float
    velocity_residual: float
    redundant: tuple[str, ...]
    dependent: int
    freedoms: int | None
    notes: tuple[Problem, ...]
    kept: Array
    condition: float = 1.0
    rounding: float = 0.0
    bearable: float = 0.0
    determined: tuple[Projection, ...] = ()

    def __repr__(self) -> str:
        freedoms = "" if self.freedoms is None else f"{self.freedoms} degrees of freedom, "
        return (
            f"<Start of {self.system.model.name}: {freedoms}{self.dependent} redundant rows, "
            f"residuals {self.position_residual:.1e} and {self.velocity_residual:.1e}>"
        )

    @property
    def rate_program(self) -> Program:
        """Rate of x, in its order, and behind it constraint efforts, not the smallest ones."""
        return getattr(self.system.programs, f"{self._closed}rate")

    @property
    def _closed(self) -> str:
        """Beginning of the name of the programs that are closed as often as is needed: once
        leaves the square of what one elimination loses of what light bodies would do alone, and
        more steps nothing of it, as far as the rows themselves are known."""
        if self.condition <= WEAK or self.rounding <= self.bearable:
            return ""
        well = self.condition > WEAKER and self.rounding**2 > EPS
        return "well_closed_" if well else "closed_"

    def evaluator(self, what: str, *, complex_valued: bool = False) -> Evaluator:
        """A private evaluator of `what` with the kept rows: rate, recorded (rate, and behind it
        the smallest constraint efforts), effort, switch, correction."""
        programs = self.system.programs
        if what == "recorded":
            alone = self.dependent == 0 and not self.sticks
            what = "rate" if alone else "recorded"
        if what in ("rate", "recorded", "switch"):
            what = f"{self._closed}{what}"
        return Evaluator(getattr(programs, what), kept=self.kept, complex_valued=complex_valued)

    @property
    def sticks(self) -> bool:
        """Whether rows come and go, as those of dry friction do."""
        return any(c.active is not None for c in self.system.equations.constraints)

    def rate(self, t: float, x: ArrayLike) -> Array:
        """dx/dt, shape (n,)."""
        evaluate = self.evaluator("rate")
        return evaluate(t, np.asarray(x, dtype=float))[: self.system.size].copy()

    def constraint_efforts(self, t: float, x: ArrayLike) -> Array:
        """Constraint efforts, shape (m,), in the order of `System.constraint_names`, in the
        first body's axes; where they are not unique, the smallest in the metric
        diag(H4), averaged over the components of each force and torque: it weighs them by
        the motion they cause, whatever axes they are written in."""
        evaluate = self.evaluator("recorded")
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
            start = with_values(_assembled(system))
    except AssemblyError as error:
        raise AssemblyError.of(located(system.model, error.problems)) from None
    return replace(start, notes=located(system.model, start.notes))


def _assembled(system: System) -> Start:
    written, kept = system.written_state, every_row(system)
    closer = Closer(system, kept)
    projector = closer.projector
    _require_values(system, projector, written)
    x, coordinates_changed = _closed_posture(system, closer, written)
    projector.measure(0.0, x)
    projector.count_from(0.0, written, x)
    settle(system, x)
    level(system, x)
    before = x
    if projector.rows:
        closer.choose(0.0, x)
    x, speeds_changed = _closed_velocity(system, closer, x)
    agree(system, 0.0, x, kept)
    position, velocity = projector.residuals(0.0, x)
    open_by = projector.gaps(0.0, written)
    notes = [*moved_bodies(system, written, open_by, x), *overridden_starts(system, x)]
    notes += [note for note in (coordinates_changed, speeds_changed) if note is not None]
    notes += not_kept(system, x, before)
    residuals = _largest(position), _largest(velocity)
    start = Start(system, x, *residuals, (), 0, None, tuple(notes), kept)
    return examined(system, closer, start) if projector.rows else start


def _require_values(system: System, projector: Projector, written: Array) -> None:
    """AssemblyError where a constraint row has no value at the written posture."""
    if projector.rows == 0:
        return
    position, velocity = projector.residuals(0.0, written)
    lost = ~(np.isfinite(position) & np.isfinite(velocity))
    if lost.any():
        part, label, _ = worst_gap(system, np.where(lost, 1.0, 0.0))
        if label == DRIVE:
            raise AssemblyError.of([without_speed(part, 0.0)])
        raise AssemblyError.of([_without_value(part, label)])


def _without_value(part: str, label: str) -> Problem:
    if label.startswith("dependent store"):
        return Problem(
            "error",
            part,
            "what the sources and stores that it is tied to prescribe has no value at the start.",
            "An expression of a source reads 0/0 there, or the root or logarithm of a negative "
            "number. Give it a value where the run begins: if(abs(x) > 1e-9, y/x, 0).",
        )
    return Problem(
        "error",
        part,
        f"its direction '{label}' has no value at the written posture.",
        "Its two points coincide there, or a rolling disc lies flat on its plane. "
        "Write positions in which it has a direction.",
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def _closed_posture(system: System, closer: Closer, written: Array) -> tuple[Array, Problem | None]:
    """The assembled posture, and a warning if written coordinates could not be kept."""
    if closer.projector.rows == 0:
        return written.copy(), None
    values = system.equations.held_values
    held = None
    if values.rows:
        held = HeldRows(values, Evaluator(system.programs.held_values, kept=closer.kept), system)
        x = closer.close(0.0, written, held)
        if x is not None:
            return x, None
    x = closer.close(0.0, written)
    if x is None:
        x, position = closer.damped(0.0, written)
        if closer.gap(position) > NEARLY * CLOSED:
            raise AssemblyError.of([does_not_close(system, position)])
    return x, None if held is None else held_not_kept(system, held, closer, x, "coordinates")


def _closed_velocity(system: System, closer: Closer, x: Array) -> tuple[Array, Problem | None]:
    """Momenta on the constraints; written speeds kept where possible."""
    projector, kept = closer.projector, closer.kept
    if projector.rows == 0:
        return x, None
    speeds, held = system.equations.held_speeds, None
    if speeds.rows:
        held = HeldRows(speeds, Evaluator(system.programs.held_speeds, kept=kept), system)
    lengths = with_ties(projector, x, row_lengths(system, closer))
    scale = 1.0 + _largest(projector.residuals(0.0, x)[1] / lengths)
    if held is not None:
        sizes = np.concatenate([lengths, held_lengths(system, held, closer)])

        def with_held(at: Array) -> Array:
            return with_held_speeds(projector, held, at, sizes)

        trial = with_held(x)
        if _largest(missed_speeds(projector, held, trial) / sizes) < 1e-9 * scale:
            return keep_written(system, with_held, trial, x), None
    result = admissible(projector, x, scale, lengths)
    velocity = projector.residuals(0.0, result)[1]
    rounding = _rounding(projector, result, velocity)
    if not np.all(np.abs(velocity) <= 1e-8 * scale * lengths + 1e2 * rounding):
        raise AssemblyError.of([contradiction(system, velocity)])
    result = keep_written(system, lambda at: admissible(projector, at, scale, lengths), result, x)
    if held is None:
        return result, None
    return result, held_not_kept(system, held, closer, result, "speeds")


def _rounding(projector: Projector, x: Array, velocity: Array) -> Array:
    """What a change of x in its last digits changes in each row: rows of dependent stores
    compare pressures of 1e7 Pa, those of joints speeds near 1."""
    grain = 4.0 * np.finfo(float).eps * ~projector.system.discrete
    nearby = projector.residuals(0.0, x * (1.0 + grain))[1]
    return np.asarray(np.abs(nearby - velocity))


def examined(system: System, closer: Closer, start: Start) -> Start:
    """Redundant directions, mobility, locks and singular starts."""
    if closed := tuple(closed_trains(system.model)):
        raise AssemblyError.of(closed)
    x = start.state
    found = closer.choose(0.0, x)  # once more: modes may have changed
    taking = found.kept | closer.rows.idle(found)
    dependent = int(np.count_nonzero(~taking))
    lasting = int(np.count_nonzero(_lasting(system) & ~closer.rows.idle(found)))
    freedoms = _momenta(system) - (lasting - dependent)
    drives = _rows_of_drives(system)
    if dependent and (freedoms > 0 or drives.any()):
        lost = lost_grip(system, x, found, closer.rows.lengths, drives)
        if lost is not None:
            raise AssemblyError.of([singular(system, lost)])
    if freedoms == 0 and lasting and not (drives_of(system) or _lets_go(system, closer, x)):
        _require_motion(system)
    start = _conditioned(system, closer, replace(start, freedoms=freedoms))
    if not dependent:
        return start
    redundancy = redundancy_of(system, closer.rows, found)
    return replace(
        start,
        redundant=redundancy.names,
        dependent=dependent,
        determined=redundancy.determined,
        notes=(*start.notes, redundancy.problem(system)),
    )


def _rows_of_drives(system: System) -> Mask:
    constraints = system.equations.constraints
    return np.array([label == "drive" for c in constraints for label in c.labels], dtype=bool)


def _conditioned(system: System, closer: Closer, start: Start) -> Start:
    """With the condition of its constraint matrix and, where that is large, with what it costs.

    Raises AssemblyError where the posture is singular, or where rounding leaves less than six
    digits of accelerations, however often they are closed."""
    x, rows = start.state, closer.projector.rows
    evaluate = Evaluator(system.programs.correction, kept=closer.kept)
    evaluate(0.0, x, np.zeros(rows))
    if not evaluate.program.schedules:
        require_positive(system, evaluate.inverse_pivots())
        return start
    kept = closer.kept[:rows]
    lost = lost_pivots(evaluate, kept)
    coming = any(c.active is not None for c in system.equations.constraints)
    if lost.any() and not coming:
        clear = closer.rows.choose(0.0, x, CLEAR).kept
        if np.count_nonzero(clear) < np.count_nonzero(kept):
            raise AssemblyError.of([singular(system, LostGrip(int(lost.sum()), lost))])
    require_positive(system, evaluate.inverse_pivots())
    weakest = weakest_pivots(evaluate, kept)
    condition = condition_of(evaluate, kept, x)
    rounding = 0.0 if condition <= WEAK else lost_to_rounding(system, closer, x, condition)
    if not coming and (lost.any() or (condition > DOUBTFUL and rounding > FALLS)):
        loss = lost_when_closed(system, closer, x)
        if loss > BEARABLE and (lost.any() or np.isfinite(loss)):
            raise AssemblyError.of([without_inertia(system, weakest)])
    return replace(start, condition=condition, rounding=rounding)


def _momenta(system: System) -> int:
    """Momenta of all inertias, each one freedom without constraints."""
    vertices = system.causal.graph.vertices.values()
    names = {v.state.data for v in vertices if v.kind == "I" and v.state is not None}
    return sum(s.last - s.first for s in system.slices if s.state.name in names)


def _lasting(system: System, *, latches: bool = True) -> Mask:
    """Rows on speeds that hold all the time, or (`latches`) of joints that open: not those of
    sticking friction, nor those of dependent capacitors and springs, which keep efforts equal."""
    at = system.causal.graph.vertices
    sources = [(c, at.get(f"{c.name}.Sc")) for c in system.equations.constraints]
    return np.array(
        [
            (c.active is None or (latches and c.latches)) and not (source and source.dual)
            for c, source in sources
            for _ in c.labels
        ],
        dtype=bool,
    )


def _lets_go(system: System, closer: Closer, x: Array) -> bool:
    """Whether joints that open hold what moves without them: held for a time, not locked."""
    always = _lasting(system, latches=False)
    rank = np.count_nonzero(closer.rows.choose(0.0, x, among=always).kept)
    return not np.array_equal(always, _lasting(system)) and bool(rank < _momenta(system))


def _require_motion(system: System) -> None:
    """AssemblyError for a structure with joints but no freedom and no drive, with those that hold
    it all the time: neither joints that open nor friction that sticks."""
    angles = (s.state for s in system.slices if s.state.kind == "displacement")
    coordinates = [state.name for state in angles if state.measured]
    joints = [c for c in system.equations.constraints if c.part.startswith("joints.")]
    movable = [c for c in joints if len(c.labels) < 6]
    if not movable:
        return
    held = [[c.part for c in some if c.active is None] for some in (movable, joints)]
    moving = next((some for some in held if some), [c.part for c in movable])
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
