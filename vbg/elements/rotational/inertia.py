"""Inertia on a shaft: J * speed' = sum of torques."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.reach import one_way


@dataclass(frozen=True, slots=True)
class Inertia:
    """momentum' = sum of torques, speed = momentum / J; energy J speed^2 / 2.  On a joint
    it stands beside the bodies' inertia: a dependent store.
    """

    table: ClassVar[str] = "rotational"
    kind: ClassVar[str] = "inertia"

    nodes: tuple[str, ...] | None = declare("nodes", "its node", size=1, default=None)
    on: str | None = declare(
        "coordinate", "free coordinate of a joint or a node, instead", default=None
    )
    J: float = quantity("kg*m^2", "moment of inertia", above=0.0)
    speed: float | None = quantity(
        "rad/s", "speed at the start; default: that of what it is tied to", default=None
    )
    angle: float = quantity("rad", "angle of the node at the start", default=0.0)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Exactly one way of connecting it."""
        yield from one_way(self)

    def expand(self, name: str, builder: Builder) -> None:
        path = self.on or f"{self.table}.{self.nodes[0]}"  # type: ignore[index]
        node, _ = builder.coordinate(path)
        if self.angle != 0.0:
            builder.place(path, self.angle)
        builder.inertia(
            name,
            node,
            inverse=const(1.0 / self.J),
            initial=const(self.J * (self.speed or 0.0)),
            written=self.speed is not None,
        )
        builder.output(f"{name}.speed", builder.flow(node), "rad/s")
