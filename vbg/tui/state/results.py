"""Results of runs: read from their files when they are looked at, again while they grow."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.tui.state.workspace import Shown

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.session.runs import Run
    from vbg.tui.state.motion import Motion
    from vbg.tui.state.workspace import Workspace


def read_result(file: str) -> Solution | None:
    """The rows written so far; None before the first ones."""
    from vbg.io.runs import results

    if not Path(file).exists():
        return None
    try:
        return results.read(file)
    except UsageError:
        # the first block of a run that has just started is not whole yet
        return None


async def load(work: Workspace, run: Run) -> Solution | None:
    """The solution of `run`, read in a thread the first time; of an active run, anew."""
    known = work.solutions.get(run.number)
    if known is not None and not run.active:
        return known
    solution = await asyncio.to_thread(read_result, run.result)
    if solution is not None:
        work.solutions[run.number] = solution
        work.motions.pop(run.number, None)
    return solution


def plotted(work: Workspace) -> Run | None:
    """The run that Plot shows: the chosen one, or the newest with a result."""
    chosen = work.run(work.plot.run)
    if chosen is not None:
        return chosen
    return next((run for run in reversed(work.runs) if Path(run.result).exists()), None)


def behind(work: Workspace, run: Run) -> int:
    """The number of the run that `run` is seen against: the pinned one, or else the one before
    a change of the model; 0 for none."""
    known = [r for r in work.runs if r.number != run.number and Path(r.result).exists()]
    pinned = [r.number for r in known if r.pinned]
    before = [r.number for r in known if r.number < run.number and r.solver == run.solver]
    return (pinned or (before if run.changed else []) or [0])[-1]


def solution_of(work: Workspace, number: int) -> Solution | None:
    """A solution that has been read."""
    return work.solutions.get(number)


def shown(work: Workspace, number: int) -> Solution | None:
    """A solution that has been read in the units of the model's [display]; the same value as
    long as neither changes."""
    from vbg.display import fitting
    from vbg.model.resolve.shown import display_of
    from vbg.solution import in_display

    solution = work.solutions.get(number)
    if solution is None or "display" not in work.data:
        return solution
    display = display_of(work.data)
    known = work.shown.get(number)
    if known is None or known.solution is not solution or known.display != display:
        units = {name: solution.units.get(name, "") for name in solution.signals}
        seen = in_display(solution, fitting(display, units))
        known = work.shown[number] = Shown(solution, display, seen)
    return known.seen


def stale(work: Workspace, run: Run) -> bool:
    """Whether the model has changed since `run` was started."""
    return run.text_hash not in ("", work.document.now.hash)


def shown_run(work: Workspace) -> int:
    """The number of the run that 3D shows; 0 for the written posture."""
    run = work.run(work.space.run)
    if run is None:
        run = next((r for r in reversed(work.runs) if Path(r.result).exists()), None)
    return run.number if run is not None else 0


def shown_motion(work: Workspace) -> Motion | None:
    """What moves in 3D, if it has been read."""
    return work.motions.get(shown_run(work))
