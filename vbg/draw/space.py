"""Paths of points in space as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vbg.draw.chart import COLOURS, FORMATS, STYLES
from vbg.errors import UsageError, not_installed
from vbg.platform.files import replacing
from vbg.solution import Solution


def point_of(solution: Solution, name: str) -> np.ndarray:
    """(n, 3) where the point or body `name` is, m, world axes.  Raises UsageError for others."""
    signal = name if name.endswith(".position") else f"{name}.position"
    if signal not in solution or np.ndim(solution[signal]) != 2:
        points = [one.removesuffix(".position") for one in solution.signals if "position" in one]
        some = ", ".join(points[:8]) + (", ..." if len(points) > 8 else "")
        raise UsageError(f"there is no point or body {name!r}; there are {some}.")
    return np.asarray(solution[signal])


def draw_paths(
    runs: Sequence[tuple[str, Solution]],
    names: Sequence[str],
    path: str | Path,
    *,
    title: str = "",
) -> None:
    """Write the paths of the points `names` of all `runs` to `path`, as large in all directions;
    a dot is where each begins.  Raises UsageError for another ending, or without matplotlib."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: a plot's name must end in {', '.join(FORMATS)}.")
    try:
        import matplotlib
    except ImportError as error:
        raise not_installed("a plot in a file", "matplotlib", "draw") from error
    from matplotlib.figure import Figure

    found = [
        (r, n, point_of(run, name))
        for r, (_, run) in enumerate(runs)
        for n, name in enumerate(names)
    ]
    with matplotlib.rc_context({"svg.hashsalt": "vbg", "font.size": 9}):
        figure = Figure(figsize=(7.5, 6.0), layout="constrained")
        axes = figure.add_subplot(projection="3d")
        for r, n, points in found:
            label = names[n] if len(runs) == 1 else f"{names[n]}  ({runs[r][0]})"
            style = {"color": COLOURS[n % len(COLOURS)], "linestyle": STYLES[r % len(STYLES)]}
            axes.plot(*points.T, label=label, linewidth=1.2, **style)
            axes.plot(*points[:1].T, "o", color=COLOURS[n % len(COLOURS)], markersize=4)
        every = np.vstack([points for _, _, points in found])
        low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        half = 0.55 * max(float((high - low).max()), 1e-9)
        for letter, middle in zip("xyz", 0.5 * (low + high), strict=True):
            getattr(axes, f"set_{letter}lim")(middle - half, middle + half)
            getattr(axes, f"set_{letter}label")(f"{letter} [m]")
        axes.set_box_aspect((1.0, 1.0, 1.0))
        axes.legend(fontsize=8)
        if title:
            figure.suptitle(title)
        without_date = {"Date": None} if path.suffix == ".svg" else {}
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=without_date)
