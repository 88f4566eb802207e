"""Check valve: lets oil through one way, above its cracking pressure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element, difference


@dataclass(frozen=True, slots=True)
class CheckValve:
    """Lets oil through from the first port to the second: flow = leakage * p, and
    conductance (p - cracking) more above the cracking pressure, so that it does not jump there;
    opening and closing are events.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "check_valve"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    conductance: float = quantity("m^3/s/Pa", "flow per pressure when open", above=0.0)
    cracking: float = quantity("Pa", "pressure at which it opens", minimum=0.0, default=0.0)
    leakage: float = quantity(
        "m^3/s/Pa", "flow per pressure past its seat, shut or open", minimum=0.0, default=0.0
    )

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        beyond = difference(builder, self.table, self.nodes) - const(self.cracking)
        is_open = builder.mode(f"{name}.open", lambda _: beyond, f"{name} opens or closes")
        bond = builder.resistor(
            name,
            here.node,
            flow=lambda p: (
                self.leakage * p + self.conductance * times(is_open, p - const(self.cracking))
            ),
        )
        declare_element(name, builder, self.table, bond)
