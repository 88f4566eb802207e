"""`<` and `>`: a number a little smaller or larger, and the machine run with it at once."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import SetValue
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.model.editing import inspector
from vbg.tui.actions.results.running import simulate
from vbg.tui.content.model import fields
from vbg.tui.content.model.fields import FieldRow
from vbg.tui.content.model.sliding import number_of, with_number
from vbg.tui.panes.sliders import Sliders
from vbg.tui.session.runs import forget

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def nudged(value: Any, step: int) -> Any | None:
    """`value` with its second digit one larger or smaller; None for what is no number.
    A unit behind it stays."""
    number = number_of(value)
    if number is None:
        return None
    if number == 0.0:
        return with_number(float(value) if isinstance(value, int) else value, 0.1 * step)
    size = 10.0 ** (math.floor(math.log10(abs(number))) - 1)
    # nine digits: no tail of a binary fraction in the file
    return with_number(value, float(f"{round(number / size + step) * size:.9g}"))


def marked_number(app: Desk) -> FieldRow | None:
    """The number that is marked, on its slider or in Edit."""
    pane = app.main.panes["sliders"]
    if app.main.active == "sliders" and isinstance(pane, Sliders):
        return pane.marked
    row = inspector(app).marked
    return row if row is not None and row.written and number_of(row.value) is not None else None


def _nudge(step: int, app: Desk) -> None:
    row = marked_number(app)
    assert row is not None
    try_number(app, row, nudged(row.value, step))


def try_number(app: Desk, row: FieldRow, new: Any) -> None:
    """Set a number and run with it; steps of the same number in a row are one undo step."""
    work = app.work
    where, document, nudges = ".".join(map(str, row.path)), work.document, work.nudges
    before = fields.as_typed(row.declared, row.value)
    again = nudges.where == where and document.position == nudges.position
    instead = again and not document.redo_label
    if instead:
        before = nudges.before
    label = f"set {where} {before} → {fields.as_typed(row.declared, new)}"
    document.apply(SetValue(row.path, new, label), instead=instead)
    if not again and work.marked_run is not None:
        # what it is compared with: the run before the first step
        work.plot = replace(work.plot, overlay=work.marked_run.number)
    work.nudges = replace(
        nudges,
        where=where,
        before=before,
        position=document.position,
        run=nudges.run if again else 0,
        wanted=True,
    )
    if app.job is not None and nudges.running:
        app.beside(app.job.cancel, "cancel")
    if not nudges.running:
        work.nudges = replace(work.nudges, running=True)
        app.beside(partial(_follow, app), "run")


async def _follow(app: Desk) -> None:
    """Runs, one after the other, until the last step has its own; of a series one is kept."""
    work = app.work
    try:
        while work.nudges.wanted and app.job is None:
            work.nudges = replace(work.nudges, wanted=False)
            run = await simulate(app, "vbg")
            old = work.run(work.nudges.run)
            if old is not None and not old.active:
                forget(old)
                work.runs = tuple(r for r in work.runs if r.number != old.number)
                work.solutions.pop(old.number, None)
            work.nudges = replace(work.nudges, run=run.number)
            await asyncio.sleep(0)
    finally:
        work.nudges = replace(work.nudges, running=False)
        app.main.paint()


def _no_number(app: Desk) -> str:
    if app.job is not None and not app.work.nudges.running:
        return "a run is under way; x cancels it"
    if app.main.active == "sliders":
        return "" if marked_number(app) is not None else "there is no number to change"
    return (
        "" if marked_number(app) is not None else "mark a number in Edit first, not an expression"
    )


def _slide(app: Desk) -> None:
    """The sliders below the curves, with the keys; again takes them away."""
    work = app.work
    work.sliding = not work.sliding
    app.main.show_view("plot")
    app.main.activate("sliders" if work.sliding else "curves")


HANDLERS: dict[str, Handler] = {
    "live.toggle": _slide,
    "nudge.less": partial(_nudge, -1),
    "nudge.more": partial(_nudge, 1),
}
REFUSALS: dict[str, Refusal] = {"nudge.less": _no_number, "nudge.more": _no_number}
