"""Removing derivative causality: a constraint source beside a dependent store."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from vbg.blocks import leaf
from vbg.graph.bondgraph import Bond, BondGraph, Vertex


def with_constraint_source(graph: BondGraph, store: str) -> BondGraph:
    """The graph with a constraint source that frees `store` for integral causality.

    I: its bond is cut by a 0-junction with an unknown effort that keeps the two
    flows equal; C: by a 1-junction with an unknown flow that keeps the two efforts
    equal.  Motion and forces are those of the graph with a differential store; the
    store keeps its own state (vector-bond-graph.txt, section II, end).
    """
    vertex = graph.vertices[store]
    (bond,) = graph.incident[store]
    is_inertia = vertex.kind == "I"
    name = store.removesuffix(".I").removesuffix(".C")
    unknown = leaf(f"{name}.constraint", vertex.size)
    frame, domain = vertex.frame, vertex.domain
    junction = Vertex(
        f"{name}.dependent",
        "0" if is_inertia else "1",
        vertex.size,
        vertex.part,
        frame=frame,
        domain=domain,
    )
    source = Vertex(
        f"{name}.dependent.Sc",
        "Sc",
        vertex.size,
        vertex.part,
        state=unknown,
        dual=not is_inertia,
        labels=tuple(f"dependent store {i}" for i in range(vertex.size)),
        frame=frame,
        domain=domain,
    )
    inward = bond.head == store
    first = replace(bond, head=junction.name) if inward else replace(bond, tail=junction.name)
    ends = (junction.name, store) if inward else (store, junction.name)
    second = Bond(f"{ends[0]} -> {ends[1]}", *ends, bond.size, bond.domain, bond.frame)
    third = Bond(
        f"{source.name} -> {junction.name}",
        source.name,
        junction.name,
        bond.size,
        bond.domain,
        bond.frame,
    )
    return _rewired(graph, (junction, source), bond, first, (second, third))


def _rewired(
    graph: BondGraph,
    added: tuple[Vertex, ...],
    old: Bond,
    new: Bond,
    more: tuple[Bond, ...],
) -> BondGraph:
    """`graph` with `added` vertices, bond `old` replaced by `new`, and `more` bonds."""
    vertices = dict(graph.vertices) | {vertex.name: vertex for vertex in added}
    bonds = dict(graph.bonds) | {old.name: new} | {bond.name: bond for bond in more}
    incident: dict[str, tuple[Bond, ...]] = dict(graph.incident)
    touched = {new.tail, new.head, *(v.name for v in added)}
    touched |= {end for bond in more for end in (bond.tail, bond.head)}
    for name in touched:
        kept = [new if bond.name == old.name else bond for bond in incident.get(name, ())]
        kept = [bond for bond in kept if name in (bond.tail, bond.head)]
        known = {bond.name for bond in kept}
        kept += [b for b in (new, *more) if name in (b.tail, b.head) and b.name not in known]
        incident[name] = tuple(kept)
    return replace(
        graph,
        vertices=MappingProxyType(vertices),
        bonds=MappingProxyType(bonds),
        incident=MappingProxyType(incident),
    )
