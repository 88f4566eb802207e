"""Voltage source, also controlled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.ports import branch, declare_branch


@dataclass(frozen=True, slots=True)
class VoltageSource:
    """voltage of the first terminal against the second = number, signal or expression; it
    may read any output, which makes it a controlled source.  `power` is what it takes:
    negative where it supplies.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "voltage_source"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    voltage: float | str = declare("signal", "voltage first - second", unit="V")

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        voltage = builder.signal(self.voltage, "V")
        bond = here.effort_source(name, builder, voltage)
        current = -here.source_effort(builder.bond_flow(bond))
        declare_branch(name, builder, self.table, voltage, current)
