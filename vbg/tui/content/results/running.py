"""Runs as rows: the list, the progress, the residuals."""

from __future__ import annotations

import math
from typing import Any

from vbg.draw.text.axes import number
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, clip, pad, printable
from vbg.tui.session.runs import SOLVER_NAMES, Run

# Above these a residual of a result without limits of its own is worth a look.
RESIDUALS = (
    ("energy_residual", "energy residual", 1e-6),
    ("position_residual", "position residual", 1e-8),
    ("velocity_residual", "velocity residual", 1e-8),
)
LONG_START = 2.0  # s; a start that takes longer may be a first one
_STYLES = {"finished": "ok", "cancelled": "warn", "failed": "error"}


def run_row(run: Run, width: int, marks: Marks, *, current: bool, stale: bool) -> Row:
    """One run of the list; `stale` says that the model has changed since."""
    sign = {"finished": marks.ok, "cancelled": marks.warn, "failed": marks.error}.get(
        run.state, marks.running
    )
    left = marks.cursor if current else " "
    note = "  baseline" if run.pinned else "  model changed since" if stale else ""
    solver = SOLVER_NAMES.get(run.solver, run.solver)
    text = f"{run.number:3} {solver:10}  {run.summary}"
    style = "cursor" if current else ""
    return (
        (left, style or "focus"),
        (f"{sign} ", _STYLES.get(run.state, "note")),
        (clip(printable(text), max(width - len(note) - 4, 10)), style),
        (note, "warn"),
    )


def job_rows(run: Run | None, width: int, marks: Marks) -> Rows:
    """A run in five lines: where it is, a bar, residuals, work, outcome."""
    if run is None:
        return ((("no run yet: r runs the model", "dim"),),)
    end = f" of {run.t_end:.4g} s" if math.isfinite(run.t_end) else ""
    eta = f"   ETA {run.eta:.1f} s" if run.eta is not None and run.active else ""
    stage = f"   {run.stage}" if run.active and run.stage else ""
    head = f"t = {run.time:.4g} s{end}   wall {run.wall:.1f} s{eta}{stage}"
    room = max(width - 8, 4)
    full = round(min(max(run.fraction, 0.0), 1.0) * room)
    bar: Row = (
        (marks.bar_full * full, "bar"),
        (marks.bar_empty * (room - full), "dim"),
        (f" {100 * run.fraction:3.0f} %", ""),
    )
    rows: list[Row] = [((head, ""),), bar]
    if run.active and run.stage and run.fraction == 0.0 and run.wall > LONG_START:
        said = "a first run may have to compile the solver: half a minute, once"
        rows.append(((said, "dim"),))
    if run.audit:
        rows.append(_residual_row(run.audit, marks))
    if run.made_by:
        made = run.made_by
        rows.append(
            (
                (
                    f"{made.get('method', '')}: {made.get('n_steps', 0)} steps, "
                    f"{made.get('n_rates', 0)} rates, {float(made.get('cpu') or 0):.2f} s CPU",
                    "dim",
                ),
            )
        )
    if run.note:
        rows.append(((clip(printable(run.note), width), "note"),))
    if run.changed:
        rows.append(((clip(printable(f"changed: {run.changed}"), width), "note"),))
    if not run.active:
        text = run.outcome if run.state != "failed" else f"{run.outcome} {run.remedy}"
        rows.append(((clip(printable(text), width), _STYLES.get(run.state, "")),))
    return tuple(rows)


def _residual_row(audit: Any, marks: Marks) -> Row:
    row: list[tuple[str, str]] = []
    for key, name, usual in RESIDUALS:
        value = audit.get(key)
        own = audit.get(key.replace("residual", "limit"))
        limit = usual if own is None or not math.isfinite(own) else own
        if value is None or not math.isfinite(value):
            row.append((f"{name} -   ", "dim"))
            continue
        fine = value <= limit
        word = marks.ok if fine else f"{marks.warn} large"
        row.append((f"{name} {number(value, 2)} {word}   ", "ok" if fine else "warn"))
    return tuple(row)


def log_rows(run: Run | None, width: int, height: int) -> Rows:
    """The last lines of the log."""
    if run is None:
        return ()
    return tuple(((pad(printable(line), width), ""),) for line in run.log[-height:])
