"""Belt between two pulleys: radius1 * speed1 = radius2 * speed2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Belt:
    """speed2 = ratio speed1, torque on the first = ratio times the torque it gives to the
    second (signals torque1 and torque2); no loss, no play; ratio = radius1 / radius2.  Of
    inertias on both sides one is a dependent store.
    """

    table: ClassVar[str] = "rotational"
    kind: ClassVar[str] = "belt"

    nodes: tuple[str, str] = declare("nodes", "first and second shaft", size=2)
    radius1: float = quantity("m", "radius of the first pulley", above=0.0)
    radius2: float = quantity("m", "radius of the second pulley", above=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        first, second = (builder.coordinate(f"rotational.{node}")[0] for node in self.nodes)
        ratio = self.radius1 / self.radius2
        taken, given = builder.transformer(
            f"{name}.ratio",
            first,
            second,
            const(ratio),
            toward="effort_side",
            inverse=const(1.0 / ratio),
        )
        builder.output(f"{name}.torque1", builder.effort(taken), "N*m")
        builder.output(f"{name}.torque2", builder.effort(given), "N*m")
