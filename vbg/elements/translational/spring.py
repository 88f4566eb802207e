"""Spring: force = k * (elongation from its free length)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, times
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.reach import one_way, reach


@dataclass(frozen=True, slots=True)
class Spring:
    """force = k (position of the second against the first - free value), drawing them together;
    energy k/2 times the square.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "spring"

    nodes: tuple[str, ...] | None = declare(
        "nodes", "one node (against frame) or two", size=0, default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, instead", default=None
    )
    k: float = quantity("N/m", "stiffness", minimum=0.0)
    length: float = quantity("m", "free value", default=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        stretch = where.value - const(self.length)
        bond = builder.potential(
            name, where.node, effort=self.k * stretch, energy=0.5 * self.k * times(stretch, stretch)
        )
        where.declare(name, builder, builder.effort(bond))
