"""A characteristic z = f(x, y)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.fields import declare


@dataclass(frozen=True, slots=True)
class Surface:
    """value = f(x, y) on a grid, linear along x and along y between its lines (bilinear).

    `rows`: one for each x of `x_values`, with a value for each y of `y_values`.  Outside of the
    grid the values at its edge are held.  For maps: torque of an engine by speed and throttle,
    loss of a pump by pressure and speed.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "surface"

    x: float | str = declare("signal", "first input", unit="")
    y: float | str = declare("signal", "second input", unit="")
    x_values: tuple[float, ...] = declare("vector", "lines of the grid, growing", unit="", size=0)
    y_values: tuple[float, ...] = declare("vector", "lines of the grid, growing", unit="", size=0)
    rows: tuple[tuple[float, ...], ...] = declare(
        "table", "values, one row for each x", unit="", size=0
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Lines that do not grow, and values that are not one for each crossing."""
        for key in ("x_values", "y_values"):
            values = getattr(self, key)
            if len(values) < 2:
                yield key, f"a grid needs at least 2 lines each way, found {len(values)}.", ""
            for before, after in pairwise(values):
                if after <= before:
                    yield key, f"values must grow, found {before:g} before {after:g}.", ""
                    break
        wanted = (len(self.x_values), len(self.y_values))
        found = (len(self.rows), *sorted({len(row) for row in self.rows}))
        if found != wanted:
            yield (
                "rows",
                f"there are {wanted[0]} x_values and {wanted[1]} y_values: {wanted[0]} rows of "
                f"{wanted[1]} are needed, found {found[0]} of {', '.join(map(str, found[1:]))}.",
                "Write a row for each of x_values, in it a number for each of y_values.",
            )

    def expand(self, name: str, builder: Builder) -> None:
        x, y = builder.signal(self.x), builder.signal(self.y)
        for axis, read, lines in (("x", x, self.x_values), ("y", y, self.y_values)):
            for line in lines:
                builder.event(f"{name}.{axis} at {line:g}", read - const(line), "")
        along = [_line(y, self.y_values, [const(v) for v in row]) for row in self.rows]
        builder.define(name, _line(x, self.x_values, along))


def _line(x: Block, lines: tuple[float, ...], values: list[Block]) -> Block:
    """Straight between the values at the lines, held outside: v0 + sum of what each interval
    adds, (v' - v) clamp((x - a)/(b - a))."""
    result = values[0]
    for (a, b), (before, after) in zip(pairwise(lines), pairwise(values), strict=True):
        part = (1.0 / (b - a)) * (x - const(a))
        inside = call("max", const(0.0), call("min", part, const(1.0)))
        result = result + times(inside, after - before)
    return result
