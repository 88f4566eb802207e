"""Two terminals of an electric or hydraulic part: where its one-port element hangs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vbg.blocks import Block, const, times
from vbg.builder import Builder, Domain, Node


@dataclass(frozen=True, slots=True)
class Branch:
    """`node` is the junction that the element is bonded to.

    With the second terminal on the reference it is the first one's own 0-junction; else
    a 1-junction that carries the through flow.  An element bonded away from `node` sees
    effort = difference first - second and flow = from the first through it to the second
    in both cases.  A source is bonded towards it: `source_effort` and `source_flow` turn
    what it shall have between its terminals into what it imposes there.
    """

    node: Node
    direct: bool

    def source_effort(self, difference: Block) -> Block:
        return difference if self.direct else -difference

    def source_flow(self, through: Block) -> Block:
        return -through if self.direct else through

    def effort_source(self, name: str, builder: Builder, difference: Block) -> str:
        """A source of this difference of the first terminal against the second; its bond."""
        sign, effort = self.source_effort(const(1.0)), self.source_effort(difference)
        return builder.effort_source(name, self.node, effort, per_unit=sign)

    def flow_source(self, name: str, builder: Builder, through: Block) -> str:
        """A source of this flow from the first terminal through it to the second; its bond."""
        sign, flow = self.source_flow(const(1.0)), self.source_flow(through)
        return builder.flow_source(name, self.node, flow, per_unit=sign)


def branch(name: str, builder: Builder, table: str, nodes: tuple[str, str]) -> Branch:
    """The branch of a part of `table` between two of its nodes."""
    first, second = (builder.terminal(table, node) for node in nodes)
    if second is None and first is not None:
        return Branch(first, True)
    domain: Domain = "electric" if table == "electric" else "hydraulic"
    node = builder.one(f"{name}.branch", 1, "scalar", domain)
    if first is not None:
        builder.bond(first, node)
    if second is not None:
        builder.bond(node, second)
    return Branch(node, False)


def difference(builder: Builder, table: str, nodes: tuple[str, str]) -> Block:
    """Effort of the first node against the second, without loading them."""
    first, second = (builder.terminal(table, node) for node in nodes)
    return builder.level(first) - builder.level(second)


def declare_branch(name: str, builder: Builder, table: str, effort: Block, through: Block) -> None:
    """Signals of a two-terminal part: difference, through flow, power that it takes."""
    words = (
        ("voltage", "V", "current", "A")
        if table == "electric"
        else (
            "pressure",
            "Pa",
            "flow",
            "m^3/s",
        )
    )
    builder.output(f"{name}.{words[0]}", effort, words[1])
    builder.output(f"{name}.{words[2]}", through, words[3])
    builder.output(f"{name}.power", times(effort, through), "W")


def declare_element(
    name: str,
    builder: Builder,
    table: str,
    bond: str,
    *,
    flow: Callable[[Block], Block] | None = None,
) -> None:
    """The same for an element bonded away from its branch; with a law flow(effort) the through
    flow is told by it.  Where causality has the element give its effort, the flow is what the
    others at a node leave: of 16 A less 16 A, a leak of 0.1 mA would be known to 5 digits."""
    effort = builder.effort(bond)
    through = builder.bond_flow(bond) if flow is None else flow(effort)
    declare_branch(name, builder, table, effort, through)
