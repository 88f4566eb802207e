"""Spherical joint: the two points coincide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import begin, coincide, constrain, reaction


@dataclass(frozen=True, slots=True)
class Spherical:
    """Three translations constrained, all rotations free."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "spherical"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=True)
        reaction(pair, builder, constrain(pair, builder, coincide(pair)))
