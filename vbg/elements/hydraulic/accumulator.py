"""Accumulator with polytropic gas: pressure * gas volume^n is constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, divide
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Accumulator:
    """content' = flow into it, pressure = precharge (volume / (volume - content))^n against
    vacuum; energy = precharge volume ((volume / gas)^(n - 1) - 1) / (n - 1), gas = volume -
    content (H. Murrenhoff, Grundlagen der Fluidtechnik 1).  n = 1 isothermal, 1.4 adiabatic.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "accumulator"

    nodes: tuple[str, ...] = declare("nodes", "its port", size=1)
    volume: float = quantity("m^3", "volume of the gas at the precharge", above=0.0)
    precharge: float = quantity("Pa", "pressure of the gas without oil", above=0.0)
    n: float = quantity("1", "polytropic exponent", minimum=1.0, default=1.4)
    pressure: float | None = quantity(
        "Pa", "pressure at the start; default: precharge", above=0.0, default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A port on the tank, whose pressure nothing changes."""
        if self.nodes == ("tank",):
            yield "nodes", "the tank keeps its pressure: it fills nothing.", "Name another node."

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, (self.nodes[0], "tank"))
        start = self.pressure or self.precharge
        content = self.volume * (1.0 - (self.precharge / start) ** (1.0 / self.n))
        builder.compliance(
            name,
            here.node,
            effort=self._pressure,
            energy=self._energy,
            initial=const(content),
            written=self.pressure is not None,
            state="content",
        )
        declare_element(name, builder, self.table, f"{here.node.name} -> {name}.content.C")

    def _ratio(self, content: Block) -> Block:
        return divide(const(self.volume), const(self.volume) - content)

    def _pressure(self, content: Block) -> Block:
        return self.precharge * call("power", self._ratio(content), const(self.n))

    def _energy(self, content: Block) -> Block:
        stored = self.precharge * self.volume
        if self.n == 1.0:
            return stored * call("log", self._ratio(content))
        power = call("power", self._ratio(content), const(self.n - 1.0))
        return (stored / (self.n - 1.0)) * (power - const(1.0))
