"""A ramp in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const
from vbg.builder import Builder
from vbg.fields import quantity


@dataclass(frozen=True, slots=True)
class Ramp:
    """value(t) grows linearly from offset at `start` to offset + height at start +
    duration, constant before and after.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "ramp"

    height: float = quantity("", "height of the ramp", default=1.0)
    duration: float = quantity("s", "time from start to full height", above=0.0)
    start: float = quantity("s", "instant at which it begins", default=0.0)
    offset: float = quantity("", "value before", default=0.0)

    def value(self, name: str, builder: Builder) -> Block:
        builder.breakpoint(self.start)
        builder.breakpoint(self.start + self.duration)
        elapsed = call("max", const(0.0), builder.time - const(self.start))
        share = (1.0 / self.duration) * call("min", elapsed, const(self.duration))
        return const(self.offset) + self.height * share

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
