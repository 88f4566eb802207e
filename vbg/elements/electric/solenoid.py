"""Solenoid: a coil whose inductance grows as its plunger closes a gap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, divide, times
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.contact import contact
from vbg.physics.ports import difference
from vbg.physics.reach import reach


@dataclass(frozen=True, slots=True)
class Solenoid:
    """voltage = R current + flux',  current = flux / L(gap),  L = stray + L0 / (1 + gap / a);
    force = current^2 / 2 dL/dgap on the second end: negative, it closes the gap.

    gap = distance of the two points (or coordinate) - `length`.  Coil, core and air gap are one
    magnetic circuit of the reluctance N^2 (1 + gap / a) / L0: a is the gap that has as much as the
    iron.  An I-field with two ports and the energy flux^2 / (2 L): flux' (current) and the
    mechanical one, E' = current flux' - force gap' (the coenergy L current^2 / 2 gives the same
    force).

    Below gap = 0 the plunger runs through the coil and the inductance is the mirror image about
    its value there, stray + L0 (1 - x / (1 + |x|)) with x = gap / a: the force at a current is as
    large on both sides, everything stays finite.  `k` and `c` stop it at the pole face.

    Source: H. H. Woodson, J. R. Melcher, Electromechanical Dynamics I, Wiley 1968, chapter 3;
    D. C. Karnopp, D. L. Margolis, R. C. Rosenberg, System Dynamics, Wiley, chapter on
    magnetic circuits and devices.
    """

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "solenoid"

    nodes: tuple[str, str] = declare("nodes", "first and second terminal", size=2)
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, of the pole and of the plunger; or give `on`", default=None
    )
    on: str | None = declare(
        "coordinate", "a joint that slides, or translational.NODE", default=None, moves="slide"
    )
    R: float = quantity("ohm", "resistance of the coil", above=0.0)
    L0: float = quantity("H", "inductance of the closed gap, without `stray`", above=0.0)
    a: float = quantity("m", "gap that halves L0", above=0.0)
    stray: float = quantity("H", "inductance that no gap changes", minimum=0.0, default=0.0)
    length: float = quantity("m", "distance or coordinate at the closed gap", default=0.0)
    current: float | None = quantity(
        "A", "current at the start; default: that of what it is tied to", default=None
    )
    k: float = quantity("N/m", "stiffness of the pole face; 0: no stop", minimum=0.0, default=0.0)
    c: float = quantity("N*s/m", "damping of the pole face", minimum=0.0, default=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """No way of connecting the plunger, or two."""
        if (self.on is None) == (self.between is None):
            yield "", "a solenoid needs either between or on.", ""

    def law(self, gap: Block) -> tuple[Block, Block]:
        """L [H] and dL/dgap [N/A^2] there."""
        x = (1.0 / self.a) * gap
        beyond = const(1.0) + call("abs", x)
        L = const(self.stray + self.L0) - self.L0 * divide(x, beyond)
        return L, divide(const(-self.L0 / self.a), times(beyond, beyond))

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self, ways=("on", "between"))
        gap = where.value - const(self.length)
        L, slope = self.law(gap)
        first, second = (builder.terminal(self.table, node) for node in self.nodes)
        coil = builder.one(f"{name}.coil", 1, "scalar", "electric")
        if first is not None:
            builder.bond(first, coil)
        if second is not None:
            builder.bond(coil, second)
        builder.resistor(
            name,
            coil,
            effort=lambda current: self.R * current,
            flow=lambda voltage: (1.0 / self.R) * voltage,
        )
        flux = builder.inertia(
            name,
            coil,
            inverse=divide(const(1.0), L),
            initial=(self.current or 0.0) * L,
            state="flux",
            written=self.current is not None,
        )
        current = divide(flux, L)
        force = 0.5 * times(slope, times(current, current))
        # the mechanical port of the field, whose energy the flux' port counts
        builder.potential(f"{name}.plunger", where.node, effort=-force, energy=const(0.0))
        if self.k > 0.0:
            stop = contact(f"{name}.stop", builder, where.node, -gap, self.k, self.c, sign=-1.0)
            builder.output(f"{name}.stop", stop, "N")
        builder.event(name, -gap, "closes or opens its gap")
        speed = builder.flow(where.node)
        builder.output(f"{name}.current", builder.flow(coil), "A")
        builder.output(f"{name}.voltage", difference(builder, self.table, self.nodes), "V")
        builder.output(f"{name}.force", force, "N")
        builder.output(f"{name}.gap", gap, "m")
        builder.output(f"{name}.inductance", L, "H")
        builder.output(f"{name}.power", times(force, speed), "W")
