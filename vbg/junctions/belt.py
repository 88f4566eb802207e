"""A belt couples two joints: speed2 = ratio * speed1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.junctions.couple import couple, ratio_faults


@dataclass(frozen=True, slots=True)
class Belt:
    """One linear relation between the free coordinates of two joints:
    coordinate2 - start2 = ratio * (coordinate1 - start1).

    An open belt over radii r1 and r2 has ratio = r1/r2; a crossed one -r1/r2.  The
    effort on the second coordinate is the unknown; the first takes -ratio times it,
    so no power is lost.  `effort` is a pair of torques for each joint, on its second body and
    back on its first: the belt's pull on the shafts is not in JOINT.force of the bearings;
    add it where they are designed.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "belt"

    between: tuple[str, str] = declare("coordinates", 'the two joints: "joints.NAME"', size=2)
    ratio: float = quantity("1", "speed of the second per speed of the first")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A ratio of zero."""
        yield from ratio_faults(self.ratio)

    def expand(self, name: str, builder: Builder) -> None:
        couple(name, builder, self.between, self.ratio)
