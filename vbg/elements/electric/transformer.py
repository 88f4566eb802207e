"""Ideal transformer: primary voltage = ratio * secondary voltage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch


@dataclass(frozen=True, slots=True)
class Transformer:
    """Terminals [p1, p2, s1, s2]: voltage(p1, p2) = ratio voltage(s1, s2), and the current
    out of s1 = ratio times the current into p1; no loss, no store.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "transformer"

    nodes: tuple[str, str, str, str] = declare("nodes", "primary pair, secondary pair", size=4)
    ratio: float = quantity("1", "turns of the primary over turns of the secondary", above=0.0)

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Nodes that it joins: those of one winding, not of both."""
        return self.nodes[:2], self.nodes[2:]

    def expand(self, name: str, builder: Builder) -> None:
        first = branch(f"{name}.primary", builder, self.table, self.nodes[:2])
        second = branch(f"{name}.secondary", builder, self.table, self.nodes[2:])
        # power runs from the primary branch to the secondary one; what leaves a branch as
        # a load enters the other as a source
        sign = 1.0 if second.direct else -1.0
        builder.transformer(
            f"{name}.turns",
            first.node,
            second.node,
            const(sign * self.ratio),
            toward="effort_side",
            inverse=const(sign / self.ratio),
        )
