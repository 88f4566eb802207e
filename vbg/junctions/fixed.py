"""Fixed joint: the two bodies move as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.fields import Attachment, declare


@dataclass(frozen=True, slots=True)
class Fixed:
    """All three translations and all three rotations are constrained."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "fixed"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
