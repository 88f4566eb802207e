"""Floating sub-graphs: vertices bonded to one another and to nothing that has power."""

from __future__ import annotations

from collections.abc import Iterator

from vbg.errors import Problem
from vbg.graph.bondgraph import BondGraph

POWERLESS = ("0", "1", "TF", "GY")


def islands_without_power(graph: BondGraph) -> Iterator[Problem]:
    """Connected sub-graphs of junctions, transformers and gyrators alone: nothing in them
    stores, supplies or takes power, so that nothing fixes their efforts and flows."""
    seen: set[str] = set()
    for start, vertex in graph.vertices.items():
        if start in seen or vertex.kind not in POWERLESS or not graph.incident[start]:
            continue
        island, waiting = {start}, [start]
        while waiting:
            for bond in graph.incident[waiting.pop()]:
                for end in (bond.tail, bond.head):
                    if end not in island:
                        island.add(end)
                        waiting.append(end)
        seen |= island
        if all(graph.vertices[name].kind in POWERLESS for name in island):
            yield Problem(
                "error",
                vertex.part or start,
                f"floating sub-graph: {', '.join(sorted(island))} are bonded to one another only, "
                "and nothing among them stores, supplies or takes power.",
                "(1) Bond one of them to the rest of the machine, or (2) give it a store, a source "
                "or a resistor, or (3) remove them.",
            )
