"""Torsion spring with damping on a joint that turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.reach import reach


@dataclass(frozen=True, slots=True)
class TorsionSpring:
    """torque on the second body = -k * (angle - rest) - c * speed about the joint's axis."""

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "torsion_spring"

    on: str = declare("coordinate", "the joint it acts on", moves="angle")
    k: float = quantity("N*m/rad", "stiffness", minimum=0.0)
    c: float = quantity("N*m*s/rad", "damping", default=0.0, minimum=0.0)
    rest: float = quantity("rad", "angle without torque", default=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        twist = where.value - const(self.rest)
        spring = builder.potential(
            name, where.node, effort=self.k * twist, energy=0.5 * self.k * times(twist, twist)
        )
        effort = builder.effort(spring)
        if self.c > 0.0:
            damper = builder.resistor(name, where.node, effort=lambda flow: self.c * flow)
            effort = effort + builder.effort(damper)
        where.declare(name, builder, effort)
