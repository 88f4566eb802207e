"""A verdict as one HTML page with curves; it needs nothing but a browser."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np

from vbg.solution import Solution
from vbg.validate.both import Report
from vbg.validate.comparison.values import Channel
from vbg.validate.report import COLUMNS, cells, ordered, summary

Array = np.ndarray[Any, Any]
CURVES = 12  # channels that are drawn, worst first
POINTS = 400  # of a curve at most: as many as a page shows
WIDTH, HEIGHT, MARGIN = 640, 180, 56
_COLOURS = {"PASS": "#1a7f37", "FAIL": "#cf222e", "INCONCLUSIVE": "#9a6700"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: 13px } td, th { padding: 2px 10px; text-align: left }
tr:nth-child(even) { background: #f6f8fa } svg { width: 100%; height: auto }
text { font-size: 11px; fill: #57606a } .first { stroke: #0969da } .second { stroke: #bc4c00 }
.gap { stroke: #cf222e } polyline { fill: none; stroke-width: 1.5 }
.second { stroke-dasharray: 5 3 }
"""


def as_html(report: Report) -> str:
    """The verdict, the curves of the worst channels by both solvers, and all channels."""
    v = report.verdict
    head, *rest = summary(report)
    colour = _COLOURS[v.result]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>Validation of {html.escape(v.model)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>Validation of {html.escape(v.model)}</h1>",
        f"<p style='color:{colour}'><strong>{html.escape(head)}</strong></p><ul>",
        *(f"<li>{html.escape(line)}</li>" for line in rest),
        f"</ul><p>model hash {html.escape(v.model_hash)}</p>",
        *_figures(report),
        _table(ordered(v)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _figures(report: Report) -> list[str]:
    """Curves of the worst channels that count."""
    if report.evidence is None:
        return []
    first, second = report.evidence.first, report.evidence.second
    drawn = [
        c
        for c in ordered(report.verdict)
        if c.result not in ("VACUOUS", "NOT UNIQUE") and c.name in first and c.name in second
    ][:CURVES]
    return [_figure(c, first, second) for c in drawn]


def _figure(channel: Channel, first: Solution, second: Solution) -> str:
    """One channel: both solvers and, beneath, their difference."""
    a, b = first[channel.name], second[channel.name]
    gap = np.interp(second.time, first.time, a) - b
    title = f"{channel.name} [{channel.unit}], {channel.result}: largest difference"
    title += f" {channel.max_error:.3g} at t = {channel.worst_time:.6g} s"
    above = _panel([("first", first.time, a), ("second", second.time, b)])
    below = _panel([("gap", second.time, gap)])
    legend = "bond graph solid, transfer matrices dashed; beneath, the difference"
    return f"<h2>{html.escape(title)}</h2>{above}{below}<p>{legend}</p>"


def _panel(curves: list[tuple[str, Array, Array]]) -> str:
    """Curves over time in one frame with its extremes."""
    values = np.concatenate([y[np.isfinite(y)] for _, _, y in curves])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    begin = min(float(t[0]) for _, t, _ in curves)
    end = max(float(t[-1]) for _, t, _ in curves)
    span, range_ = (end - begin) or 1.0, (high - low) or 1.0
    lines = []
    for style, time, y in curves:
        every = max(math.ceil(len(time) / POINTS), 1)
        x = MARGIN + (WIDTH - MARGIN) * (time[::every] - begin) / span
        h = 10 + (HEIGHT - 30) * (high - y[::every]) / range_
        points = " ".join(f"{p:.1f},{q:.1f}" for p, q in zip(x, h, strict=True) if math.isfinite(q))
        lines.append(f"<polyline class='{style}' points='{points}'/>")
    marks = (
        (2, 14, f"{high:.3g}"),
        (2, HEIGHT - 20, f"{low:.3g}"),
        (MARGIN, HEIGHT - 4, f"{begin:.4g} s"),
        (WIDTH - 50, HEIGHT - 4, f"{end:.4g} s"),
    )
    texts = "".join(f"<text x='{x}' y='{y}'>{word}</text>" for x, y, word in marks)
    return f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>{''.join(lines)}{texts}</svg>"


def _table(channels: list[Channel]) -> str:
    """All channels, one a row."""
    rows = ["".join(f"<th>{name}</th>" for name in COLUMNS)]
    rows += ["".join(f"<td>{html.escape(cell)}</td>" for cell in cells(c)) for c in channels]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
