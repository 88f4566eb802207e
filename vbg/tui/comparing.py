"""The verdict on two runs that lie on disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.tui import results
from vbg.tui.content.validating import event_windows
from vbg.tui.session.runs import Run

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution
    from vbg.tmm_bridge.compare import Verdict
    from vbg.tui.app import VbgApp
    from vbg.tui.workspace import Workspace
    from vbg.validate import Report


def newest(work: Workspace, solver: str) -> Run | None:
    """The newest run of `solver` for the text that is open, ended and with a result."""
    for run in reversed(work.runs):
        same = run.solver == solver and run.text_hash == work.document.now.hash
        if same and not run.active and Path(run.result).exists():
            return run
    return None


async def compare_newest(app: VbgApp) -> None:
    """Compare the newest run of each solver; without both there is no verdict."""
    work = app.work
    first, second = newest(work, "vbg"), newest(work, "mstmm")
    if first is None or second is None:
        work.validate = replace(work.validate, verdict=None, reference=0, other=0)
        return
    await compare_runs(app, first, second)


async def compare_runs(app: VbgApp, first: Run, second: Run) -> None:
    """Judge two runs with the settings in force."""
    work = app.work
    a, b = await results.load(app, first), await results.load(app, second)
    if a is None or b is None:
        return
    state = work.validate
    windows = event_windows(a, b) if state.skip_events else ()
    model = work.checked.model
    if model is not None and await asyncio.to_thread(_start_apart, model, a, b):
        # a loop may close in two ways: the second solver starts again where the first did
        waiting = "the solvers assembled different starts: running MSTMM from the other's ..."
        work.validate = replace(work.validate, waiting=waiting)
        app.main.paint("channels", "verdict")
        report = await asyncio.to_thread(_from_one_start, model, state.tolerance, windows)
        work.solutions[first.number] = report.solutions["vbg"]
        work.solutions[second.number] = report.solutions["mstmm"]
        verdict = report.verdict
    else:
        verdict = await asyncio.to_thread(_judged, a, b, state.tolerance, windows)
    work.validate = replace(
        work.validate, verdict=verdict, reference=first.number, other=second.number, waiting=""
    )
    part = work.part_name
    if part and work.channel_index == 0:
        from vbg.validate.report import ordered

        names = [channel.name for channel in ordered(verdict)]
        own = [i for i, name in enumerate(names) if name.startswith(f"{part}.force")]
        work.channel_index = own[0] if own and verdict.result == "PASS" else 0


def _start_apart(model: Model, a: Solution, b: Solution) -> bool:
    """Whether two runs that start at all start with a body in different poses."""
    from vbg.validate.poses import first_poses, starts_differ

    if not len(a.time) or not len(b.time):
        return False
    bodies = tuple(model.bodies)
    try:
        moved, _ = starts_differ(first_poses(a, bodies), first_poses(b, bodies))
    except UsageError:
        # one of them lacks a signal: the comparison says which
        return False
    return bool(moved)


def _from_one_start(
    model: Model, tolerance: float | None, windows: tuple[tuple[float, float], ...]
) -> Report:
    from vbg.validate import validate

    return validate(model, tolerance=tolerance, exclude=windows)


def _judged(
    a: Solution,
    b: Solution,
    tolerance: float | None,
    windows: tuple[tuple[float, float], ...],
) -> Verdict:
    """The verdict; in a thread, for its package takes a moment to load."""
    from vbg.tmm_bridge.compare import compare
    from vbg.tmm_bridge.uniqueness import channels_in

    free = channels_in(b.notes)
    return compare(a, b, tolerance=tolerance, not_unique=free, exclude=windows)
