"""A characteristic z = f(x, y)."""

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
    chosen_patch,
    kinks,
    pieces,
    slopes,
)
from vbg.fields import declare

Array = NDArray[np.float64]
GRID = ("x_values", "y_values", "rows")


@dataclass(frozen=True, slots=True)
class Surface:
    """value = f(x, y) on a grid: straight along x and along y between its lines (`linear`, that is
    bilinear), the bicubic spline with natural ends (`cubic`: curvature continuous, may overshoot),
    or bicubic patches that are monotone along each line of the grid where the values there are
    (`monotone`; slopes of F. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5, 1984; between the
    lines a saddle of steep values may still overshoot).  On a patch

        f = sum of c_kl (x - x_i)^k (y - y_j)^l,   k, l = 0 ... 3 (linear: 0, 1),

    with the values, both slopes and the mixed slope of its four corners: f and its slopes are
    continuous.

    `rows`: one for each x of `x_values`, with a value for each y of `y_values`; or `points`
    [x, y, value], one for each crossing in any order, as columns of a CSV file have them.  Outside
    of the grid: `hold` the values at its edge, `extend` by the slopes there.  For maps: torque of
    an engine by speed and throttle, loss of a pump by pressure and speed.
    """

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "surface"

    x: float | str = declare("signal", "first input", unit="")
    y: float | str = declare("signal", "second input", unit="")
    x_values: tuple[float, ...] | None = declare(
        "vector", "lines of the grid, growing", unit="", size=0, default=None
    )
    y_values: tuple[float, ...] | None = declare(
        "vector", "lines of the grid, growing", unit="", size=0, default=None
    )
    rows: tuple[tuple[float, ...], ...] | None = declare(
        "table", "values, one row for each x", unit="", size=0, default=None
    )
    points: tuple[tuple[float, float, float], ...] | None = declare(
        "samples",
        "instead of these three: rows [x, y, value], one for each crossing; or "
        '{ file = "a.csv", columns = ["x", "y", "z"] }',
        size=3,
        default=None,
    )
    interpolation: str = declare(
        "choice", "between the lines", choices=INTERPOLATIONS, default="linear"
    )
    outside: str = declare("choice", "beyond the grid", choices=OUTSIDE, default="hold")

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A grid that is not given once; lines that do not grow; values that are not one for each
        crossing."""
        given = [key for key in GRID if getattr(self, key) is not None]
        if self.points is not None:
            if given:
                remedy = f"Leave {given[0]} out, or points."
                yield given[0], "the grid is given by points, too.", remedy
            yield from _missing(self.points)
            return
        if len(given) < len(GRID):
            absent = next(key for key in GRID if key not in given)
            remedy = "Write x_values, y_values and rows, or points = [[x, y, value], ...]."
            yield "", f"the grid is not complete: {absent} is missing.", remedy
            return
        yield from self._uneven()

    def _uneven(self) -> Iterator[tuple[str, str, str]]:
        assert self.x_values is not None and self.y_values is not None and self.rows is not None
        for key, values in (("x_values", self.x_values), ("y_values", self.y_values)):
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

    def grid(self) -> tuple[Array, Array, Array]:
        """Lines x (m,) and y (n,), values (m, n)."""
        if self.points is None:
            return np.array(self.x_values), np.array(self.y_values), np.array(self.rows)
        points = np.array(sorted(self.points))
        x, y = np.unique(points[:, 0]), np.unique(points[:, 1])
        return x, y, points[:, 2].reshape(len(x), len(y))

    def patches(self) -> tuple[tuple[list[float], list[float]], Array]:
        """Where the patches begin along x and along y, and their coefficients [i, k, j, l] of
        dx^k dy^l; the first and last along each are those outside of the grid."""
        x, y, z = self.grid()
        zx, zy = slopes(x, z, self.interpolation), _across(y, z, self.interpolation)
        starts, along = pieces(x, z, zx, self.outside)
        if zx is None or zy is None:
            begins, whole = pieces(y, np.moveaxis(along, 2, 0), None, self.outside)
        else:
            one, other = _across(y, zx, self.interpolation), slopes(x, zy, self.interpolation)
            assert one is not None and other is not None
            mixed = 0.5 * (one + other)  # of a spline both are one
            _, turned = pieces(x, zy, mixed, self.outside)
            begins, whole = pieces(
                y, np.moveaxis(along, 2, 0), np.moveaxis(turned, 2, 0), self.outside
            )
        return (starts, begins), np.transpose(whole, (2, 3, 0, 1))

    def expand(self, name: str, builder: Builder) -> None:
        inputs = builder.signal(self.x), builder.signal(self.y)
        x, y, _ = self.grid()
        for axis, read, lines in zip("xy", inputs, (x, y), strict=True):
            for line in kinks(lines.tolist(), self.interpolation, self.outside):
                builder.event(f"{name}.{axis} at {line!r}", read - const(line), "")
        builder.define(name, chosen_patch(inputs, *self.patches()))


def _across(y: Array, z: Array, interpolation: str) -> Array | None:
    """Slopes of z (m, n) along its second axis."""
    found = slopes(y, z.T, interpolation)
    return None if found is None else found.T


def _missing(points: tuple[tuple[float, float, float], ...]) -> Iterator[tuple[str, str, str]]:
    """Crossings that have no point, or more than one."""
    met = [(x, y) for x, y, _ in points]
    xs, ys = sorted({x for x, _ in met}), sorted({y for _, y in met})
    if min(len(xs), len(ys)) < 2:
        lines = f"{len(xs)} of x and {len(ys)} of y"
        yield "points", f"a grid needs at least 2 lines each way, found {lines}.", ""
        return
    seen = set(met)
    twice = (
        next((one for one in seen if met.count(one) > 1), None) if len(seen) < len(met) else None
    )
    if twice is not None:
        yield "points", f"two points are at x = {twice[0]:g}, y = {twice[1]:g}.", "Keep one."
    absent = next(((x, y) for x in xs for y in ys if (x, y) not in seen), None)
    if absent is not None:
        yield (
            "points",
            f"{len(xs)} lines of x and {len(ys)} of y cross in {len(xs) * len(ys)} places, none of "
            f"the points is at x = {absent[0]:g}, y = {absent[1]:g}.",
            "Write a point for each crossing, its x and y with the same digits as in the others.",
        )
