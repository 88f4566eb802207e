"""Effort source vertex Se."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import stack
from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.rawlaws import width_faults


@dataclass(frozen=True, slots=True)
class EffortSource:
    """The effort of its bond is a number, a signal or an expression of outputs."""

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "Se"

    effort: tuple[float | str, ...] = declare(
        "signals", "its effort, one for each component", unit=""
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """More components than a bond can have."""
        yield from width_faults("effort", self.effort)

    def expand(self, name: str, builder: Builder) -> None:
        values = stack(*(builder.signal(value) for value in self.effort))
        builder.vertex(name, "Se", values.rows, law=values)
