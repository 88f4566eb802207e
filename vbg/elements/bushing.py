"""Bushing: a six-dimensional spring and damper between two bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare


@dataclass(frozen=True, slots=True)
class Bushing:
    """On the relative motion of the second point in the first one's axes, translation
    x, y, z first, then rotation x, y, z (rotation vector):
    effort on the second = -stiffness @ displacement - damping @ rate, a 6x6 C and R
    field in the place of constraint sources (elastic-damping hinge).
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "bushing"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    stiffness: tuple[tuple[float, ...], ...] = declare(
        "matrix", "6x6, or its diagonal: N/m three times, N*m/rad three times", size=6
    )
    damping: tuple[tuple[float, ...], ...] | None = declare(
        "matrix", "6x6, or its diagonal; default: none", size=6, default=None
    )
