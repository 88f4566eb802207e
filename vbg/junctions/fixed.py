"""Fixed joint: the two bodies move as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.junctions.constrain import begin, coincide, constrain, no_rotation, reaction
from vbg.junctions.latch import engages, latch_faults, releases, starts


@dataclass(frozen=True, slots=True)
class Fixed:
    """All three translations and all three rotations are constrained."""

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "fixed"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    release: float | str | None = releases()
    engage: float | str | None = engages()
    open: bool | None = starts()

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What contradicts itself in how it opens."""
        return latch_faults(self)

    def expand(self, name: str, builder: Builder) -> None:
        pair = begin(name, builder, points_coincide=True, latch=self)
        reaction(pair, builder, constrain(pair, builder, coincide(pair), no_rotation(pair)))
