"""One program with all that linear analysis differentiates, and its exact Jacobian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.corners import is_corner, with_sides
from vbg.assemble.derive.derive import derive
from vbg.assemble.derive.equations import Equations
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.start import assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, Substitution, const, leaf, mul, rows
from vbg.errors import UsageError
from vbg.graph.bondgraph import BondGraph, Vertex
from vbg.graph.placeholders import indexed, reading
from vbg.plumbing.components import component, vector_of

Array = NDArray[np.float64]

STEP = 1e-40  # complex step: below rounding, so that nothing is lost (Squire, Trapp 1998)
SOURCES = ("Se", "Sf")


@dataclass(frozen=True, slots=True)
class Input:
    """One scalar input: the written `component` of the source `vertex` is raised by it (of a
    torque in world axes, a voltage from the first terminal to the second, `Vertex.per_unit`), or
    what is read at the tap `signal` (`vbg.analysis.linear.taps`)."""

    name: str
    vertex: str
    component: int
    signal: str = ""


def available_inputs(system: System) -> tuple[Input, ...]:
    """Every component of every source that is neither a weight, nor a drive of a joint, nor
    a part of a chamber's law (what its oil carries in)."""
    found = []
    for vertex in system.causal.graph.vertices.values():
        if not _is_input(vertex):
            continue
        base = vertex.name.removesuffix(f".{vertex.kind}")
        for i in range(vertex.size):
            found.append(Input(component(base, i, vertex.size), vertex.name, i))
    return tuple(found)


def _is_input(vertex: Vertex) -> bool:
    base = vertex.name.removesuffix(f".{vertex.kind}")
    inside = base.endswith((".drive", ".carried"))
    return vertex.kind in SOURCES and vertex.energy is None and not inside


def choose_inputs(system: System, names: Sequence[str] | None) -> tuple[Input, ...]:
    """The inputs called `names`; all where names is None.

    Raises UsageError for a name that no source has.
    """
    known = available_inputs(system)
    if names is None:
        return known
    chosen = []
    for name in names:
        hits = [i for i in known if indexed(name) == indexed(i.name) or vector_of(i.name) == name]
        if not hits and reading(indexed(name)) in system.causal.graph.signals:
            hits = [Input(name, "", 0, reading(indexed(name)))]
        if not hits:
            listed = ", ".join(i.name for i in known) or "none"
            raise UsageError(
                f"there is no input {name!r}; inputs are the sources of the model: {listed}."
            )
        chosen += hits
    return tuple(chosen)


def _equations(
    system: System, graph: BondGraph, inputs: Sequence[Input], leaves: Mapping[str, Block]
) -> Equations:
    """Equations of the system with `graph` in place of its own, `inputs` added to its sources
    and signals."""
    if not inputs and graph is system.causal.graph:
        return system.equations
    vertices, signals = dict(graph.vertices), dict(graph.signals)
    for one in inputs:
        if one.signal:
            signals[one.signal] = signals[one.signal] + leaves[one.name]
            continue
        vertex = vertices[one.vertex]
        assert vertex.law is not None
        written = const(np.eye(vertex.size)[:, [one.component]])
        raised = vertex.law + mul(_imposed(vertex, written), leaves[one.name])
        vertices[one.vertex] = replace(vertex, law=raised)
    return derive(replace(system.causal, graph=replace(graph, vertices=vertices, signals=signals)))


def _imposed(vertex: Vertex, written: Block) -> Block:
    """What a source imposes of components as they are written."""
    return written if vertex.per_unit is None else mul(vertex.per_unit, written)


def _require_equations(system: System) -> None:
    """UsageError where a part is native code, which has no equations to look into."""
    for exchanged in system.causal.graph.exchanged:
        raise UsageError(
            f"{exchanged.unit.part} is native code: it has no equations that this analysis could "
            "look into, and is not at rest anywhere that could be found. Run the machine "
            "(vbg run), or put signals in its place."
        )


class Probe:
    """Rates, constraint residuals, measured coordinates and signals of a system at
    (t, x, u), with their derivatives by x and u.

    `spans` gives the rows of "rate", "position", "velocity", "measured", of every signal
    ("signal NAME"), corner and mode ("condition NAME") in what `values` and `jacobian` return.
    `sides` (one number for each corner with a side) choose the branch of laws that are not
    smooth, see `vbg.analysis.probe.corners`; None: the laws themselves.

    Where constraint rows depend on others, as many as at the start are eliminated with, chosen at
    each state that is looked at (`rows_at`): those that are independent at the start may nearly
    lose their grip where the machine rests.  What a state has does not depend on what was looked
    at before.
    """

    def __init__(self, system: System, inputs: Sequence[Input] = ()):
        _require_equations(system)
        self.system, self.inputs = system, tuple(inputs)
        leaves = {one.name: leaf(f"input {one.name}", 1) for one in inputs}
        graph, self.corners = with_sides(system.causal.graph)
        sides = [c.side for c in self.corners if c.side is not None]
        self.side_places = {side: place for place, side in enumerate(sides)}
        self.sides = len(sides)
        leaves |= {str(side.data): side for side in sides}
        outputs, given = self._blocks(_equations(system, graph, inputs, leaves), leaves)
        self.start = start = assemble_start(system)
        self._rows = RowChoice(system) if start.dependent else None
        program = lower(outputs, given, smallest=start.dependent > 0)
        self._evaluate = Evaluator(program, kept=start.kept.copy(), complex_valued=True)
        self.spans = _spans(program.outputs)
        self.size = system.size
        self.measured = tuple(s for s in system.slices if s.state.measured is not None)

    def _blocks(
        self, e: Equations, leaves: Mapping[str, Block]
    ) -> tuple[dict[str, Block], dict[str, Block]]:
        system = self.system
        close = Substitution(
            {c.unknown: rows(e.efforts, c.first, c.first + c.unknown.rows) for c in e.constraints}
        )
        outputs = {f"rate {s.state.name}": e.rates[s.state.leaf] for s in system.slices}
        outputs |= {"position": e.position, "velocity": e.residual}
        outputs |= {
            f"measured {s.state.name}": s.state.measured
            for s in system.slices
            if s.state.measured is not None
        }
        outputs |= {
            name if is_corner(name) else f"signal {name}": close(value)
            for name, value in e.outputs.items()
        }
        modes = (m.name for m in system.causal.graph.modes)
        outputs |= {f"condition {name}": e.switches[name] for name in modes}
        inputs = {s.state.name: s.state.leaf for s in system.slices} | {"t": e.time}
        return outputs, inputs | {f"input {name}": block for name, block in leaves.items()}

    def values(self, t: float, x: Array, sides: Array | None = None) -> Array:
        """All rows at (t, x) with zero inputs.

        Raises UsageError where a law has no value.
        """
        self._eliminate_at(t, x)
        given = np.concatenate([np.zeros(len(self.inputs)), self._chosen(sides)])
        try:
            return np.ascontiguousarray(self._evaluate(t, x, given).real)
        except ZeroDivisionError:
            raise self._undefined("rates have no value", t) from None

    def drift(self, t: float, x: Array) -> Array:
        """d rows / dt at constant x, by a complex step."""
        self._eliminate_at(t, x)
        z = np.concatenate([np.zeros(len(self.inputs)), self._chosen(None)]).astype(complex)
        try:
            return self._evaluate(t + 1j * STEP, x.astype(complex), z).imag / STEP
        except ZeroDivisionError:
            raise self._undefined("no rate of a drive", t) from None

    def _chosen(self, sides: Array | None) -> Array:
        return np.zeros(self.sides) if sides is None else sides

    def jacobian(self, t: float, x: Array, sides: Array | None = None) -> Array:
        """d rows / d (x, u): column by column with complex steps.

        Raises UsageError where a law has no slope.
        """
        self._eliminate_at(t, x)
        count = len(x) + len(self.inputs)
        z = np.concatenate([x, np.zeros(len(self.inputs)), self._chosen(sides)]).astype(complex)
        columns = np.empty((count, self._evaluate.size if count else 0))
        for i in range(count):
            z[i] += 1j * STEP
            np.divide(self._slope(t, z), STEP, out=columns[i])
            z[i] = z[i].real
        return columns.T

    def rows_at(self, t: float, x: Array) -> Array:
        """1 for each row that is eliminated with at (t, x): independent there, as many as at the
        start; those of the start where no tolerance gives that number."""
        kept = self.start.kept
        if self._rows is None:
            return kept
        count = len(self.system.constraint_names)
        found = self._rows.choose_number(t, x, int(np.count_nonzero(kept[:count])))
        return kept if found is None else np.concatenate([found.kept, kept[count:]])

    def _eliminate_at(self, t: float, x: Array) -> None:
        if self._rows is not None:
            self._evaluate.kept[:] = self.rows_at(t, x)

    def _slope(self, t: float, z: NDArray[np.complex128]) -> Array:
        try:
            return self._evaluate(t, z[: self.size], z[self.size :]).imag
        except ZeroDivisionError:
            raise self._undefined("no linear form", t) from None

    def _undefined(self, what: str, t: float) -> UsageError:
        return UsageError(
            f"{self.system.model.name}: {what} at t = {t:.6g} s, a law divides by zero there. "
            "Usual cause: an expression divides by what is zero at the start, or both ends of a "
            "spring, damper or rod are at one point (`vbg check` names it). Start beside it."
        )


def _spans(outputs: Mapping[str, tuple[int, int, int]]) -> dict[str, slice]:
    spans: dict[str, slice] = {}
    at = 0
    groups: dict[str, list[int]] = {"rate": [], "measured": []}
    for name, (_, height, width) in outputs.items():
        end = at + height * width
        head = name.split(" ", 1)[0]
        if head in groups:
            groups[head] += [at, end]
        spans[name] = slice(at, end)
        at = end
    for head, places in groups.items():
        spans[head] = slice(min(places), max(places)) if places else slice(0, 0)
    return spans
