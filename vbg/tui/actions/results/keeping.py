"""The runs as a history: a baseline, notes, results from elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.io.runs import results as files
from vbg.io.runs.names import RESULT_ENDINGS
from vbg.tui.actions import Handler, Refusal
from vbg.tui.session.runs import Run, remember
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _keep(app: Desk, run: Run) -> None:
    app.work.put_run(run)
    remember(run)


def _pin(app: Desk) -> None:
    """The marked run is the baseline, or none is any more."""
    work = app.work
    marked = work.marked_run
    assert marked is not None
    for run in work.runs:
        pinned = run.number == marked.number and not run.pinned
        if run.pinned or pinned:
            _keep(app, replace(run, pinned=pinned))
    shown = results.plotted(work)
    behind = results.behind(work, shown) if shown is not None else 0
    work.plot = replace(work.plot, overlay=behind, ghost=True)
    now = work.marked_run
    pinned = now is not None and now.pinned
    words = f"{marked.title} is the baseline: Plot shows it behind all others"
    work.say(words if pinned else "no baseline any more", "ok")
    app.prepare_view(work.view)


async def _note(app: Desk) -> None:
    run = app.work.marked_run
    assert run is not None
    text = await app.ask(
        f"Note on {run.title}", run.note, lambda _: ("", True), about="in a few words"
    )
    if text is not None:
        # it may have got on meanwhile
        now = app.work.run(run.number)
        if now is not None:
            _keep(app, replace(now, note=text.strip()))


async def _open(app: Desk) -> None:
    """A result file, as a run among the others, as long as vbg is open."""
    work = app.work

    def judge(text: str) -> tuple[str, bool]:
        path = Path(text).expanduser()
        if path.suffix not in RESULT_ENDINGS:
            return f"results end in {', '.join(RESULT_ENDINGS)}", False
        return ("", True) if path.is_file() else ("there is no such file", False)

    text = await app.ask(
        "Open a result", "", judge, about="one of vbg run, or a table of a test bench"
    )
    if text is None:
        return
    path = Path(text).expanduser().resolve()
    solution = await asyncio.to_thread(files.read, path)
    number = 1 + max((run.number for run in work.runs), default=0)
    end = float(solution.time[-1]) if len(solution.time) else 0.0
    note = f"{path.name}: {len(solution.signals)} signals"
    run = Run(
        number, "file", "", str(path), "finished", fraction=1.0, time=end, t_end=end, note=note
    )
    work.put_run(run)
    work.solutions[number] = solution
    work.say(f"{path.name} is {run.title}; in Plot, o puts it behind another", "ok")


def _no_run(app: Desk) -> str:
    run = app.work.marked_run
    if run is None:
        return "there is no run yet"
    return "it is still running" if run.active else ""


HANDLERS: dict[str, Handler] = {"runs.pin": _pin, "runs.note": _note, "runs.open": _open}
REFUSALS: dict[str, Refusal] = {"runs.pin": _no_run, "runs.note": _no_run}
