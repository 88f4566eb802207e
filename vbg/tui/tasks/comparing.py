"""The verdict on two runs that lie on disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.tui.content.validating import event_windows
from vbg.tui.session.runs import Run, coarse_file
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk
    from vbg.tui.state.workspace import Workspace
    from vbg.validate import Evidence
    from vbg.validate.compare import Verdict


def newest(work: Workspace, solver: str) -> Run | None:
    """The newest run of `solver` for the text that is open, ended and with a result."""
    for run in reversed(work.runs):
        same = run.solver == solver and run.text_hash == work.document.now.hash
        if same and not run.active and Path(run.result).exists():
            return run
    return None


async def compare_newest(app: Desk) -> None:
    """Compare the newest run of each solver; without both there is no verdict."""
    work = app.work
    first, second = newest(work, "vbg"), newest(work, "mstmm")
    if first is None or second is None:
        work.validate = replace(work.validate, verdict=None, reference=0, other=0)
        return
    await compare_runs(app, first, second)


async def compare_runs(app: Desk, first: Run, second: Run) -> None:
    """Judge two runs with the settings in force."""
    work = app.work
    a, b = await results.load(app.work, first), await results.load(app.work, second)
    if a is None or b is None:
        return
    state = work.validate
    windows = event_windows(a, b) if state.skip_events else ()
    bodies = tuple(work.checked.model.bodies) if work.checked.model is not None else ()
    verdict = await asyncio.to_thread(_judged, (a, b), second, bodies, state.tolerance, windows)
    if app.job is not None and app.job.both:
        # R was pressed meanwhile: a newer verdict is on its way
        return
    work.validate = replace(
        work.validate,
        verdict=verdict,
        reference=first.number,
        other=second.number,
        text_hash=second.text_hash,
        waiting="",
    )
    part = work.part_name
    if part and work.channel_index == 0:
        from vbg.validate.report import ordered

        names = [channel.name for channel in ordered(verdict)]
        own = [i for i, name in enumerate(names) if name.startswith(f"{part}.force")]
        work.channel_index = own[0] if own and verdict.result == "PASS" else 0


def no_verdict(first: Run, second: Run) -> Verdict:
    """Why there is nothing to compare: a run was cancelled or refused."""
    from vbg.validate.compare import Verdict

    run = first if first.state != "finished" else second
    if run.state == "cancelled":
        sentence = "The validation was cancelled. R starts it again."
    else:
        sentence = f"{run.title}: {run.sentence} {run.remedy}".strip()
    return Verdict("INCONCLUSIVE", sentence)


def _judged(
    pair: tuple[Solution, Solution],
    run: Run,
    bodies: tuple[str, ...],
    tolerance: float | None,
    windows: tuple[tuple[float, float], ...],
) -> Verdict:
    """The verdict; in a thread, for its package takes a moment to load."""
    from vbg.validate import verdict_on
    from vbg.validate.compare import Verdict

    apart = _start_apart(*pair, bodies)
    if apart and not run.evidence:
        sentence = f"The two runs start with {apart} in different poses. R runs both from one."
        return Verdict("INCONCLUSIVE", sentence)
    return verdict_on(_evidence(pair, run), tolerance=tolerance, exclude=windows)


def _evidence(pair: tuple[Solution, Solution], run: Run) -> Evidence:
    """What is known of two runs: all that `vbg validate` knows if they were made together."""
    from vbg.validate import Evidence

    file = coarse_file(run)
    known = run.evidence
    return Evidence(
        *pair,
        results.read_result(str(file)) if known else None,
        frozenset(known.get("replayed", ())),
        known.get("least"),
        tuple(known.get("notes", ())),
    )


def _start_apart(a: Solution, b: Solution, bodies: tuple[str, ...]) -> str:
    """The body that two runs that start at all start with in different poses."""
    from vbg.validate.poses import first_poses, starts_differ

    if not len(a.time) or not len(b.time):
        return ""
    try:
        moved, _ = starts_differ(first_poses(a, bodies), first_poses(b, bodies))
    except UsageError:
        # one of them lacks a signal: the comparison says which
        return ""
    return moved
