"""Accumulator with polytropic gas, whose bladder closes at the precharge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, divide, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.hydraulics import ATMOSPHERE, Oil
from vbg.physics.ports import branch, declare_element

PORT = 0.01  # of the volume: oil in the port, unless it is written


@dataclass(frozen=True, slots=True)
class Accumulator:
    """content' = flow into it.  With oil in the shell the gas has its pressure, both counted from
    the air outside, `ambient`, as gauges show them:

        (pressure + ambient) (volume - oil)^n = (precharge + ambient) volume^n,

    n = 1 isothermal, 1.4 adiabatic, and the energy, the integral of pressure d oil, is
    (precharge + ambient) volume ((volume / gas)^(n - 1) - 1) / (n - 1) - ambient oil with
    gas = volume - oil: the second part is what the air outside takes.

    At the precharge the bladder closes: the gas fills the shell and presses no longer on the oil.
    What is left of it, `dead` in the port, follows the law of oil (`vbg.physics.hydraulics.Oil`),
    stiff down to a cavity; oil of the shell stays at 0.  content: what the port takes up to the
    precharge, behind it the oil in the shell; the energy goes on from the port's.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "accumulator"

    nodes: tuple[str, ...] = declare("nodes", "its port", size=1)
    volume: float = quantity("m^3", "volume of the gas at the precharge", above=0.0)
    precharge: float = quantity("Pa", "pressure of the gas without oil", above=0.0)
    n: float = quantity("1", "polytropic exponent", minimum=1.0, default=1.4)
    ambient: float = quantity(
        "Pa",
        "absolute pressure that all others count from; 0 where they are written against vacuum",
        minimum=0.0,
        default=ATMOSPHERE,
    )
    pressure: float | None = quantity(
        "Pa",
        'pressure at the start, or "equilibrium"; default: precharge',
        default=None,
        balanced=True,
    )
    dead: float | None = quantity(
        "m^3",
        "oil in the port, which stays there below the precharge; default: 1 % of volume",
        above=0.0,
        default=None,
    )
    bulk: float = quantity("Pa", "bulk modulus of that oil", above=0.0, default=1.4e9, elastic=True)
    air: float = quantity(
        "1",
        "air that it gives off below half an atmosphere, of its volume; 0: oil can be pulled",
        minimum=0.0,
        below=1.0,
        default=0.005,
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A port on the tank, whose pressure nothing changes; a start that oil cannot have."""
        if self.nodes == ("tank",):
            yield "nodes", "the tank keeps its pressure: it fills nothing.", "Name another node."
        yield from self._oil.start_faults("pressure", self.pressure)

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, (self.nodes[0], "tank"))
        start = self.precharge if self.pressure is None else self.pressure
        builder.compliance(
            name,
            here.node,
            effort=self._pressure,
            energy=self._energy,
            initial=const(self._content(start)),
            written=self.pressure is not None,
            state="content",
        )
        pressure = builder.level(builder.terminal(self.table, self.nodes[0]))
        builder.event(
            f"{name}.closes", pressure - const(self.precharge), f"{name} runs empty or fills"
        )
        declare_element(name, builder, self.table, f"{here.node.name} -> {name}.content.C")

    @property
    def _port(self) -> float:
        return PORT * self.volume if self.dead is None else self.dead

    @property
    def _oil(self) -> Oil:
        return Oil(self.bulk, air=self.air)

    @property
    def _least(self) -> float:
        """The absolute pressure of the gas without oil."""
        return self.precharge + self.ambient

    @property
    def _closed(self) -> float:
        """The content at which the bladder closes."""
        return self._port * self._oil.strain(self.precharge)

    def _content(self, pressure: float) -> float:
        if pressure <= self.precharge:
            return self._port * self._oil.strain(pressure)
        ratio = self._least / (pressure + self.ambient)
        return self._closed + self.volume * (1.0 - ratio ** (1.0 / self.n))

    def _pressed(self, content: Block) -> Block:
        """What the port takes of it; the shell has the rest, so that their slopes add up to 1
        where the bladder closes, too."""
        return call("min", content, const(self._closed))

    def _strain(self, content: Block) -> Block:
        """Of the oil in the port."""
        return (1.0 / self._port) * self._pressed(content)

    def _in_shell(self, content: Block) -> Block:
        return content - self._pressed(content)

    def _ratio(self, content: Block) -> Block:
        """volume / gas."""
        return divide(const(self.volume), const(self.volume) - self._in_shell(content))

    def _pressure(self, content: Block) -> Block:
        """That of the port up to the precharge, and what the gas has more."""
        return self._oil.pressure(self._strain(content)) + self._least * self._beyond(
            content, self.n
        )

    def _beyond(self, content: Block, n: float) -> Block:
        """ratio^n - 1 (>= 0), exactly 0 where no oil is in the shell: a number of its own, since
        a large precharge that is added and taken off leaves its rounding."""
        power = call("power", self._ratio(content), const(n))
        return call("max", power - const(1.0), const(-1.0))

    def _energy(self, content: Block) -> Block:
        stored, ratio = self._least * self.volume, self._ratio(content)
        port = self._port * self._oil.energy(self._strain(content))
        if self.n == 1.0:
            gas = stored * call("log", ratio)
        else:
            gas = (stored / (self.n - 1.0)) * self._beyond(content, self.n - 1.0)
        gas = gas - self.ambient * self._in_shell(content)
        filled = call("positive", content - const(self._closed))  # else rounding of `stored`
        return port + times(filled, gas)
