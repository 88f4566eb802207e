"""The variables of an FMU: names, value references, causality, dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from vbg.blocks import Block, dependencies
from vbg.display import in_si
from vbg.errors import UsageError
from vbg.export.fmu.chart import NOTHING as NO_CHART
from vbg.export.fmu.chart import Chart
from vbg.export.machine import Machine
from vbg.export.tuning import NOTHING, Tuning
from vbg.plumbing.components import vector_of

TIME = 0


@dataclass(frozen=True)
class Variable:
    """One number that an importer sees.  `start`: its value at first, of what may be set;
    `derivative_of`: reference of the state whose rate it is; `known`: references that it depends
    on (None: any); `low`, `high`: the range of a parameter; `nominal`: the size of a state, which
    absolute tolerances are of; `words`: what its name does not say."""

    name: str
    reference: int
    causality: str
    variability: str
    unit: str = "1"
    start: float | None = None
    derivative_of: int | None = None
    known: tuple[int, ...] | None = None
    low: float | None = None
    high: float | None = None
    nominal: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Variables:
    """All variables of a machine; `outputs` are patterns of signals (none: all that the file
    keeps)."""

    machine: Machine
    outputs: tuple[str, ...]
    tuning: Tuning = NOTHING
    chart: Chart = NO_CHART

    @cached_property
    def all(self) -> tuple[Variable, ...]:
        """In the order of the description; names differ.

        Raises UsageError where a pattern fits no signal.
        """
        for pattern in self.outputs:
            if not any(fnmatchcase(s.name, pattern) for s in self.machine.signals):
                raise UsageError(f"--outputs {pattern}: no signal has such a name.")
        taken: dict[str, int] = {}
        found = []
        named = (*self._inputs(), *self._states(), *self._rates(), *self._signals())
        named = (*named, *self._parameters({v.name for v in named}), *self._coordinates())
        for v in named:
            found.append(v)
            taken[v.name] = 1
        for v in self._indicators():
            number = taken.get(v.name, 0)
            taken[v.name] = number + 1
            name = v.name if number == 0 else f"{v.name} ({number + 1})"
            found.append(Variable(name, v.reference, v.causality, v.variability))
        return tuple(found)

    def of(self, causality: str) -> tuple[Variable, ...]:
        return tuple(v for v in self.all if v.causality == causality)

    @property
    def rates(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.all if v.derivative_of is not None)

    @property
    def indicators(self) -> tuple[Variable, ...]:
        first, last = self._first_indicator, self._first_coordinate + 2 * self.chart.freedoms
        behind = first + len(self.machine.switches)
        chosen = {last} if self.chart.freedoms else set()
        return tuple(v for v in self.all if v.reference in {*range(first, behind), *chosen})

    @property
    def states(self) -> tuple[Variable, ...]:
        """The continuous states: those that have a rate."""
        with_rates = {v.derivative_of for v in self.rates}
        return tuple(v for v in self.all if v.reference in with_rates)

    @property
    def _first_indicator(self) -> int:
        m = self.machine
        return 1 + 2 * m.system.size + len(m.signals)

    @property
    def _first_coordinate(self) -> int:
        return self._first_indicator + len(self.machine.switches) + len(self.tuning.parameters)

    def _inputs(self) -> Iterator[Variable]:
        start = self.machine.start.state
        for s in self.machine.inputs:
            value = float(start[s.place])
            yield Variable(s.name, 1 + s.place, "input", "continuous", s.unit, value)

    def _states(self) -> Iterator[Variable]:
        m = self.machine
        held = {s.place for s in m.inputs}
        for s in m.states:
            if s.place in held:
                continue
            discrete = s.place in m.discrete
            start = None if discrete else float(m.start.state[s.place])
            kind = "discrete" if discrete else "continuous"
            nominal = None if discrete else float(m.tolerance[s.place])
            name = f"state.{s.name}"
            yield Variable(name, 1 + s.place, "local", kind, s.unit, start, nominal=nominal)

    def _rates(self) -> Iterator[Variable]:
        m = self.machine
        held = {s.place for s in m.inputs} | m.discrete
        for s in m.states:
            if s.place in held:
                continue
            known = self._known(m.system.equations.rates[self._leaves[s.place]])
            name, reference = f"der(state.{s.name})", 1 + m.system.size + s.place
            yield Variable(
                name,
                reference,
                "local",
                "continuous",
                "1" if s.unit in ("1", "") else f"{s.unit}/s",
                derivative_of=None if self.chart.freedoms else 1 + s.place,
                known=known,
            )

    def _signals(self) -> Iterator[Variable]:
        m = self.machine
        inputs = {s.name for s in m.inputs}
        first = 1 + 2 * m.system.size
        blocks = m.system.equations.outputs
        for i, s in enumerate(m.signals):
            if s.name in inputs:
                continue
            given = any(fnmatchcase(s.name, pattern) for pattern in self.outputs)
            chosen = given if self.outputs else not s.name.startswith("energy.")
            block = blocks.get(s.name, blocks.get(vector_of(s.name)))
            known = None if block is None else self._known(block)
            causality = "output" if chosen else "local"
            yield Variable(s.name, first + i, causality, "continuous", s.unit, known=known)

    def _indicators(self) -> Iterator[Variable]:
        for i, (name, _, _) in enumerate(self.machine.switches):
            yield Variable(f"event.{name}", self._first_indicator + i, "local", "continuous")
        if self.chart.freedoms:
            last = self._first_coordinate + 2 * self.chart.freedoms
            yield Variable("event.coordinates", last, "local", "continuous")

    def _coordinates(self) -> Iterator[Variable]:
        first, count = self._first_coordinate, self.chart.freedoms
        for i in range(count):
            name, words = (
                f"coordinate.{i + 1}",
                "one of the states, chosen while it runs, and its nominal size",
            )
            yield Variable(name, first + i, "local", "continuous", words=words)
        for i in range(count):
            name, reference = f"der(coordinate.{i + 1})", first + count + i
            yield Variable(name, reference, "local", "continuous", derivative_of=first + i)

    def _parameters(self, taken: set[str]) -> Iterator[Variable]:
        units = self.machine.system.model.parameter_units
        first = self._first_indicator + len(self.machine.switches)
        for i, p in enumerate(self.tuning.parameters):
            unit = in_si(units.get(p.name, "")).unit or "1"
            yield Variable(
                f"parameter.{p.name}" if p.name in taken else p.name,
                first + i,
                "parameter",
                "fixed",
                unit,
                p.value,
                low=p.low,
                high=p.high,
            )

    @cached_property
    def _leaves(self) -> Sequence[Block]:
        slices = self.machine.system.slices
        return [s.state.leaf for s in slices for _ in range(s.first, s.last)]

    def _known(self, block: Block) -> tuple[int, ...] | None:
        """References of the states and inputs that a block reads; None where the constraints
        make everything depend on everything, or modes choose."""
        m = self.machine
        if m.system.constraint_names:
            return None
        read = {b.key for b in dependencies([block]) if b.op == "leaf"}
        between = m.discrete - {s.place for s in m.inputs}  # what stands still in a step
        return tuple(
            1 + s.place
            for s, leaf in zip(m.states, self._leaves, strict=True)
            if leaf.key in read and s.place not in between
        )
