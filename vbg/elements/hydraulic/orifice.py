"""Turbulent orifice with a laminar zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.hydraulics import disc, inverse_root, signed_root
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Orifice:
    """flow = cd area sqrt(2 / density) p / (p^2 + laminar^2)^(1/4): the turbulent root for
    |p| much above `laminar` (Bernoulli: density v^2 / 2 = p, of a jet that `cd` makes smaller and
    slower), linear below, with a finite slope at zero.  Dissipates p flow.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "orifice"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    area: float = quantity("m^2", "area of the opening", above=0.0)
    diameter: float | None = quantity(
        "m", "diameter of a round opening", above=0.0, default=None, instead_of="area"
    )
    cd: float = quantity("1", "discharge coefficient", above=0.0, default=0.62)
    density: float = quantity("kg/m^3", "density of the oil", above=0.0, default=860.0)
    laminar: float = quantity("Pa", "pressure below which it is laminar", above=0.0, default=1e4)

    def __post_init__(self) -> None:
        if self.diameter is not None:
            object.__setattr__(self, "area", disc(self.diameter))

    def expand(self, name: str, builder: Builder) -> None:
        here = branch(name, builder, self.table, self.nodes)
        gain = self.cd * self.area * (2.0 / self.density) ** 0.5
        bond = builder.resistor(
            name,
            here.node,
            flow=lambda pressure: gain * signed_root(pressure, self.laminar),
            effort=lambda flow: inverse_root((1.0 / gain) * flow, self.laminar),
            preferred="flow",
        )
        declare_element(name, builder, self.table, bond)
