"""Effort, flow and power of every bond of the run that Plot shows, brought when they are seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vbg.tui.session.bonding import BondsJob, step_of
from vbg.tui.session.runs import bonds_file
from vbg.tui.state import results
from vbg.tui.state.bonds import kept_of
from vbg.tui.state.powers import run_in_bonds

if TYPE_CHECKING:
    from vbg.graph import BondGraph
    from vbg.tui.session.runs import Run
    from vbg.tui.state.desk import Desk

SHORT = 3.0  # s of processor time: a run that took less is done again without being asked for


async def bring(app: Desk, *, asked: bool = False) -> None:
    """Read the bonds of the run, from its file or by doing it again; paint them."""
    work = app.work
    run, state = run_in_bonds(work), work.graph
    if run is None or state is None or state.graph is None or run.number in work.bonds:
        return
    if not bonds_file(run).exists():
        if app.job is not None or not (asked or run.made_by.get("cpu", SHORT) < SHORT):
            return
        if run.number in work.without_bonds and not asked:
            return
        said = await _again(app, run, state.graph)
        if said:
            work.without_bonds[run.number] = said
            work.say(f"the bonds of {run.title}: {said}", "warn")
            app.main.paint()
            return
    solution = await asyncio.to_thread(results.read_result, str(bonds_file(run)))
    if solution is not None:
        work.bonds[run.number] = await asyncio.to_thread(kept_of, state.graph, solution)
        app.main.paint()


async def _again(app: Desk, run: Run, graph: BondGraph) -> str:
    """Do the run again with its bonds kept; why there are none, or nothing."""
    work = app.work
    solution = await results.load(work, run)
    if solution is None or len(solution.time) == 0 or app.job is not None:
        return "there is no whole result"
    asked = graph.model.simulate
    values = 2 * sum(bond.size for bond in graph.bonds.values())
    step = step_of(float(asked.t_end), float(asked.output_step), values)
    model, text = str(work.file or "model.toml"), work.document.now.text
    settings = {"t_end": float(solution.time[-1]), "output_step": step}
    app.job = job = BondsJob(model, text, run, app.solver, settings)
    try:
        return await job.follow()
    finally:
        app.job = None
        app.main.paint()
