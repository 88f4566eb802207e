"""Algebraic loops: strongly connected resistors through the causal junctions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vbg.causality.causal import End, Loop
from vbg.graph.bondgraph import Bond, BondGraph, Vertex

Variable = tuple[str, str]  # bond name, "effort" or "flow"


def _inputs(graph: BondGraph, strokes: Mapping[str, End], variable: Variable) -> list[Variable]:
    """The bond variables that `variable` is computed from."""
    name, what = variable
    bond = graph.bonds[name]
    receiver = bond.head if strokes[name] == "head" else bond.tail
    giver = bond.tail if strokes[name] == "head" else bond.head
    vertex = graph.vertices[giver if what == "effort" else receiver]
    return _inputs_at(graph, strokes, vertex, bond, what)


def _inputs_at(
    graph: BondGraph, strokes: Mapping[str, End], vertex: Vertex, bond: Bond, what: str
) -> list[Variable]:
    bonds = graph.incident[vertex.name]
    others = [b.name for b in bonds if b.name != bond.name]
    match vertex.kind:
        case "0" | "1":
            shared = "effort" if vertex.kind == "0" else "flow"
            if what != shared:
                return [(other, what) for other in others]
            return [
                (b.name, what)
                for b in bonds
                if b.name != bond.name and _brings(graph, strokes, b, vertex.name, what)
            ]
        case "TF":
            return [(other, what) for other in others]
        case "GY":
            return [(other, "flow" if what == "effort" else "effort") for other in others]
        case "R":
            return [(bond.name, "flow" if what == "effort" else "effort")]
        case "EJS":
            return [(bond.name, "flow")]
    return []


def _brings(
    graph: BondGraph, strokes: Mapping[str, End], bond: Bond, vertex: str, what: str
) -> bool:
    """Whether `bond` brings `what` to `vertex`."""
    receives_effort = (bond.head if strokes[bond.name] == "head" else bond.tail) == vertex
    return receives_effort == (what == "effort")


def algebraic_loops(graph: BondGraph, strokes: Mapping[str, End]) -> Iterator[Loop]:
    """Loops found by a depth-first search from every resistor's output.

    `order` is the number of scalar unknowns: the size of one resistor in each loop.
    """
    seen: dict[Variable, int] = {}
    done: set[Variable] = set()
    for vertex in graph.vertices.values():
        if vertex.kind != "R":
            continue
        (bond,) = graph.incident[vertex.name]
        if bond.name not in strokes:
            continue
        given = "effort" if _gives_effort(strokes, bond, vertex.name) else "flow"
        loop = _loop_through(graph, strokes, (bond.name, given), seen, done)
        if loop:
            resistors = tuple(sorted({v for v in loop if graph.vertices[v].kind == "R"}))
            if resistors and resistors[0] == vertex.name:
                yield Loop(resistors, vertex.size, linear=False)


def _gives_effort(strokes: Mapping[str, End], bond: Bond, vertex: str) -> bool:
    return (bond.tail if strokes[bond.name] == "head" else bond.head) == vertex


def _loop_through(
    graph: BondGraph,
    strokes: Mapping[str, End],
    start: Variable,
    seen: dict[Variable, int],
    done: set[Variable],
) -> set[str]:
    """Vertices on a cycle of computations through `start`; empty if none."""
    stack = [(start, iter(_inputs(graph, strokes, start)))]
    on_path = {start}
    visited = {start}
    while stack:
        variable, inputs = stack[-1]
        following = next(inputs, None)
        if following is None:
            stack.pop()
            on_path.discard(variable)
            continue
        if following == start:
            ends = (graph.bonds[v[0]] for v, _ in stack)
            return {end for bond in ends for end in (bond.tail, bond.head)}
        if following not in visited:
            visited.add(following)
            on_path.add(following)
            stack.append((following, iter(_inputs(graph, strokes, following))))
    return set()
