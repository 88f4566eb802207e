"""Hydraulic motor: torque = displacement * pressure, and leakage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, difference


@dataclass(frozen=True, slots=True)
class Motor:
    """Ports [inlet, outlet].  flow = displacement speed + leakage p, torque on the shaft =
    displacement p, p the pressure of the first port against the second.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "motor"

    nodes: tuple[str, str] = declare("nodes", "inlet, outlet", size=2)
    on: str = declare("coordinate", "its shaft: a joint or rotational.NODE", moves="angle")
    displacement: float = quantity("m^3/rad", "volume per radian", above=0.0)
    leakage: float = quantity("m^3/s/Pa", "internal leakage", minimum=0.0, default=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        shaft, _ = builder.coordinate(self.on)
        here = branch(name, builder, self.table, self.nodes)
        sign = 1.0 if here.direct else -1.0
        # flow from the branch = displacement * speed; torque on the shaft = displacement * p
        builder.transformer(
            f"{name}.displacement",
            shaft,
            here.node,
            const(-sign * self.displacement),
            toward="effort_side",
            inverse=const(-sign / self.displacement),
        )
        if self.leakage > 0.0:
            leak = branch(f"{name}.leak", builder, self.table, self.nodes)
            builder.resistor(
                f"{name}.leak",
                leak.node,
                flow=lambda p: self.leakage * p,
                effort=lambda q: (1.0 / self.leakage) * q,
            )
        pressure = difference(builder, self.table, self.nodes)
        flow = self.displacement * builder.flow(shaft) + self.leakage * pressure
        builder.output(f"{name}.pressure", pressure, "Pa")
        builder.output(f"{name}.flow", flow, "m^3/s")
        builder.output(f"{name}.torque", self.displacement * pressure, "N*m")
        builder.output(f"{name}.power", times(pressure, flow), "W")
