"""A canvas of dots, two by four in each character cell.

Curves are drawn as the envelope of all samples in each dot column, so that a
peak of a constraint force is never lost by leaving samples out, however many
there are.  Dots become braille, quadrant blocks or ASCII characters at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vbg.draw.text.marks import Dots
from vbg.draw.text.rows import Row, Rows, cell_width

# Unicode 15, block 2800: bit of each dot, rows from the top, left and right column.
_BRAILLE_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
# Quadrants by bits: upper left 1, upper right 2, lower left 4, lower right 8.
_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


@dataclass(frozen=True)
class Canvas:
    """Dots of a picture of `width` x `height` cells, drawn on and then read once.

    dots : (4 height, 2 width) bool;  ink : (height, width) number of the style
    of each cell;  labels : characters put over the dots, by (row, column).
    """

    width: int
    height: int
    dots: np.ndarray
    ink: np.ndarray
    labels: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def blank(cls, width: int, height: int) -> Canvas:
        """An empty canvas of at least one cell."""
        width, height = max(width, 1), max(height, 1)
        dots = np.zeros((4 * height, 2 * width), dtype=bool)
        return cls(width, height, dots, np.zeros((height, width), dtype=np.int8))

    def paint(self, rows: np.ndarray, columns: np.ndarray, ink: int) -> None:
        """Set the dots at integer (rows, columns) that lie on the canvas."""
        inside = (
            (rows >= 0) & (rows < 4 * self.height) & (columns >= 0) & (columns < 2 * self.width)
        )
        rows, columns = rows[inside], columns[inside]
        self.dots[rows, columns] = True
        self.ink[rows // 4, columns // 2] = ink

    def write(self, row: int, column: int, text: str, style: str) -> None:
        """Put `text` over the dots, from cell (row, column) to the right edge at most."""
        if not 0 <= row < self.height:
            return
        for character in text:
            size = cell_width(character)
            if column >= 0 and column + size <= self.width:
                self.labels[row, column] = (character, style)
                if size == 2:
                    self.labels[row, column + 1] = ("", style)
            column += size


def envelope(
    canvas: Canvas, x: np.ndarray, y: np.ndarray, ink: int, dash: tuple[int, int] = (1, 0)
) -> None:
    """Draw the curve through (x, y), given in dots, y downward, as its envelope.

    Each dot column is filled from the lowest to the highest value that the
    polyline takes in it.  Samples that are not finite interrupt the curve.
    `dash` is (drawn, left out) in dot columns.
    """
    if len(x) == 0:
        return
    last = 2 * canvas.width - 1
    low = np.full(last + 1, np.inf)
    high = np.full(last + 1, -np.inf)
    finite = np.isfinite(x) & np.isfinite(y)
    _widen(low, high, np.floor(x[finite]).astype(int), y[finite], y[finite])

    pair = finite[:-1] & finite[1:]
    x0, x1, y0, y1 = x[:-1][pair], x[1:][pair], y[:-1][pair], y[1:][pair]
    swap = x0 > x1
    x0, x1 = np.where(swap, x1, x0), np.where(swap, x0, x1)
    y0, y1 = np.where(swap, y1, y0), np.where(swap, y0, y1)
    first = np.clip(np.floor(x0), 0, last + 1).astype(int)
    final = np.clip(np.floor(x1), -1, last).astype(int)
    count = np.maximum(final - first + 1, 0)
    owner = np.repeat(np.arange(len(count)), count)
    column = first[owner] + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    span = np.where(x1 > x0, x1 - x0, 1.0)
    slope = ((y1 - y0) / span)[owner]
    entry = y0[owner] + slope * (np.maximum(column, x0[owner]) - x0[owner])
    leave = y0[owner] + slope * (np.minimum(column + 1, x1[owner]) - x0[owner])
    _widen(low, high, column, entry, leave)

    drawn, left_out = dash
    columns = np.arange(last + 1)
    keep = np.isfinite(low) & (columns % (drawn + left_out) < drawn)
    dot_rows = np.arange(4 * canvas.height)[:, None]
    filled = (dot_rows >= np.floor(low)) & (dot_rows <= np.floor(high)) & keep
    canvas.dots[filled] = True
    touched = filled.reshape(canvas.height, 4, canvas.width, 2).any(axis=(1, 3))
    canvas.ink[touched] = ink


def _widen(
    low: np.ndarray, high: np.ndarray, column: np.ndarray, a: np.ndarray, b: np.ndarray
) -> None:
    """Widen the range of each dot column by the values `a` and `b`."""
    inside = (column >= 0) & (column < len(low))
    column, a, b = column[inside], a[inside], b[inside]
    np.minimum.at(low, column, np.minimum(a, b))
    np.maximum.at(high, column, np.maximum(a, b))


def segments(canvas: Canvas, ends: np.ndarray, ink: int, dash: tuple[int, int] = (1, 0)) -> None:
    """Draw straight lines; ends : (n, 4) of x0, y0, x1, y1 in dots, y downward.

    `dash` is (drawn, left out) in dots along each line.  Lines that reach far
    beyond the canvas are cut to it first (Liang and Barsky).
    """
    ends = _clipped(np.asarray(ends, dtype=float).reshape(-1, 4), canvas)
    if len(ends) == 0:
        return
    run, rise = ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]
    steps = np.ceil(np.maximum(np.abs(run), np.abs(rise))).astype(int) + 1
    owner = np.repeat(np.arange(len(steps)), steps)
    index = np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)
    part = index / np.maximum(steps - 1, 1)[owner]
    keep = index % (dash[0] + dash[1]) < dash[0]
    x = np.floor(ends[owner, 0] + part * run[owner]).astype(int)
    y = np.floor(ends[owner, 1] + part * rise[owner]).astype(int)
    canvas.paint(y[keep], x[keep], ink)


def _clipped(ends: np.ndarray, canvas: Canvas) -> np.ndarray:
    """The parts of the lines inside the canvas; lines that are not finite vanish."""
    ends = ends[np.isfinite(ends).all(axis=1)]
    x0, y0, x1, y1 = ends.T if len(ends) else np.zeros((4, 0))
    dx, dy = x1 - x0, y1 - y0
    enter, leave = np.zeros(len(ends)), np.ones(len(ends))
    right, bottom = 2 * canvas.width - 1e-9, 4 * canvas.height - 1e-9
    alive = np.ones(len(ends), dtype=bool)
    for p, q in ((-dx, x0), (dx, right - x0), (-dy, y0), (dy, bottom - y0)):
        parallel = p == 0
        alive &= ~(parallel & (q < 0))
        ratio = np.divide(q, p, out=np.zeros_like(q), where=~parallel)
        enter = np.where(~parallel & (p < 0), np.maximum(enter, ratio), enter)
        leave = np.where(~parallel & (p > 0), np.minimum(leave, ratio), leave)
    alive &= enter <= leave
    out = np.stack([x0 + enter * dx, y0 + enter * dy, x0 + leave * dx, y0 + leave * dy], axis=1)
    return out[alive]


def characters(canvas: Canvas, dots: Dots) -> np.ndarray:
    """(height, width) of the characters that show the canvas's dots."""
    cell = canvas.dots.reshape(canvas.height, 4, canvas.width, 2).transpose(0, 2, 1, 3)
    if dots == "braille":
        code = (cell * _BRAILLE_BITS).sum(axis=(2, 3)).astype(np.uint32)
        return np.where(code == 0, " ", (code + 0x2800).view("U1"))
    quarter = cell.reshape(canvas.height, canvas.width, 2, 2, 2).any(axis=3)
    code = (quarter * np.array([[1, 2], [4, 8]])).sum(axis=(2, 3))
    if dots == "block":
        return np.array(list(_QUADRANTS))[code]
    return _ascii(cell)


def _ascii(cell: np.ndarray) -> np.ndarray:
    """One ASCII character for each cell of 4 x 2 dots, by which thirds are set."""
    top, bottom = cell[:, :, 0].any(axis=2), cell[:, :, 3].any(axis=2)
    middle = cell[:, :, 1:3].any(axis=(2, 3))
    falling = cell[:, :, 0, 0] & cell[:, :, 3, 1] & ~cell[:, :, 0, 1]
    rising = cell[:, :, 0, 1] & cell[:, :, 3, 0] & ~cell[:, :, 0, 0]
    conditions = [
        top & bottom & falling,
        top & bottom & rising,
        top & bottom,
        top & middle,
        middle & bottom,
        middle,
        top,
        bottom,
    ]
    return np.select(conditions, ["\\", "/", "|", "'", ",", "-", "'", "."], default=" ")


def rows_of(canvas: Canvas, dots: Dots, styles: tuple[str, ...]) -> Rows:
    """The canvas as rows of text; `styles` names the style of each ink number."""
    shown = characters(canvas, dots)
    lines = [
        [(str(c), styles[i]) for c, i in zip(shown[r], canvas.ink[r], strict=True)]
        for r in range(canvas.height)
    ]
    for (row, column), label in canvas.labels.items():
        lines[row][column] = label
    return tuple(merge(line) for line in lines)


def merge(line: list[tuple[str, str]]) -> Row:
    """Neighbouring spans of one style joined; blanks take any style."""
    out: list[list[str]] = []
    for text, style in line:
        if out and (out[-1][1] == style or (text == " " and style not in ("cursor", "bar"))):
            out[-1][0] += text
        else:
            out.append([text, style])
    return tuple((text, style) for text, style in out)
