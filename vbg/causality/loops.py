"""Algebraic loops: outputs of resistors that determine one another through the causal junction
structure, and variables of ideal parts that determine themselves.

Each vertex gives one variable of a bond from the variables of its other bonds.  Followed
from what every one-port receives, these dependences end at stores and sources, or close:

    R1 -> flow -> 0 -> effort -> R2 -> flow -> 0 -> R1

is a loop of the outputs of R1 and R2.  A scalar R alone makes none: J_LL is skew-symmetric,
the ways from its output back to itself cancel.  A loop is torn at as few outputs as a
search finds; their components are its order, the size of 1 - J_LL R or of Newton's system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from vbg.blocks import Block, Coefficients, NotLinear
from vbg.causality.components import feedback_set, strong_components
from vbg.graph.bondgraph import Bond, BondGraph, End, Vertex

What = Literal["effort", "flow"]
Variable = tuple[str, What]  # of the bond of that name


@dataclass(frozen=True, slots=True)
class Loop:
    """An algebraic loop: the vertices whose outputs determine one another, the variables
    at which it is torn, their components (its order), and whether all laws are linear."""

    vertices: tuple[str, ...]
    order: int
    linear: bool
    torn: tuple[str, ...]


def algebraic_loops(graph: BondGraph, strokes: Mapping[str, End]) -> Iterator[Loop]:
    """The loops of a graph whose strokes are known, resistive ones first."""
    walk = _Dependences(graph, strokes)
    received = [
        walk.received(v) for v in graph.vertices.values() if len(graph.incident[v.name]) == 1
    ]
    walk.follow(variable for variable in received if variable is not None)
    outputs = {variable for variable in walk.uses if walk.giver(variable).kind == "R"}
    between = {v: walk.reached(v, outputs) for v in outputs}
    for component in strong_components(between):
        first = component[0]
        vector = graph.bonds[first[0]].size > 1
        if len(component) > 1 or (vector and first in between[first]):
            yield _loop(walk, component, {v: between[v] & set(component) for v in component})
    ideal = {v: used - outputs for v, used in walk.uses.items() if v not in outputs}
    for component in strong_components(ideal):
        if len(component) > 1 or component[0] in ideal[component[0]]:
            yield _loop(walk, component, {v: ideal[v] & set(component) for v in component})


def _loop(
    walk: _Dependences, variables: Iterable[Variable], uses: Mapping[Variable, set[Variable]]
) -> Loop:
    givers = [walk.giver(variable) for variable in variables]
    torn = feedback_set(uses)
    return Loop(
        vertices=tuple(sorted({vertex.name for vertex in givers})),
        order=sum(walk.graph.bonds[name].size for name, _ in torn),
        linear=all(_is_linear(walk, variable) for variable in variables),
        torn=tuple(f"{what} of {name}" for name, what in torn),
    )


def _is_linear(walk: _Dependences, variable: Variable) -> bool:
    """Whether what gives the variable is linear in what it receives."""
    vertex = walk.giver(variable)
    if vertex.kind != "R":
        return True
    by_flow = variable[1] == "effort"
    law, port = (
        (vertex.effort_law, vertex.port_flow) if by_flow else (vertex.flow_law, vertex.port_effort)
    )
    return law is not None and port is not None and _is_linear_in(law, port)


def _is_linear_in(law: Block, port: Block) -> bool:
    try:
        Coefficients([port])(law)
    except NotLinear:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Dependences:
    """What each variable is computed from; `uses` grows as variables are followed."""

    graph: BondGraph
    strokes: Mapping[str, End]
    uses: dict[Variable, set[Variable]] = field(default_factory=dict)

    def giver(self, variable: Variable) -> Vertex:
        """The vertex that determines the variable."""
        name, what = variable
        bond = self.graph.bonds[name]
        at_head = (self.strokes[name] == "head") == (what == "flow")
        return self.graph.vertices[bond.head if at_head else bond.tail]

    def received(self, vertex: Vertex) -> Variable | None:
        """What a one-port computes its output from; None of a source."""
        (bond,) = self.graph.incident[vertex.name]
        if vertex.kind in ("Se", "Sf", "Sc"):
            return None
        return bond.name, "effort" if self._effort_into(bond, vertex) else "flow"

    def follow(self, start: Iterable[Variable]) -> None:
        """Enters all variables that those of `start` are computed from."""
        waiting = list(start)
        while waiting:
            variable = waiting.pop()
            if variable not in self.uses:
                self.uses[variable] = set(self._inputs(variable))
                waiting.extend(self.uses[variable])

    def reached(self, start: Variable, ends: set[Variable]) -> set[Variable]:
        """The first of `ends` on every way from `start`."""
        found, seen, waiting = set(), set(), list(self.uses[start])
        while waiting:
            variable = waiting.pop()
            if variable in ends:
                found.add(variable)
            elif variable not in seen:
                seen.add(variable)
                waiting.extend(self.uses[variable])
        return found

    def _effort_into(self, bond: Bond, vertex: Vertex) -> bool:
        return (bond.head if self.strokes[bond.name] == "head" else bond.tail) == vertex.name

    def _inputs(self, variable: Variable) -> Iterator[Variable]:
        """The variables of other bonds (of the same one for R) at the giving vertex."""
        name, what = variable
        vertex = self.giver(variable)
        bonds = [b for b in self.graph.incident[vertex.name] if b.name != name]
        other: What = "flow" if what == "effort" else "effort"
        match vertex.kind:
            case "0" | "1":
                shared = "effort" if vertex.kind == "0" else "flow"
                for bond in bonds:
                    brings = self._effort_into(bond, vertex) == (what == "effort")
                    if what != shared or brings:
                        yield bond.name, what
            case "TF":
                yield from ((bond.name, what) for bond in bonds)
            case "GY":
                yield from ((bond.name, other) for bond in bonds)
            case "R" | "EJS":
                yield name, other
