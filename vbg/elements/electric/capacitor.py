"""Capacitor: current = C * voltage'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Capacitor:
    """charge' = current, voltage = charge / C; energy charge^2 / (2 C).  Prefers to give
    the voltage.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "capacitor"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    C: float = quantity("F", "capacitance", above=0.0)
    voltage: float | None = quantity(
        "V",
        'voltage at the start, or "equilibrium"; default: that of what it is tied to',
        default=None,
        balanced=True,
    )

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        builder.compliance(
            name,
            here.node,
            effort=lambda charge: (1.0 / self.C) * charge,
            energy=lambda charge: (0.5 / self.C) * times(charge, charge),
            initial=const(self.C * (self.voltage or 0.0)),
            written=self.voltage is not None,
            state="charge",
        )
        declare_element(name, builder, self.table, f"{here.node.name} -> {name}.charge.C")
