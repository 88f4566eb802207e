"""Force that a signal gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import times
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.physics.reach import one_way, reach


@dataclass(frozen=True, slots=True)
class Force:
    """A force on the second node (against the first or the frame), number, signal or
    expression.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "force"

    nodes: tuple[str, ...] | None = declare(
        "nodes", "one node (against frame) or two", size=0, default=None
    )
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    between: tuple[Attachment, Attachment] | None = declare(
        "ends", "two points, instead", default=None
    )
    force: float | str = declare("signal", "force on the second", unit="N")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        where = reach(name, builder, self)
        value = builder.signal(self.force, "N")
        builder.effort_source(name, where.node, value)
        builder.output(f"{name}.force", value, "N")
        builder.output(f"{name}.power", times(value, builder.flow(where.node)), "W")
