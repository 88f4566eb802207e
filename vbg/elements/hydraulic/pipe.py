"""Pipe of R-I-C segments."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Pipe:
    """`segments` equal pieces, each  momentum' = p_in - p_out - R flow  and
    content' = flow_in - flow_out  with I = density l / A, C = A l / bulk,
    R = 8 viscosity l / (pi r^4) (Hagen-Poiseuille), l the length of a piece.  The content of
    a piece sits half at each of its ends; the ends on the nodes are left to their volumes.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "pipe"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    length: float = quantity("m", "length", above=0.0)
    diameter: float = quantity("m", "inner diameter", above=0.0)
    segments: int = declare("count", "number of pieces", minimum=1, maximum=2000, default=1)
    density: float = quantity("kg/m^3", "density of the oil", above=0.0, default=860.0)
    bulk: float = quantity("Pa", "bulk modulus", above=0.0, default=1.4e9)
    viscosity: float = quantity("Pa*s", "dynamic viscosity", minimum=0.0, default=0.03)
    pressure: float | None = quantity(
        "Pa", "pressure inside at the start; default: 0", default=None
    )

    def expand(self, name: str, builder: Builder) -> None:
        first, last = (builder.terminal(self.table, node) for node in self.nodes)
        piece, area = self.length / self.segments, pi * self.diameter**2 / 4.0
        inertance = self.density * piece / area
        resistance = 128.0 * self.viscosity * piece / (pi * self.diameter**4)
        compliance = area * piece / self.bulk
        before = first
        for i in range(self.segments):
            line = builder.one(f"{name}.{i}.flow", 1, "scalar", "hydraulic")
            if before is not None:
                builder.bond(before, line)
            builder.inertia(
                f"{name}.{i}",
                line,
                inverse=const(1.0 / inertance),
                initial=const(0.0),
                written=False,
            )
            if resistance > 0.0:
                builder.resistor(f"{name}.{i}", line, effort=lambda flow: resistance * flow)
            if i + 1 == self.segments:
                if last is not None:
                    builder.bond(line, last)
                break
            before = builder.zero(f"{name}.{i}.pressure", 1, "scalar", "hydraulic")
            builder.bond(line, before)
            builder.compliance(
                f"{name}.{i}",
                before,
                effort=lambda content: (1.0 / compliance) * content,
                energy=lambda content: (0.5 / compliance) * times(content, content),
                initial=const(compliance * (self.pressure or 0.0)),
                written=self.pressure is not None,
                state="content",
            )
        entry = builder.bond_flow(f"{name}.0.flow -> {name}.0.momentum.I")
        exit_flow = builder.bond_flow(
            f"{name}.{self.segments - 1}.flow -> {name}.{self.segments - 1}.momentum.I"
        )
        builder.output(f"{name}.flow", entry, "m^3/s")
        builder.output(f"{name}.flow_out", exit_flow, "m^3/s")
