"""Pressure source: a number, signal or expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.ports import branch, declare_branch


@dataclass(frozen=True, slots=True)
class PressureSource:
    """pressure of the first port against the second = number, signal or expression."""

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "pressure_source"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    pressure: float | str = declare("signal", "pressure first - second", unit="Pa")

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        pressure = builder.signal(self.pressure, "Pa")
        bond = here.effort_source(name, builder, pressure)
        flow = -here.source_effort(builder.bond_flow(bond))
        declare_branch(name, builder, self.table, pressure, flow)
