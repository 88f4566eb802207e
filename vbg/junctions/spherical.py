"""Spherical joint: the two points coincide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare


@dataclass(frozen=True, slots=True)
class Spherical:
    """Three translations constrained, all rotations free."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "spherical"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
