"""Helical joint (screw): slide = lead * angle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import dot, transpose
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.junctions.constrain import (
    Rows,
    axes_parallel,
    begin,
    constrain,
    drive,
    friction,
    on_axis,
    reaction,
    turning,
)
from vbg.junctions.start import AngleStart, Friction, Stop


@dataclass(frozen=True, slots=True)
class Helical:
    """Two translations, two rotations and one relation between the others:
    slide = lead * angle.  `angle` is free.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "helical"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "axis of the screw, in the first one's axes", size=3
    )
    axis_on_second: tuple[float, float, float] | None = declare(
        "direction",
        "the same direction in the second one's axes; default: as written",
        size=3,
        end=1,
        default=None,
    )
    lead: float = quantity("m/rad", "slide per radian")
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

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False)
        free = turning(
            pair,
            builder,
            self.initial.angle,
            self.initial.speed,
            driven=self.drive is not None,
        )
        advance = Rows(
            transpose(pair.z_F),
            -self.lead * transpose(pair.z_F),
            dot(pair.z_F, pair.relative.p_FM) - self.lead * free.value,
            ("thread",),
        )
        wrench = constrain(pair, builder, on_axis(pair), axes_parallel(pair), advance)
        builder.output(f"{name}.slide", dot(pair.z_F, pair.relative.p_FM), "m")
        driven = drive(pair, builder, free, self.drive)
        reaction(pair, builder, wrench if driven is None else wrench + driven)
        friction(pair, builder, free, self.friction, self.stop)
