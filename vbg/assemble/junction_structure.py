"""Effort and flow of every bond, by walking the causal junction structure.

The walk knows vertices, not parts: a bond's effort is asked of the vertex that
imposes it, its flow of the other; each answers in terms of its other bonds,
down to the co-energies Z of stores, the unknown constraint efforts, sources
and configuration states.  The result is linear in Z and in the constraint
efforts wherever the laws are, and its coefficients are the J matrices of
vector-bond-graph.txt, eq. 9-13.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vbg.blocks import Block, Substitution, dependencies, leaf, linear, mul, transpose, zeros
from vbg.causality import CausalGraph
from vbg.errors import AssemblyError, Problem
from vbg.graph.bondgraph import Bond, Vertex

FLOW, EFFORT, BOND_FLOW, RATE = "flow of ", "effort of ", "bond flow of ", "rate of "


def coenergy(vertex: Vertex) -> Block:
    """Placeholder Z of a store: its flow (I) or effort (C)."""
    return leaf(f"Z of {vertex.name}", vertex.size)


@dataclass(slots=True)
class JunctionStructure:
    """Remembers the efforts and flows found so far; one per assembly."""

    causal: CausalGraph
    _effort: dict[str, Block] = field(default_factory=dict)
    _flow: dict[str, Block] = field(default_factory=dict)
    _open: list[tuple[str, str]] = field(default_factory=list)
    _resolved: dict[Block, Block] = field(default_factory=dict)

    def effort(self, bond: Bond) -> Block:
        """Effort of `bond` in terms of Z, constraint efforts, sources, states."""
        if bond.name not in self._effort:
            self._enter("effort", bond)
            vertex = self.causal.imposes_effort(bond)
            self._effort[bond.name] = self.resolve(self._effort_from(vertex, bond))
            self._open.pop()
        return self._effort[bond.name]

    def flow(self, bond: Bond) -> Block:
        """Flow of `bond`, likewise."""
        if bond.name not in self._flow:
            self._enter("flow", bond)
            vertex = self.causal.imposes_flow(bond)
            self._flow[bond.name] = self.resolve(self._flow_from(vertex, bond))
            self._open.pop()
        return self._flow[bond.name]

    def _enter(self, what: str, bond: Bond) -> None:
        if (what, bond.name) in self._open:
            cycle = self._open[self._open.index((what, bond.name)) :]
            raise AssemblyError.of(
                [
                    Problem(
                        "error",
                        self.causal.graph.vertices[bond.head].part or bond.head,
                        "an algebraic loop: "
                        + ", ".join(f"the {w} of {name}" for w, name in cycle)
                        + " determine one another.",
                        "Put a store (a compliance or an inertia) between the parts.",
                    )
                ]
            )
        self._open.append((what, bond.name))

    def _incident(self, vertex: Vertex) -> tuple[Bond, ...]:
        return self.causal.graph.incident[vertex.name]

    def _brings_effort(self, bond: Bond, vertex: Vertex) -> bool:
        return self.causal.imposes_effort(bond).name != vertex.name

    def _balance(self, vertex: Vertex, bond: Bond, what: str) -> Block:
        """The variable of `bond` from the sum over the vertex, + along bonds into it."""
        sign = 1.0 if bond.head == vertex.name else -1.0
        terms: list[tuple[float, Block]] = []
        for other in self._incident(vertex):
            if other.name != bond.name:
                value = self.flow(other) if what == "flow" else self.effort(other)
                terms.append((-sign if other.head == vertex.name else sign, value))
        return linear(*terms) if terms else zeros(bond.size)

    def _effort_from(self, vertex: Vertex, bond: Bond) -> Block:
        match vertex.kind:
            case "0":
                strong = next(b for b in self._incident(vertex) if self._brings_effort(b, vertex))
                return self.effort(strong)
            case "1":
                return self._balance(vertex, bond, "effort")
            case "C":
                return coenergy(vertex) if vertex.state is not None else _law(vertex)
            case "Se":
                return _law(vertex)
            case "Sc" if vertex.state is not None:
                return vertex.state
            case "EJS":
                return mul(_law(vertex), self.flow(bond))
            case "R" if vertex.effort_law is not None and vertex.port_flow is not None:
                return Substitution({vertex.port_flow: self.flow(bond)})(vertex.effort_law)
            case "TF" | "GY":
                return self._effort_through(vertex, bond)
        raise AssertionError(f"{vertex.kind} {vertex.name} cannot impose effort")

    def _effort_through(self, vertex: Vertex, bond: Bond) -> Block:
        first, second = self._incident(vertex)
        law = _law(vertex)
        if vertex.kind == "TF":
            if bond.name == first.name:
                return mul(transpose(law), self.effort(second))
            return mul(transpose(_inverse(vertex)), self.effort(first))
        if bond.name == second.name:
            return mul(law, self.flow(first))
        return mul(transpose(law), self.flow(second))

    def _flow_from(self, vertex: Vertex, bond: Bond) -> Block:
        match vertex.kind:
            case "1":
                strong = next(
                    b for b in self._incident(vertex) if not self._brings_effort(b, vertex)
                )
                return self.flow(strong)
            case "0":
                return self._balance(vertex, bond, "flow")
            case "I":
                return coenergy(vertex)
            case "Sf":
                return _law(vertex)
            case "Sc" if vertex.state is not None:
                return vertex.state
            case "R" if vertex.flow_law is not None and vertex.port_effort is not None:
                return Substitution({vertex.port_effort: self.effort(bond)})(vertex.flow_law)
            case "TF" | "GY":
                return self._flow_through(vertex, bond)
        raise AssertionError(f"{vertex.kind} {vertex.name} cannot impose flow")

    def _flow_through(self, vertex: Vertex, bond: Bond) -> Block:
        first, second = self._incident(vertex)
        if vertex.kind == "TF":
            if bond.name == second.name:
                return mul(_law(vertex), self.flow(first))
            return mul(_inverse(vertex), self.flow(second))
        inverse = _inverse(vertex)
        if bond.name == first.name:
            return mul(inverse, self.effort(second))
        return mul(transpose(inverse), self.effort(first))

    def resolve(self, block: Block) -> Block:
        """`block` with all placeholders for bond variables replaced."""
        if block in self._resolved:
            return self._resolved[block]
        found = {
            node: self._placeholder(node)
            for node in dependencies([block])
            if node.op == "leaf" and node.data.startswith((FLOW, EFFORT, BOND_FLOW))
        }
        result = Substitution(found)(block) if found else block
        self._resolved[block] = result
        return result

    def _placeholder(self, node: Block) -> Block:
        name: str = node.data
        graph = self.causal.graph
        if name.startswith(EFFORT):
            return self.effort(graph.bonds[name.removeprefix(EFFORT)])
        if name.startswith(BOND_FLOW):
            return self.flow(graph.bonds[name.removeprefix(BOND_FLOW)])
        return self.flow(graph.incident[name.removeprefix(FLOW)][0])


def _law(vertex: Vertex) -> Block:
    assert vertex.law is not None
    return vertex.law


def _inverse(vertex: Vertex) -> Block:
    assert vertex.inverse is not None
    return vertex.inverse
