"""Guide: measures how far a point is along a direction, and can prescribe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import zeros
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import begin, drive, reaction, sliding
from vbg.junctions.start import SlideStart


@dataclass(frozen=True, slots=True)
class Guide:
    """`slide`, the distance of the second point from the first along `axis` of the first body,
    and nothing else: all translations and rotations stay free.  With `drive` the second point is
    led in a plane that moves along `axis`, by a force normal to it: `JOINT.drive` [N].

    Three of them, in x, y and z, lead a point along a path (inverse kinematics: the joints follow);
    two a point of a machine in one plane.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "guide"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "direction of the distance, in the first one's axes", size=3
    )
    initial: SlideStart = declare(
        "group", "start of the coordinate", of=SlideStart, default=SlideStart()
    )
    drive: float | str | None = declare(
        "signal", "prescribes the coordinate", unit="m", default=None
    )

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False)
        led = self.drive is not None
        free = sliding(pair, builder, self.initial.slide, self.initial.speed, driven=led)
        wrench = drive(pair, builder, free, self.drive)
        reaction(pair, builder, zeros(6) if wrench is None else wrench)
