"""A step in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block
from vbg.builder import Builder
from vbg.elements.signals.pieces import held
from vbg.fields import quantity


@dataclass(frozen=True, slots=True)
class Step:
    """value(t) = offset for t < start, offset + height from `start` on; the integrator stops
    at `start` and goes on from there.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "step"

    height: float = quantity("", "height of the step", default=1.0)
    start: float = quantity("s", "instant of the step", default=0.0)
    offset: float = quantity("", "value before", default=0.0)

    def value(self, name: str, builder: Builder) -> Block:
        builder.breakpoint(self.start)
        steps = (self.start, self.offset), (self.start, self.offset + self.height)
        return held(builder.time, steps)

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
