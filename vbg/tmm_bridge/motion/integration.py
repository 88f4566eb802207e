"""Time integration in joint coordinates, with the loops held closed by projection.

Dormand and Prince's eighth-order pair with dense output, or Radau's implicit method of order
nine where that gets farther (`methods`).  After every accepted
step the state returns to the loop closures: positions by Newton steps of least
kinetic energy, speeds by one.  Stops are found to the root and the integration
starts anew there and where an input jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from vbg.plumbing.one_thread import one_thread
from vbg.solution import Event, Status
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.mechanism.contradictions import no_inertia, row_name
from vbg.tmm_bridge.mechanism.mechanism import Mechanism, NoBalance, NoInertia
from vbg.tmm_bridge.motion.at_stops import begun, behind, keep_first_row, last_row
from vbg.tmm_bridge.motion.events.endless import remedy_for
from vbg.tmm_bridge.motion.events.half_turns import Twisted
from vbg.tmm_bridge.motion.events.latches import Apart, switched
from vbg.tmm_bridge.motion.events.sudden import Landing, behind_a_jump
from vbg.tmm_bridge.motion.events.valueless import REMEDY, lost_ahead
from vbg.tmm_bridge.motion.rate.instants import ALIKE, Stop, stops_of
from vbg.tmm_bridge.motion.rate.plant import Plant, Singular
from vbg.tmm_bridge.motion.rate.sources_read import ImpulseRead
from vbg.tmm_bridge.motion.steps.last_step import LastStep, followed
from vbg.tmm_bridge.motion.steps.leaps import NEAR, Extrapolated, Passed, fell, nodes
from vbg.tmm_bridge.motion.steps.looking import Change
from vbg.tmm_bridge.motion.steps.radau import StiffStepper
from vbg.tmm_bridge.motion.steps.stepping import Stepper
from vbg.tmm_bridge.motion.trajectory import CHATTER, RunRecord, Trajectory

Progress = Callable[[float, float], bool | None]
Fault = NoInertia | NoBalance | Apart | Singular | Twisted | ImpulseRead
NETWORKS = ("electric", "hydraulic", "rotational", "translational", "signals", "joints")
AN_INSTANT = 1e-8  # of the run: CHATTER restarts within it end the run
BEGINNING = 1e-12  # of the run: the first step over a law that jumps at the start itself
CHOKED = 1e-6  # of its tolerance: 1e-10 A in a leak of 1e-12 S would be 100 V


@one_thread()
def integrate(
    mechanism: Mechanism,
    y0: Array,
    grid: Array,
    rtol: float,
    atol: float,
    progress: Progress | None = None,
    patience: float = np.inf,
) -> Trajectory:
    """States on `grid` from y0.  A run that cannot go on, or that would take more than
    `patience` evaluations of the rate, returns what it has."""
    plant, record = Plant(mechanism, float(grid[-1] - grid[0])), RunRecord(grid, patience)
    halts = stops_of(mechanism, float(grid[0]), float(grid[-1]))
    plant.smooth = (halts[0].after, np.inf)
    status = Status("finished", "The simulation reached its end.")
    try:
        y = begun(plant, halts[0], y0, record)
        for begin, end in pairwise(halts):
            plant.smooth = (begin.after, end.before)
            y = y if begin is halts[0] else behind(plant, begin, y, record)
            y, going = _smooth_span(plant, y, begin, end, (rtol, atol), record, progress)
            if not going:
                status = _stopped(record)
                break
        else:
            last_row(plant, y, halts[-1], record)
    except (NoBalance, Apart, ImpulseRead) as fault:
        keep_first_row(plant, y0, record)
        status = _failure(mechanism, fault)
    except (NoInertia, Twisted, Singular) as fault:
        status = _failure(mechanism, fault)
    return Trajectory(
        time=np.array(record.times),
        states=np.array(record.states),
        inside=np.array(record.inside),
        events=tuple(record.events),
        n_steps=record.n_steps,
        n_rates=plant.n_rates,
        status=status,
        crossings=tuple(record.crossings),
        stiff=record.method.used,
        liveliest=plant.liveliest,
        between=record.between,
    )


def _failure(mechanism: Mechanism, fault: Fault) -> Status:
    """How a run ends at `fault`, in words."""
    match fault:
        case NoInertia():
            why = str(no_inertia(mechanism, fault.node))
        case NoBalance():
            why = (
                "the network of one-dimensional parts has no unique solution at"
                f" t = {fault.t:.6g} s."
            )
        case Apart():
            why = (
                f"joints.{fault.joint} is to close at t = {fault.t:.6g} s, but its frames are"
                f" {fault.gap} apart."
            )
        case Singular():
            why = (
                f"singular posture at t = {fault.t:.6g} s: closing the loop at"
                f" joints.{row_name(mechanism, fault.row)} would change the speeds by"
                f" {100 * fault.change:.2g} %."
            )
        case Twisted() | ImpulseRead():
            return replace(_failed(fault.sentence), remedy=fault.remedy)
    return _failed(why)


def _stopped(record: RunRecord) -> Status:
    if record.failure:
        status = _failed(record.failure)
        return replace(status, remedy=record.remedy or status.remedy)
    at = record.times[-1]
    return Status("cancelled", f"The run was cancelled at {at:.6g} s.", "Run it again to the end.")


def _failed(why: str) -> Status:
    return Status(
        "failed",
        f"The transfer-matrix solver stopped early: {why}",
        "Look at the last posture: a singular one needs another start or a drive elsewhere;"
        " a stiff part may need a softer law or a wider tolerance.",
    )


@dataclass
class _Span:
    """A span without jumps of the inputs while it is integrated."""

    plant: Plant
    record: RunRecord
    end: Stop
    rtol: float
    atol: float
    progress: Progress | None
    names: list[str]
    past: list[Passed] = field(default_factory=list)

    def allowed(self, y: Array, rate: Array, h: float) -> Array:
        """What every state may err by in a step of h [s] from y, (n,)."""
        plant = self.plant
        plant.look(y, rate)
        values = plant.sizes.allowed(self.rtol, self.atol, h)
        values[plant.choked] *= CHOKED
        values[plant.works.places] = plant.works.allowed(self.rtol)
        return values


def _smooth_span(
    plant: Plant,
    y: Array,
    begin: Stop,
    end: Stop,
    tolerances: tuple[float, float],
    record: RunRecord,
    progress: Progress | None,
) -> tuple[Array, bool]:
    """Integrate over a span without jumps of the inputs; False if it has to end there."""
    span = _Span(plant, record, end, *tolerances, progress, plant.stop_names())
    t, going = begin.last, True
    plant.pace.began = t
    while t < end.first and going:
        t, y, going = _until_restart(span, t, y)
    return y, going


def _until_restart(span: _Span, t: float, y: Array) -> tuple[float, Array, bool]:
    """Steps up to the end, a stop that touches or leaves, or a jump over a singular posture."""
    plant, record, names = span.plant, span.record, span.names
    y = switched(plant, t, y, record.between, first=False)
    plant.settle(t, y)
    record.twists.look(plant, t, y)
    solver, signs = _afresh(span, t, y)
    span.past.clear()
    while solver.t < span.end.first:
        solver.h = min(solver.h, plant.longest_step(solver.t, solver.y))
        solver, message, across = _step(span, solver, signs)
        if across is not None:
            return _behind_a_jump(span, signs, *across)
        if message:
            return *_no_step(span, solver, message), False
        if message := _out_of_patience(span, solver.t):
            record.failure = f"{message} (at t = {solver.t:.6g} s)"
            return solver.t, y, False
        record.n_steps += 1
        solver.absolute = solver.loosened * span.allowed(solver.y, solver.f, solver.h)
        dense = followed(solver) if names else LastStep(solver)
        t, y, hit = solver.t, solver.y, -1
        if names:
            t, hit = _first_change(span, dense, signs)
            if hit >= 0:
                y = dense.at_change(t, bends=names[hit].partition(".")[0] not in NETWORKS)
                solver.end = span.end.first
                if solver.t == t and plant.indicators(t, y)[hit] * signs[hit] >= 0.0:
                    # not yet: it is right ahead; of a bend nothing else made the step short
                    longest = 0.0 if names[hit] else dense.span[1] - dense.span[0]
                    hit, solver.h = -1, max(solver.h, longest)
        try:
            y = plant.project(t, y)
            record.twists.look(plant, t, y, dense)
            _keep_outputs(span, dense, t, _rows_here(t) if hit >= 0 else np.inf)
        except Singular:
            record.back_to(dense.span[0])
            if (landing := _jump(span)) is None:
                raise
            return *landing, True
        signs = _note_event(span, t, y, signs, hit) if names else signs
        record.between.add(plant.inside(t), y)
        if span.progress is not None and span.progress(t / record.grid[-1], t) is False:
            record.end_at(plant, t, y.copy())
            return t, y, False
        if hit >= 0:
            record.crossings.append((t, record.done if plant.keeps_side(hit) else -1))
            record.failure = _endlessly(span, t, names[hit])
            return t, y, not record.failure
        if len(plant.mechanism.tables.rows):
            solver.y, solver.f = y, plant.settle(t, y)
            span.past.append(Passed(t, y, solver.f, plant.nearness(), plant.rank))
            if fell(span.past):
                solver = _back(span)
                continue
            if span.past[-1].near < NEAR and (landing := _jump(span)) is not None:
                return *landing, True
        if record.method.stepped(t, plant.n_rates) and t < span.end.first:
            solver = _stepper(span, t, y)
    return t, y, True


def _afresh(span: _Span, t: float, y: Array) -> tuple[Stepper | StiffStepper, Array]:
    """The method from (t, y) on, its first step short, and the signs of the indicators there."""
    solver = _stepper(span, t, y)
    solver.h *= min(1.0, span.plant.soonest_reversal(t, y, solver.h * solver.f))
    signs = _signs(span, t, y) if span.names else np.zeros(0)
    if t <= span.record.grid[0] and not signs.all():  # what begins to grow has no sign yet
        solver.h = min(solver.h, BEGINNING * span.plant.duration)
    return solver, signs


def _signs(span: _Span, t: float, y: Array) -> Array:
    """Signs of the indicators where a method begins anew.  Stops have those that were told last,
    whatever rounding says: one that changes unseen at that instant does so right behind it."""
    signs, told = span.plant.signs(t, y), span.record.told
    if len(told):
        kept = _are_stops(span.names) & (told != 0.0)
        signs[kept] = told[kept]
    span.record.told = signs
    return signs


def _are_stops(names: list[str]) -> Array:
    """Which of the indicators, (n,) of bool."""
    return np.array([bool(name) and name.partition(".")[0] not in NETWORKS for name in names])


def _step(
    span: _Span, solver: Stepper | StiffStepper, signs: Array
) -> tuple[Stepper | StiffStepper, str, Landing | None]:
    """A step, by the implicit method where the explicit one has none; why there is none, and what
    is behind a jump that is right ahead then."""
    message = solver.step()
    if not message:
        return solver, "", None
    landing = behind_a_jump(span.plant, solver.t, solver.y, solver.f, signs)
    if landing is None and span.record.method.gave_up(solver.t, span.plant.n_rates):
        solver = _stepper(span, solver.t, solver.y)
        message = solver.step()
    return solver, message, landing


def _behind_a_jump(
    span: _Span, signs: Array, t: float, y: Array, hit: int
) -> tuple[float, Array, bool]:
    """A restart there, as behind every other event."""
    if hit >= 0:
        _note_event(span, t, y, signs, hit)
    span.record.crossings.append((t, -1))  # a law that jumps is read by each row
    span.record.failure = _endlessly(span, t, span.names[hit] if hit >= 0 else "")
    return t, y, not span.record.failure


def _stepper(span: _Span, t: float, y: Array) -> Stepper | StiffStepper:
    """The method in use, from (t, y) on."""
    plant, record = span.plant, span.record
    absolute = span.allowed(y, plant.rate(t, y), np.inf)
    explicit = Stepper(plant, t, y, span.end.first, span.rtol, absolute)
    explicit.absolute = span.allowed(y, explicit.f, explicit.h)
    record.method.begun(t, plant.n_rates)
    if not record.method.stiff:
        return explicit
    limits = span.end.first, span.rtol, absolute
    return StiffStepper(plant, t, y, *limits, record.grid, explicit.h)


def _back(span: _Span) -> Stepper | StiffStepper:
    """The method before its last step, with half of that ahead; its rows are forgotten."""
    reached, before = span.past.pop().t, span.past[-1]
    span.record.back_to(before.t)
    span.plant.settle(before.t, before.y)
    solver = _stepper(span, before.t, before.y)
    solver.h = 0.5 * (reached - before.t)
    return solver


def _no_step(span: _Span, solver: Stepper | StiffStepper, message: str) -> tuple[float, Array]:
    """Where the run ends for want of a step that is short enough, with what has no value there."""
    grid = span.record.grid
    lost = lost_ahead(span.plant, solver.t, solver.y, float(grid[-1] - grid[-2]))
    span.record.failure = f"{message} (at t = {solver.t:.6g} s)" + (f"; {lost}" if lost else "")
    span.record.remedy = REMEDY if lost else ""
    return solver.t, solver.y


def _out_of_patience(span: _Span, t: float) -> str:
    """Why the run ends here although it could go on; empty if it need not."""
    record, done = span.record, span.plant.n_rates
    if done <= record.patience:
        return ""
    share = max(t / record.grid[-1], 1e-12)
    return (
        f"{done:.2g} evaluations took the run through {100.0 * share:.2g} % of its time, the rest"
        f" would take {done * (1.0 / share - 1.0):.2g}"
    )


def _endlessly(span: _Span, t: float, name: str) -> str:
    """Why the run ends at this restart; empty if restarts are seldom enough."""
    record = span.record
    record.restarts.append(t)
    brief = AN_INSTANT * record.grid[-1]
    if len(record.restarts) < CHATTER or t - record.restarts[0] > brief:
        return ""
    record.remedy = remedy_for(span.plant.mechanism.model, name)
    return f"{name or 'a law that bends'} switches endlessly (at t = {t:.6g} s)."


def _note_event(span: _Span, t: float, y: Array, signs: Array, hit: int) -> Array:
    """Record the change of indicator `hit` (-1: none), but for a kink, which has no name, and of
    stops that change with it; signs for the next step."""
    record, new, names = span.record, np.sign(span.plant.indicators(t, y)), span.names
    if hit < 0:
        updated: Array = np.where(signs == 0.0, new, signs)
    else:
        stops = _are_stops(names)
        new[hit] = -signs[hit]  # which rounding may hide
        also = [k for k in np.flatnonzero(stops) if k != hit and new[k] * signs[k] < 0.0]
        for k in (*([hit] if names[hit] else ()), *also):
            what = "touches" if new[k] > 0 else "leaves"
            record.events.append(Event(t, names[k], what if stops[k] else "switches"))
        updated = np.where(new == 0.0, signs, new)
    record.told = updated
    return updated


def _jump(span: _Span) -> tuple[float, Array] | None:
    """Pass a singular posture on the polynomial of the last steps.

    There the loop rows lose rank and the equations say nothing about how the
    mechanism goes on; the motion that got there does, being smooth.  Lands where
    the rows have their rank again; None where that is not in reach.
    """
    from scipy.interpolate import KroghInterpolator

    plant = span.plant
    past, reach = nodes(span.past)
    if len(past) < 3:
        return None
    last = past[-1]
    times = np.repeat([p.t - last.t for p in past], 2)
    path = KroghInterpolator(times, np.array([v for p in past for v in (p.y, p.rate)]))
    lowest = np.inf
    plant.settle(last.t, last.y)
    rank = plant.rank
    for k in range(1, 49):
        ahead = 0.25 * k * reach
        t = last.t + ahead
        if t >= span.end.first:
            return None
        plant.settle(t, path(ahead))
        near = plant.nearness() if plant.rank >= rank else 0.0
        if near > 2.0 * NEAR and lowest < NEAR:
            y = plant.project(t, path(ahead))
            _keep_outputs(span, Extrapolated(path, last.t), t, np.inf)
            span.record.events.append(
                Event(float(last.t + 0.5 * ahead), "loops", "singular posture passed")
            )
            return t, y
        lowest = min(lowest, near)
    return None


def _rows_here(t: float) -> float:
    """From where on output rows belong to what happens at t."""
    return t - ALIKE * abs(t)


def _keep_outputs(span: _Span, dense: Any, t: float, before: float) -> None:
    """Projected states at the output times up to t and earlier than `before`: a row on which
    something jumps is left to the steps that begin there."""
    plant, record = span.plant, span.record
    due = record.grid[record.done : int(np.searchsorted(record.grid, t, side="right"))]
    due = np.maximum(due[due < min(before, span.end.rows[0])], dense.span[0])
    if len(due):
        for at, y in zip(due, dense(due), strict=True):
            record.add(plant, float(at), plant.project(at, y))


def _first_change(span: _Span, dense: LastStep, signs: Array) -> Change:
    """Time just behind the first sign change of an indicator in the step, and which; -1: none."""
    plant = span.plant
    return span.record.looks.first_change(
        lambda t: plant.indicators(t, dense(t)), dense.span, signs
    )
