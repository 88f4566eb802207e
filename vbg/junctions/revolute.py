"""Revolute joint: one free rotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import (
    axes_parallel,
    begin,
    coincide,
    constrain,
    drive,
    friction,
    reaction,
    turning,
)
from vbg.junctions.latch import engages, latch_faults, releases, starts
from vbg.junctions.start import AngleStart, Friction, Stop


@dataclass(frozen=True, slots=True)
class Revolute:
    """Three translations and two rotations constrained; `angle` of the second body
    about `axis`, right-handed, is free.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "revolute"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "axis of rotation, in the first one's axes", size=3
    )
    axis_on_second: tuple[float, float, float] | None = declare(
        "direction",
        "the same direction in the second one's axes; default: as written",
        size=3,
        end=1,
        default=None,
    )
    initial: AngleStart = declare(
        "group", "start of the free coordinate", of=AngleStart, default=AngleStart()
    )
    drive: float | str | None = declare(
        "signal", "prescribes the free coordinate", unit="rad", default=None
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
        pair = begin(name, builder, points_coincide=True, latch=self)
        wrench = constrain(pair, builder, coincide(pair), axes_parallel(pair))
        free = turning(
            pair,
            builder,
            self.initial.angle,
            self.initial.speed,
            driven=self.drive is not None,
        )
        driven = drive(pair, builder, free, self.drive)
        reaction(pair, builder, wrench if driven is None else wrench + driven)
        friction(pair, builder, free, self.friction, self.stop)
