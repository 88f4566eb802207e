"""Distance joint: a massless rod between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare, quantity


@dataclass(frozen=True, slots=True)
class Distance:
    """|p_FM| = length; the constraint force acts along the rod, tension negative:
    its effort pushes the second point away from the first.
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "distance"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    length: float | None = quantity(
        "m", "length; default: the written distance", default=None, above=0.0
    )
