"""Validate: run both solvers, judge, look at the worst."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.results.running import busy, prepared, ready
from vbg.tui.content.model.values import shown, typed
from vbg.tui.panes.validate import Channels
from vbg.tui.session.solving.validation_job import ValidationJob
from vbg.tui.session.validation import Settings, Validation, folder_of, next_number
from vbg.tui.tasks import comparing

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


async def _rerun(app: Desk) -> None:
    """Both solvers, side by side, on the same text; then the verdict."""
    await ready(app)
    app.work.validate = replace(app.work.validate, shown=None, verdict=None)
    app.beside(partial(_both, app), "run")


async def _both(app: Desk) -> None:
    """Run both solvers in a child process, and judge what they say."""
    work = app.work
    runs = {solver: prepared(app, solver) for solver in ("vbg", "mstmm")}
    number = next_number(work.file, work.validations)
    started = Validation(
        number,
        runs["vbg"].number,
        runs["mstmm"].number,
        work.document.now.hash,
        "",
        work.validate.settings,
    )
    model, text = str(work.file or "model.toml"), work.document.now.text
    stem = str(folder_of(work.file) / f"{number:04d}")
    app.job = job = ValidationJob(started, runs, model, text, stem, app.run_changed)
    app.solver.drop()  # both cores are for the two solvers
    _wait(app, "running both solvers ... x cancels (their first use ever compiles them: a minute)")
    try:
        validation = await job.follow()
    finally:
        app.endings.append(job)
        app.job = None
        app.warm_solver()
    _wait(app, "comparing ...")
    for run in runs.values():
        work.solutions.pop(run.number, None)
    await comparing.judge(app, validation)
    _wait(app, "")
    app.prepare_view(work.view)
    app.main.paint()


def _wait(app: Desk, text: str) -> None:
    app.work.validate = replace(app.work.validate, waiting=text)
    app.main.paint()


async def _judge_with(app: Desk, settings: Settings) -> None:
    """Judge the same evidence with other settings."""
    app.work.validate = replace(app.work.validate, settings=settings)
    shown = app.work.validate.shown
    if shown is not None:
        await comparing.judge(app, replace(shown, settings=settings))


async def _events(app: Desk) -> None:
    settings = app.work.validate.settings
    settings = replace(settings, skip_events=not settings.skip_events)
    await _judge_with(app, settings)
    word = "left out" if settings.skip_events else "compared as well"
    app.work.say(f"windows about events are {word}; the report says so", "note")


async def _tolerance(app: Desk) -> None:
    def judge(text: str) -> tuple[str, bool]:
        try:
            value = typed(text) if text.strip() else None
        except UsageError as error:
            return str(error), False
        fine = value is None or (isinstance(value, (int, float)) and 0 < value < 1)
        return ("", True) if fine else ("a number between 0 and 1, or nothing", False)

    settings = app.work.validate.settings
    text = await app.ask(
        "Tolerance, relative to each channel's peak",
        shown(settings.tolerance) if settings.tolerance is not None else "",
        judge,
        about="empty: 1e-6, or the measured error of integration if that is larger",
    )
    if text is not None:
        value = float(typed(text)) if text.strip() else None
        await _judge_with(app, replace(settings, tolerance=value))


def _channels(app: Desk) -> Channels:
    pane = app.main.panes["channels"]
    assert isinstance(pane, Channels)
    return pane


def _worst(app: Desk) -> None:
    """The machine at the time at which the marked channel is worst."""
    channel = _channels(app).marked
    assert channel is not None
    work, validation = app.work, app.work.validate.shown
    assert validation is not None
    _select(app)
    work.space = replace(work.space, time=channel.worst_time, run=validation.first, playing=False)
    app.main.show_view("space")


def _select(app: Desk) -> None:
    channel = _channels(app).marked
    assert channel is not None
    name = channel.name.split(".")[0]
    for table in ("joints", "forces", "bodies", "electric", "hydraulic", "rotational"):
        parts = app.work.data.get(table)
        if isinstance(parts, dict) and name in parts:
            app.select((table, name))


def _goto(app: Desk) -> None:
    _select(app)
    app.main.show_view("edit")


def _no_channel(app: Desk) -> str:
    return "" if _channels(app).marked is not None else "R runs both solvers first"


def _no_pair(app: Desk) -> str:
    return "" if app.work.validate.shown else "R runs both solvers first"


HANDLERS: dict[str, Handler] = {
    "validate.rerun": _rerun,
    "validate.events": _events,
    "validate.tolerance": _tolerance,
    "validate.worst": _worst,
    "validate.goto": _goto,
}
REFUSALS: dict[str, Refusal] = {
    "validate.rerun": busy,
    "validate.events": _no_pair,
    "validate.worst": _no_channel,
    "validate.goto": _no_channel,
}
