"""Plot: which signals, which window, which other run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.results.energies import flow
from vbg.tui.content.results import plotting
from vbg.tui.panes.plot import Curves, Signals
from vbg.tui.state import results
from vbg.tui.state.items import Item

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _signals(app: Desk) -> Signals:
    pane = app.main.panes["signals"]
    assert isinstance(pane, Signals)
    return pane


def _curves(app: Desk) -> Curves:
    pane = app.main.panes["curves"]
    assert isinstance(pane, Curves)
    return pane


def _toggle(app: Desk) -> None:
    signal = _signals(app).marked
    if signal is None:
        return
    plot = app.work.plot
    names = tuple(name for name in plot.signals if name != signal.name)
    if len(names) == len(plot.signals):
        names = (*names, signal.name)
    app.work.plot = replace(plot, signals=names)


def _clear(app: Desk) -> None:
    app.work.plot = replace(app.work.plot, signals=(), cleared=True)


def _zoom(factor: float, app: Desk) -> None:
    """Zoom about the cursor, or about the middle."""
    _curves(app).zoom(factor, app.work.plot.cursor)


def _fit(app: Desk) -> None:
    app.work.plot = replace(app.work.plot, window=None)


def _split(app: Desk) -> None:
    app.work.plot = replace(app.work.plot, split=not app.work.plot.split)


def _x_axis(app: Desk) -> None:
    """The marked signal on the x axis; again, or on itself, time."""
    signal, plot = _signals(app).marked, app.work.plot
    if signal is None or plot.x == signal.name:
        app.work.plot = replace(plot, x="")
    else:
        app.work.plot = replace(plot, x=signal.name)
        app.work.say(f"over {signal.name}; X on it again: over time", "dim")


def _run_items(app: Desk) -> tuple[Item, ...]:
    return tuple(Item(str(run.number), run.title, run.summary) for run in reversed(app.work.runs))


async def _overlay(app: Desk) -> None:
    """Another run behind this one, dashed; again takes it away."""
    plot = app.work.plot
    if plot.overlay:
        app.work.plot = replace(plot, overlay=0, ghost=False, ranked=False)
        return
    shown = results.plotted(app.work)
    items = tuple(
        item for item in _run_items(app) if shown is None or item.key != str(shown.number)
    )
    chosen = await app.choose("Compare with", items)
    if chosen is None:
        return
    run = app.work.run(int(chosen))
    if run is not None:
        await results.load(app.work, run)
        app.work.plot = replace(app.work.plot, overlay=run.number, ghost=False)


def _rank(app: Desk) -> None:
    """The signals by how much they differ from those of the run behind, or as they were."""
    work = app.work
    work.plot, work.signal_index = replace(work.plot, ranked=not work.plot.ranked), 0
    if work.plot.ranked:
        work.say("root mean square of the difference, as a part of the larger of the two", "dim")


def _nothing_behind(app: Desk) -> str:
    return "" if _signals(app).other is not None else "o chooses a run to compare with first"


async def _run(app: Desk) -> None:
    chosen = await app.choose("Show the run", _run_items(app))
    if chosen is not None:
        overlay = app.work.plot.overlay
        behind = 0 if overlay == int(chosen) else overlay
        app.work.plot = replace(app.work.plot, run=int(chosen), overlay=behind)
        app.prepare_view("plot")


def _peak(app: Desk) -> None:
    pane = _curves(app)
    solution = pane.solution
    if solution is None:
        return
    time = plotting.peak(solution, pane.names, pane.window)
    if time is not None:
        app.work.plot = replace(app.work.plot, cursor=time)


def _space(app: Desk) -> None:
    work = app.work
    run = results.plotted(work)
    if run is not None and work.plot.cursor is not None:
        work.space = replace(work.space, time=work.plot.cursor, run=run.number, playing=False)
        app.main.show_view("space")


def _no_solution(app: Desk) -> str:
    return "" if _signals(app).solution is not None else "there is no run to plot; r runs it"


def _no_other(app: Desk) -> str:
    shown = results.plotted(app.work)
    others = [run for run in app.work.runs if shown is None or run.number != shown.number]
    return "" if others or app.work.plot.overlay else "there is no other run"


_ON_A_RUN = ("toggle", "in", "out", "fit", "split", "x", "peak", "energy")
HANDLERS: dict[str, Handler] = {
    "plot.toggle": _toggle,
    "plot.clear": _clear,
    "plot.in": partial(_zoom, 0.5),
    "plot.out": partial(_zoom, 2.0),
    "plot.fit": _fit,
    "plot.split": _split,
    "plot.x": _x_axis,
    "plot.overlay": _overlay,
    "plot.run": _run,
    "plot.peak": _peak,
    "plot.rank": _rank,
    "plot.energy": flow,
    "plot.space": _space,
}
REFUSALS: dict[str, Refusal] = {
    **{f"plot.{name}": _no_solution for name in _ON_A_RUN},
    "plot.overlay": _no_other,
    "plot.rank": _nothing_behind,
    "plot.run": lambda app: "" if app.work.runs else "there is no run yet",
    "plot.space": lambda app: "" if app.work.plot.cursor is not None else "move the cursor first",
}
