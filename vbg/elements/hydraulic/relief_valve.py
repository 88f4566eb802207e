"""Relief valve: keeps a pressure below its setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, declare_element, difference


@dataclass(frozen=True, slots=True)
class ReliefValve:
    """Keeps the pressure p of the first port against the second near `setting`: flow =
    leakage * p, and (p - setting) / slope more above the setting, so that it does not jump there;
    opening and closing are events.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "relief_valve"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    setting: float = quantity("Pa", "opening pressure", above=0.0)
    slope: float = quantity("Pa*s/m^3", "rise of pressure per flow", above=0.0)
    leakage: float = quantity(
        "m^3/s/Pa", "flow per pressure past its seat, shut or open", minimum=0.0, default=0.0
    )

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        beyond = difference(builder, self.table, self.nodes) - const(self.setting)
        is_open = builder.mode(f"{name}.open", lambda _: beyond, f"{name} opens or closes")
        bond = builder.resistor(
            name,
            here.node,
            flow=lambda p: (
                self.leakage * p + (1.0 / self.slope) * times(is_open, p - const(self.setting))
            ),
        )
        declare_element(name, builder, self.table, bond)
