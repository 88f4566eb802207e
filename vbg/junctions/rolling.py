"""A thin disc rolls without slip on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare, quantity


@dataclass(frozen=True, slots=True)
class Rolling:
    """The second body is a disc of `radius` with its centre at its joint point and
    its axis `axis2`; the first carries the plane through its joint point with normal
    `axis`, on the side the normal points to.  One holonomic row (the rim touches)
    and two non-holonomic rows (the touching point does not slip).
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "rolling"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "normal of the plane, in the first one's axes", size=3
    )
    axis2: tuple[float, float, float] = declare(
        "direction", "axis of the disc, in the second one's axes", size=3
    )
    radius: float = quantity("m", "radius of the disc", above=0.0)
