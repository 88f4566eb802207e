"""Rack and pinion: slide speed of the second = ratio * angle speed of the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.junctions.couple import couple, ratio_faults


@dataclass(frozen=True, slots=True)
class RackPinion:
    """One linear relation between the free coordinates of two joints:
    coordinate2 - start2 = ratio * (coordinate1 - start1).

    `ratio` is the pinion's radius, signed.  The effort on the second
    coordinate is the unknown; the first takes -ratio times it, so no power is
    lost.  `effort` is the force on the rack and back on its guide, and its moment on the
    pinion and back on the bearing's body: the force between the teeth has no point of action
    here and is not in JOINT.force of the bearing; add it where that is designed.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "rack_pinion"

    between: tuple[str, str] = declare("coordinates", 'the two joints: "joints.NAME"', size=2)
    ratio: float = quantity("m/rad", "speed of the second per speed of the first")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A ratio of zero."""
        yield from ratio_faults(self.ratio)

    def expand(self, name: str, builder: Builder) -> None:
        couple(name, builder, self.between, self.ratio)
