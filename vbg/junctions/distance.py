"""Distance joint: a massless rod between two points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const, mul, zeros
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.junctions.latch import engages, holding, latch_faults, releases, starts
from vbg.physics.relative import line_between


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
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        line = line_between(name, builder, self.between)
        length = const(self._written_length(builder) if self.length is None else self.length)
        node = builder.zero(f"{name}.constrained", 1, "scalar", "translation")
        builder.bond(node, line.stretch)
        effort = builder.constraint(
            name,
            node,
            labels=("force.along",),
            position=line.length - length,
            active=holding(name, builder, self),
        )
        builder.output(f"{name}.force", mul(line.direction, effort), "N")
        builder.output(f"{name}.torque", zeros(3), "N*m")

    def _written_length(self, builder: Builder) -> float:
        """Distance of the two points at the written posture [m]."""
        p_WF, p_WM = (
            start.p_WB + start.R_WB @ np.array(end.at)
            for end in self.between
            for start in (builder.start(end.body),)
        )
        return float(np.linalg.norm(p_WM - p_WF))
