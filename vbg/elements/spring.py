"""Linear spring between two points or on a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.reach import reach


@dataclass(frozen=True, slots=True)
class Spring:
    """effort = k * (length - free length), pulling the two points together; on a
    joint: effort on the second body = -k * (coordinate - length).

    Energy k/2 (length - free length)^2.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "spring"

    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points; or give `on`", default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint; or give `between`", default=None
    )
    k: float = quantity("N/m or N*m/rad", "stiffness", minimum=0.0)
    length: float = quantity(
        "m or rad", "free length, or free value of the coordinate", default=0.0
    )

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        stretch = where.value - const(self.length)
        bond = builder.potential(
            name, where.node, effort=self.k * stretch, energy=0.5 * self.k * times(stretch, stretch)
        )
        where.declare(name, builder, builder.effort(bond))
