"""Sample and hold: what was read at the last multiple of a period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity


@dataclass(frozen=True, slots=True)
class SampleAndHold:
    """value = input at the last of the instants start, start + period, ...; `initial`
    before the first.  The integrator stops at each instant.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "sample_and_hold"

    input: float | str = declare("signal", "what is read", unit="")
    period: float = quantity("s", "from one sample to the next", above=0.0)
    start: float = quantity("s", "first sample", default=0.0, minimum=0.0)
    initial: float = quantity("", "value before the first sample", default=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        source = builder.signal(self.input)
        held = builder.sampled(
            f"{name}.held",
            lambda _: source,
            first=self.start,
            period=self.period,
            initial=const(self.initial),
        )
        builder.define(name, held)
