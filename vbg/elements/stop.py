"""Unilateral stop between two points: keeps them at a distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare, quantity


@dataclass(frozen=True, slots=True)
class ContactStop:
    """Where the distance of the two points is below `gap`: force pushing them apart
    k * (gap - distance) - c * rate of distance, never pulling.  An event marks each
    contact.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "stop"

    between: tuple[Attachment, Attachment] = declare("ends", "the two points")
    gap: float = quantity("m", "distance below which they touch", above=0.0)
    k: float = quantity("N/m", "contact stiffness", above=0.0)
    c: float = quantity("N*s/m", "contact damping", default=0.0, minimum=0.0)
