"""Rectangular pulses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import quantity


@dataclass(frozen=True, slots=True)
class Pulse:
    """value(t) = offset + height for the first `width` seconds of each `period` from
    `start` on, else offset.  At an edge it has the value after it; the integrator stops
    at every edge.  `duty` is width / period, `frequency` 2 pi / period.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "pulse"

    height: float = quantity("", "height of the pulses", default=1.0)
    period: float = quantity("s", "from one rising edge to the next", above=0.0)
    frequency: float | None = quantity(
        "rad/s", "of rising edges", above=0.0, default=None, instead_of="period"
    )
    width: float = quantity("s", "duration of a pulse", above=0.0)
    duty: float | None = quantity(
        "1", "part of a period that is high", above=0.0, below=1.0, default=None, instead_of="width"
    )
    start: float = quantity("s", "first rising edge", default=0.0)
    offset: float = quantity("", "value between pulses", default=0.0)

    def __post_init__(self) -> None:
        if self.frequency is not None:
            object.__setattr__(self, "period", 2.0 * math.pi / self.frequency)
        if self.duty is not None:
            object.__setattr__(self, "width", self.duty * self.period)

    def value(self, name: str, builder: Builder) -> Block:
        builder.breakpoint(self.start, self.period)
        builder.breakpoint(self.start + self.width, self.period)
        elapsed = builder.time - const(self.start)
        phase = elapsed - self.period * call("floor", (1.0 / self.period) * elapsed)
        begun = const(1.0) - call("positive", -elapsed)
        high = times(begun, call("positive", const(self.width) - phase))
        return const(self.offset) + self.height * high

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
