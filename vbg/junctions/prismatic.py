"""Prismatic joint: one free translation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import (
    begin,
    constrain,
    drive,
    friction,
    no_rotation,
    on_axis,
    reaction,
    sliding,
)
from vbg.junctions.latch import engages, latch_faults, releases, starts
from vbg.junctions.start import Friction, SlideStart, Stop


@dataclass(frozen=True, slots=True)
class Prismatic:
    """Two translations and all rotations constrained; `slide`, the position of the
    second joint point from the first along `axis`, is free.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "prismatic"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "direction of sliding, in the first one's axes", size=3
    )
    axis_on_second: tuple[float, float, float] | None = declare(
        "direction",
        "the same direction in the second one's axes; default: as written",
        size=3,
        end=1,
        default=None,
    )
    initial: SlideStart = declare(
        "group", "start of the free coordinate", of=SlideStart, default=SlideStart()
    )
    drive: float | str | None = declare(
        "signal", "prescribes the free coordinate", unit="m", default=None
    )
    friction: Friction | None = declare(
        "group", "friction on the free coordinate", of=Friction, default=None
    )
    stop: Stop | None = declare("group", "stops of the free coordinate", of=Stop, default=None)
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False, latch=self)
        wrench = constrain(pair, builder, on_axis(pair), no_rotation(pair))
        free = sliding(
            pair,
            builder,
            self.initial.slide,
            self.initial.speed,
            driven=self.drive is not None,
        )
        driven = drive(pair, builder, free, self.drive)
        reaction(pair, builder, wrench if driven is None else wrench + driven)
        friction(pair, builder, free, self.friction, self.stop)
