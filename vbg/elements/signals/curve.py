"""A characteristic y = f(x)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import const
from vbg.builder import Builder
from vbg.elements.signals.pieces import (
    INTERPOLATIONS,
    OUTSIDE,
    chosen,
    kinks,
    pieces,
    slopes,
)
from vbg.fields import declare

Array = NDArray[np.float64]
Rows = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """value = f(input) through rows [x, y]: on straight lines (`linear`), on the cubic spline with
    natural ends (`cubic`: smooth, may overshoot), or on the piecewise cubic that is monotone
    where the rows are (`monotone`; F. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5, 1984).

    Outside of the rows: `hold` the first and last value, `extend` by the slopes there.  Rows are
    written here or come from two columns of a CSV file.  Name it where a law is asked for: a
    force or torque that follows a length, the torque of a motor that follows its speed.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "curve"

    input: float | str = declare("signal", "x: what is read", unit="")
    rows: Rows = declare(
        "samples", 'rows [x, y], x growing; or { file = "a.csv", columns = ["x", "y"] }', size=2
    )
    interpolation: str = declare(
        "choice",
        "between the rows",
        choices=INTERPOLATIONS,
        default="linear",
    )
    outside: str = declare(
        "choice",
        "before the first row and behind the last",
        choices=OUTSIDE,
        default="hold",
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Too few rows, or x that does not grow."""
        if len(self.rows) < 2:
            yield "rows", f"a curve needs at least 2 rows, found {len(self.rows)}.", ""
        for (before, _), (after, _) in pairwise(self.rows):
            if after <= before:
                yield "rows", f"x must grow, found {before:g} before {after:g}.", ""
                return

    def expand(self, name: str, builder: Builder) -> None:
        read = builder.signal(self.input)
        knots = [x for x, _ in self.rows]
        for knot in kinks(knots, self.interpolation, self.outside):
            builder.event(f"{name} at {knot!r}", read - const(knot), "")
        builder.define(name, chosen(read, *self.pieces()))

    def pieces(self) -> tuple[list[float], Array]:
        """Where each piece begins, and its coefficients (k, 4) from the constant on in x less
        that place; the first piece holds before the second one's begin, too."""
        x, y = np.array(self.rows).T
        return pieces(x, y, slopes(x, y, self.interpolation), self.outside)
