"""Causality by brute force: every way to give strokes to a small graph."""

from __future__ import annotations

from itertools import product

from vbg.graph import BondGraph
from vbg.graph.bondgraph import Vertex


def fewest_dependent_stores(graph: BondGraph) -> int | None:
    """The smallest number of stores without integral causality over all assignments that
    no vertex contradicts; None if there is no such assignment."""
    bonds = list(graph.bonds.values())
    found = []
    for heads in product((True, False), repeat=len(bonds)):
        at_head = {bond.name: head for bond, head in zip(bonds, heads, strict=True)}
        into = {
            vertex.name: [at_head[b.name] == (b.head == vertex.name) for b in graph.incident[name]]
            for name, vertex in graph.vertices.items()
        }
        if all(_allows(vertex, into[vertex.name]) for vertex in graph.vertices.values()):
            stores = [v for v in graph.vertices.values() if v.is_store]
            found.append(sum(into[v.name][0] is not (v.kind == "I") for v in stores))
    return min(found, default=None)


def _allows(vertex: Vertex, efforts_in: list[bool]) -> bool:
    """Whether the vertex may receive effort on just these of its bonds."""
    match vertex.kind:
        case "0":
            return sum(efforts_in) == 1
        case "1":
            return sum(efforts_in) == len(efforts_in) - 1
        case "TF":
            return efforts_in[0] is not efforts_in[1]
        case "GY":
            return efforts_in[0] is efforts_in[1]
        case "Se":
            return not efforts_in[0]
        case "Sf":
            return efforts_in[0]
    return True
