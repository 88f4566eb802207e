"""Mass on a line: m * speed' = sum of forces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.reach import one_way


@dataclass(frozen=True, slots=True)
class Mass:
    """momentum' = sum of forces, speed = momentum / m; energy m speed^2 / 2.  On a joint
    it stands beside the bodies' inertia: a dependent store.
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "mass"

    nodes: tuple[str, ...] | None = declare("nodes", "its node", size=1, default=None)
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    m: float = quantity("kg", "mass", above=0.0)
    speed: float | None = quantity(
        "m/s", "speed at the start; default: that of what it is tied to", default=None
    )
    position: float = quantity("m", "position of the node at the start", default=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        path = self.on or f"{self.table}.{self.nodes[0]}"  # type: ignore[index]
        node, _ = builder.coordinate(path)
        if self.position != 0.0:
            builder.place(path, self.position)
        builder.inertia(
            name,
            node,
            inverse=const(1.0 / self.m),
            initial=const(self.m * (self.speed or 0.0)),
            written=self.speed is not None,
        )
        builder.output(f"{name}.speed", builder.flow(node), "m/s")
