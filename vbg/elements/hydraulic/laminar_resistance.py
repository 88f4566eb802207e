"""Laminar resistance (narrow gap, leak): flow = conductance * pressure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class LaminarResistance:
    """flow = conductance * pressure; dissipates conductance pressure^2."""

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "laminar_resistance"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    conductance: float = quantity("m^3/s/Pa", "flow per pressure", above=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        bond = builder.resistor(
            name, here.node, flow=self._flow, effort=lambda flow: (1.0 / self.conductance) * flow
        )
        declare_element(name, builder, self.table, bond, flow=self._flow)

    def _flow(self, pressure: Block) -> Block:
        return self.conductance * pressure
