"""What a view shows as a picture of pixels, by the drawers of the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vbg.errors import UsageError
from vbg.platform.files import replacing
from vbg.tui.content.results import plotting
from vbg.tui.content.results.figures import write_curves
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.tui.state.workspace import Workspace

PAINTED = ("graph", "plot", "run", "space")  # views that have a picture
_FULL = 40  # vertices; a larger graph is drawn by its parts


def paint(work: Workspace, folder: Path) -> Path:
    """The picture of the view in a file.  Raises UsageError where there is nothing to draw."""
    file = folder / "picture.png"
    {"graph": _graph, "space": _space}.get(work.view, _curves)(work, file)
    return file


def _graph(work: Workspace, file: Path) -> None:
    from vbg.draw.graph import draw_graph

    state = work.graph
    if state is None or state.graph is None or state.causal is None:
        raise UsageError("the graph is drawn when the model has no errors.")
    draw_graph(state.causal, file, "full" if len(state.graph.vertices) <= _FULL else "word")


def _curves(work: Workspace, file: Path) -> None:
    run = results.plotted(work)
    solution = results.shown(work, run.number) if run is not None else None
    if solution is None:
        raise UsageError("there is no run to draw yet: r runs the model.")
    plot = work.plot
    if not plot.signals:
        plot = replace(plot, signals=plotting.default_signals(solution, work.part_name))
    write_curves(solution, results.shown(work, plot.overlay), plot, file)


def _space(work: Workspace, file: Path) -> None:
    """The machine at the time that 3D shows, from the side that films have."""
    from vbg.draw.film import film_of
    from vbg.draw.movie import draw_frame

    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("pictures need matplotlib: pip install matplotlib.") from None
    model, solution = work.checked.model, work.solutions.get(results.shown_run(work))
    if model is None or solution is None:
        raise UsageError("there is no run to draw yet: r runs the model.")
    film = film_of(model, solution)
    figure = Figure(figsize=(8.0, 8.0), dpi=100)
    at = int(np.argmin(np.abs(film.time - work.space.time)))
    draw_frame(figure.add_axes((0.0, 0.0, 1.0, 1.0)), film, at)
    with replacing(file) as temporary:
        figure.savefig(temporary)
