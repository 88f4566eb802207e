"""Bonds by the names that engineers use for them."""

from __future__ import annotations

import difflib

from vbg.blocks import Block, dependencies
from vbg.errors import UsageError
from vbg.graph.bondgraph import BondGraph
from vbg.graph.placeholders import BOND_FLOW, EFFORT, FLOW, LEVEL

SHOWN = 3  # nearest names in a message


def bond_named(graph: BondGraph, name: str) -> str:
    """The bond called `name`, that of the vertex `name`, or the first one from which the
    signal `name` (``A.force``, ``M.current``) is read.

    Raises UsageError with the nearest names where there is none.
    """
    if name in graph.bonds:
        return name
    if len(graph.incident.get(name, ())) == 1:
        return graph.incident[name][0].name
    for output in graph.outputs:
        if output.name == name:
            bond = _bond_read(graph, output.value)
            if bond:
                return bond
            raise UsageError(
                f"{name} is not read from a bond: it follows from the posture or time."
            )
    raise UsageError(_unknown(graph, name))


def _bond_read(graph: BondGraph, value: Block) -> str:
    """The first bond whose effort or flow, or whose one-port's state, is in `value`."""
    states = {v.state: v.name for v in graph.vertices.values() if v.state is not None}
    for node in dependencies([value]):
        if node in states:
            return graph.incident[states[node]][0].name
        if node.op != "leaf":
            continue
        for prefix in (EFFORT, BOND_FLOW):
            if node.data.startswith(prefix):
                return str(node.data.removeprefix(prefix))
        for prefix in (FLOW, LEVEL):
            if node.data.startswith(prefix):
                return graph.incident[node.data.removeprefix(prefix)][0].name
    return ""


def _unknown(graph: BondGraph, name: str) -> str:
    if name in graph.incident:
        around = ", ".join(repr(bond.name) for bond in graph.incident[name])
        return f"{name} has more than one bond; ask for one of {around}."
    known = [*graph.bonds, *graph.vertices, *(output.name for output in graph.outputs)]
    near = difflib.get_close_matches(name, known, SHOWN)
    nearest = f" Near to it: {', '.join(map(repr, near))}." if near else ""
    return f"there is no bond, vertex or signal {name!r}; `vbg show graph` lists them.{nearest}"
