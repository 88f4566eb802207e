"""A gear pair couples two joints: speed2 = ratio * speed1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.junctions.couple import couple, ratio_faults


@dataclass(frozen=True, slots=True)
class Gear:
    """One linear relation between the free coordinates of two joints:
    coordinate2 - start2 = ratio * (coordinate1 - start1).

    An external pair of wheels with z1 and z2 teeth on parallel axes has
    ratio = -z1/z2.  The effort on the second
    coordinate is the unknown; the first takes -ratio times it, so no power is
    lost.  `effort` is a pair of torques for each joint, on its second body and back on its
    first: the force between the teeth (effort / radius) has no point of action here and is
    not in JOINT.force of the bearings; add it where they are designed.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "gear"

    between: tuple[str, str] = declare("coordinates", 'the two joints: "joints.NAME"', size=2)
    ratio: float = quantity("1", "speed of the second per speed of the first")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A ratio of zero."""
        yield from ratio_faults(self.ratio)

    def expand(self, name: str, builder: Builder) -> None:
        couple(name, builder, self.between, self.ratio)
