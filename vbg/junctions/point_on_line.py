"""Slotted spherical joint: the second point stays on a line of the first body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import begin, constrain, on_axis, reaction, sliding
from vbg.junctions.latch import engages, latch_faults, releases, starts
from vbg.junctions.start import SlideStart


@dataclass(frozen=True, slots=True)
class PointOnLine:
    """Two translations constrained; `slide` along `axis` and all rotations free."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "point_on_line"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "direction of the line, in the first one's axes", size=3
    )
    initial: SlideStart = declare(
        "group", "start of the free coordinate", of=SlideStart, default=SlideStart()
    )
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False, latch=self)
        wrench = constrain(pair, builder, on_axis(pair))
        sliding(pair, builder, self.initial.slide, self.initial.speed)
        reaction(pair, builder, wrench)
