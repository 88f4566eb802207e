"""A table of time and value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from vbg.blocks import Block
from vbg.builder import Builder
from vbg.elements.signals.pieces import chosen, held
from vbg.fields import declare

Rows = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """value(t) between rows [t, value]: held from each row on (`previous`), on straight lines
    (`linear`) or on the cubic spline (`cubic`), whose ends are straight (`natural`) or at rest
    (`rest`: no speed at the first and last row, as a drive along points needs it); the first and
    last values continue outside.  Rows are written here or come from two columns of a CSV file.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "table"

    rows: Rows = declare(
        "samples",
        'rows [time in s, value], times growing; or { file = "a.csv", columns = ["t", "y"] }',
        columns=("s", ""),
        size=2,
    )
    interpolation: str = declare(
        "choice",
        "between the rows",
        choices=("linear", "previous", "cubic"),
        default="linear",
    )
    ends: str = declare(
        "choice",
        "of a cubic spline: straight, or without speed",
        choices=("natural", "rest"),
        default="natural",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """No rows, or times that do not grow."""
        instants = [t for t, _ in self.rows]
        if not instants:
            yield "rows", "a table needs at least one row.", ""
        for before, after in pairwise(instants):
            if after <= before:
                yield "rows", f"the times must grow, found {before:g} before {after:g}.", ""
        if self.ends != "natural" and not self._curved:
            yield "ends", "only a cubic spline has ends.", 'Write interpolation = "cubic".'

    @property
    def _curved(self) -> bool:
        return self.interpolation == "cubic" and len(self.rows) > 2 - (self.ends == "rest")

    def value(self, name: str, builder: Builder) -> Block:
        """The first value before the first row, the pieces between the rows, the last value."""
        # a spline is smooth at its rows but for its ends, where its speed jumps
        for instant, _ in (self.rows[0], self.rows[-1]) if self._curved else self.rows:
            builder.breakpoint(instant)
        if self.interpolation == "previous":
            return held(builder.time, self.rows)
        instants, values = zip(*self.rows)
        rest = [(value, 0.0, 0.0, 0.0) for value in (values[0], values[-1])]
        inside = [(y, *piece) for y, piece in zip(values, self._pieces())]
        return chosen(builder.time, (instants[0], *instants), [rest[0], *inside, rest[1]])

    def _pieces(self) -> list[tuple[float, float, float]]:
        """Coefficients of (t - knot), its square and cube on each interval."""
        if len(self.rows) < 2:
            return []
        if self._curved:
            from scipy.interpolate import CubicSpline

            ends = "clamped" if self.ends == "rest" else "natural"
            spline = CubicSpline(*zip(*self.rows), bc_type=ends).c
            return [tuple(spline[2::-1, i].tolist()) for i in range(spline.shape[1])]
        return [
            ((after - before) / (t1 - t0), 0.0, 0.0)
            for (t0, before), (t1, after) in pairwise(self.rows)
        ]

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
