"""Pipe of R-I-C segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi
from typing import ClassVar

from vbg.blocks import Block, call, const, divide, stack, times
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Pipe:
    """`segments` equal pieces, each  momentum' = p_in - p_out - R g flow  and
    content' = flow_in - flow_out  with I = density l / A, C = A l / bulk,
    R = 8 viscosity l / (pi r^4) (Hagen-Poiseuille), l the length of a piece.  The content of
    a piece sits half at each of its ends; the ends on the nodes are left to their volumes.
    `flows` are those of the pieces, `pressures` those between them, from the first node on.

    g = 1, laminar at any speed, without `roughness`.  With it g(Re) = f Re / 64, with Darcy's
    friction factor f of laminar, transitional and turbulent flow in one formula (S. Churchill,
    Chem. Eng. 84, 1977, no. 24, p. 91), where e = roughness / diameter:

        f = 8 ((8 / Re)^12 + (a + b)^(-3/2))^(1/12),
        a = (-2.457 log((7 / Re)^0.9 + 0.27 e))^16,   b = (37530 / Re)^16
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "pipe"

    nodes: tuple[str, str] = declare("nodes", "first and second port", size=2)
    length: float = quantity("m", "length", above=0.0)
    diameter: float = quantity("m", "inner diameter", above=0.0)
    segments: int = declare("count", "number of pieces", minimum=1, maximum=2000, default=1)
    density: float = quantity("kg/m^3", "density of the oil", above=0.0, default=860.0)
    bulk: float = quantity("Pa", "bulk modulus", above=0.0, default=1.4e9, elastic=True)
    viscosity: float = quantity("Pa*s", "dynamic viscosity", minimum=0.0, default=0.03)
    roughness: float | None = quantity(
        "m",
        "height of the wall's roughness, 0 for a smooth one: turbulent flow counts, too",
        minimum=0.0,
        default=None,
    )
    pressure: float | None = quantity(
        "Pa", "pressure inside at the start; default: 0", default=None
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Turbulence without a viscosity, walls rougher than the pipe is wide."""
        if self.roughness is None:
            return
        if self.viscosity == 0.0:
            what = "turbulent losses need a viscosity greater than 0."
            yield "viscosity", what, "Leave roughness out for a pipe without losses."
        if self.roughness > 0.1 * self.diameter:
            what = (
                f"is {self.roughness / self.diameter:.2g} of the diameter, at most 0.1 is a wall."
            )
            yield "roughness", what, 'Drawn steel has "1.5 um", cast iron "0.25 mm".'

    def excess(self, flow: Block) -> Block:
        """g(Re), 1 where the flow is laminar:

        g = (1 + (Re/8)^12 (a + b)^(-3/2))^(1/12), and behind Re^16 (a + b), which is finite at 0.
        """
        assert self.roughness is not None
        reynolds = 4.0 * self.density / (pi * self.diameter * self.viscosity) * flow
        r = call("sqrt", const(1.0) + times(reynolds, reynolds))  # 1 at rest, where g = 1 anyway
        wall = 0.27 * self.roughness / self.diameter
        rough = call("log", const(1.0) + wall * call("power", (1.0 / 7.0) * r, const(0.9)))
        log = 0.9 * call("log", (1.0 / 7.0) * r) - rough
        root = times(r, 2.457 * log)
        both = call("power", times(root, root), const(8.0)) + const(37530.0**16)
        share = divide(8.0**-8 * call("power", r, const(24.0)), both)
        return call("power", const(1.0) + call("power", share, const(1.5)), const(1.0 / 12.0))

    def _loss(self, resistance: float, flow: Block) -> Block:
        laminar = resistance * flow
        return laminar if self.roughness is None else times(self.excess(flow), laminar)

    def expand(self, name: str, builder: Builder) -> None:
        first, last = (builder.terminal(self.table, node) for node in self.nodes)
        piece, area = self.length / self.segments, pi * self.diameter**2 / 4.0
        inertance = self.density * piece / area
        resistance = 128.0 * self.viscosity * piece / (pi * self.diameter**4)
        compliance = area * piece / self.bulk
        before, within = first, []
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
                builder.resistor(f"{name}.{i}", line, effort=lambda q: self._loss(resistance, q))
            if i + 1 == self.segments:
                if last is not None:
                    builder.bond(line, last)
                break
            before = builder.zero(f"{name}.{i}.pressure", 1, "scalar", "hydraulic")
            builder.bond(line, before)
            content = builder.compliance(
                f"{name}.{i}",
                before,
                effort=lambda content: (1.0 / compliance) * content,
                energy=lambda content: (0.5 / compliance) * times(content, content),
                initial=const(compliance * (self.pressure or 0.0)),
                written=self.pressure is not None,
                state="content",
            )
            within.append((1.0 / compliance) * content)
        entry = builder.bond_flow(f"{name}.0.flow -> {name}.0.momentum.I")
        exit_flow = builder.bond_flow(
            f"{name}.{self.segments - 1}.flow -> {name}.{self.segments - 1}.momentum.I"
        )
        builder.output(f"{name}.flow", entry, "m^3/s")
        builder.output(f"{name}.flow_out", exit_flow, "m^3/s")
        if within:
            builder.output(f"{name}.pressures", stack(*within), "Pa")
            along = (f"{name}.{i}.flow -> {name}.{i}.momentum.I" for i in range(self.segments))
            builder.output(f"{name}.flows", stack(*map(builder.bond_flow, along)), "m^3/s")
