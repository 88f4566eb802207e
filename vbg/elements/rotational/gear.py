"""Gear between two shafts: speed2 = ratio * speed1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class Gear:
    """speed2 = ratio speed1, torque on the first = ratio times the torque it gives to the
    second (signals torque1 and torque2); no loss, no play.  Inertias on both sides: one is a
    dependent store.
    """

    table: ClassVar[str] = "rotational"
    kind: ClassVar[str] = "gear"

    nodes: tuple[str, str] = declare("nodes", "first and second shaft", size=2)
    ratio: float = quantity("1", "speed of the second over speed of the first; not zero")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A ratio of zero."""
        if self.ratio == 0.0:
            yield "ratio", "a gear of ratio 0 turns nothing.", "Write another ratio than 0."

    def expand(self, name: str, builder: Builder) -> None:
        first, second = (builder.coordinate(f"rotational.{node}")[0] for node in self.nodes)
        ratio = self.ratio
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
