"""The junction structure as matrices: what every one-port receives from what all give.

    x = J z + J_u1 U1        x = [X'; Z_D; D_in; E_in; -r],  z = [Z; X_D'; D_out; E_out; U2]

with the stores' rates X' and co-energies Z, stores in derivative causality, which receive their
co-energies Z_D and give their rates X_D', resistors, Eulerian junction structures, and
the rows r of the constraint sources (vector-bond-graph.txt, eq. 9-13).  J is
skew-symmetric: the junctions give and take no power.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from vbg.assemble.derive.derivation import Derivation, compliance, vanishes
from vbg.assemble.derive.junction_structure import GIVEN, JunctionStructure, coenergy, reaction
from vbg.assemble.derive.variables import solution_of
from vbg.blocks import (
    Block,
    Coefficients,
    Substitution,
    Tangent,
    leaf,
    linear,
    times,
    zeros,
)
from vbg.causality import CausalGraph
from vbg.graph.bondgraph import Bond, Vertex
from vbg.graph.placeholders import reads_bonds

GROUPS = ("1", "2", "D", "L", "E", "u1", "u2")  # of the columns; rows have C in place of u2


@dataclass(frozen=True, slots=True)
class Port:
    """A one-port: the leaf it gives, what it `received` in terms of all leaves (zero size for
    sources), and its own law: the value of a source, else the matrix of given = law received
    (of Z = F X for a store of any causality), which is the slope where it is not `proportional`.
    `state`: X of a store."""

    vertex: Vertex
    given: Block
    received: Block
    law: Block
    proportional: bool = True
    state: Block | None = None


@dataclass(frozen=True, slots=True)
class Interconnection:
    """The ports of each group, and J by the names of (receiving, giving) vertices.

    Groups: "1" independent and "2" dependent stores, "D" stores in derivative causality,
    "L" resistors, "E" Eulerian junction structures, "u1" sources, "u2" constraint sources.
    """

    groups: Mapping[str, tuple[Port, ...]]
    blocks: Mapping[tuple[str, str], Block]

    def block(self, row: Port, column: Port) -> Block:
        """J between two ports, zero where there is none."""
        found = self.blocks.get((row.vertex.name, column.vertex.name))
        return zeros(row.received.rows, column.given.rows) if found is None else found


def interconnection_of(work: Derivation, springs: Mapping[str, Block]) -> Interconnection:
    """The matrices of the causal graph of `work`, in terms of states and time; `springs`: k of
    those without a state of their own that are stores, behind all others."""
    structure = JunctionStructure(_bare(work))
    groups: dict[str, list[Port]] = {group: [] for group in GROUPS}
    for vertex in work.causal.graph.vertices.values():
        group = _group(work.causal, vertex)
        if group and vertex.name not in springs:
            groups[group].append(_port(work, structure, vertex))
    groups["1"] += [_spring(work, structure, name, k) for name, k in springs.items()]
    ports = [port for found in groups.values() for port in found]
    closed, signed = _cuts_closed(structure), _rates_given(work)
    columns = Coefficients(port.given for port in ports)
    blocks = {}
    for row in ports:
        for column, block in _coefficients(columns, signed(closed(row.received)), ports):
            blocks[row.vertex.name, column] = block
    return Interconnection(
        MappingProxyType({group: tuple(found) for group, found in groups.items()}),
        MappingProxyType(blocks),
    )


def _coefficients(
    columns: Coefficients, received: Block, ports: Iterable[Port]
) -> Iterator[tuple[str, Block]]:
    found = columns(received)
    return ((p.vertex.name, found[p.given]) for p in ports if p.given in found)


def _group(causal: CausalGraph, vertex: Vertex) -> str:
    """The group of a one-port; empty for junctions and two-ports."""
    if vertex.name in causal.differential:
        return "D"
    if vertex.is_store:
        return "2" if vertex.name in causal.dependent_stores else "1"
    return {"C": "u1", "Se": "u1", "Sf": "u1", "R": "L", "EJS": "E", "Sc": "u2"}.get(
        vertex.kind, ""
    )


def _bare(work: Derivation) -> CausalGraph:
    """The causal graph with sources and Eulerian junction structures as unknowns, and moduli
    that read other variables in terms of states."""
    graph = work.causal.graph
    vertices = {name: _without_law(work, vertex) for name, vertex in graph.vertices.items()}
    return replace(work.causal, graph=replace(graph, vertices=MappingProxyType(vertices)))


def _without_law(work: Derivation, vertex: Vertex) -> Vertex:
    match vertex.kind:
        case "EJS":
            law = leaf(f"law of {vertex.name}", vertex.size)
            return replace(vertex, kind="R", effort_law=law, port_flow=law)
        case "TF" | "GY" if vertex.law is not None and reads_bonds(vertex.law):
            inverse = None if vertex.inverse is None else work.in_states(vertex.inverse)
            return replace(vertex, law=work.in_states(vertex.law), inverse=inverse)
        case "Se" | "Sf":
            return replace(vertex, law=_source(vertex))
        case "C" if vertex.state is None:
            return replace(vertex, law=_source(vertex))
    return vertex


def _source(vertex: Vertex) -> Block:
    return leaf(f"U1 of {vertex.name}", vertex.size)


def _cuts_closed(structure: JunctionStructure) -> Substitution:
    """Replaces the variables at which walks through loops of ideal parts were cut."""
    cuts = [v for v in structure.definitions if " around " in str(v.data)]
    if not cuts:
        return Substitution({})
    equations = [cut - structure.definitions[cut] for cut in cuts]
    values, _ = solution_of(cuts, equations, "bonds")
    return Substitution(dict(zip(cuts, values, strict=True)))


def _rates_given(work: Derivation) -> Substitution:
    """What stores in derivative causality impose on their bonds, by their rates X_D'."""
    found = {}
    for vertex, bond in work.differential:
        sign = 1.0 if bond.head == vertex.name else -1.0
        found[reaction(vertex)] = linear((sign, _rate_of(vertex)))
    return Substitution(found)


def _rate_of(vertex: Vertex) -> Block:
    return leaf(f"rate of {vertex.name}", vertex.size)


def _port(work: Derivation, structure: JunctionStructure, vertex: Vertex) -> Port:
    (bond,) = work.causal.graph.incident[vertex.name]
    sign = 1.0 if bond.head == vertex.name else -1.0
    if vertex.is_store:
        dependent = vertex.name in work.causal.differential  # receives its co-energy
        by_effort = (vertex.kind == "I") != dependent
        received = structure.effort(bond) if by_effort else structure.flow(bond)
        slope = work.in_states(compliance(vertex))
        assert vertex.law is not None and vertex.state is not None
        proportional = slope.is_const and vanishes(vertex.law, vertex.state)
        if dependent:
            return Port(vertex, _rate_of(vertex), received, slope, proportional, vertex.state)
        received = linear((sign, received))
        return Port(vertex, coenergy(vertex), received, slope, proportional, vertex.state)
    if vertex.kind == "EJS":
        assert vertex.law is not None
        given = leaf(f"{GIVEN}{vertex.name}", vertex.size)
        law = work.in_states(vertex.law)
        return Port(vertex, given, linear((sign, structure.flow(bond))), law)
    if vertex.kind == "R":
        return _resistor(work, structure, vertex, bond)
    if vertex.kind == "Sc":
        assert vertex.state is not None
        row = structure.effort(bond) if vertex.dual else structure.flow(bond)
        if vertex.active is not None:
            row = times(vertex.active, row)
        return Port(vertex, vertex.state, linear((sign, row)), zeros(vertex.size))
    assert vertex.law is not None
    return Port(vertex, _source(vertex), zeros(0), work.in_states(vertex.law))


def _spring(work: Derivation, structure: JunctionStructure, name: str, k: Block) -> Port:
    """X' = the flow of the spring, Z = k X."""
    vertex = work.causal.graph.vertices[name]
    (bond,) = work.causal.graph.incident[name]
    sign = 1.0 if bond.head == name else -1.0
    assert vertex.law is not None
    state = linear((1.0 / float(k.data[0, 0]), work.in_states(vertex.law)))
    return Port(vertex, _source(vertex), linear((sign, structure.flow(bond))), k, state=state)


def _resistor(work: Derivation, structure: JunctionStructure, vertex: Vertex, bond: Bond) -> Port:
    """Its law is the slope at the state."""
    by_flow = work.causal.imposes_effort(bond).name == vertex.name
    law, port = (
        (vertex.effort_law, vertex.port_flow) if by_flow else (vertex.flow_law, vertex.port_effort)
    )
    assert law is not None and port is not None
    received = structure.flow(bond) if by_flow else structure.effort(bond)
    actual = work.structure.flow(bond) if by_flow else work.structure.effort(bond)
    direction = leaf("direction", vertex.size)
    slopes = Coefficients([direction])(Tangent({port: direction})(work.structure.resolve(law)))
    slope = slopes.get(direction, zeros(vertex.size, vertex.size))
    slope = work.in_states(Substitution({port: actual})(slope))
    given = leaf(f"{GIVEN}{vertex.name}", vertex.size)
    return Port(vertex, given, received, slope, slope.is_const and vanishes(law, port))
