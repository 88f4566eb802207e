"""Where the laws of a graph are not smooth, and the graph with a choice of side at each place.

A complex step through max(u, 0) at u = 0 gives the slope of whichever branch the tie takes, and
through max(u, 0) and max(-u, 0) of two edges of one valve those of branches that never act
together.  So every such function is written anew with a side s of its own,

    abs(a)     select(-a - s, -a, a)        sign(a)      sign(a + s)
    max(a, b)  select(b - a - s, b, a)      positive(a)  positive(a + s)
    min(a, b)  select(a - b - s, b, a)      select(c, a, b)  select(c + s, a, b)
    lookup(x)  the row on that side of the nearest jump

s = 0 is the law itself, s = +-`BEYOND` its continuation from one side.  Roots and broken
powers have no slope at zero: they are listed without a side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from vbg.blocks import Block, Substitution, call, dependencies, leaf
from vbg.blocks.calculus import rebuild
from vbg.blocks.tables import beyond_jump, on_side
from vbg.graph.bondgraph import BondGraph, Output, Vertex
from vbg.graph.placeholders import BOND_FLOW, EFFORT

BEYOND = 1e250  # larger than anything a law compares with


@dataclass(frozen=True, slots=True)
class Corner:
    """A law of `part` that is not smooth where `value` (in placeholders) vanishes; `side` is
    added to it (None: it has no slope there on either side)."""

    part: str
    function: str
    value: Block
    side: Block | None

    @property
    def output(self) -> str:
        """Name of the output of the graph that is its value."""
        return f"corner {self.value.key.hex()}"


def is_corner(name: str) -> bool:
    """Whether an output is the value of a corner, none of the engineer's signals."""
    return name.startswith("corner ")


class _Rewriter:
    """Blocks with sides; remembers the corners that it met, each once."""

    def __init__(self, time: Block):
        self._time = time
        self._done: dict[bytes, Block] = {}
        self.corners: list[Corner] = []

    def __call__(self, block: Block, part: str, ports: Substitution) -> Block:
        for node in dependencies([block]):
            if node.key not in self._done:
                args = tuple(self._done[arg.key] for arg in node.args)
                new = node if args == node.args else rebuild(node, args)
                self._done[node.key] = self._cornered(node, new, part, ports)
        return self._done[block.key]

    def _cornered(self, node: Block, new: Block, part: str, ports: Substitution) -> Block:
        value = _vanishing(node)
        if value is None or self._only_time(value):
            return new
        side = leaf(f"side {len(self.corners)}", 1) if _vanishing(new) is not None else None
        if node.data in ("sqrt", "power"):
            side = None
        function = str(node.data or node.op)
        self.corners.append(Corner(part, function, ports(value), side))
        return new if side is None else _sided(new, side)

    def _only_time(self, value: Block) -> bool:
        return all(b == self._time for b in dependencies([value]) if b.op == "leaf")


def _vanishing(node: Block) -> Block | None:
    """What is zero where the function `node` is not smooth; None where it is smooth."""
    if node.op == "lookup":
        return beyond_jump(node)
    if node.op != "call":
        return None
    a = node.args[0]
    match node.data:
        case "abs" | "sign" | "positive" | "select" | "sqrt":
            return a
        case "max":
            return a - node.args[1]
        case "min":
            return node.args[1] - a
        case "power":
            exponent = node.args[1]
            broken = exponent.is_const and 0.0 < float(exponent.data[0, 0]) < 1.0
            return a if broken else None
        case _:
            return None


def _sided(node: Block, side: Block) -> Block:
    """The function `node` on the side that `side` chooses."""
    if node.op == "lookup":
        return on_side(node, side)
    value = _vanishing(node)
    assert value is not None
    a = node.args[0]
    match node.data:
        case "abs":
            return call("select", -value - side, -a, a)
        case "max" | "min":
            return call("select", -value - side, node.args[1], a)
        case _:
            return call(node.data, value + side, *node.args[1:])


def with_sides(graph: BondGraph) -> tuple[BondGraph, tuple[Corner, ...]]:
    """`graph` with sides at all its corners, their values among its outputs."""
    rewriter = _Rewriter(graph.time)
    nothing = Substitution({})
    signals = {
        name: rewriter(block, f"signals.{name}", nothing) for name, block in graph.signals.items()
    }
    signal_states = tuple(
        replace(s, rate=rewriter(s.rate, f"signals.{s.name.partition('.')[0]}", nothing))
        for s in graph.signal_states
    )
    vertices = {name: _vertex(v, graph, rewriter) for name, v in graph.vertices.items()}
    configurations = tuple(
        replace(c, rate=rewriter(c.rate, c.name, nothing)) for c in graph.configurations
    )
    outputs = [replace(o, value=rewriter(o.value, o.name, nothing)) for o in graph.outputs]
    corners = tuple(rewriter.corners)
    if not corners:
        return graph, ()
    values = {corner.output: corner.value for corner in corners}
    outputs += [Output(name, value, "") for name, value in values.items()]
    changed = replace(
        graph,
        vertices=MappingProxyType(vertices),
        signals=MappingProxyType(signals),
        signal_states=signal_states,
        configurations=configurations,
        outputs=tuple(outputs),
    )
    return changed, corners


def _vertex(vertex: Vertex, graph: BondGraph, rewriter: _Rewriter) -> Vertex:
    """A vertex with sides in its laws; outside it, its port has the names of its bond."""
    ports: dict[Block, Block] = {}
    bonds = graph.incident.get(vertex.name, ())
    for placeholder, prefix in ((vertex.port_flow, BOND_FLOW), (vertex.port_effort, EFFORT)):
        if placeholder is not None and len(bonds) == 1:
            ports[placeholder] = leaf(f"{prefix}{bonds[0].name}", vertex.size)
    sided = Substitution(ports)

    def law(block: Block | None) -> Block | None:
        return None if block is None else rewriter(block, vertex.part, sided)

    return replace(
        vertex,
        law=law(vertex.law),
        inverse=law(vertex.inverse),
        effort_law=law(vertex.effort_law),
        flow_law=law(vertex.flow_law),
        position=law(vertex.position),
    )
