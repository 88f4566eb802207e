"""What each view needs before it can be painted, brought without blocking the keys."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.content.results import plotting
from vbg.tui.state import results
from vbg.tui.state.keys import Action, is_about, is_of_check
from vbg.tui.state.powers import run_in_bonds
from vbg.tui.tasks import bonding

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


_STEP = 0.01  # s


async def prepare(app: Desk, view: str) -> None:
    """Read results and draw graphs for `view`, then paint it."""
    if "graph" in app.main.rects:
        await bring_graph(app)
    if view in ("run", "edit"):
        await _marked_run(app)
    elif view == "plot":
        await _plot(app)
    elif view == "validate":
        await _validate(app)
    if "space" in app.main.rects:
        await _space(app)
    app.main.paint()


def early(app: Desk, action: Action) -> bool:
    """Whether the key of an action was faster than what it is about: what its view shows, the
    check of the text."""
    view, bringing = app.work.view, app.bringing
    if app.work.checking and is_of_check(action, view):
        return True
    return is_about(action, view) and bringing is not None and not bringing.is_finished


async def once_there(app: Desk, action: Action) -> None:
    """Do an action when what it is about is there, unless its view was left by a click."""
    view = app.work.view
    while early(app, action):
        await asyncio.sleep(_STEP)
    if app.refusal(action):
        await prepare(app, view)
    if app.work.view == view:
        app.act(action, prepared=True)


async def _marked_run(app: Desk) -> None:
    run = app.work.active_run or app.work.marked_run
    if run is not None:
        await results.load(app.work, run)


async def bring_graph(app: Desk) -> None:
    """The bond graph of the model as it is, if it has no errors."""
    from vbg.tui.state import graphing

    work = app.work
    model, known = work.checked.model, work.graph
    if model is None:
        if known is not None and work.checked.count("error"):
            work.graph = None
        return
    if known is None or known.text_hash != work.checked.text_hash:
        known = await asyncio.to_thread(graphing.made, model, work.checked.text_hash, known)
        work.graph = known
    part = ".".join(map(str, work.selection[:2]))
    if len(work.selection) == 2 and known.marked_part != part:
        known = graphing.marked(known, part)
    run = run_in_bonds(work)
    if known.graph is not None:
        known = graphing.with_notes(known, noted=run is not None)
    work.graph = known
    if run is not None:
        await results.load(work, run)
        app.beside(partial(bonding.bring, app), "bonds")


async def _validate(app: Desk) -> None:
    """The verdict of the validation that is there already."""
    from vbg.tui.tasks import comparing

    if app.job is None and not app.work.validate.waiting:
        await comparing.show_newest(app)


async def _space(app: Desk) -> None:
    """The motion of the run shown, or the written posture."""
    from vbg.tui.state.motion import motion_of

    work = app.work
    model = work.checked.model
    number = results.shown_run(work)
    run = work.run(number)
    if model is None:
        return
    if run is None or run.active:
        work.motions[0] = await asyncio.to_thread(motion_of, model, None)
    elif number not in work.motions:
        solution = await results.load(app.work, run)
        work.motions[number] = await asyncio.to_thread(motion_of, model, solution)


async def _plot(app: Desk) -> None:
    work = app.work
    run = results.plotted(work)
    if run is None:
        return
    solution = await results.load(app.work, run)
    other = work.run(work.plot.overlay)
    if other is not None:
        await results.load(app.work, other)
    if solution is not None and not work.plot.signals and not work.plot.cleared:
        work.plot = replace(work.plot, signals=plotting.default_signals(solution, work.part_name))
