"""Resistor: voltage = R * current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Resistor:
    """voltage = R current, current from the first terminal to the second; dissipates
    R current^2.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "resistor"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    R: float = quantity("ohm", "resistance", above=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        bond = builder.resistor(
            name, here.node, effort=lambda current: self.R * current, flow=self._current
        )
        declare_element(name, builder, self.table, bond, flow=self._current)

    def _current(self, voltage: Block) -> Block:
        return (1.0 / self.R) * voltage
