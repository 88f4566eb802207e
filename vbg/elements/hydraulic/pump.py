"""Pump: flow = displacement * speed - leakage * pressure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.ports import branch, difference


@dataclass(frozen=True, slots=True)
class Pump:
    """Ports [suction, pressure].  flow delivered = displacement speed - leakage p, torque
    taken from the shaft = displacement p, p the pressure of the second port against the
    first.

    Driven by a shaft (`on`), or at a `speed` that a signal gives.  The displacement
    passes all power; the leak dissipates leakage p^2.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "pump"

    nodes: tuple[str, str] = declare("nodes", "suction, pressure", size=2)
    on: str | None = declare(
        "coordinate", "its shaft; or give `speed`", default=None, moves="angle"
    )
    speed: float | str | None = declare(
        "signal", "speed of the shaft; or give `on`", unit="rad/s", default=None
    )
    displacement: float = quantity("m^3/rad", "volume per radian", above=0.0)
    leakage: float = quantity("m^3/s/Pa", "internal leakage", minimum=0.0, default=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Two drives or none."""
        if (self.on is None) == (self.speed is None):
            yield "", "a pump needs either on (its shaft) or speed.", ""

    def expand(self, name: str, builder: Builder) -> None:
        low, high = self.nodes
        here = branch(name, builder, self.table, (high, low))
        sign = 1.0 if here.direct else -1.0
        if self.on is not None:
            shaft, _ = builder.coordinate(self.on)
        else:
            shaft = builder.one(f"{name}.shaft", 1, "scalar", "rotation")
            builder.flow_source(f"{name}.drive", shaft, builder.signal(self.speed or 0.0))
        builder.transformer(
            f"{name}.displacement",
            shaft,
            here.node,
            const(sign * self.displacement),
            toward="effort_side",
            inverse=const(sign / self.displacement),
        )
        pressure = difference(builder, self.table, (high, low))
        flow = self.displacement * builder.flow(shaft)
        if self.leakage > 0.0:
            leak = branch(f"{name}.leak", builder, self.table, (high, low))
            builder.resistor(
                f"{name}.leak",
                leak.node,
                flow=lambda p: self.leakage * p,
                effort=lambda q: (1.0 / self.leakage) * q,
            )
            flow = flow - self.leakage * pressure
        builder.output(f"{name}.pressure", pressure, "Pa")
        builder.output(f"{name}.flow", flow, "m^3/s")
        builder.output(f"{name}.torque", self.displacement * pressure, "N*m")
        builder.output(f"{name}.power", times(pressure, flow), "W")
