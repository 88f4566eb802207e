"""Planar joint: the bodies slide and turn on a common plane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import axes_parallel, begin, constrain, in_plane, reaction
from vbg.junctions.latch import engages, latch_faults, releases, starts


@dataclass(frozen=True, slots=True)
class Planar:
    """One translation (along the normal `axis`) and two rotations constrained."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "planar"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "normal of the plane, in the first one's axes", size=3
    )
    axis_on_second: tuple[float, float, float] | None = declare(
        "direction",
        "the same direction in the second one's axes; default: as written",
        size=3,
        end=1,
        default=None,
    )
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False, latch=self)
        reaction(pair, builder, constrain(pair, builder, in_plane(pair), axes_parallel(pair)))
