"""Powers and energies of a graph, for the audit of every run, and of each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vbg.assemble.derive.derivation import Derivation
from vbg.assemble.derive.equations import taken_by
from vbg.blocks import Block, Substitution, Tangent, dot, leaf, linear, zeros
from vbg.graph.bondgraph import Vertex

Term = tuple[float, Block]


@dataclass(frozen=True, slots=True)
class PartEnergy:
    """What a part takes up: `stored` [J]; `lost` [W], what its resistors turn into heat less what
    its sources supply; `state`, the integral of that; `intake` [W], the rate of both together.

    Junctions pass power on, so the intakes of all parts have the sum zero, and the sum of
    stored + state is what the audit calls energy.residual, but for its value at the start."""

    part: str
    stored: Block
    lost: Block
    intake: Block

    @property
    def name(self) -> str:
        """Of the part without its table."""
        return self.part.partition(".")[2] or self.part

    @property
    def state(self) -> Block:
        return leaf(taken_by(self.part), 1)


def part_energies(work: Derivation, along: Tangent) -> tuple[PartEnergy, ...]:
    """Of every part that stores, loses or supplies; `along` the motion."""
    stored: dict[str, list[Term]] = {}
    lost: dict[str, list[Term]] = {}
    for vertex in work.causal.graph.vertices.values():
        if vertex.energy is not None:
            stored.setdefault(vertex.part, []).append((1.0, vertex.energy))
    for vertex in work.causal.graph.vertices.values():
        if vertex.active is not None and vertex.position is not None:  # a latch, as it closes
            lost.setdefault(vertex.part, [])
    for vertex, factor, power in _exchanged(work):
        lost.setdefault(vertex.part, []).append((-factor if vertex.kind != "R" else factor, power))
    whole = Substitution({})
    found = []
    for part in {**stored, **lost}:
        energy = _total(work, [(0.0, zeros(1)), *stored.get(part, ())], whole)
        heat = _total(work, [(0.0, zeros(1)), *lost.get(part, ())], whole)
        found.append(PartEnergy(part, energy, heat, along(energy) + heat))
    return tuple(found)


def _exchanged(work: Derivation) -> Iterator[tuple[Vertex, float, Block]]:
    """Resistors and sources that are not conservative: sign and power that a resistor takes up or
    a source supplies."""
    graph = work.causal.graph
    for vertex in graph.vertices.values():
        if vertex.kind == "R" or (vertex.kind in ("Se", "Sf") and vertex.energy is None):
            (bond,) = graph.incident[vertex.name]
            along = (bond.head == vertex.name) == (vertex.kind == "R")
            power = dot(work.structure.effort(bond), work.structure.flow(bond))
            yield vertex, 1.0 if along else -1.0, power


def powers(work: Derivation, close: Substitution) -> tuple[Block, Block]:
    """Power of the sources that are not conservative, and of the resistors."""
    supplied: list[Term] = [(0.0, zeros(1))]
    dissipated: list[Term] = [(0.0, zeros(1))]
    for vertex, factor, power in _exchanged(work):
        (dissipated if vertex.kind == "R" else supplied).append((factor, power))
    return _total(work, supplied, close), _total(work, dissipated, close)


def brought(work: Derivation, close: Substitution) -> dict[str, Block]:
    """By part what its sources supply, where unknown efforts enter what answers a source alone:
    that of impulses L is what this is at L more than at none.  The answer e(L) to a flow f, or f(L)
    to an effort e; and of a source that reads efforts its own variable, to the answer at none:

        e(L) f(0) + e(0) f(L) - e(0) f(0).

    `close` replaces what is no unknown of the constraints."""
    unforced = Substitution({v.state: zeros(v.size) for v, _ in work.sources if v.state})
    terms: dict[str, list[Term]] = {}
    for vertex, factor, _ in _exchanged(work):
        if vertex.kind == "R":
            continue
        (bond,) = work.causal.graph.incident[vertex.name]
        both = work.structure.effort(bond), work.structure.flow(bond)
        effort, flow = close.each(work.each_in_states([*both]))
        idle = unforced(effort), unforced(flow)
        own = terms.setdefault(vertex.part, [])
        own.append((factor, dot(effort, idle[1])))
        if flow is not idle[1]:
            own += [(factor, dot(idle[0], flow)), (-factor, dot(*idle))]
    return {part: linear(*of_part) for part, of_part in terms.items()}


def held(work: Derivation, parts: Iterable[str]) -> dict[str, Block]:
    """By part what it stores."""
    whole, vertices = Substitution({}), work.causal.graph.vertices.values()
    terms = {
        part: [(1.0, v.energy) for v in vertices if v.part == part and v.energy is not None]
        for part in parts
    }
    return {part: _total(work, [(0.0, zeros(1)), *own], whole) for part, own in terms.items()}


def energies(work: Derivation) -> tuple[Block, Block]:
    """Kinetic energy (of the I) and the rest of what is stored."""
    kinetic: list[Term] = [(0.0, zeros(1))]
    potential: list[Term] = [(0.0, zeros(1))]
    for vertex in work.causal.graph.vertices.values():
        if vertex.energy is not None:
            terms = kinetic if vertex.kind == "I" else potential
            terms.append((1.0, vertex.energy))
    whole = Substitution({})
    return _total(work, kinetic, whole), _total(work, potential, whole)


def _total(work: Derivation, terms: list[Term], close: Substitution) -> Block:
    values = close.each(work.each_in_states([block for _, block in terms]))
    return linear(*zip([factor for factor, _ in terms], values, strict=True))
