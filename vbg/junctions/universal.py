"""Universal joint (Cardan): two free rotations about crossing axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import cross, dot, transpose
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import Rows, begin, coincide, constrain, reaction, two_angles
from vbg.junctions.start import TwoAngleStart


@dataclass(frozen=True, slots=True)
class Universal:
    """Three translations constrained and one rotation: the first axis, fixed in the
    first body, stays perpendicular to the second, fixed in the second body.
    `angle` about `axis` comes first, `angle2` about `axis2` second.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "universal"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "first axis, in the first one's axes", size=3
    )
    axis2: tuple[float, float, float] = declare(
        "direction", "second axis, in the second one's axes", size=3, end=1
    )
    initial: TwoAngleStart = declare(
        "group", "start of the free coordinate", of=TwoAngleStart, default=TwoAngleStart()
    )

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=True)
        z_M = pair.axis_of_second(2)
        # d/dt (z_F . z_M) = (z_M x z_F) . (w_A - w_B) = (z_F x z_M) . (w_A - w_B) * -1
        square = Rows(None, transpose(cross(z_M, pair.z_F)), dot(pair.z_F, z_M), ("torque normal",))
        wrench = constrain(pair, builder, coincide(pair), square)
        two_angles(pair, builder, self.initial)
        reaction(pair, builder, wrench)
