"""Ball screw or rack: turning into sliding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class BallScrew:
    """sliding speed = lead * turning speed, the torque it takes from the shaft (shaft_torque) =
    lead times the force it gives to the slide (thrust); `lead` is the travel per radian (5 mm
    per turn: "5 mm/rev").
    """

    table: ClassVar[str] = "translational"
    kind: ClassVar[str] = "ball_screw"

    shaft: str = declare("coordinate", "rotational.NODE or a revolute joint", moves="angle")
    slide: str = declare("coordinate", "translational.NODE or a prismatic joint", moves="slide")
    lead: float = quantity("m/rad", "travel per radian")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A lead of zero."""
        if self.lead == 0.0:
            yield "lead", "a screw of lead 0 moves nothing.", "Write another lead than 0."

    def expand(self, name: str, builder: Builder) -> None:
        shaft, slide = (builder.coordinate(path)[0] for path in (self.shaft, self.slide))
        taken, given = builder.transformer(
            f"{name}.lead",
            shaft,
            slide,
            const(self.lead),
            toward="effort_side",
            inverse=const(1.0 / self.lead),
        )
        builder.output(f"{name}.shaft_torque", builder.effort(taken), "N*m")
        builder.output(f"{name}.thrust", builder.effort(given), "N")
