"""Flow source vertex Sf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import stack
from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.rawlaws import width_faults


@dataclass(frozen=True, slots=True)
class FlowSource:
    """The flow of its bond is a number, a signal or an expression of outputs."""

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "Sf"

    flow: tuple[float | str, ...] = declare("signals", "its flow, one for each component", unit="")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """More components than a bond can have."""
        yield from width_faults("flow", self.flow)

    def expand(self, name: str, builder: Builder) -> None:
        values = stack(*(builder.signal(value) for value in self.flow))
        builder.vertex(name, "Sf", values.rows, law=values)
