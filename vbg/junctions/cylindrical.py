"""Cylindrical joint: one rotation and one translation along one axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import (
    axes_parallel,
    begin,
    constrain,
    on_axis,
    reaction,
    sliding,
    turning,
)
from vbg.junctions.latch import engages, latch_faults, releases, starts
from vbg.junctions.start import AngleSlideStart


@dataclass(frozen=True, slots=True)
class Cylindrical:
    """Two translations and two rotations constrained; `angle` about and `slide`
    along `axis` are free.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "cylindrical"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare("direction", "axis, in the first one's axes", size=3)
    axis_on_second: tuple[float, float, float] | None = declare(
        "direction",
        "the same direction in the second one's axes; default: as written",
        size=3,
        end=1,
        default=None,
    )
    initial: AngleSlideStart = declare(
        "group", "start of the free coordinate", of=AngleSlideStart, default=AngleSlideStart()
    )
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False, latch=self)
        wrench = constrain(pair, builder, on_axis(pair), axes_parallel(pair))
        start = self.initial
        sliding(pair, builder, start.slide, start.slide_speed, names=("slide", "slide_speed"))
        turning(pair, builder, start.angle, start.speed)
        reaction(pair, builder, wrench)
