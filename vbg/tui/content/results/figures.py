"""Curves as files, drawn by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vbg.errors import UsageError
from vbg.platform.files import replacing
from vbg.tui.content.results import plotting

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.workspace import PlotState


def write_curves(solution: Solution, other: Solution | None, plot: PlotState, path: Path) -> None:
    """The signals and the window of `plot`, one picture for each unit; `other` dashed behind.

    Raises UsageError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("curves as SVG or PNG need matplotlib: pip install matplotlib.") from None
    known = {signal.name: signal.unit for signal in plotting.signals(solution)}
    names = [name for name in plot.signals if name in known]
    units = list(dict.fromkeys(known[name] for name in names))
    figure = Figure(figsize=(9, 2.6 * max(len(units), 1)), layout="constrained")
    all_axes = np.atleast_1d(figure.subplots(max(len(units), 1), 1, sharex=True))
    over = plot.x if plot.x in known else "time"
    for axes, unit in zip(all_axes, units, strict=False):
        for name in names:
            if known[name] == unit:
                (line,) = axes.plot(*_points(solution, over, name, plot), label=name, linewidth=1)
                if other is not None and {name, over} <= {"time", *_names(other)}:
                    points = _points(other, over, name, plot)
                    axes.plot(*points, "--", color=line.get_color(), linewidth=1)
        axes.set_ylabel(f"[{unit}]")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small")
    label = "t [s]" if over == "time" else f"{over} [{known[over]}]"
    all_axes[-1].set_xlabel(label, parse_math=False)
    with replacing(path) as temporary:
        figure.savefig(temporary)


def _names(solution: Solution) -> set[str]:
    return {signal.name for signal in plotting.signals(solution)}


def _points(
    solution: Solution, over: str, name: str, plot: PlotState
) -> tuple[np.ndarray, np.ndarray]:
    """Both coordinates of a curve at the times in sight."""
    low, high = plot.window or (-np.inf, np.inf)
    keep = (solution.time >= low) & (solution.time <= high)
    x = solution.time if over == "time" else solution[over]
    return x[keep], solution[name][keep]
