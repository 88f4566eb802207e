"""All runs of a model in one folder or archive: models, results, tables, curves, what was noted.

model.toml                 the text that is open
runs.csv, runs.md          the runs as tables: what changed, how each ended, ranges of signals
run-3/model.toml           the text that it was made from
run-3/result.h5, .csv      its result, and as a table in SI
run-3/curves.svg           the signals of Plot, if matplotlib is there
run-3/log.txt              what its solver said
validation-1.json          verdicts, each with its settings and its two runs
study-....csv              tables of maps and optimisations
"""

from __future__ import annotations

import asyncio
import csv
import io
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.platform.files import replacing, write_text
from vbg.tui.content.results import plotting, tabling
from vbg.tui.content.results.figures import write_curves
from vbg.tui.session.runs import SOLVER_NAMES, Run, runs_folder
from vbg.tui.session.validation import folder_of
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk
    from vbg.tui.state.workspace import PlotState, Workspace

_SHOWN = 3  # signals in the table


async def collect(app: Desk, path: Path) -> str:
    """Write the lot to `path`, whole or not at all; what is said of it."""
    work = app.work
    for run in work.runs:
        if not run.active:
            await results.load(work, run)
    seen = {run.number: results.shown(work, run.number) for run in work.runs}
    known = {number: solution for number, solution in seen.items() if solution is not None}
    runs = tuple(run for run in work.runs if run.number in known and not run.active)
    if not runs:
        raise UsageError("no run has a result that can be read.")
    left = await asyncio.to_thread(_write, work, runs, known, path)
    count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    return f"wrote {count} to {path}{left}"


def _write(
    work: Workspace, runs: tuple[Run, ...], known: Mapping[int, Solution], path: Path
) -> str:
    """All files, in a folder beside `path` that takes its name at the end; what is missing."""
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".vbg-") as making:
        folder = Path(making) / path.stem
        folder.mkdir()
        left = _fill(folder, work, runs, known)
        if path.suffix == ".zip":
            archive = shutil.make_archive(str(folder), "zip", making, path.stem)
            with replacing(path) as temporary:
                shutil.copyfile(archive, temporary)
        else:
            folder.rename(path)
    return left


def _fill(
    folder: Path, work: Workspace, runs: tuple[Run, ...], known: Mapping[int, Solution]
) -> str:
    from vbg.io.runs import results as tables

    write_text(folder / "model.toml", work.document.now.text)
    newest = known[runs[-1].number]
    names = (work.plot.signals or plotting.default_signals(newest, ""))[:_SHOWN]
    entries = tabling.table(runs, known, names)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(entries)
    write_text(folder / "runs.csv", text.getvalue())
    write_text(folder / "runs.md", _list(runs))
    left = ""
    for run in runs:
        solution = known[run.number]
        left = _one(folder / f"run-{run.number}", run, solution, work.plot) or left
        table = folder / f"run-{run.number}" / "result.csv"
        if not table.exists():
            tables.save(work.solutions[run.number], table)
    for file in sorted(folder_of(work.file).glob("[!.]*.json")):
        shutil.copyfile(file, folder / f"validation-{file.stem.lstrip('0') or '0'}.json")
    for file in sorted(runs_folder(work.file).glob("study-*.csv")):
        shutil.copyfile(file, folder / file.name)
    return left


def _list(runs: tuple[Run, ...]) -> str:
    """The runs as a table of text."""
    head = ("run", "solver", "how it ended", "what changed", "note", "model (SHA-256)")
    rows = [head, ("---",) * len(head)]
    for run in runs:
        note = f"{'baseline. ' * run.pinned}{run.note}"
        solver = SOLVER_NAMES.get(run.solver, run.solver)
        rows.append((str(run.number), solver, run.outcome, run.changed, note, run.text_hash[:12]))
    cells = [[" ".join(cell.split()).replace("|", "/") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _one(folder: Path, run: Run, solution: Solution, plot: PlotState) -> str:
    """The files of one run but its table; what could not be made."""
    from vbg.io.runs.hdf5 import read_model

    folder.mkdir()
    file = Path(run.result)
    shutil.copyfile(file, folder / f"result{file.suffix}")
    if file.suffix == ".h5":
        with suppress(UsageError, KeyError):  # a result of elsewhere has no model
            text = read_model(run.result)
            if text:
                write_text(folder / "model.toml", text)
    if run.log:
        write_text(folder / "log.txt", "\n".join(run.log) + "\n")
    there = {signal.name for signal in plotting.signals(solution)}
    names = tuple(name for name in plot.signals if name in there)
    names = names or plotting.default_signals(solution, "")
    try:
        write_curves(solution, None, replace(plot, signals=names), folder / "curves.svg")
    except UsageError as error:
        return f"; without curves: {error}"
    return ""
