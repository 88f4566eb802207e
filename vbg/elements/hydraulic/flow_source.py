"""Flow source: a number, signal or expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.ports import branch, declare_branch


@dataclass(frozen=True, slots=True)
class FlowSource:
    """volume flow from the first port through the source to the second = number, signal or
    expression.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "flow_source"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    flow: float | str = declare("signal", "flow first to second", unit="m^3/s")

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        flow = builder.signal(self.flow, "m^3/s")
        bond = here.flow_source(name, builder, flow)
        pressure = here.source_effort(builder.effort(bond))
        declare_branch(name, builder, self.table, pressure, flow)
