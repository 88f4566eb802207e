"""Tables and figures as plain text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO

from vbg.errors import counted
from vbg.platform.text import escaped

count = counted


def table(rows: Sequence[Sequence[str]], align: str, indent: str = "") -> str:
    """Columns of text; `align` has one of "<" (left) or ">" (right) per column.
    The first row is the head.  Control characters, as files of strangers have them, are escaped."""
    rows = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(align))]
    lines = (
        indent + "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def figure(value: float | None, digits: int = 5) -> str:
    """A number in `digits` significant digits; None, which stands for NaN in JSON, as nan."""
    return "nan" if value is None else f"{value + 0.0:.{digits}g}"


def bar(fraction: float, width: int = 30) -> str:
    """A progress bar."""
    done = round(min(max(fraction, 0.0), 1.0) * width)
    return "[" + "#" * done + "." * (width - done) + "]"


def duration(seconds: float) -> str:
    """A time span as one reads it: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def takes_colour(stream: IO[str]) -> bool:
    """Whether `stream` is a terminal whose user has not said otherwise (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
