"""Curves over a common axis, with ticks, two value axes, cursor and levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vbg.draw.text import axes
from vbg.draw.text.braille import Canvas, envelope, rows_of, segments
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, cells, clip, fit

Pattern = Literal["solid", "dashed", "dotted"]
DASHES: dict[Pattern, tuple[int, int]] = {"solid": (1, 0), "dashed": (4, 3), "dotted": (1, 3)}
INKS = ("", "ink1", "ink2", "ink3", "ink4", "ink5", "ink6", "dim")
_DIM = len(INKS) - 1


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve: x and y (n,), both in SI; `axis` 0 is the left, 1 the right one.

    `ink` is 1 ... 6; `pattern` and a `letter` on the curve tell curves apart where there
    is no colour.
    """

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    ink: int = 1
    pattern: Pattern = "solid"
    axis: int = 0
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """A closed range of one axis."""

    low: float
    high: float


@dataclass(frozen=True)
class Frame:
    """How a plot is shown.

    window : range of x, or None for all;  unit : units of the left and the
    right axis;  cursor : value of x marked by a vertical line, or None;
    level : value of y marked by a horizontal line;  log : logarithm of y;
    log_x : logarithm of x;  path : curves are paths in the plane, not functions
    of x;  spots : points (x, y, axis) that are marked.
    """

    window: Range | None = None
    unit: tuple[str, str] = ("", "")
    x_unit: str = "s"
    cursor: float | None = None
    level: float | None = None
    log: bool = False
    log_x: bool = False
    path: bool = False
    spots: tuple[tuple[float, float, int], ...] = ()


def span(curves: tuple[Curve, ...]) -> Range:
    """The range of all finite x."""
    lows, highs = [], []
    for curve in curves:
        x = curve.x[np.isfinite(curve.x)]
        if len(x):
            lows.append(float(x.min()))
            highs.append(float(x.max()))
    if not lows:
        return Range(0.0, 1.0)
    low, high = min(lows), max(highs)
    return Range(low, high) if high > low else Range(low - 0.5, high + 0.5)


def value_range(curves: tuple[Curve, ...], window: Range, level: float | None = None) -> Range:
    """The range of the finite y inside `window`, a little wider; never empty."""
    lows = [] if level is None else [level]
    highs = list(lows)
    for curve in curves:
        y = curve.y[np.isfinite(curve.y) & (curve.x >= window.low) & (curve.x <= window.high)]
        if len(y):
            lows.append(float(y.min()))
            highs.append(float(y.max()))
    if not lows:
        return Range(0.0, 1.0)
    low, high = min(lows), max(highs)
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        pad = abs(low) * 0.1 or 1.0
        return Range(low - pad, high + pad)
    pad = 0.04 * (high - low)
    return Range(low - pad, high + pad)


def logarithm(curve: Curve) -> Curve:
    """`curve` with log10 |y|; zeros interrupt it."""
    size = np.abs(curve.y)
    y = np.log10(size, out=np.full(len(size), np.nan), where=size > 0)
    return replace(curve, y=y)


def plot(curves: tuple[Curve, ...], width: int, height: int, frame: Frame, marks: Marks) -> Rows:
    """`curves` in `width` x `height` cells, axes included.

    The last row carries the labels of x; the gutters at the left and, with
    curves on axis 1, at the right carry those of y.
    """
    if width < 12 or height < 3:
        return tuple(
            fit(((clip("too small to plot", width), "dim"),), width) for _ in range(height)
        )
    level = frame.level
    if frame.log:
        curves = tuple(logarithm(curve) for curve in curves)
        level = math.log10(level) if level else None
    if frame.log_x:
        curves = tuple(replace(curve, x=np.log10(curve.x)) for curve in curves)
    window = frame.window or span(curves)
    if frame.path:
        margin = 0.02 * (window.high - window.low)
        window = Range(window.low - margin, window.high + margin)
    sides = [tuple(c for c in curves if c.axis == side) for side in (0, 1)]
    ranges = [value_range(sides[0], window, level), value_range(sides[1], window)]
    gutters = [_gutter(ranges[s], height - 1, log=frame.log and s == 0) for s in (0, 1)]
    left = max((cells(text) for text in gutters[0].values()), default=1)
    right = max((cells(text) for text in gutters[1].values()), default=0) if sides[1] else 0
    inner = max(width - left - 1 - (right + 1 if sides[1] else 0), 4)

    canvas = Canvas.blank(inner, height - 1)
    _grid(canvas, frame, window, ranges[0], level, marks)
    for curve in curves:
        x = (curve.x - window.low) / (window.high - window.low) * (2 * inner - 1)
        y = _dot_rows(curve.y, ranges[curve.axis], height - 1)
        if frame.path:
            segments(canvas, _dashed(x, y, DASHES[curve.pattern]), curve.ink)
        else:
            envelope(canvas, x, y, curve.ink, DASHES[curve.pattern])
    for number, curve in enumerate(curves):
        _letter(canvas, curve, (number, len(curves)), window, ranges[curve.axis])
    for spot in frame.spots:
        _spot(canvas, spot, window, ranges[spot[2]], marks)
    body = rows_of(canvas, marks.dots, INKS)
    rows: list[Row] = []
    for r, row in enumerate(body):
        text = gutters[0].get(r, "")
        tick = marks.tick_left if text else marks.down
        line: Row = ((text.rjust(left) + tick, "dim"), *fit(row, inner))
        if sides[1]:
            text = gutters[1].get(r, "")
            line = (*line, ((marks.tick_right if text else marks.down) + text.ljust(right), "dim"))
        rows.append(line)
    rows.append(fit(((" " * (left + 1), ""), *_x_labels(window, inner, frame)), width))
    return tuple(rows)


def _dashed(x: np.ndarray, y: np.ndarray, dash: tuple[int, int]) -> np.ndarray:
    """The pieces (n, 4) of the path through (x, y), in dots, that are drawn; `dash` is
    (drawn, left out) in dots along the path."""
    pieces = np.stack([x[:-1], y[:-1], x[1:], y[1:]], axis=1)
    length = np.hypot(np.diff(x), np.diff(y))
    along = np.cumsum(np.where(np.isfinite(length), length, 0.0))
    return pieces[along % sum(dash) < dash[0]]


def _letter(
    canvas: Canvas, curve: Curve, turn: tuple[int, int], window: Range, limits: Range
) -> None:
    """The curve's letter on it, twice, each curve's at columns of its own."""
    number, count = turn
    finite = np.flatnonzero(
        np.isfinite(curve.y) & (curve.x >= window.low) & (curve.x <= window.high)
    )
    if not curve.letter or not len(finite):
        return
    for part in (0.25, 0.75):
        x = window.low + (part + (number + 0.5 - count / 2) * 0.4 / count) * (
            window.high - window.low
        )
        at = finite[int(np.argmin(np.abs(curve.x[finite] - x)))]
        column = (curve.x[at] - window.low) / (window.high - window.low) * (canvas.width - 1)
        row = _cell_row(float(curve.y[at]), limits, canvas.height)
        canvas.write(row, int(column), curve.letter, INKS[curve.ink])


def _spot(
    canvas: Canvas, spot: tuple[float, float, int], window: Range, limits: Range, marks: Marks
) -> None:
    """A mark at a point, if it is in sight."""
    x, y, _ = spot
    if not math.isfinite(x + y) or not window.low <= x <= window.high:
        return
    column = (x - window.low) / (window.high - window.low) * (2 * canvas.width - 1)
    canvas.write(_cell_row(y, limits, canvas.height), int(column // 2), marks.knob, "focus")


def _dot_rows(y: np.ndarray, limits: Range, height: int) -> np.ndarray:
    """Values of y as dot rows of a canvas of `height` cells, downward."""
    return (limits.high - y) / (limits.high - limits.low) * (4 * height - 1)


def _cell_row(y: float, limits: Range, height: int) -> int:
    """The cell row of the value y."""
    return int(float(_dot_rows(np.array(y), limits, height)) // 4)


def _gutter(limits: Range, height: int, *, log: bool) -> dict[int, str]:
    """Labels of a value axis by cell row."""
    wanted = max(2, height // 3)
    if log:
        values = axes.decades(limits.low, limits.high, wanted)
        labels = tuple(f"1e{int(v)}" for v in values)
    else:
        values = axes.ticks(limits.low, limits.high, wanted)
        labels = axes.tick_labels(values)
    return {_cell_row(v, limits, height): text for v, text in zip(values, labels, strict=True)}


def _grid(
    canvas: Canvas, frame: Frame, window: Range, limits: Range, level: float | None, marks: Marks
) -> None:
    """The zero line, the level and the cursor, behind the curves."""
    if not frame.log and limits.low < 0.0 < limits.high:
        y = np.full(2, float(_dot_rows(np.array(0.0), limits, canvas.height)))
        envelope(canvas, np.array([0.0, 2.0 * canvas.width]), y, _DIM, (1, 1))
    if level is not None:
        row = _cell_row(level, limits, canvas.height)
        canvas.write(row, 0, marks.dashed * canvas.width, "dim")
    if frame.cursor is not None and window.low <= frame.cursor <= window.high:
        column = (frame.cursor - window.low) / (window.high - window.low) * (2 * canvas.width - 1)
        for row in range(canvas.height):
            canvas.write(row, int(column // 2), marks.dashed_down, "focus")


def _x_labels(window: Range, inner: int, frame: Frame) -> Row:
    """The row of labels under the plot, each starting or centred at its tick."""
    wanted, unit = max(2, inner // 14), frame.x_unit
    values = axes.ticks(window.low, window.high, wanted)
    labels = axes.tick_labels(values)
    if frame.log_x:
        values, labels = axes.powers(window.low, window.high, wanted)
    line = [" "] * inner
    free = 0
    for value, text in zip(values, labels, strict=True):
        column = int((value - window.low) / (window.high - window.low) * (inner - 1))
        start = min(max(column - len(text) // 2, 0), inner - len(text))
        if start >= free:
            line[start : start + len(text)] = text
            free = start + len(text) + 1
    if unit and free + len(unit) <= inner:
        line[free : free + len(unit)] = unit
    return (("".join(line), "dim"),)
