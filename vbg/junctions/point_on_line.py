"""Slotted spherical joint: the second point stays on a line of the first body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare
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
