"""Problems read in full, and mended by the number of a fix."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vbg.draw.text.rows import Row, Rows, printable, wrap
from vbg.edit.fixes import fixes
from vbg.edit.mechanism import is_of_start
from vbg.edit.proposals import Fix

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_WIDTH = 70


async def offer(app: Desk, title: str, rows: Rows, found: tuple[Fix, ...], go: bool = False) -> str:
    """Show what is wrong with its numbered fixes; the chosen one is applied as one undo step.
    The key that was pressed."""
    keys = tuple(str(number) for number in range(1, len(found) + 1))
    answer = await app.read(title, rows, keys=(*keys, "enter") if go else keys)
    if answer in keys:
        fix = found[int(answer) - 1]
        app.do(fix.as_one(app.work.document.now.text))
        app.work.say(f"{fix.label}; u takes it back", "ok")
    return answer or ""


async def show_problem(app: Desk) -> None:
    """The marked problem in full; a number mends it, Enter goes to its place."""
    work = app.work
    index = max(0, min(work.problem_index, len(work.problems) - 1))
    work.problem_index = index
    problem, now = work.problems[index], work.document.now
    if is_of_start(problem):
        work.say("trying what mends it ...", "note")
        app.main.paint()
    file = str(work.file or "model.toml")
    found = await asyncio.to_thread(fixes, problem, now.text, dict(now.data), file)
    work.say("")
    place = f"line {problem.line}, column {problem.column}" if problem.line else ""
    rows: list[Row] = [((problem.where, "bold"), (f"   {place}", "dim")), ()]
    for text, style in ((problem.what, ""), (problem.remedy, "note")):
        rows += [((line, style),) for line in wrap(printable(text), _WIDTH)]
    rows.append(())
    for number, fix in enumerate(found, 1):
        effect = f" ({fix.effect})" if fix.effect else ""
        words = wrap(printable(f"{number}: {fix.label}{effect}"), _WIDTH)
        rows += [((line, "focus"),) for line in words]
    if not found:
        rows.append((("there is no fix that a key can make", "dim"),))
    rows.append((("Enter goes to the place, Esc closes", "dim"),))
    title = f"{problem.severity.capitalize()} {index + 1} of {len(work.problems)}"
    if await offer(app, title, tuple(rows), found, go=True) == "enter":
        app.go_to_problem(index)


def no_problem(app: Desk) -> str:
    return "" if app.work.problems else "there are no problems"
