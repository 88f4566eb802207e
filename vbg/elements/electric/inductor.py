"""Inductor: voltage = L * current'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Inductor:
    """flux' = voltage, current = flux / L; energy flux^2 / (2 L).  Prefers to give the
    current.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "inductor"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    L: float = quantity("H", "inductance", above=0.0)
    current: float | None = quantity(
        "A", "current at the start; default: that of what it is tied to", default=None
    )

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        builder.inertia(
            name,
            here.node,
            inverse=const(1.0 / self.L),
            initial=const(self.L * (self.current or 0.0)),
            written=self.current is not None,
            state="flux",
        )
        declare_element(name, builder, self.table, f"{here.node.name} -> {name}.flux.I")
