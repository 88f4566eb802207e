"""Hydraulic cylinder with two chambers of compressible oil."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, const, times
from vbg.builder import Builder, Node
from vbg.fields import Attachment, declare, quantity
from vbg.physics.contact import contact
from vbg.physics.hydraulics import Chamber, Oil, disc
from vbg.physics.ports import branch
from vbg.physics.reach import reach

SQUEEZED = 10.0  # times bulk: a pressure beyond is no pressure of oil, but a unit mistaken


@dataclass(frozen=True, slots=True)
class Cylinder:
    """Ports [A, B].  Pressure in A pushes the second end away from the first (extends) with
    area_a, pressure in B draws it back with area_b; B = "tank" makes it single-acting.

    With s = extension from `length` (of a joint: its coordinate - length) the chambers have
    the volumes  dead_a + area_a s  and  dead_b + area_b (stroke - s);  each is a store of
    content and s (`vbg.physics.hydraulics.Chamber`), content' = flow into the port, and pressure =
    bulk log(content / volume), so that p' = bulk (flow / content - volume' / volume).
    `volume` gives both chambers a constant volume instead (linear stiffness).  Below half an
    atmosphere air comes out of the oil: a cavity, whose absolute pressure stays above zero.
    Leakage between the chambers, viscous friction, and stops at s = 0 and s = stroke.
    force = p_a area_a - p_b area_b - friction on the second end, against the first.
    Diameters: area_a = pi bore^2 / 4, area_b = area_a - pi rod^2 / 4.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "cylinder"

    nodes: tuple[str, str] = declare("nodes", "ports A and B", size=2)
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points; or give `on`", default=None
    )
    on: str | None = declare(
        "coordinate", "a joint or translational.NODE", default=None, moves="slide"
    )
    area_a: float = quantity("m^2", "area of chamber A", above=0.0)
    bore: float | None = quantity(
        "m", "diameter of the piston", above=0.0, default=None, instead_of="area_a"
    )
    area_b: float | None = quantity(
        "m^2", "area of chamber B; default: area_a", above=0.0, default=None
    )
    rod: float | None = quantity(
        "m", "diameter of the rod in chamber B", above=0.0, default=None, instead_of="area_b"
    )
    length: float = quantity("m", "length or coordinate at s = 0", default=0.0)
    stroke: float = quantity("m", "largest s", above=0.0)
    dead_a: float = quantity("m^3", "volume of A at s = 0", above=0.0, default=1e-5)
    dead_b: float = quantity("m^3", "volume of B at s = stroke", above=0.0, default=1e-5)
    volume: float | None = quantity(
        "m^3", "constant volume of each chamber instead", above=0.0, default=None
    )
    bulk: float = quantity("Pa", "bulk modulus", above=0.0, default=1.4e9, elastic=True)
    air: float = quantity(
        "1",
        "air that oil gives off below half an atmosphere, of its volume; 0: oil can be pulled",
        minimum=0.0,
        below=1.0,
        default=0.005,
    )
    leakage: float = quantity("m^3/s/Pa", "leak between chambers", minimum=0.0, default=0.0)
    friction: float = quantity("N*s/m", "viscous friction", minimum=0.0, default=0.0)
    pressure_a: float | None = quantity(
        "Pa",
        'pressure of A at the start, or "equilibrium"; default: that of what it is tied to',
        default=None,
        balanced=True,
    )
    pressure_b: float | None = quantity(
        "Pa",
        'pressure of B at the start, or "equilibrium"; default: that of what it is tied to',
        default=None,
        balanced=True,
    )
    k: float | None = quantity(
        "N/m",
        "stiffness of the end stops, 0 for none; default: 1 mm at 1000 bar on area_a",
        minimum=0.0,
        default=None,
    )
    c: float | None = quantity(
        "N*s/m", "damping of the end stops; default: k * 1 ms", minimum=0.0, default=None
    )

    def __post_init__(self) -> None:
        if self.bore is not None:
            object.__setattr__(self, "area_a", disc(self.bore))
        if self.rod is not None:
            object.__setattr__(self, "area_b", self.area_a - disc(self.rod))

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """No way of connecting the rod, or two; a pressure at which no oil is left."""
        if (self.on is None) == (self.between is None):
            yield "", "a cylinder needs either between or on.", ""
        if self.area_b is not None and self.area_b <= 0.0:
            wide = 2.0 * math.sqrt(self.area_a / math.pi)
            what = f"a rod of {self.rod:g} m fills the piston, whose diameter is {wide:.4g} m."
            yield "rod", what, "Write a thinner rod, or a wider bore."
        for key, pressure in (("pressure_a", self.pressure_a), ("pressure_b", self.pressure_b)):
            if pressure is not None and abs(pressure) > SQUEEZED * self.bulk:
                what = f"{key} {pressure:g} Pa is {pressure / self.bulk:.3g} times bulk."
                yield (
                    key,
                    what,
                    f"It must be at most {SQUEEZED:g} times bulk [Pa]: look at its unit.",
                )
            else:
                yield from self._oil.start_faults(key, pressure)

    @property
    def _oil(self) -> Oil:
        return Oil(self.bulk, air=self.air)

    def stops(self) -> tuple[float, float]:
        """Stiffness [N/m] and damping [N*s/m] of the end stops: steel on steel at the areas that
        oil presses on, 0.1 mm deep at 100 bar, unless written."""
        k = 1e11 * self.area_a if self.k is None else self.k
        return k, 1e-3 * k if self.c is None else self.c

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Nodes that it joins: the piston parts the chambers, a leak joins them."""
        return (self.nodes,) if self.leakage > 0.0 else (self.nodes[:1], self.nodes[1:])

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self, ways=("on", "between"))
        s = where.value - const(self.length)
        area_b = self.area_b or self.area_a
        oil = self._oil
        effort = const(0.0)
        for side, node, area, dead, sign, start in (
            ("A", self.nodes[0], self.area_a, self.dead_a, 1.0, self.pressure_a),
            ("B", self.nodes[1], area_b, self.dead_b + area_b * self.stroke, -1.0, self.pressure_b),
        ):
            if node == "tank":
                continue
            chamber = Chamber(oil, sign * area, dead, self.volume)
            bond, pressure = chamber.expand(f"{name}.{side}", builder, node, where.node, s, start)
            effort = effort + bond
            builder.output(f"{name}.pressure_{side.lower()}", pressure, "Pa")
        effort = effort - self._losses(name, builder, where.node)
        effort = effort + self._stops(name, builder, where.node, s)
        speed = builder.flow(where.node)
        builder.output(f"{name}.force", effort, "N")
        builder.output(f"{name}.stroke", s, "m")
        builder.output(f"{name}.power", times(effort, speed), "W")

    def _losses(self, name: str, builder: Builder, node: Node) -> Block:
        if self.leakage > 0.0:
            gap = branch(f"{name}.leak", builder, self.table, self.nodes)
            builder.resistor(
                f"{name}.leak",
                gap.node,
                flow=lambda p: self.leakage * p,
                effort=lambda q: (1.0 / self.leakage) * q,
            )
        if self.friction == 0.0:
            return const(0.0)
        bond = builder.resistor(
            f"{name}.friction", node, effort=lambda speed: self.friction * speed
        )
        return builder.effort(bond)

    def _stops(self, name: str, builder: Builder, node: Node, s: Block) -> Block:
        (k, c), total = self.stops(), const(0.0)
        if k == 0.0:
            return total
        for side, depth, sign in (("in", -s, -1.0), ("out", s - const(self.stroke), 1.0)):
            stop = f"{name}.stop.{side}"
            total = total + contact(stop, builder, node, depth, k, c, sign=sign)
            builder.event(f"{name} {side}", depth, f"{name} at its end stop")
        return total
