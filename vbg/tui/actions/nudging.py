"""`<` and `>`: a number a little smaller or larger, and the machine run with it at once."""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import SetValue
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.editing import inspector
from vbg.tui.actions.running import simulate
from vbg.tui.content import fields
from vbg.tui.content.fields import FieldRow
from vbg.tui.session.runs import forget

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_MEASURED = re.compile(r"\s*([+-]?\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)(\s*[^\W\d].*)")


def nudged(value: Any, step: int) -> Any | None:
    """`value` with its second digit one larger or smaller; None for what is no number.
    A unit behind it stays."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if value == 0 or not math.isfinite(value):
            return None if value else 0.1 * step
        size = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
        # nine digits: no tail of a binary fraction in the file
        new = float(f"{round(value / size + step) * size:.9g}")
        return int(new) if isinstance(value, int) and new == int(new) else new
    found = _MEASURED.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    number = nudged(float(found[1].replace("_", "")), step)
    return None if number is None else f"{number:.9g}{found[2]}"


def marked_number(app: Desk) -> FieldRow | None:
    """The marked field, if what it holds is a number."""
    row = inspector(app).marked
    return row if row is not None and row.written and nudged(row.value, 1) is not None else None


def _nudge(step: int, app: Desk) -> None:
    """One step; steps of the same number in a row are one undo step."""
    row, work = marked_number(app), app.work
    assert row is not None
    where, document, nudges = ".".join(map(str, row.path)), work.document, work.nudges
    new = nudged(row.value, step)
    before = fields.as_typed(row.declared, row.value)
    again = nudges.where == where and document.position == nudges.position
    if again and not document.redo_label:
        before = nudges.before
        document.undo()
    label = f"set {where} {before} → {fields.as_typed(row.declared, new)}"
    app.do(SetValue(row.path, new, label))
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
    return (
        "" if marked_number(app) is not None else "mark a number in Edit first, not an expression"
    )


HANDLERS: dict[str, Handler] = {
    "nudge.less": partial(_nudge, -1),
    "nudge.more": partial(_nudge, 1),
}
REFUSALS: dict[str, Refusal] = {"nudge.less": _no_number, "nudge.more": _no_number}
