"""The second point stays on a plane of the first body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import begin, constrain, in_plane, reaction


@dataclass(frozen=True, slots=True)
class PointOnPlane:
    """One translation, along the normal `axis`, is constrained."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "point_on_plane"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "normal of the plane, in the first one's axes", size=3
    )

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=False)
        reaction(pair, builder, constrain(pair, builder, in_plane(pair)))
