"""Universal joint (Cardan): two free rotations about crossing axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare
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
        "direction", "second axis, in the second one's axes", size=3
    )
    initial: TwoAngleStart = declare(
        "group", "start of the free coordinate", of=TwoAngleStart, default=TwoAngleStart()
    )
