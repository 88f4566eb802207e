"""Damper: force = c * speed between its ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.reach import one_way, reach


@dataclass(frozen=True, slots=True)
class Damper:
    """force = c (speed of the second against the first), against the motion; dissipates
    c speed^2.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "damper"

    nodes: tuple[str, ...] | None = declare(
        "nodes", "one node (against frame) or two", size=0, default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, instead", default=None
    )
    c: float = quantity("N*s/m", "damping", above=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        bond = builder.resistor(
            name,
            where.node,
            effort=lambda speed: self.c * speed,
            flow=lambda effort: (1.0 / self.c) * effort,
        )
        where.declare(name, builder, builder.effort(bond))
