"""What of a start goes into C code: programs, places, clocks; and what cannot go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.lower import lower
from vbg.assemble.program.program import Program
from vbg.assemble.programs import StateSlice
from vbg.assemble.start.lengths import rounding_of_gaps, run_lengths
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.blocks import Block
from vbg.errors import ModelError, Problem
from vbg.export.firm_rows import with_firm_rows
from vbg.export.half_turns import half_turns
from vbg.export.jumps import refused_jumps
from vbg.export.stiff import is_stiff
from vbg.export.unlooked import unlooked
from vbg.graph.bondgraph import Clock, Mode, Switch
from vbg.model.located import located
from vbg.plumbing.components import component_names
from vbg.simulate.events.rounding import ITERATED
from vbg.simulate.instants.drives import drive_kinks
from vbg.simulate.instants.kinks import kink_instants
from vbg.simulate.instants.pace import fast_places, longest_step
from vbg.simulate.settings import output_grid
from vbg.simulate.steppers.tolerances import Tolerances

Array = NDArray[np.float64]

TAPES: tuple[str, ...] = ("rate", "recorded", "output", "residual", "correction", "measure")
TAPES += ("update", "events", "effective", "terms", "turns")
BEGIN = 1e-6  # s, as of vbg.simulate.events: what counts as rounding where a kink is at t = 0


@dataclass(frozen=True)
class Signal:
    """One number: its name, unit and, of a state, its place in x."""

    name: str
    unit: str
    place: int = -1


@dataclass(frozen=True, eq=False)
class Machine:
    """A start as data for C code.

    `programs` by the names of TAPES ("recorded" is "rate" where efforts are unique);
    `switches` with the functions of time that have kinks behind them, these without words;
    `clocks` periodic ones, `singles` other instants in order, `pauses` times at which a source
    changes fast; `longest` a step that passes no pulse of an exponential diode; `sampled` places
    in x with the number of the clock, or -1 - that of the single instant.
    """

    start: Start
    programs: dict[str, Program]
    signals: tuple[Signal, ...]
    inputs: tuple[Signal, ...]
    states: tuple[Signal, ...]
    discrete: frozenset[int]
    switches: tuple[tuple[str, int, bool], ...]
    clocks: tuple[Clock, ...]
    singles: tuple[float, ...]
    scale: float
    sampled: tuple[tuple[int, int], ...]
    pauses: tuple[float, ...]
    longest: float
    tolerance: Array
    lengths: Array
    rounding: float
    step: float = 0.0

    @property
    def system(self) -> System:
        return self.start.system

    @cached_property
    def implicit(self) -> bool:
        """Whether the adaptive method is Radau IIA instead of DOP853."""
        return self.step == 0.0 and is_stiff(self.start)

    @property
    def chosen_implicit(self) -> bool:
        """Whether that is our choice, and not the file's."""
        return self.implicit and self.system.model.simulate.method == "auto"

    @cached_property
    def unlooked(self) -> tuple[str, ...]:
        """What a run tells of such machines, and a program does not look for."""
        return unlooked(self.system)

    @property
    def name(self) -> str:
        return self.system.model.name


def exported(start: Start) -> Machine:
    """The machine of a start.

    Raises ModelError that names what C code has no place for.
    """
    problems = tuple(_refused(start))
    if problems:
        raise ModelError.of(located(start.system.model, problems))
    start = with_firm_rows(start)
    system = start.system
    graph = system.causal.graph
    simulate = system.model.simulate
    grid = output_grid(simulate.t_end, simulate.output_step)
    lengths = run_lengths(system, start.state)
    kinks = kink_instants(system, grid)
    clocks = tuple(c for c in graph.clocks if c.period > 0.0)
    singles = np.union1d([c.first for c in graph.clocks if c.period == 0.0], kinks)
    return Machine(
        start,
        programs=_programs(start),
        signals=_signals(system),
        inputs=_inputs(system),
        states=_states(system),
        discrete=frozenset(
            i for s in system.slices if s.state.kind == "discrete" for i in range(s.first, s.last)
        ),
        switches=_switches(system),
        clocks=clocks,
        singles=tuple(singles.tolist()),
        scale=_rounded_scale(graph.clocks, kinks),
        sampled=_sampled(system, clocks, singles.tolist()),
        pauses=tuple(fast_places(system, simulate.t_end).tolist()),
        longest=longest_step(system, simulate.t_end),
        tolerance=Tolerances(system, 1.0)(0.0, start.state),
        lengths=lengths,
        rounding=rounding_of_gaps(system, start.state, lengths),
    )


def _refused(start: Start) -> Iterator[Problem]:
    """What the code has no place for, by name."""
    system = start.system
    simulate = system.model.simulate
    for exchanged in system.causal.graph.exchanged:
        yield Problem(
            "error",
            exchanged.unit.part,
            "is native code of its own: it does not go into C code or into another FMU.",
            "Take it out, make what it tells inputs (kind = 'input'), and connect both outside.",
        )
    constraints = system.equations.constraints
    for part in dict.fromkeys(c.part for c in constraints if c.latches):
        yield Problem(
            "error",
            part,
            "a joint that opens and closes is not in the C code yet: rows come and go with it.",
            "Export the machine of one phase, without release or without the joint.",
        )
    coming = (c for c in constraints if c.active is not None and not c.latches)
    for part in dict.fromkeys(c.part for c in coming):
        yield Problem(
            "error",
            part,
            "dry friction that sticks is not in the C code yet: rows come and go with it.",
            "Take a friction law that slips always (a small viscous damper), or run it with vbg.",
        )
    if simulate.method == "discrete-time":
        yield Problem(
            "error",
            "simulate.method",
            "the C code has no discrete-time method: dop853, radau and a fixed step only.",
            "Take method = 'auto', or 'radau' where the model is stiff.",
        )
    yield from refused_jumps(system)
    grid = output_grid(simulate.t_end, simulate.output_step)
    for kink in drive_kinks(start, grid)[:1]:
        yield Problem(
            "error",
            kink.part,
            f"what it prescribes has a kink at t = {kink.t:.6g} s: the work of its impulse is not "
            "counted in the C code.",
            "Round the kink.",
        )


def _programs(start: Start) -> dict[str, Program]:
    system = start.system
    programs = system.programs
    return {
        "rate": start.evaluator("rate").program,
        "recorded": start.evaluator("recorded").program,
        "output": programs.output,
        "residual": programs.residual,
        "correction": programs.correction,
        "measure": programs.measure,
        "update": programs.update,
        "events": lower(switching(system), programs.inputs, smallest=True),
        "effective": programs.effective,
        "terms": _terms(system),
        "turns": lower(half_turns(system), programs.inputs),
    }


def _terms(system: System) -> Program:
    """Of the function of each mode how large the numbers are that make it."""
    modes = [mode.name for mode in system.causal.graph.modes]
    places = {s.state.name for s in system.slices}
    asked = [name for name, *_ in _switches(system) if name in places]
    if not asked:
        return lower({}, system.programs.inputs, smallest=True)
    return system.programs.switch_terms(asked, modes, ITERATED)


def switching(system: System) -> dict[str, Block]:
    """Switching functions, with those of time that have kinks behind them."""
    instants = system.causal.graph.instants
    quiet = {f"instant {i}": block for i, block in enumerate(instants)}
    return {**system.equations.switches, **quiet}


def _signals(system: System) -> tuple[Signal, ...]:
    units = dict(system.signal_units)
    found = []
    for name, (_, rows, cols) in system.programs.output.outputs.items():
        unit = "J" if name.startswith("energy.") else units.get(name, "1")
        size = rows * cols
        found += [Signal(one, unit) for one in component_names(name, size)]
    return tuple(found)


def _states(system: System) -> tuple[Signal, ...]:
    units = [s.state.unit for s in system.slices for _ in range(s.first, s.last)]
    return tuple(Signal(n, u, i) for i, (n, u) in enumerate(zip(system.state_names, units)))


def input_places(system: System) -> dict[str, StateSlice]:
    """The states that hold what comes from outside, by the names of their signals."""
    names = [n for n, part in system.model.signals.items() if part.kind == "input"]
    held = {s.state.name: s for s in system.slices}
    return {name: held[f"{name}.input"] for name in names}


def _inputs(system: System) -> tuple[Signal, ...]:
    return tuple(Signal(n, s.state.unit, s.first) for n, s in input_places(system).items())


def _switches(system: System) -> tuple[tuple[str, int, bool], ...]:
    """Name, place in x of the mode or -1, and whether it is a kink without words."""
    graph = system.causal.graph
    places = {s.state.name: s.first for s in system.slices}
    about: list[Switch | Mode] = [*graph.switches, *graph.modes]
    found = [(s.name, places.get(s.name, -1), not s.what) for s in about]
    return (*found, *((f"instant {i}", -1, True) for i in range(len(graph.instants))))


def _rounded_scale(clocks: tuple[Clock, ...], kinks: Array) -> float:
    """What is subtracted from the time and rounded, see vbg.simulate.events."""
    scale = max(-min((c.first for c in clocks), default=0.0), 0.0)
    return max(scale, BEGIN) if len(kinks) and kinks[0] == 0.0 else scale


def _sampled(
    system: System, clocks: tuple[Clock, ...], singles: list[float]
) -> tuple[tuple[int, int], ...]:
    """In the order of the program `update`."""
    graph = system.causal.graph
    places = {s.state.name: s for s in system.slices}
    by_name = {s.name: s for s in graph.sampled}
    found = []
    for name in system.programs.update.outputs:
        clock = by_name[name].clock
        number = clocks.index(clock) if clock.period > 0.0 else -1 - singles.index(clock.first)
        found += [(place, number) for place in range(places[name].first, places[name].last)]
    return tuple(found)
