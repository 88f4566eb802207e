"""A sine whose frequency grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import quantity


@dataclass(frozen=True, slots=True)
class Chirp:
    """value(t) = offset + amplitude sin(f0 t + (f1 - f0) t^2 / (2 duration)): the angular
    frequency grows linearly from f0 to f1 at `duration` and stays there.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "chirp"

    amplitude: float = quantity("", "amplitude", default=1.0)
    first: float = quantity("rad/s", "angular frequency at t = 0", minimum=0.0)
    last: float = quantity("rad/s", "angular frequency from `duration` on", above=0.0)
    duration: float = quantity("s", "time of the sweep", above=0.0)
    offset: float = quantity("", "mean value", default=0.0)

    def value(self, name: str, builder: Builder) -> Block:
        builder.breakpoint(self.duration)
        t = builder.time
        inside = call("min", t, const(self.duration))
        slope = (self.last - self.first) / self.duration
        beyond = self.last * (t - inside)
        angle = self.first * inside + 0.5 * slope * times(inside, inside) + beyond
        return const(self.offset) + times(const(self.amplitude), call("sin", angle))

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
