"""Pictures of parameter studies: curves, maps, scattered samples.

One parameter: a curve for each measure.  Two on a full grid: a map for each measure.
Otherwise every measure over every parameter, as points.  Runs that failed are crosses:
they have a place but no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.draw.chart import COLOURS, FORMATS
from vbg.draw.series import MOST_PANELS
from vbg.errors import UsageError, not_installed
from vbg.platform.files import replacing

Array = NDArray[np.float64]

EVEN = 1e-6  # relative difference below which ratios of neighbours count as equal
FAILED = {"color": "#c62828", "marker": "x", "linestyle": "none", "markersize": 5}
BEST = {"color": "#d55e00", "marker": "*", "linestyle": "none", "markersize": 13}


@dataclass(frozen=True, eq=False)
class StudyPicture:
    """Columns of a table of runs: parameters, measures (NaN where a run failed), all (n,).

    `best`: row of the optimum, marked by a star, or None;  `units` of parameters
    and `measured` of measures that have one.
    """

    parameters: Mapping[str, Array]
    measures: Mapping[str, Array]
    best: int | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, str] = field(default_factory=dict)

    def label(self, parameter: str) -> str:
        return _titled(parameter, self.units.get(parameter, ""))

    def title(self, measure: str) -> str:
        return _titled(measure, self.measured.get(measure, ""))


def _titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def draw_study(study: StudyPicture, path: str | Path, *, title: str = "") -> None:
    """Write the picture to `path`, .png, .svg or .pdf.

    Raises UsageError for another ending, without matplotlib, for a table without rows, or of too
    many panels.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: a plot's name must end in {', '.join(FORMATS)}.")
    if not all(len(values) for values in study.parameters.values()):
        raise UsageError("the table has no runs to draw.")
    many = 1 if len(study.parameters) < 3 else len(study.parameters)
    if len(study.measures) * many > MOST_PANELS:
        raise UsageError(
            f"{len(study.measures)} measures over {len(study.parameters)} parameters are"
            f" {len(study.measures) * many} panels; a picture has at most {MOST_PANELS}."
            " Name some of the measures: `vbg plot TABLE.csv MEASURE ... -o OUT.svg`."
        )
    try:
        import matplotlib
    except ImportError as error:
        raise not_installed("a plot in a file", "matplotlib", "draw") from error
    from matplotlib.figure import Figure

    draw = {1: _curves, 2: _maps}.get(len(study.parameters), _scatter)
    if draw is _maps and _grid(study) is None:
        draw = _coloured
    rows, columns = len(study.measures), len(study.parameters) if draw is _scatter else 1
    with matplotlib.rc_context({"svg.hashsalt": "vbg", "font.size": 9}):
        size = (max(6.4, 3.2 * columns), 0.6 + (2.6 if draw in (_curves, _scatter) else 4.2) * rows)
        figure = Figure(figsize=size, layout="constrained")
        draw(study, figure.subplots(rows, columns, squeeze=False))
        if title:
            figure.suptitle(title)
        without_date = {"Date": None} if path.suffix == ".svg" else {}
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=without_date)


def scale_of(values: Array) -> str:
    """ "log" for values that are evenly spaced in their logarithm, else "linear"."""
    distinct = np.unique(values)
    if len(distinct) < 3 or distinct[0] <= 0.0:
        return "linear"
    ratios = distinct[1:] / distinct[:-1]
    return "log" if np.ptp(ratios) < EVEN * ratios[0] else "linear"


def _curves(study: StudyPicture, axes: Any) -> None:
    (name, x), *_ = study.parameters.items()
    order = np.argsort(x)
    for number, (axis, (measure, values)) in enumerate(zip(axes[:, 0], study.measures.items())):
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(x[order], values[order], "o-", color=colour, markersize=3, linewidth=1.2)
        _crosses(axis, x[np.isnan(values)])
        if study.best is not None:
            axis.plot(x[study.best], values[study.best], **BEST)
        axis.set_xscale(scale_of(x))
        axis.set_ylabel(study.title(measure))
        axis.grid(visible=True, linewidth=0.4, alpha=0.5)
    axes[-1, 0].set_xlabel(study.label(name))


def _crosses(axis: Any, x: Array) -> None:
    """Failed runs, at the foot of the panel; a line of no points would upset its layout."""
    if not len(x):
        return
    at_foot = axis.get_xaxis_transform()
    axis.plot(x, np.full(len(x), 0.03), transform=at_foot, clip_on=False, **FAILED)


def _grid(study: StudyPicture) -> tuple[Array, Array, NDArray[np.int64]] | None:
    """Distinct values of the two parameters and the row of each pair; None if not all pairs
    are there."""
    x, y = study.parameters.values()
    across, up = np.unique(x), np.unique(y)
    if len(across) < 2 or len(up) < 2 or len(across) * len(up) != len(x):
        return None
    rows = np.full((len(up), len(across)), -1, dtype=np.int64)
    rows[np.searchsorted(up, y), np.searchsorted(across, x)] = np.arange(len(x))
    return None if (rows < 0).any() else (across, up, rows)


def _maps(study: StudyPicture, axes: Any) -> None:
    found = _grid(study)
    assert found is not None
    across, up, rows = found
    for axis, (measure, values) in zip(axes[:, 0], study.measures.items()):
        shown = axis.pcolormesh(across, up, values[rows], shading="nearest", cmap="viridis")
        axis.figure.colorbar(shown, ax=axis, label=study.title(measure))
        _plane(study, axis, values)


def _coloured(study: StudyPicture, axes: Any) -> None:
    x, y = study.parameters.values()
    for axis, (measure, values) in zip(axes[:, 0], study.measures.items()):
        shown = axis.scatter(x, y, c=values, cmap="viridis", s=22)
        axis.figure.colorbar(shown, ax=axis, label=study.title(measure))
        _plane(study, axis, values)
        axis.grid(visible=True, linewidth=0.4, alpha=0.5)


def _plane(study: StudyPicture, axis: Any, values: Array) -> None:
    """Scales, labels, failed runs and the optimum of a panel over two parameters."""
    (first, x), (second, y) = study.parameters.items()
    missing = np.isnan(values)
    axis.plot(x[missing], y[missing], **FAILED)
    if study.best is not None:
        axis.plot(x[study.best], y[study.best], **BEST)
    axis.set(xscale=scale_of(x), yscale=scale_of(y))
    axis.set(xlabel=study.label(first), ylabel=study.label(second))


def _scatter(study: StudyPicture, axes: Any) -> None:
    for row, (measure, values) in enumerate(study.measures.items()):
        for column, (name, x) in enumerate(study.parameters.items()):
            axis = axes[row, column]
            axis.plot(x, values, "o", color=COLOURS[row % len(COLOURS)], markersize=3)
            _crosses(axis, x[np.isnan(values)])
            if study.best is not None:
                axis.plot(x[study.best], values[study.best], **BEST)
            axis.grid(visible=True, linewidth=0.4, alpha=0.5)
            axis.set_xlabel(study.label(name) if row == len(study.measures) - 1 else "")
        axes[row, 0].set_ylabel(study.title(measure))
