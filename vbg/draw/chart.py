"""Curves as PNG, SVG or PDF, one panel for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vbg.draw.series import Mark, Series, by_unit, require_few
from vbg.errors import UsageError, not_installed
from vbg.platform.files import replacing

FORMATS = (".png", ".svg", ".pdf")
# colours that stay apart for colour-blind readers (Okabe, Ito) and line styles that
# stay apart in print
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARK = "#444444"
PANEL, LINE = 2.4, 0.16  # inches: a panel, a line of its legend
STYLES = ("-", "--", ":", "-.")


def draw_curves(
    curves: Sequence[Series],
    path: str | Path,
    *,
    title: str = "",
    scale: str = "linear",
    marks: Sequence[Mark] = (),
) -> None:
    """Write the curves to `path`: units on the axes, a colour for each signal and a line
    style for each run.  `scale` is "linear" or "log" (of magnitudes).  All curves are over
    the same quantity.  `marks` are drawn beside them.

    Raises UsageError for another ending, too many curves, or without matplotlib.
    """
    path = Path(path)
    panels = by_unit(curves)
    require_few(len(curves), len(panels))
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: a plot's name must end in {', '.join(FORMATS)}.")
    try:
        import matplotlib
    except ImportError as error:
        otherwise = "Without -o the terminal shows the curves."
        raise not_installed("a plot in a file", "matplotlib", "draw", otherwise) from error
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "vbg", "font.size": 9}):
        # a legend higher than its panel would leave no room for the axes
        heights = [max(PANEL, LINE * (1 + len(group))) for _, group in panels]
        figure = Figure(figsize=(8.0, 1.2 + sum(heights)), layout="constrained")
        columns = figure.subplots(
            len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
        )
        all_axes = columns[:, 0]
        for axes, (unit, group) in zip(all_axes, panels, strict=True):
            _panel(axes, unit, group, scale)
            _marked(axes, unit, marks)
        all_axes[-1].set_xlabel(f"{curves[0].across} [{curves[0].across_unit or '1'}]")
        if title:
            figure.suptitle(title)
        without_date = {"Date": None} if path.suffix == ".svg" else {}
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=without_date)


def _panel(axes: Any, unit: str, group: Sequence[Series], scale: str) -> None:
    names = list(dict.fromkeys(curve.name for curve in group))
    runs = list(dict.fromkeys(curve.run for curve in group))
    for curve in group:
        values = abs(curve.values) if scale == "log" else curve.values
        label = curve.name if len(runs) == 1 else f"{curve.name}  ({curve.run})"
        axes.plot(
            curve.x,
            values,
            color=COLOURS[names.index(curve.name) % len(COLOURS)],
            linestyle=STYLES[runs.index(curve.run) % len(STYLES)],
            linewidth=1.2,
            label=label,
        )
    axes.set(xscale=group[0].scale, yscale=scale)
    only = f"{names[0]} " if len(names) == 1 else ""
    axes.set_ylabel(f"{only}[{unit or '1'}]")
    axes.grid(visible=True, linewidth=0.4, alpha=0.5)
    if unit == "deg" and group[0].scale == "log":
        from matplotlib.ticker import MaxNLocator

        axes.yaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 1.5, 3, 4.5, 9, 10]))
    if curve.across == "time" or curve.scale == "log":
        axes.margins(x=0.0)
    if len(group) > 1:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


def _marked(axes: Any, unit: str, marks: Sequence[Mark]) -> None:
    for mark in marks:
        if mark.x is None:
            if mark.unit == unit:
                axes.axhline(mark.level, color=MARK, linewidth=0.9, linestyle="--")
            continue
        axes.axvline(mark.x, color=MARK, linewidth=0.5, linestyle=":")
        if mark.unit == unit:
            ends = [mark.level, mark.value]
            axes.plot([mark.x, mark.x], ends, color=MARK, linewidth=1.6, marker=".", markersize=5)
            axes.annotate(
                mark.text,
                (mark.x, 0.5 * (mark.level + mark.value)),
                xytext=(5, 0),
                textcoords="offset points",
                fontsize=7,
                va="center",
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8},
            )
