"""A sine in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import quantity


@dataclass(frozen=True, slots=True)
class Sine:
    """value(t) = offset + amplitude sin(frequency (t - start) + phase), from `start` on;
    before it the value at `start`.  A frequency in Hz is converted to rad/s when read.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "sine"

    amplitude: float = quantity("", "amplitude", default=1.0)
    frequency: float = quantity("rad/s", "angular frequency", above=0.0)
    phase: float = quantity("rad", "phase at the start", default=0.0)
    offset: float = quantity("", "mean value", default=0.0)
    start: float = quantity("s", "instant at which it begins", default=0.0)

    def value(self, name: str, builder: Builder) -> Block:
        elapsed = builder.time
        if self.start > 0.0:
            builder.breakpoint(self.start)
            elapsed = call("max", const(0.0), builder.time - const(self.start))
        angle = self.frequency * elapsed + const(self.phase)
        return const(self.offset) + times(const(self.amplitude), call("sin", angle))

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
