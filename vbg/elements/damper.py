"""Linear damper between two points or on a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.reach import reach


@dataclass(frozen=True, slots=True)
class Damper:
    """effort = c * rate of length, against the motion; on a joint: effort on the
    second body = -c * speed.  Dissipates c * rate^2.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "damper"

    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points; or give `on`", default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint; or give `between`", default=None
    )
    c: float = quantity("N*s/m or N*m*s/rad", "damping", minimum=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        bond = builder.resistor(name, where.node, effort=lambda flow: self.c * flow)
        where.declare(name, builder, builder.effort(bond))
