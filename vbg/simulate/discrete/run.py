"""A whole run by the discrete-time method, recorded like every other."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.errors import Problem
from vbg.simulate.discrete.bushings import not_by_small_steps
from vbg.simulate.discrete.method import DiscreteTime, step_of
from vbg.simulate.events.events import Switches
from vbg.simulate.events.half_turns import HalfTurns
from vbg.simulate.failures import half_turned
from vbg.simulate.instants.drives import Kink, drive_kinks, require_no_jump
from vbg.simulate.instants.kinks import kink_instants
from vbg.simulate.instants.samples import Samples
from vbg.simulate.instants.units import units_begin
from vbg.simulate.record.audit import audit, limits_of
from vbg.simulate.record.beyond import beyond_parts
from vbg.simulate.record.made import made_by
from vbg.simulate.record.recorder import ENERGY_UNITS, Recorder, Sink
from vbg.simulate.settings import Settings, output_grid
from vbg.simulate.steppers.machine_size import machine_size
from vbg.solution import Event, Solution, Status, checked

Array = NDArray[np.float64]
Progress = Callable[[float, float], bool | None]

PIECE = 0.05  # s of motion between two looks at the progress function, at most
MOST_STEPS = 1e10
ROUNDING = 1e-3  # of a step, too short for one of its own
SOFTER = 0.5  # of the bushings' frequency, in the run that says how far forces may err
LONGER = 2.0  # times the step, in one more of these: by what its first order changes then, it errs
SHARES = 0.4, 0.8, 1.0  # of all steps, at the end of each run
COARSE = 0.1  # of a peak: such a change is no note any more, but a warning
SMALL = 1e-3  # of the largest force or torque: what is smaller has no error of its own


def run_discrete(
    start: Start, settings: Settings, progress: Progress | None, sink: Sink | None
) -> Solution:
    """Small steps over [0, t_end]; the joint forces recorded are those of the bushings.  Further
    runs with softer bushings and longer steps say how far they may err.

    The status says how fast it was: seconds of motion in a second of computing.  Raises
    UsageError where the step does not carry the bushings that are asked for.
    """
    opening = [c.part for c in start.system.equations.constraints if c.latches]
    if opening:
        raise not_by_small_steps(
            opening[0],
            "the discrete-time method holds joints by bushings all the time: this one opens and "
            "closes.",
        )
    start = _agreed(start, settings)
    dt = min(step_of(start) if settings.step is None else settings.step, settings.output_step)
    if settings.t_end / dt > MOST_STEPS:
        raise not_by_small_steps(
            "simulate.method",
            f"the discrete-time method would need {settings.t_end / dt:.2g} steps of {dt:.2g} s: "
            "springs or circuits of this model are too stiff for it.",
        )
    hertz = settings.bushing_frequency
    frequency = None if hertz is None else 2.0 * np.pi * hertz
    stepper = DiscreteTime(start, dt, frequency, settings.bushing_damping)
    solution = _run(start, stepper, settings, sink, _span(progress, 0.0, SHARES[0]))
    beyond = beyond_parts(start.system.model, solution.time, solution.signals)
    notes = [*start.notes, *beyond]
    jointed = bool(start.system.equations.constraints)
    if jointed:
        notes.append(_note(stepper))
    if solution.status.code == "finished":
        bush, others = stepper.bushings, []
        runs = ((dt, *SHARES[:2]), (LONGER * dt, *SHARES[1:]))
        for step, first, last in runs if jointed else runs[1:]:
            softer = DiscreteTime(start, step, SOFTER * bush.frequency, bush.ratio)
            rows = replace(settings, output_step=settings.output_step * _rows(step, settings))
            others.append(_run(start, softer, rows, None, _span(progress, first, last)))
        expected = _expected if start.system.model.joints else _off
        notes += expected(start.system, solution, others)
    return checked(replace(solution, notes=tuple(notes)), machine_size(start.system))


def _rows(step: float, settings: Settings) -> int:
    """How many rows such a step passes: steps end at rows."""
    return max(1, int(np.ceil(step / settings.output_step - ROUNDING)))


def _run(
    start: Start,
    stepper: DiscreteTime,
    settings: Settings,
    sink: Sink | None,
    progress: Progress | None,
) -> Solution:
    """One run with FMUs of its own."""
    run = _Run(start, stepper, settings, sink)
    with units_begin():
        run.begin()
    return run.solution(run.samples.units.through(lambda: run.go(progress)))


def _agreed(start: Start, settings: Settings) -> Start:
    """The start with what sticks and switches as its motion asks for."""
    if not start.system.causal.graph.modes:
        return start
    x = start.state.copy()
    Switches(start, settings.output_step, settings.t_end).begin_run(x)
    return replace(start, state=x)


def _span(progress: Progress | None, first: float, last: float) -> Progress | None:
    """Of the whole work, this run is the part from `first` to `last`."""
    if progress is None:
        return None
    return lambda fraction, t: progress(first + (last - first) * fraction, t)


def _require_nothing_to_stick(system: System, kinks: tuple[Kink, ...]) -> None:
    """Refuses an impulse beside dry friction.  Bushings take the time of a period over it; what
    sticks is stopped in every step of that by whatever it takes, more than it can hold."""
    sticking = [c.part for c in system.equations.constraints if c.active is not None]
    if kinks and sticking:
        raise not_by_small_steps(
            kinks[0].part,
            f"its speed jumps at t = {kinks[0].t:.6g} s. An impulse sets dry friction slipping, "
            f"which the discrete-time method would hold ({sticking[0]}).",
            "Use method = 'auto', or let the speed grow within some milliseconds.",
        )


class _Run:
    """One run from the start to t_end."""

    def __init__(self, start: Start, stepper: DiscreteTime, settings: Settings, sink: Sink | None):
        system = start.system
        self.system, self.stepper, self.settings = system, stepper, settings
        self.grid = output_grid(settings.t_end, settings.output_step)
        bends = kink_instants(system, self.grid)
        kinks = drive_kinks(start, self.grid, bends)
        require_no_jump(kinks)
        _require_nothing_to_stick(system, kinks)
        self.recorder = Recorder(system, stepper.rates, self.grid, sink)
        self.half_turns = HalfTurns(system, stepper.x)
        self.samples = Samples(system, bends)
        # kinks of laws need no steps of their own here, what sticks and switches has a state
        self.switches = None
        if system.causal.graph.modes:
            self.switches = Switches(start, settings.output_step, settings.t_end)
        self.events: list[Event] = []
        self._seen = 0.0
        self.began = clock.process_time()

    def begin(self) -> None:
        """FMUs and modes at the start."""
        self.samples.units.start(self.settings.rtol)
        if self.samples.units and (first := self.samples.next()).first <= 0.0:
            self.samples.go_past(first, self.stepper.x)
        if self.switches is not None:
            self.switches.begin(0.0, self.stepper.x)

    def go(self, progress: Progress | None) -> Status:
        """Steps from output instant to output instant."""
        stepper, t_end = self.stepper, self.settings.t_end
        for row in self.grid:
            for target in self._pieces(float(row)):
                if not self._advance(target):
                    return Status(
                        "failed",
                        f"The state is not finite any more at t = {stepper.t:.6g} s.",
                        "The step is too long for the springs or masses of this model: give a "
                        "shorter step, or use method = 'auto'.",
                    )
                if self.half_turns.beyond:
                    return half_turned(stepper.t, self.half_turns.beyond)
                if progress is not None and progress(stepper.t / t_end, stepper.t) is False:
                    self.recorder.end_at(stepper.t, stepper.x)
                    return Status("cancelled", f"Cancelled at t = {stepper.t:.6g} s.")
            self.recorder.add(self._seen, stepper.x, self._efforts())
        factor = stepper.t / stepper.wall if stepper.wall > 0.0 else float("inf")
        return Status(
            "finished",
            f"The simulation reached its end: {stepper.steps} steps of {stepper.dt:.3g} s, "
            f"real-time factor {factor:.3g}.",
        )

    def _pieces(self, row: float) -> Iterator[float]:
        """Where to stop on the way to an output row; samples what is due at each instant.  A row
        is seen behind the instant on which it lies."""
        stepper = self.stepper
        self._seen = row
        while stepper.t < row or self.samples.next().first <= row:
            instant = self.samples.next()
            target = min(row, stepper.t + PIECE, max(instant.at, stepper.t))
            yield target
            if instant.first <= stepper.t:
                self.samples.go_past(instant, stepper.x)
                self._seen = instant.after if row <= instant.last else row

    def _efforts(self) -> Array | None:
        """Where something may be held, the row's own."""
        return None if self.switches is None else self.stepper.efforts()

    def _advance(self, t_end: float) -> bool:
        """Up to t_end, or to half a turn where a load jumps: of each that the steps come to it is
        judged behind it; a row may have several.  Whether the state is finite."""
        stepper, switches, gripped = self.stepper, self.switches, None
        while stepper.t < t_end:
            stepper.advance(self._ahead(t_end), self.half_turns.rigid)
            if not np.all(np.isfinite(stepper.x)):
                return False
            if self.half_turns.passed(stepper.x):
                return True
            self.half_turns.keep()
            if switches is None:
                continue
            before, gripped = gripped, switches.gripping(stepper.t, stepper.x)
            stepper.hold(gripped)
            # hardly ever; what has just been stopped has a speed of either sign
            if gripped != before or switches.is_passed(stepper.t, stepper.x):
                self.events += switches.jump(stepper.t, stepper.t, stepper.x, frozenset())
        return True

    def _ahead(self, t_end: float) -> float:
        """A step ahead where something may stick or switch, or is watched that the steps do not
        see; t_end where not, or where hardly more than a step is left."""
        ahead = self.stepper.t + self.stepper.dt
        singly = self.switches is not None or self.half_turns.bent
        return ahead if singly and t_end - ahead > ROUNDING * self.stepper.dt else t_end

    def solution(self, status: Status) -> Solution:
        self.recorder.flush()
        signals, model = self.recorder.signals(), self.system.model
        events, limits = tuple(self.events), limits_of("discrete-time", np.nan, 0.0, 0.0)
        return Solution(
            time=self.recorder.time,
            signals=signals,
            # the energy of bushings is not followed, nor what rounding makes of it
            audit=audit(
                self.system,
                signals,
                events,
                limits,
                self.settings.t_end,
                0.0,
                self.recorder.worst,
                self.recorder.amounts(),
            ),
            made_by=made_by(
                model,
                "discrete-time",
                steps=self.stepper.steps,
                rates=self.stepper.steps,
                began=self.began,
            ),
            status=status,
            units=dict(self.system.signal_units) | ENERGY_UNITS,
            exchanged=self.samples.units.exchanged(),
        )


def _note(stepper: DiscreteTime) -> Problem:
    hertz = stepper.bushings.frequency / (2.0 * np.pi)
    shorter = (
        f" Steps went down to {stepper.shortest:.2g} s where the posture made them stiffer."
        if stepper.shortest < stepper.dt
        else ""
    )
    return Problem(
        "note",
        "joints",
        f"are stiff bushings of up to {hertz:.4g} Hz; their gaps are in residual.position."
        + shorter,
    )


def _expected(system: System, solution: Solution, others: list[Solution]) -> list[Problem]:
    """How far joint forces and speeds may err: by as much as bushings of half the frequency change
    them, in steps of the same length or twice as long."""
    if any(other.status.code != "finished" for other in others):
        what = (
            "may bear other forces: with bushings of half the frequency, in steps of the same "
            "length or twice as long, the run did not end."
        )
        return [Problem("note", "joints", what)]
    model = system.model
    asked: tuple[tuple[Container[str], Mapping[str, int]], ...] = (
        (model.joints, {"N": 0, "N*m": 1}),
        ({**model.joints, **model.bodies}, {"m/s": 0, "rad/s": -1}),
    )
    changes = ([_changed(system, solution, other, *of) for other in others] for of in asked)
    forces, speeds = (max(filter(None, each), default=None) for each in changes)
    if forces is None:
        return []
    moved = "" if speeds is None else f", and speeds may be off by {_share(speeds)}"
    what = (
        f"may bear forces up to {_share(forces)} beside those of rigid joints{moved}: so much do "
        "bushings of half the frequency change them, in steps of the same length or twice as long."
    )
    remedy = "Halve step (bushing_frequency follows), or use method = 'auto', for better ones."
    most = max(forces[0], 0.0 if speeds is None else speeds[0])
    return [Problem("warning" if most > COARSE else "note", "joints", what, remedy)]


def _off(system: System, solution: Solution, others: list[Solution]) -> list[Problem]:
    """How far speeds of a machine without joints may err: by as much as steps twice as long change
    them."""
    if any(other.status.code != "finished" for other in others):
        what = "may be too long: with one twice as long the run did not end."
        return [Problem("note", "simulate.step", what)]
    owners = {name.rpartition(".")[0] for name in solution.signals} - {"residual"}
    of = owners, {"m/s": 0, "rad/s": -1}
    changes = (_changed(system, solution, other, *of) for other in others)
    speeds = max(filter(None, changes), default=None)
    if speeds is None:
        return []
    what = f"speeds may be off by {_share(speeds)}: so much does a step twice as long change them."
    remedy = "Halve it, or use method = 'auto', for better ones."
    return [Problem("warning" if speeds[0] > COARSE else "note", "simulate.step", what, remedy)]


def _share(change: tuple[float, str]) -> str:
    return f"{100.0 * change[0]:.2g} % of their peak (most at {change[1]})"


def _changed(
    system: System,
    solution: Solution,
    other: Solution,
    owners: Container[str],
    powers: Mapping[str, int],
) -> tuple[float, str] | None:
    """The largest change of signals of `owners`, as a share of their peak, or of SMALL of the
    largest of all where that is more, and of which; `powers` of the machine's size [m] make their
    units comparable.  None where all are zero."""
    size, apart = machine_size(system), 0.5 * np.diff(solution.time).min(initial=np.inf)
    rows = np.searchsorted(solution.time, other.time - apart) if np.isfinite(apart) else slice(None)
    arms = {
        name: size ** powers[solution.unit(name)]
        for name in solution.signals
        if name.rpartition(".")[0] in owners and solution.unit(name) in powers
    }
    peaks = {name: float(np.abs(solution[name]).max(initial=0.0)) for name in arms}
    most = max((peak / arms[name] for name, peak in peaks.items()), default=0.0)
    return max(
        (
            (float(np.abs(solution[name][rows] - other[name]).max()) / scale, name)
            for name, peak in peaks.items()
            if (scale := max(peak, SMALL * most * arms[name])) > 0.0
        ),
        default=None,
    )
