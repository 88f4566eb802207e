"""Diode: exponential, or an ideal switch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, leaf, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import Branch, branch, declare_element, difference
from vbg.physics.two_states import two_state_resistor

WITHSTOOD = 1e6  # reverse voltage [V] that no diode withstands: a current is forced through it
LARGEST = 1e4  # current [A] that no diode has: two beside a resistor still make a regular matrix


@dataclass(frozen=True, slots=True)
class Diode:
    """Conducts from the first terminal (anode) to the second (cathode).

    exponential: current = Is (exp(voltage / Vt) - 1) + Gmin voltage (W. Shockley, Bell Syst.
    Tech. J. 28, 1949), the exponential continued on its tangent above 1e4 A, so that no iteration
    leaves the numbers.  The leakage (GMIN of SPICE) gives nodes between diodes that block their
    voltage, and is 0 where other parts lead to the ground; a source's current that it alone would
    lead on is refused at the start.
    ideal: conductance 1 / Ron while it conducts (voltage > 0), Goff while it blocks;
    switches at the zero of the voltage, located as an event.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "diode"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    law: str = declare(
        "choice", "how it conducts", choices=("exponential", "ideal"), default="exponential"
    )
    Is: float = quantity("A", "saturation current", above=0.0, default=1e-12)
    Vt: float = quantity(
        "V", "thermal voltage times emission coefficient", above=0.0, default=0.026
    )
    Gmin: float | None = quantity(
        "S",
        "exponential: leakage; default: 1e-12 S at nodes that diodes alone lead to, else 0",
        minimum=0.0,
        default=None,
    )
    Ron: float = quantity(
        "ohm", "resistance of an ideal diode that conducts", above=0.0, default=1e-5
    )
    Goff: float = quantity(
        "S", "conductance of an ideal diode that blocks", above=0.0, default=1e-5
    )

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        if self.law == "ideal":
            self._ideal(name, builder, here)
        else:
            bond = builder.resistor(name, here.node, flow=self._current)
            declare_element(name, builder, self.table, bond)

    def _ideal(self, name: str, builder: Builder, here: Branch) -> None:
        voltage = difference(builder, self.table, self.nodes)
        on = leaf(f"{name}.on", 1)
        bond = two_state_resistor(name, builder, self.table, here, on, self.Ron, self.Goff)
        # while it conducts by its current: 1e-12 A are lost in a difference of 300 V less 300 V
        forward = call("select", on, self.Ron * builder.bond_flow(bond), voltage)
        builder.mode(on.data, lambda _: forward, f"{name} switches")

    def _current(self, voltage: Block) -> Block:
        """Is (exp(v / Vt) - 1), its tangent beyond the voltage of LARGEST, and the leakage."""
        x = (1.0 / self.Vt) * voltage
        top = const(math.log1p(LARGEST / self.Is))
        inside = call("min", x, top)
        growth = times(call("exp", inside), const(1.0) + call("max", x - top, const(0.0)))
        current = self.Is * (growth - const(1.0))
        return current + self.Gmin * voltage if self.Gmin else current
