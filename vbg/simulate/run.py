"""The driver: steps, projections, events, output grid, progress, cancel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.lengths import rounding_of_gaps, run_lengths
from vbg.assemble.start.start import Start
from vbg.errors import Problem
from vbg.model.located import located
from vbg.simulate.events.events import Switches
from vbg.simulate.events.half_turns import HalfTurns
from vbg.simulate.events.impulses.kicks import Jumps, move
from vbg.simulate.events.impulses.latches import Latches
from vbg.simulate.events.impulses.passing import Passing
from vbg.simulate.events.jam import JamWatch
from vbg.simulate.failures import (
    STIFF,
    chattering,
    half_turned,
    not_agreed,
    not_closed,
    refused,
    remedy_of,
    strayed,
    undefined,
)
from vbg.simulate.fastest import fastest_change
from vbg.simulate.instants.drives import drive_kinks, require_no_jump
from vbg.simulate.instants.followed import Followed
from vbg.simulate.instants.kinks import kink_instants
from vbg.simulate.instants.pace import SEEN, SEEN_AT_ENDS, fast_places, longest_step
from vbg.simulate.instants.samples import Instant, Samples
from vbg.simulate.kept_rows import KeptRows
from vbg.simulate.losses import LossWatch
from vbg.simulate.making import choice_of, stepper_of
from vbg.simulate.record.audit import audit, closer, limits_kept, limits_of
from vbg.simulate.record.beyond import beyond_parts
from vbg.simulate.record.dependent import TiesOfRun
from vbg.simulate.record.grain import grain_of_energy
from vbg.simulate.record.made import made_by
from vbg.simulate.record.recorder import ENERGY_UNITS, Recorder, Sink
from vbg.simulate.record.weak import weak_rows
from vbg.simulate.settings import Settings, grid_of
from vbg.simulate.steppers.explicit import StrayStages
from vbg.simulate.steppers.implicit.jacobian import jacobian_of, sparse_pattern
from vbg.simulate.steppers.implicit.sparsity import Pattern
from vbg.simulate.steppers.stepper import Adaptive, FixedStep, Stepper
from vbg.simulate.steppers.stiffness import Creep
from vbg.solution import FINISHED, Event, Solution, Status

STILL = 1e-16  # speed left to what sticks [rad/s, or lengths of rows]: it must not creep
LEFT = 1e-13  # residual that is left beside a singular posture
CLOSED = 1e-14  # gap left to the joints beside it [rad, or lengths of rows]

Array = NDArray[np.float64]
Progress = Callable[[float, float], bool | None]
SHORTER = 0.1  # of a step whose stages stray, where no other method may go on
ROUNDED = 3e-14  # of the run: an event before that is at t = 0
LOST = 1e-6  # position residual after projection [rad, or lengths of rows] that ends a run


class Run:
    """One integration; everything that changes lives here."""

    def __init__(
        self,
        start: Start,
        settings: Settings,
        progress: Progress | None,
        sink: Sink | None,
    ):
        # kept rows of its own, which the run may change
        self.losses = LossWatch(replace(start, kept=start.kept.copy()), settings.rtol)
        self.start = start = self.losses.start
        system, x = start.system, start.state.copy()
        self.system, self.settings, self.progress = system, settings, progress
        self.projector = Projector(system, start.kept, lengths := run_lengths(system, x))
        kept = limits_kept(settings.rtol, settings.atol, settings.t_end)
        self.ties = TiesOfRun(system, lengths, min(1.0, closer(settings.rtol) / kept[1]))
        self.ties.look(0.0, x)
        self.rows = KeptRows(start)
        self.jams = JamWatch(self.projector, settings.output_step)
        self.half_turns = HalfTurns(system, x)
        self.jumps = Jumps(start, self.projector)
        self.latches = Latches(start, self.projector, self.jumps.laws)
        self.switches = Switches(start, settings.output_step, settings.t_end, self.rows.renew)
        self.grid = grid_of(settings)
        self.samples = Samples(system, bends := kink_instants(system, self.grid))
        self.samples.units.start(settings.rtol)
        self.places = fast_places(system, settings.t_end)
        kinks = drive_kinks(start, self.grid, bends)
        require_no_jump(kinks)
        self.kinks = {t: [k for k in kinks if k.t == t] for t in (k.t for k in kinks)}
        self.events: list[Event] = []
        self.crossings: list[tuple[float, int]] = []  # instants, rows before each
        begin = self._begin(x)
        if self.losses.is_large(begin, x):
            self.start = self.losses.start
        self._kept = *kept, rounding_of_gaps(system, x, lengths)
        rows = lengths, weak_rows(self.projector, settings, *self._kept)
        self.recorder = Recorder(system, self.start.evaluator("recorded"), self.grid, sink, *rows)
        self.steps, self.began = 0, time.process_time()
        ties = system.equations.constraints
        self.sticks = any(tie.active is not None and not tie.latches for tie in ties)
        # what sticks is brought to rest after a step; within it rounding accelerates it
        resting = settings.output_step if self.sticks else np.inf
        minimal = settings.formulation == "minimal"
        explicit, seen = ("adams", SEEN_AT_ENDS) if minimal else ("dop853", SEEN)
        self.longest = min(resting, longest_step(system, settings.t_end, seen))
        self.followed = Followed(self.start, seen)
        self.method = explicit if settings.method == "auto" else settings.method
        self.choice = choice_of(start, settings, lambda: self.jacobian, lambda: self.pattern)
        self.creep = Creep(settings.t_end) if settings.method == "dop853" else None
        self.remarks: tuple[Problem, ...] = ()
        self.carried: list[tuple[float, float]] = []  # spans across singular postures
        self._regular, self._held = np.inf, 1.0  # condition: the least; at the last step
        self.stepper = self._stepper(begin, x)
        self.first = self.stepper.t, self.stepper.x.copy()  # of the row at t = 0, until it is there
        self._limit(begin)
        position, self.velocity_tol = (CLOSED, STILL) if self.sticks else kept
        self.position_tol = max(position, self._kept[-1])

    def _begin(self, x: Array) -> float:
        """Modes and samples at t = 0; the time from which the run goes on."""
        first = self.samples.next()
        begin = first.after if first.first <= 0.0 else 0.0
        before = self.latches.look(begin, x)
        self.switches.begin_run(x, begin)
        if sampled := first.first <= 0.0 and self.samples.go_past(first, x):
            self.switches.begin(begin, x)
        if self.system.causal.graph.modes or begin > 0.0 or sampled:
            shaken = self._passing.behind(begin, x, before)
            if not self.latches.apart:
                if self.system.equations.effective and (rows := self.projector.rows):
                    nothing = np.zeros(rows)  # one step of Newton's is not enough
                    move(self.start.evaluator("impulse"), self.projector, begin, x, nothing, STILL)
                self.projector.project(begin, x, 1e-12, STILL)
            self.events += [*self.latches.account(begin, x, before), *shaken]
        return begin

    def _limit(self, t: float, longest: float = np.inf) -> None:
        """No step from t may pass the next instant, the first none of `longest`."""
        self.instant: Instant = self.samples.next()
        self._stop = min(self.instant.before, self.settings.t_end)
        ahead = self.places[np.searchsorted(self.places, t, side="right") :]
        self._pause = min([self._stop, t + longest, *ahead[:1].tolist()])
        self.stepper.limit(self._pause)

    def _stepper(self, t: float, x: Array) -> Stepper:
        how = t, x, lambda: self.jacobian, self.rows.weak, self.longest
        finer = self.method == "dop853" or (self.choice is not None and not self.choice.stiff)
        made, self.condition = stepper_of(self.method, self.start, self.settings, *how, finer=finer)
        return made

    def go(self) -> Status:
        """Steps to the end; returns how it ended."""
        status = refused(0.0, self.latches.apart, self.jumps.laws.undetermined)
        if status is None:
            status = self._steps() if len(self.grid) > 1 else FINISHED
        self._record_first()
        return status

    def _record_first(self) -> None:
        """The row of the start, unless it is there: behind joints that open or close there."""
        if self.recorder.count == 0:
            self.recorder.add(*self.first)

    def _steps(self) -> Status:
        """Steps to the end; the first row comes with the first step that begins behind it."""
        while self.recorder.count < len(self.grid):
            trouble = self.stepper.step()
            if trouble is not None:
                unclosed = self.jams.ahead(self.stepper.t, self.stepper.x, LOST)
                if unclosed is not None:
                    return not_closed(self.projector, self.stepper.t, unclosed)
                if self.choice is not None and self.choice.goes_back():
                    self._change_method(self.stepper.t, self.stepper.x)
                    continue
                if twisted := self.half_turns.near(self.stepper.x):
                    return half_turned(self.stepper.t, twisted)
                here = self.stepper.t, self.stepper.x, self.settings.output_step
                said, remedy = fastest_change(self.start, *here)
                why = f"The integration stopped at t = {self.stepper.t:.6g} s: {trouble} {said}"
                another = remedy_of(self.method, self.settings.formulation)
                return Status("failed", why.strip(), remedy or another)
            self.steps += 1
            try:
                self._after_step()
            except StrayStages as stray:
                if self.choice is not None and self.choice.strays():
                    self._change_method(stray.t, stray.x)
                elif not (self._shorter(stray) or self._settle()):
                    return strayed(stray.t)
                continue
            if self.half_turns.beyond:
                return half_turned(self.stepper.t, self.half_turns.beyond)
            if self.creep is not None and self.creep.lasts(self.stepper.t):
                return strayed(self.stepper.t)
            if end := refused(self.stepper.t, self.latches.apart, self.jumps.laws.undetermined):
                return end
            if self.projector.left > LOST:
                return not_closed(self.projector, self.stepper.t, self.stepper.x)
            unclosed = self.jams.lost(self.stepper.t, self.stepper.x, LOST)
            if unclosed is not None:
                return not_closed(self.projector, self.stepper.t, unclosed)
            if self.switches.undefined:
                return undefined(self.stepper.t, self.switches.undefined)
            if self.switches.chatters:
                return chattering(self.system.model, self.stepper.t, self.switches.chatters)
            if self.progress is not None:
                answer = self.progress(self.stepper.t / self.settings.t_end, self.stepper.t)
                if answer is False:
                    self.recorder.end_at(self.stepper.t, self.stepper.x)
                    return Status("cancelled", f"Cancelled at t = {self.stepper.t:.6g} s.")
        return FINISHED

    def _after_step(self) -> None:
        """Events, output rows and projection of the step just made."""
        stepper = self.stepper
        if stepper.carried:
            self.carried.append((stepper.t_before, stepper.t))
        found = self.switches.find(stepper, self._project)
        if found is not None and self.switches.hasty:
            self._halve()
            return
        unseen = self.jumps.unseen(stepper, stepper.t if found is None else found[0])
        if unseen is not None:
            self.switches.pass_none()
            found = unseen, []
        # what is taken of the step: an event inside it may be what holds a part back
        if self.half_turns.passed(stepper.x if found is None else stepper.between(found[0])):
            return
        begun = found is None or found[0] > ROUNDED * self.settings.t_end
        if begun or not self.switches.opens_or_closes:
            self._record_first()
        if found is not None:
            t, happened = found
            inside = stepper.smooth if self.jumps.may else stepper.between
            state = inside(t)
            self._record_until(t, before=t - self.samples.spread(t))
            self.half_turns.keep()
            self.recorder.peaks.pause()
            self.crossings.append((t, self.recorder.count if self.switches.keep_sides else -1))
            self.events += happened
            last = max(stepper.t_before, t - self.samples.spread(t))
            self.events += self._passing.root(t, (last, inside(last).copy()), state)
            self._go_on(t, state, t + self.samples.spread(t))
            if self.switches.shivers:
                self._settle()
            return
        if fixed := isinstance(stepper, FixedStep):  # its rows are its steps
            self._hold()
        self._record_until(stepper.t, before=self.instant.first)
        self.half_turns.keep()
        if self.instant.first <= self.settings.t_end and stepper.t >= self._stop:
            self._at_instant(self.instant)
            return
        if not fixed:
            self._hold()
        stepper.shorten(self.followed.longest(stepper.t, stepper.x))
        if stepper.t >= self._pause:
            self._limit(self.stepper.t)
        if self.losses.is_large(stepper.t, stepper.x):
            self.start = self.losses.start
            self.recorder.evaluate_by(self.start.evaluator("recorded"))
            self._change_stepper(stepper.t, stepper.x.copy())
        elif self.choice is not None and self.choice.changes(stepper):
            self._change_method(stepper.t, stepper.x.copy())

    @property
    def _passing(self) -> Passing:
        """What happens at events, in its order."""
        about = self.switches, self.latches, self.jumps, self.rows.renew, self.samples
        return Passing(self.start, self.projector, *about, self._project)

    def _go_on(self, t: float, x: Array, last: float) -> None:
        """From x, behind something that happened; rows up to `last` belong to it.  They are
        written with the step that follows, the last of the run here."""
        self._limit(t, self.switches.until_reversal(t, x))
        self.stepper.restart(t, x)
        self.first = t, x.copy()
        self.losses.look_soon()
        if self.choice is not None:
            self.choice.switched()
        if last >= self.settings.t_end:
            self.recorder.add(t, x)

    def _halve(self) -> None:
        """Back to the event where the last step began, for one of half the length at most."""
        t, x = self.first
        self._limit(t, 0.5 * (self.stepper.t - t))
        self.stepper.restart(t, x.copy())

    def _hold(self) -> None:
        """The state of the step on the constraints, unless it is there by its making."""
        stepper = self.stepper
        if stepper.consistent:
            return
        x = stepper.x.copy()
        condition = self._held = self.condition()
        self.rows.look(stepper.t, x, condition)
        self._regular = min(self._regular, condition)
        self.ties.look(stepper.t, x)
        # a residual c leaves an error c sqrt(condition), which a leap would multiply
        if self._project(stepper.t, x, np.sqrt(condition / self._regular)):
            self.ties.judge(stepper.t, x)
            stepper.reset(x)
        else:
            self.projector.normalise(stepper.x)
            stepper.keep()

    def _at_instant(self, instant: Instant) -> None:
        """Goes on behind an instant at which something jumps or is sampled."""
        self.recorder.peaks.pause()
        x = self.stepper.x.copy()
        self.events += self._passing.instant(instant, self.kinks.get(instant.at, ()), x)
        self._go_on(instant.after, x, instant.last)

    def _change_method(self, t: float, x: Array) -> None:
        """To the method that is chosen; in minimal form only a word about it."""
        before = self.stepper
        if self.choice is None or not isinstance(before, Adaptive):
            self.choice, self.remarks = None, (STIFF,)
            return
        self.method = self.choice.method
        self._change_stepper(t, x)
        if self.choice.tried and isinstance(self.stepper, Adaptive):
            self.stepper.follow(before)

    def _settle(self) -> bool:
        """Implicit steps from here on, where the choice is free; whether it was."""
        if self.choice is None or self.choice.stiff or not isinstance(self.stepper, Adaptive):
            return False
        self.choice.settle()
        self._change_method(self.stepper.t, self.stepper.x.copy())
        return True

    def _shorter(self, stray: StrayStages) -> bool:
        """Back to where a step began whose stages stray, for a shorter one, if one is left."""
        stepper = self.stepper
        if not isinstance(stepper, Adaptive):
            return False
        length = SHORTER * (stepper.t - stray.t)
        stepper.go_back(stray.t, stray.x, length)
        return bool(length > np.spacing(stray.t) / SHORTER)

    def _change_stepper(self, t: float, x: Array) -> None:
        """One of the present method, for the present rates."""
        rates = self.stepper.rates
        self.stepper = self._stepper(t, x)
        self.stepper.rates = rates
        self._limit(self.stepper.t)
        if self.choice is not None:
            self.choice.go_on(self.stepper)

    def _project(self, t: float, x: Array, closer: float = 1.0) -> bool:
        """x on the constraints; `closer` than else beside a singular posture."""
        self.projector.normalise(x)
        position, velocity = self.position_tol, self.velocity_tol
        if closer > 1.0:
            position = min(position, max(position / closer, LEFT))
            velocity = min(velocity, max(velocity / closer, LEFT / self.settings.t_end))
        return self.projector.project(t, x, position, velocity)

    def _record_until(self, t: float, before: float) -> None:
        """Output rows up to t and earlier than `before`, states projected as those of the
        steps are.  A row where something jumps holds the values after it: it is left to the
        step that begins there."""
        recorder, stepper = self.recorder, self.stepper
        left = self.grid[recorder.count :]
        number = int(min(left.searchsorted(t, "right"), left.searchsorted(before)))
        if not isinstance(stepper, FixedStep) and not stepper.carried:
            recorder.peaks.look(stepper, t, number)
        if number == 0:
            return
        times = np.maximum(left[:number], stepper.t_before)
        if isinstance(stepper, FixedStep) and number == 1 and times[0] == stepper.t == t:
            recorder.add_end(stepper, self._held)
            return
        states = stepper.between_each(times)
        if stepper.carried:
            states = np.stack(
                [self.rows.on_strong_rows(*at) for at in zip(times, states, strict=True)]
            )
        elif not stepper.consistent:
            self.projector.project_each(times, states, self.position_tol, self.velocity_tol)
        recorder.add_each(times, states, step=stepper)

    @cached_property
    def jacobian(self) -> Callable[[float, Array], Any]:
        return jacobian_of(self.start, self.pattern)

    @cached_property
    def pattern(self) -> Pattern | None:
        """Of the Jacobian; None where it is dense."""
        return sparse_pattern(self.start)

    def solution(self, status: Status, notes: tuple) -> Solution:
        signals, worst, inside = self.recorder.finished()
        model, span, events = self.system.model, float(self.grid[-1]), tuple(self.events)
        moments = (0.0, self.start.state), (self.stepper.t, self.stepper.x)
        grain = grain_of_energy(self.start, moments, span, self.steps)
        units = dict(self.system.signal_units) | ENERGY_UNITS
        limits = limits_of(self.method, self.settings.rtol, *self._kept, self.steps)
        carried = tuple(sorted((*self.carried, *self.recorder.lost(limits.energy))))
        seen = worst, self.recorder.amounts(), carried, inside
        found = audit(self.system, signals, events, limits, span, grain, *seen)
        failures = *found.failures, *self.ties.untied(self.settings.rtol)
        told = *self.latches.notes, *self.recorder.remarks(units, limits.energy)
        notes = (*notes, *not_agreed(self.switches.unsettled), *located(model, told))
        return Solution(
            time=self.recorder.time,
            signals=signals,
            audit=replace(found, failures=failures, crossings=tuple(self.crossings)),
            made_by=made_by(
                model,
                self.method,
                steps=self.steps,
                rates=self.stepper.rates,
                began=self.began,
                rtol=self.settings.rtol,
                atol=self.settings.atol,
            ),
            status=status,
            units=units,
            notes=(*notes, *beyond_parts(model, self.recorder.time, signals)),
            exchanged=self.samples.units.exchanged(),
        )
