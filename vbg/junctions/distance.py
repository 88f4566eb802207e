"""Distance joint: a massless rod between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const, mul, zeros
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.relative import line_between


@dataclass(frozen=True, slots=True)
class Distance:
    """|p_FM| = length; the constraint force acts along the rod, tension negative:
    its effort pushes the second point away from the first.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "distance"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    length: float | None = quantity(
        "m", "length; default: the written distance", default=None, above=0.0
    )

    def expand(self, name: str, builder: Builder) -> None:
        frames = builder.frames(name)
        line = line_between(name, builder, self.between)
        length = const(frames.coordinates[0] if self.length is None else self.length)
        node = builder.zero(f"{name}.constrained", 1, "scalar", "translation")
        builder.bond(node, line.stretch)
        effort = builder.constraint(
            name, node, labels=("force along",), position=line.length - length
        )
        builder.output(f"{name}.force", mul(line.direction, effort), "N")
        builder.output(f"{name}.torque", zeros(3), "N*m")
