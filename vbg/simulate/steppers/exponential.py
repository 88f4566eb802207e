"""Circuits with diodes whose law is exponential: they carry amperes or next to nothing, and no
event lies between."""

from __future__ import annotations

from collections.abc import Sequence

from vbg.blocks import dependencies
from vbg.graph.bondgraph import BondGraph

# of its own tolerance, what a coil's current that only diodes lead on is held to: 1e-10 A in their
# leakage of 1e-12 S would be 100 V
LEAKING = 1e-6


def has_exponential(graph: BondGraph) -> bool:
    """Whether a resistor's flow is an exponential function, as that of a diode."""
    laws = [v.flow_law for v in graph.vertices.values() if v.flow_law is not None]
    return any(block.op == "call" and block.data == "exp" for block in dependencies(laws))


def choked(graph: BondGraph, stores: Sequence[str]) -> list[int]:
    """Places among the `stores` of coils in circuits in which diodes give currents to a node that
    nothing else gives its voltage: theirs may end there."""
    electric = [v for v in graph.vertices.values() if v.domain == "electric"]
    coils = {v.name for v in electric if v.kind == "I"}
    balanced = any(v.kind == "Sc" and v.position is None for v in electric)
    if not (coils and balanced and has_exponential(graph)):
        return []
    return [i for i, name in enumerate(stores) if name in coils]
