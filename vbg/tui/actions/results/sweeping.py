"""One number in several values: a run for each, told beside one another."""

from __future__ import annotations

import asyncio
import csv
import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import SetValue
from vbg.errors import UsageError
from vbg.platform.files import write_text
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.model.editing import judge_value, value_of
from vbg.tui.actions.model.nudging import marked_number, nudged
from vbg.tui.actions.results.running import busy, ready, simulate
from vbg.tui.content.model import fields
from vbg.tui.content.model.fields import FieldRow
from vbg.tui.content.results import plotting, tabling
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

MOST = 12  # runs of a sweep: the history keeps some from before
_SHOWN = 3  # signals in the table


async def _sweep(app: Desk) -> None:
    """Ask for the values, and run them one after the other beside the keys."""
    await ready(app)
    row = marked_number(app)
    assert row is not None

    def judge(text: str) -> tuple[str, bool]:
        values = _split(text)
        if not 2 <= len(values) <= MOST:
            return f"2 to {MOST} values, separated by commas", False
        for value in values:
            said, fine = judge_value(app, row, value)
            if not fine or not value:
                return f"{value or 'an empty value'}: {said or 'a value is required'}", False
        return "", True

    where = ".".join(map(str, row.path))
    about = "a run for each value; the model stays as it is. T in Run tells them as a table"
    text = await app.ask(f"Values of {where}", _offered(row), judge, about=about)
    if text is not None:
        values = [value_of(row.declared, value) for value in _split(text)]
        app.beside(partial(_follow, app, row, values), "run")


def _split(text: str) -> list[str]:
    return [value.strip() for value in text.split(",")]


def _offered(row: FieldRow) -> str:
    """Five values about the one that is written."""
    steps = (nudged(row.value, step) for step in (-2, -1, 1, 2))
    less, little, more, most = (fields.as_typed(row.declared, value) for value in steps)
    return ", ".join((less, little, fields.as_typed(row.declared, row.value), more, most))


async def _follow(app: Desk, row: FieldRow, values: list[Any]) -> None:
    """The runs, until the last or until one is cancelled."""
    where, count = ".".join(map(str, row.path)), 0
    for value in values:
        if app.job is not None:
            break
        label = f"{where} = {fields.as_typed(row.declared, value)}"
        run = await simulate(app, "vbg", SetValue(row.path, value, label))
        if run.state == "cancelled":
            break
        count += 1
        await asyncio.sleep(0)
    whole = count == len(values)
    words = f"{count} of {len(values)} runs over {where}; T in Run tells them as a table"
    app.work.say(words, "ok" if whole else "warn")
    app.main.paint()


async def _table(app: Desk) -> None:
    """All runs with the ranges of the curves that Plot shows."""
    work = app.work
    for run in work.runs:
        await results.load(work, run)
    shown = results.plotted(work)
    solution = work.solutions.get(shown.number) if shown is not None else None
    if solution is None:
        raise UsageError("no run has a result that can be read.")
    part = work.part_name if work.selection else ""
    names = (work.plot.signals or plotting.default_signals(solution, part))[:_SHOWN]
    entries = tabling.table(work.runs, work.solutions, names)
    title = "Runs: signals as in Plot; c writes runs.csv"
    if await app.read(title, tabling.rows_of(entries), keys=("c",)) == "c":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(entries)
        path = (work.file.parent if work.file is not None else Path()) / "runs.csv"
        write_text(path, text.getvalue())
        work.say(f"wrote {path}", "ok")


def _no_sweep(app: Desk) -> str:
    return busy(app) or ("" if marked_number(app) else "mark a number in Edit first")


HANDLERS: dict[str, Handler] = {"sweep": _sweep, "sweep.table": _table}
REFUSALS: dict[str, Refusal] = {
    "sweep": _no_sweep,
    "sweep.table": lambda app: "" if app.work.runs else "there is no run yet",
}
