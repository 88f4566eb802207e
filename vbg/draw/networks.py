"""A bond graph as a graph of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbg.causality import CausalGraph
from vbg.graph import BondGraph

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: BondGraph | CausalGraph) -> networkx.MultiDiGraph[str]:
    """Vertices as nodes, bonds as edges from tail to head, the way of positive power.

    A node has `kind` ("0", "1", "I", "C", "R", "Se", "Sf", "TF", "GY", "EJS", "Sc"), `size`
    (its dimension), `part`, `frame` and `domain`; an edge, its key the bond's name, `size`,
    `frame`, `domain` and `stroke`: "head" or "tail", the end that receives the effort (None in
    a BondGraph, which has no causality yet).
    """
    import networkx

    bonds = graph.graph if isinstance(graph, CausalGraph) else graph
    strokes = graph.strokes if isinstance(graph, CausalGraph) else {}
    result: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name=bonds.model.name)
    for v in bonds.vertices.values():
        result.add_node(
            v.name, kind=v.kind, size=v.size, part=v.part, frame=v.frame, domain=v.domain
        )
    for b in bonds.bonds.values():
        stroke = strokes.get(b.name)
        result.add_edge(
            b.tail, b.head, b.name, size=b.size, domain=b.domain, frame=b.frame, stroke=stroke
        )
    return result
