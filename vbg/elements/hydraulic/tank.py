"""A tank under pressure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch


@dataclass(frozen=True, slots=True)
class Tank:
    """Keeps its port at a constant pressure; "tank" itself is the one at zero."""

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "tank"

    nodes: tuple[str, ...] = declare("nodes", "its port", size=1)
    pressure: float = quantity("Pa", "pressure of the tank", default=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, (self.nodes[0], "tank"))
        bond = builder.effort_source(name, here.node, const(self.pressure))
        builder.output(f"{name}.flow", -builder.bond_flow(bond), "m^3/s")
