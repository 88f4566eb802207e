"""Unilateral stop between two points: keeps them at a distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.contact import contact
from vbg.physics.relative import line_between


@dataclass(frozen=True, slots=True)
class ContactStop:
    """Where the distance of the two points is below `gap`: force pushing them apart
    k * (gap - distance) - c * rate of distance, never pulling.  An event marks each
    contact.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "stop"

    between: tuple[Attachment, Attachment] = declare("ends", "the two points")
    gap: float = quantity("m", "distance below which they touch", above=0.0)
    k: float = quantity("N/m", "contact stiffness", above=0.0)
    c: float = quantity("N*s/m", "contact damping", default=0.0, minimum=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        line = line_between(name, builder, self.between)
        depth = const(self.gap) - line.length
        effort = contact(name, builder, line.stretch, depth, self.k, self.c, sign=-1.0)
        builder.event(name, depth, f"{name} touches or leaves")
        builder.output(f"{name}.force", effort, "N")
        builder.output(f"{name}.gap", -depth, "m")
