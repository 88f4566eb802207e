"""Speed that a signal gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import times
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.physics.reach import one_way, reach


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of the second node (against the first or the frame) is prescribed; the
    force for it is found.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "speed"

    nodes: tuple[str, ...] | None = declare(
        "nodes", "one node (against frame) or two", size=0, default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, instead", default=None
    )
    speed: float | str = declare("signal", "speed of the second", unit="m/s")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        value = builder.signal(self.speed, "m/s")
        bond = builder.flow_source(name, where.node, value)
        effort = builder.effort(bond)
        builder.output(f"{name}.force", effort, "N")
        builder.output(f"{name}.power", times(effort, value), "W")
