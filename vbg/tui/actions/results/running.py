"""Runs: start, cancel, look at."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg import runner
from vbg.edit.commands import SetValue
from vbg.errors import UsageError
from vbg.tui.actions import Handler, Refusal
from vbg.tui.session import validation as validations
from vbg.tui.session.kept.document import digest
from vbg.tui.session.runs import Run, forget, next_file
from vbg.tui.session.solving.jobs import Job
from vbg.tui.state import results
from vbg.tui.state.changes import changes
from vbg.tui.state.items import Item
from vbg.tui.tasks import checking

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk
    from vbg.tui.state.workspace import Workspace

SHOW_AFTER = 1.0  # s; shorter runs do not take the user away from where he is


async def _run(solver: str, app: Desk) -> None:
    """Start a run in the background, unless the model has errors."""
    await ready(app)
    app.beside(partial(simulate, app, solver), "run")


async def ready(app: Desk) -> None:
    """Wait for the check of the text that is open.

    Raises
    ------
    UsageError
        the model has errors; the first is marked.
    """
    while app.work.checking:
        await asyncio.sleep(0.02)
    errors = app.work.checked.count("error") + (app.work.document.now.broken is not None)
    if errors:
        app.go_to_problem(0)
        raise UsageError(f"the model has {errors} error{'s' * (errors > 1)}; the first is marked.")


def prepared(app: Desk, solver: str, change: SetValue | None = None) -> Run:
    """A run of the text that is open, or of it with one `change`, entered in the list."""
    work = app.work
    number, file = next_file(work.file, work.runs, solver)
    model = work.checked.model if checking.resolved(work) else None
    t_end = float(model.simulate.t_end) if model is not None else float("nan")
    data, text_hash = work.data, work.document.now.hash
    if change is not None:
        changed = changes(data, change.change_data(dict(data)))
        text_hash = digest(change.change_text(work.document.now.text))
    else:
        known = work.last_model if work.last_model is not None else _model_of_last(work)
        changed = changes(known, data) if known is not None else ""
        work.last_model = data
    run = Run(number, solver, text_hash, str(file), t_end=t_end, changed=changed)
    app.run_changed(run)
    return run


def _model_of_last(work: Workspace) -> Mapping[str, Any] | None:
    """What the newest run of an earlier session was of; None if that is not known."""
    from vbg.io.runs.hdf5 import read_model

    for run in reversed(work.runs):
        if Path(run.result).exists():
            try:
                return tomllib.loads(read_model(run.result)) or None
            except (UsageError, tomllib.TOMLDecodeError, KeyError):
                return None
    return None


async def simulate(app: Desk, solver: str, change: SetValue | None = None) -> Run:
    """Run the model as it is now, or with one `change` that is not made in it, and follow it to
    its end."""
    work = app.work
    model, text = str(work.file or "model.toml"), work.document.now.text
    if change is not None:
        text = change.change_text(text)
    started = prepared(app, solver, change)
    order = runner.Job(model=model, text=text, solver=solver, result=started.result)
    app.job = job = Job(started, order, app.run_changed, app.solver)
    timer = app.set_timer(SHOW_AFTER, partial(app.show_run, app.keyboard.heard))
    try:
        run = await job.follow()
    finally:
        app.endings.append(job)
        app.job = None
        timer.stop()
        app.warm_solver()
    if Path(run.result).exists():
        work.plot = replace(work.plot, run=run.number)
        if work.plot.ghost and not work.nudges.running:
            work.plot = replace(work.plot, overlay=results.behind(work, run))
        work.space = replace(work.space, run=run.number)
    # what was read while it grew is not all of it
    work.solutions.pop(run.number, None)
    await results.load(app.work, run)
    good = run.state == "finished"
    hint = "   4 plots it" if good or run.state == "cancelled" else ""
    if run.problems:
        hint += "   ! has its start's problems, with fixes"
        app.main.place()  # a pane of problems may come into sight
    work.say(f"{run.title} {run.outcome}{hint}", "ok" if good else "warn")
    app.prepare_view(work.view)
    app.main.paint()
    return run


async def _cancel(app: Desk) -> None:
    if app.job is not None:
        await app.job.cancel()


def _plot_run(app: Desk) -> None:
    run = app.work.marked_run
    if run is not None:
        app.work.plot = replace(app.work.plot, run=run.number)
        app.work.space = replace(app.work.space, run=run.number)
        app.main.show_view("plot")


async def _delete(app: Desk) -> None:
    """Remove a run for good, once it is said what goes with it."""
    work = app.work
    run = work.marked_run
    assert run is not None
    judged = [v for v in work.validations if run.number in (v.first, v.second)]
    what = f"{run.title}, {run.outcome}"
    too = "; its validation goes with it" if judged else ""
    items = (Item("keep", "keep it"), Item("remove", "remove it", f"its file, for good{too}"))
    if await app.choose(f"Remove {what}?", items, start="remove") != "remove":
        return
    for validation in judged:
        validations.forget(work.file, validation)
    work.validations = tuple(v for v in work.validations if v not in judged)
    if work.validate.shown in judged:
        work.validate = replace(work.validate, shown=None, verdict=None)
    forget(run)
    work.runs = tuple(r for r in work.runs if r.number != run.number)
    work.solutions.pop(run.number, None)
    work.motions.pop(run.number, None)
    work.bonds.pop(run.number, None)
    if work.plot.run == run.number:
        work.plot = replace(work.plot, run=0)
    if work.plot.overlay == run.number:
        work.plot = replace(work.plot, overlay=0)


def _pause(app: Desk) -> None:
    app.work.live_paused = not app.work.live_paused


def busy(app: Desk) -> str:
    return "" if app.job is None else "a run is under way; x cancels it"


def _no_run(app: Desk) -> str:
    run = app.work.marked_run
    if run is None:
        return "there is no run yet"
    return "it is still running" if run.active else ""


HANDLERS: dict[str, Handler] = {
    "run": partial(_run, "vbg"),
    "run.mstmm": partial(_run, "mstmm"),
    "run.other": partial(_run, "mstmm"),
    "cancel": _cancel,
    "run.cancel": _cancel,
    "run.plot": _plot_run,
    "run.delete": _delete,
    "run.pause": _pause,
}
REFUSALS: dict[str, Refusal] = {
    "run": busy,
    "run.mstmm": busy,
    "run.other": busy,
    "cancel": lambda app: "" if app.job else "nothing is running",
    "run.cancel": lambda app: "" if app.job else "nothing is running",
    "run.plot": lambda app: "" if app.work.marked_run else "there is no run yet",
    "run.delete": _no_run,
}
