"""Nodes that no part gives an effort: two valves in series, a pipe straight into a valve.

Where all parts on a 0-junction tell a flow for its effort, none gives the effort: it is the one at
which their flows balance.  A constraint source makes it the unknown of an algebraic equation,

    sum of flows(effort, states) = 0,

which is solved together with those of all other such nodes, and the stores around it (the flow
in a pipe) keep integral causality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType

from vbg.blocks import leaf
from vbg.causality.causal import Reason
from vbg.causality.strokes import Strokes
from vbg.graph.bondgraph import Bond, BondGraph, Vertex


def with_balances(graph: BondGraph, forced: Callable[[BondGraph], Strokes]) -> BondGraph:
    """The graph with a constraint source on each 0-junction that nothing gives its effort while
    all stores have integral causality, where the flow of a resistor follows from it.

    `forced` gives the strokes that are no choice, stores in integral causality among them.
    """
    while lacking := _lacking(forced(graph)):
        for junction in lacking:
            graph = _balanced(graph, graph.vertices[junction])
    return graph


def _lacking(work: Strokes) -> list[str]:
    """0-junctions without an effort from which a conflict follows."""
    found = {
        lacks: None
        for conflict in work.conflicts
        for reason in (conflict.first, conflict.second)
        for lacks in _lacks_behind(work, reason)
        if work.graph.vertices[lacks].kind == "0" and _yields(work.graph, lacks)
    }
    return list(found)[:1]  # with one more effort the others may have theirs


def _lacks_behind(work: Strokes, reason: Reason) -> Iterator[str]:
    """Junctions that lack what they need, in a reason and all that it follows from."""
    waiting, seen = [reason], set[str]()
    while waiting:
        reason = waiting.pop(0)
        if reason.lacks:
            yield reason.lacks
        fresh = [bond for bond in reason.because if bond not in seen and bond in work.reasons]
        seen.update(fresh)
        waiting.extend(work.reasons[bond] for bond in fresh)


def _yields(graph: BondGraph, junction: str) -> bool:
    """Whether a resistor there has a law flow(effort) only, itself or in a branch."""
    for end in _neighbours(graph, junction):
        vertex = graph.vertices[end]
        ends = [end, *_neighbours(graph, end)] if vertex.kind == "1" else [end]
        if any(_tells_flow(graph.vertices[name]) for name in ends):
            return True
    return False


def _tells_flow(vertex: Vertex) -> bool:
    return vertex.kind == "R" and vertex.effort_law is None


def _neighbours(graph: BondGraph, name: str) -> Iterator[str]:
    for bond in graph.incident[name]:
        yield bond.head if bond.tail == name else bond.tail


def _balanced(graph: BondGraph, junction: Vertex) -> BondGraph:
    """The graph with a source of the unknown effort on the junction."""
    name = f"{junction.name}.balance"
    source = Vertex(
        f"{name}.Sc",
        "Sc",
        junction.size,
        junction.part or junction.name.partition(".")[0],
        state=leaf(name, junction.size),
        labels=tuple(f"balance {i}" for i in range(junction.size)),
        frame=junction.frame,
        domain=junction.domain,
    )
    ends = (source.name, junction.name)
    bond = Bond(" -> ".join(ends), *ends, junction.size, _of_bonds(graph, junction), junction.frame)
    incident = dict(graph.incident)
    incident[junction.name] = (*incident[junction.name], bond)
    incident[source.name] = (bond,)
    return replace(
        graph,
        vertices=MappingProxyType(dict(graph.vertices) | {source.name: source}),
        bonds=MappingProxyType(dict(graph.bonds) | {bond.name: bond}),
        incident=MappingProxyType(incident),
    )


def _of_bonds(graph: BondGraph, junction: Vertex) -> str:
    return graph.incident[junction.name][0].domain
