"""Ideal gyrator: each side's voltage = r * the other's current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch


@dataclass(frozen=True, slots=True)
class Gyrator:
    """Terminals [p1, p2, s1, s2]: voltage(s1, s2) = r current into p1, voltage(p1, p2) =
    r current out of s1; no loss, no store.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "gyrator"

    nodes: tuple[str, str, str, str] = declare("nodes", "first pair, second pair", size=4)
    r: float = quantity("ohm", "gyration resistance", above=0.0)

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Nodes that it joins: those of one pair, not of both."""
        return self.nodes[:2], self.nodes[2:]

    def expand(self, name: str, builder: Builder) -> None:
        first = branch(f"{name}.first", builder, self.table, self.nodes[:2])
        second = branch(f"{name}.second", builder, self.table, self.nodes[2:])
        sign = 1.0 if second.direct else -1.0
        builder.gyrator(f"{name}.turns", first.node, second.node, const(sign * self.r))
