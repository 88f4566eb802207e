"""Strokes that nothing determines yet: chosen one after the other, stores first, taken back
where they lead to a conflict.

The search goes back to the last choice that has another side (chronological
backtracking), so that stores keep integral causality wherever that is possible at
all.  LIMIT ends it in a graph that has no assignment.
"""

from __future__ import annotations

from vbg.causality.causal import Reason
from vbg.causality.strokes import Choice, Mark, Strokes
from vbg.graph.bondgraph import Bond, BondGraph, Vertex

LIMIT = 2000  # choices taken back before the search is given up

Open = tuple[Vertex, Bond]  # a bond to be given a stroke, as seen from the vertex


def choose(work: Strokes) -> None:
    """Strokes for all bonds that are open, without conflict where there is such an
    assignment; else as chosen first, with the conflicts of that."""
    begin, order = work.mark(), _in_order(work.graph)
    made = None if work.conflicts else _search(work, order)
    if made is None:
        work.undo(begin)
        made = _first_sides(work, order)
    free = (choice.bond.name for choice in made if not work.graph.vertices[choice.vertex].is_store)
    work.arbitrary.extend(free)


def prefer_integral(work: Strokes) -> None:
    """Integral causality for all stores, with whatever conflicts come of it."""
    for vertex in work.graph.vertices.values():
        if vertex.is_store:
            work.try_(_sides(vertex, work.graph.incident[vertex.name][0])[0])


def _in_order(graph: BondGraph) -> list[Open]:
    """What is chosen, in this order: stores, resistors, then the rest."""
    vertices = graph.vertices.values()
    stores = [(v, graph.incident[v.name][0]) for v in vertices if v.is_store]
    resistors = [(v, graph.incident[v.name][0]) for v in vertices if v.kind == "R"]
    return [*stores, *resistors, *((graph.vertices[b.head], b) for b in graph.bonds.values())]


def _sides(vertex: Vertex, bond: Bond) -> tuple[Choice, Choice]:
    """The preferred stroke and the other one."""
    if vertex.is_store:
        into = vertex.kind == "I"  # integral: I receives effort, C determines it
        first = f"{vertex.name} is a store in integral causality"
        other = f"integral causality of {vertex.name} would lead to a conflict"
    elif vertex.kind == "R":
        into = vertex.preferred == "flow"
        laws = ("flow(effort)", "effort(flow)") if into else ("effort(flow)", "flow(effort)")
        first, other = (
            f"{vertex.name} may have either causality; {law} was chosen" for law in laws
        )
    else:
        into = True
        first = other = "nothing determines it; the choice was free"
    return (
        Choice(bond, vertex.name, into, Reason(first)),
        Choice(bond, vertex.name, not into, Reason(other)),
    )


def _search(work: Strokes, order: list[Open]) -> list[Choice] | None:
    """The choices made, or None where no assignment was found."""
    made: list[tuple[int, Mark, Choice]] = []
    at, taken_back = 0, 0
    while at < len(order):
        if order[at][1].name in work.strokes:
            at += 1
            continue
        first, _ = _sides(*order[at])
        made.append((at, work.mark(), first))
        fits = work.try_(first)
        while not fits:
            taken_back += 1
            if not made or taken_back > LIMIT:
                return None
            at, mark, choice = made.pop()
            work.undo(mark)
            first, other = _sides(*order[at])
            if choice == first:
                made.append((at, mark, other))
                fits = work.try_(other)
        at += 1
    return [choice for _, _, choice in made]


def _first_sides(work: Strokes, order: list[Open]) -> list[Choice]:
    """Every choice as preferred, whatever conflicts come of it."""
    made = []
    for vertex, bond in order:
        if bond.name not in work.strokes:
            choice, _ = _sides(vertex, bond)
            made.append(choice)
            work.try_(choice)
    return made
