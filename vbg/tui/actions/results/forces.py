"""Why a joint force is as large as it is at the time that is looked at, as a text to read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from vbg.draw.text.axes import number
from vbg.draw.text.rows import Row, Rows, printable
from vbg.errors import UsageError
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.analysis.forces import Step
    from vbg.model import Model
    from vbg.solution import Solution
    from vbg.tui.session.runs import Run
    from vbg.tui.state.desk import Desk

_BAR = 18  # cells of the longest bar


async def explain(app: Desk) -> None:
    """The path of the largest force from the marked joint; a digit marks a joint of it."""
    from vbg.analysis.forces import explained

    work = app.work
    run = results.plotted(work) if work.view == "plot" else work.run(results.shown_run(work))
    solution = await results.load(work, run) if run is not None else None
    if run is None or solution is None:
        raise UsageError("Why: there is no run yet; r runs the model.")
    model = await asyncio.to_thread(_model_of, app, run)
    joint = _joint(app, solution)
    time = _time(app, solution, joint)
    steps = await asyncio.to_thread(explained, model, solution, joint, time)
    rows = force_rows(steps, app.work.marks.bar_full)
    keys = tuple(str(n) for n in range(1, min(len(steps), 9) + 1))
    title = f"Why {joint} carries {number(steps[0].size)} N at t = {time:.6g} s"
    answer = await app.read(title, rows, keys=keys)
    if answer in keys:
        app.select(("joints", steps[int(answer) - 1].joint))


def _model_of(app: Desk, run: Run) -> Model:
    """The model that was run: the one that is open, or the one kept in the result."""
    from vbg.io import toml
    from vbg.io.runs import hdf5

    checked = app.work.checked
    if checked.model is not None and checked.text_hash == run.text_hash:
        return checked.model
    text = hdf5.read_model(run.result) if run.result.endswith((".h5", ".hdf5")) else ""
    if not text:
        raise UsageError(f"Why: {run.title} does not say which model it is of.")
    return toml.parse(text, str(app.work.file or "model.toml"))


def _joint(app: Desk, solution: Solution) -> str:
    """The joint of the marked signal, of one that is plotted, the selected one, or the most
    loaded one."""
    from vbg.tui.panes.plot import Signals

    pane = app.main.panes["signals"]
    marked = pane.marked if isinstance(pane, Signals) and app.work.view == "plot" else None
    plotted = [name.split(".")[0] for name in app.work.plot.signals]
    wanted = [marked.name.split(".")[0] if marked else "", *plotted, app.work.part_name]
    if app.work.view == "space":
        wanted.reverse()
    forces = {n.removesuffix(".force"): v for n, v in solution.signals.items() if _is_force(n, v)}
    for name in wanted:
        if name in forces:
            return name
    if not forces:
        raise UsageError("Why: this result has no joint forces.")
    return max(forces, key=lambda name: float(np.nanmax(np.linalg.norm(forces[name], axis=1))))


def _is_force(name: str, values: np.ndarray) -> bool:
    return name.endswith(".force") and values.ndim == 2 and values.shape[1] == 3


def _time(app: Desk, solution: Solution, joint: str) -> float:
    """The time that is looked at, or that of the largest force."""
    if app.work.view == "space":
        return app.work.space.time
    if app.work.plot.cursor is not None:
        return app.work.plot.cursor
    size = np.linalg.norm(solution[f"{joint}.force"], axis=1)
    return float(solution.time[int(np.nanargmax(size))])


def force_rows(steps: tuple[Step, ...], block: str) -> Rows:
    """Each step with its terms, the largest first, as bars to one scale in each step."""
    rows: list[Row] = []
    for place, step in enumerate(steps, 1):
        head = f"{place}: {step.joint} on {step.body}, {number(step.size)} N"
        rows.append(((printable(head), "bold"),))
        largest = max((abs(term.value) for term in step.terms), default=1.0)
        for term in step.terms:
            bar = block * max(1, round(_BAR * abs(term.value) / largest))
            style = "bar" if term.value > 0 else "warn"
            rows.append(
                (
                    (f"  {number(term.value):>10} N  ", ""),
                    (f"{bar:{_BAR}} ", style),
                    (printable(term.what), "" if term.joint else "note"),
                )
            )
        rows.append(())
    rows.append(
        (("each line is a part of the force along its direction; they add up to it", "dim"),)
    )
    rows.append((("a digit marks the joint everywhere, Esc closes", "dim"),))
    return tuple(rows)
