"""Values as HTML for notebooks: a table of signals, each with a line of its course.

In: names, columns and units.  Out: HTML text without scripts; everything written is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

WIDTH, HEIGHT = 120, 18  # of a line [px]
MOST_POINTS = 120
MOST_ROWS = 60


def signal_table(
    heading: str, time: np.ndarray, columns: Iterable[tuple[str, np.ndarray, str]]
) -> str:
    """A heading, and a row of each (name, values, unit): least, largest, last value, line."""
    rows = [_row(name, values, unit) for name, values, unit in columns]
    more = f"<p>{len(rows) - MOST_ROWS} more signals.</p>" if len(rows) > MOST_ROWS else ""
    titles = "".join(f"<th>{t}</th>" for t in ("signal", "min", "max", "final", "unit", "course"))
    span = f"0 to {time[-1]:.6g} s, {len(time)} rows" if len(time) else "no rows"
    return (
        f"<p><b>{escape(heading)}</b><br>{span}</p>"
        f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows[:MOST_ROWS])}</tbody></table>"
        f"{more}"
    )


def text_table(heading: str, titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A heading and rows of text; at most MOST_ROWS of them, the others counted."""
    written = [tuple(row) for row in rows]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in written[:MOST_ROWS]
    )
    more = f"<p>{len(written) - MOST_ROWS} more.</p>" if len(written) > MOST_ROWS else ""
    return (
        f"<p><b>{escape(heading)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _row(name: str, values: np.ndarray, unit: str) -> str:
    finite = values[np.isfinite(values)]
    numbers = (finite.min(), finite.max(), values[-1]) if len(finite) else (np.nan,) * 3
    cells = "".join(f"<td>{x:.5g}</td>" for x in numbers)
    return f"<tr><td>{escape(name)}</td>{cells}<td>{escape(unit)}</td><td>{_line(values)}</td></tr>"


def _line(values: np.ndarray) -> str:
    """An SVG line through the values; interrupted where there is none."""
    if len(values) == 0:
        return ""
    picked = values[np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).astype(int)]
    finite = np.isfinite(picked)
    low, high = (picked[finite].min(), picked[finite].max()) if finite.any() else (0.0, 1.0)
    span = high - low or 1.0
    x = np.linspace(1.0, WIDTH - 1.0, len(picked))
    y = HEIGHT - 1.0 - (picked - low) / span * (HEIGHT - 2.0)
    path, pen = [], "M"
    for at, height in zip(x, y, strict=True):
        if np.isfinite(height):
            path.append(f"{pen}{at:.1f} {height:.1f}")
            pen = "L"
        else:
            pen = "M"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}"><path d="{"".join(path)}" fill="none" '
        'stroke="currentColor"/></svg>'
    )
