"""Gyrator vertex GY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare
from vbg.physics.rawlaws import Matrix, inverse_of, width_faults


@dataclass(frozen=True, slots=True)
class Gyrator:
    """effort_out = ratio flow_in, effort_in = ratio^T flow_out;
    one bond runs into it, one out of it.
    """

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "GY"

    ratio: float | str | None = declare(
        "signal", "number, signal or expression (then modulated)", unit="", default=None
    )
    matrix: Matrix | None = declare("table", "ratio matrix, rows", unit="", size=0, default=None)

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Not exactly one ratio, or more components than a bond can have."""
        if (self.ratio is None) == (self.matrix is None):
            yield "", "needs either ratio or matrix.", ""
        yield from width_faults("matrix", None, self.matrix)

    def expand(self, name: str, builder: Builder) -> None:
        law = const(self.matrix) if self.matrix is not None else builder.signal(self.ratio or 0.0)
        builder.vertex(name, "GY", law.rows, law=law, inverse=inverse_of(law))
