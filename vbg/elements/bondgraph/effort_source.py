"""Effort source vertex Se."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import stack
from vbg.builder import Builder
from vbg.fields import declare


@dataclass(frozen=True, slots=True)
class EffortSource:
    """The effort of its bond is a number, a signal or an expression of outputs."""

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "Se"

    effort: tuple[float | str, ...] = declare(
        "signals", "its effort, one for each component", unit=""
    )

    def expand(self, name: str, builder: Builder) -> None:
        values = stack(*(builder.signal(value) for value in self.effort))
        builder.vertex(name, "Se", values.rows, law=values)
