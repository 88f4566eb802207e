"""Effort, flow and power of bonds at one time, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbg.draw.text.axes import number
from vbg.draw.text.rows import Row, Rows, clip, printable, wrap
from vbg.tui.state.graphing import GraphState
from vbg.tui.state.powers import Exchange, Powers, of_bonds

if TYPE_CHECKING:
    from vbg.graph import BondGraph

_MOST = 12  # bonds told of the whole machine


def power_rows(state: GraphState, powers: Powers, width: int) -> Rows:
    """The bonds of the marked part or vertex, then those with the most power in the machine."""
    graph = state.graph
    assert graph is not None
    rows: list[Row] = [((f"at Plot's cursor, t = {powers.time:.5g} s", "dim"),)]
    for exchange in of_bonds(powers, _of_mark(state, graph)):
        rows.append(_headline(exchange, width))
        rows += [((f"  {line}", ""),) for line in wrap(printable(exchange.pair), width - 2)]
    rows += [(), (("the most passes in", "dim"),)]
    rows += [_headline(exchange, width) for exchange in of_bonds(powers, graph.bonds, _MOST)]
    return (*rows, ())


def _of_mark(state: GraphState, graph: BondGraph) -> list[str]:
    """Bonds of the marked vertex, or those that leave the marked part."""
    vertices = graph.vertices
    if state.mark in vertices and vertices[state.mark].part in state.opened:
        return [bond.name for bond in graph.incident[state.mark]]
    parts = {b.name: (vertices[b.tail].part, vertices[b.head].part) for b in graph.bonds.values()}
    part = state.marked_part
    return [name for name, two in parts.items() if part in two and two[0] != two[1]]


def _headline(exchange: Exchange, width: int) -> Row:
    words = f"{number(exchange.watt)} W  {printable(exchange.bond)}"
    return ((clip(words, width), "bar" if exchange.watt > 0 else "warn"),)
