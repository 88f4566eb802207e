"""A table of time and value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import declare

Rows = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """value(t) between rows [t, value]: held from each row on (`previous`), on straight lines
    (`linear`) or on the cubic spline with natural ends (`cubic`); the first and last values
    continue outside.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "table"

    rows: Rows = declare(
        "table", "rows [time in s, value], times growing", columns=("s", ""), size=2
    )
    interpolation: str = declare(
        "choice",
        "between the rows",
        choices=("linear", "previous", "cubic"),
        default="linear",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Times that do not grow."""
        instants = [t for t, _ in self.rows]
        for before, after in pairwise(instants):
            if after <= before:
                yield "rows", f"the times must grow, found {before:g} before {after:g}.", ""

    def value(self, name: str, builder: Builder) -> Block:
        """c0 + sum over the knots of coefficients times max(0, t - t_i)^power."""
        if self.interpolation != "cubic" or len(self.rows) < 3:
            for instant, _ in self.rows:
                builder.breakpoint(instant)
        if self.interpolation == "previous":
            return self._held(builder)
        slopes = self._pieces()
        last = self.rows[-1][0]
        t = call("min", builder.time, const(last))
        result = const(self.rows[0][1])
        before = (0.0, 0.0, 0.0)
        for (knot, _), piece in zip(self.rows, slopes):
            beyond = call("max", const(0.0), t - const(knot))
            for power, (new, old) in enumerate(zip(piece, before), start=1):
                if new != old:
                    term = beyond
                    for _ in range(power - 1):
                        term = times(beyond, term)
                    result = result + (new - old) * term
            length = self._length(knot)
            b, c, d = piece
            before = (b + 2 * c * length + 3 * d * length**2, c + 3 * d * length, d)
        return result

    def _length(self, knot: float) -> float:
        """Distance of a knot to the next one."""
        instants = [t for t, _ in self.rows]
        at = instants.index(knot)
        return instants[at + 1] - knot

    def _held(self, builder: Builder) -> Block:
        result = const(self.rows[-1][1])
        for (_, before), (t, value) in pairwise(self.rows):
            result = result + (before - value) * call("positive", const(t) - builder.time)
        return result

    def _pieces(self) -> list[tuple[float, float, float]]:
        """Coefficients of (t - knot), its square and cube on each interval."""
        if len(self.rows) < 2:
            return []
        if self.interpolation == "cubic" and len(self.rows) > 2:
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(*zip(*self.rows), bc_type="natural").c
            return [tuple(spline[2::-1, i].tolist()) for i in range(spline.shape[1])]
        return [
            ((after - before) / (t1 - t0), 0.0, 0.0)
            for (t0, before), (t1, after) in pairwise(self.rows)
        ]

    def expand(self, name: str, builder: Builder) -> None:
        builder.define(name, self.value(name, builder))
