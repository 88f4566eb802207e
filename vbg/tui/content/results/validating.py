"""The comparison of the two solvers as rows: table, curves, difference, verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vbg.draw.text.axes import number
from vbg.draw.text.curves import Curve, Frame, plot
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, Rows, clip, fit, pad, printable, wrap
from vbg.tui.session.runs import SOLVER_NAMES

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.solution import Solution
    from vbg.tui.session.runs import Run
    from vbg.validate.comparison.values import Channel, Verdict

STYLES = {
    "PASS": "ok",
    "FAIL": "error",
    "VACUOUS": "dim",
    "NOT UNIQUE": "note",
    "INCONCLUSIVE": "warn",
}
_WORDS = {"VACUOUS": "VACUOUS (all zero)"}
EVENT_SAMPLES = 2  # output steps left out on each side of an event


def event_windows(first: Solution, second: Solution) -> tuple[tuple[float, float], ...]:
    """Windows about the events of both runs, joined where they overlap."""
    steps = [float(np.median(np.diff(s.time))) for s in (first, second) if len(s.time) > 1]
    margin = EVENT_SAMPLES * max(steps, default=0.0)
    times = sorted(event.time for s in (first, second) for event in s.audit.events)
    windows: list[tuple[float, float]] = []
    for time in times:
        if windows and time - margin <= windows[-1][1]:
            windows[-1] = (windows[-1][0], time + margin)
        else:
            windows.append((time - margin, time + margin))
    return tuple(windows)


def counts(verdict: Verdict) -> str:
    """How many channels have which result."""
    found = [channel.result for channel in verdict.channels]
    words = [f"{found.count(r)} {r}" for r in STYLES if r in found]
    return "  ".join(words) or verdict.result


def channel_rows(
    channels: tuple[Channel, ...], width: int, marks: Marks, *, top: int, height: int, index: int
) -> Rows:
    """The table: a header, then one row for each channel.  The verdict is never cut; what
    there is no room for is left out, the least telling columns first."""
    shown = channels[top : top + height - 1]
    word = max((len("verdict"), *(len(_word(channel)) for channel in shown)))
    room = width - 2 - word - 2
    columns: list[tuple[str, int]] = []
    for title, size in (("max|Δ|", 14), ("rel.L2", 9), ("worst t", 10), ("tol", 9)):
        if room - size >= _NAME:
            columns.append((title, size))
            room -= size
    name = max(room, 8)
    head = f"  {pad('channel', name)}" + "".join(f"{title:>{size}}" for title, size in columns)
    rows: list[Row] = [((f"{head}  verdict", "dim"),)]
    for i, channel in enumerate(shown, top):
        style = "cursor" if i == index else ""
        left = marks.cursor if i == index else " "
        values = _numbers(channel)
        body = f" {pad(clip(printable(channel.name), name), name)}" + "".join(
            f"{clip(values[title], size - 1):>{size}}" for title, size in columns
        )
        rows.append(
            ((left, "focus"), (f"{body}  ", style), (_word(channel), STYLES[channel.result]))
        )
    return tuple(rows)


_NAME = 14  # columns that the name of a channel keeps


def _word(channel: Channel) -> str:
    return _WORDS.get(channel.result, channel.result)


def _numbers(channel: Channel) -> dict[str, str]:
    """The columns of a channel by their titles."""
    return {
        "max|Δ|": f"{number(channel.max_error, 2)} {channel.unit}",
        "rel.L2": number(channel.relative_l2, 2),
        "tol": number(channel.tolerance, 2),
        "worst t": number(channel.worst_time, 4) if channel.result != "VACUOUS" else "-",
    }


def progress_rows(runs: tuple[Run, ...], width: int, marks: Marks) -> Rows:
    """How far both solvers are, a bar for each."""
    room = max(width - 44, 8)
    rows: list[Row] = []
    for run in runs:
        full = round(min(max(run.fraction, 0.0), 1.0) * room)
        name, stage = SOLVER_NAMES.get(run.solver, run.solver), run.stage or ""
        rows.append(
            (
                (f" {pad(name, 11)}", ""),
                (marks.bar_full * full, "bar"),
                (marks.bar_empty * (room - full), "dim"),
                (f" {100 * run.fraction:3.0f} %  {stage}", "dim"),
            )
        )
    return tuple(rows)


# times and values by each solver
Courses = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def courses_of(
    first: Solution, second: Solution, channel: Channel, verdict: Verdict, model: Model | None
) -> Courses | None:
    """The channel by both solvers: a signal of both, or, with the `model` that they are of, what
    the verdict put together from several forces; None where it is neither."""
    a, b = _values(first, channel.name), _values(second, channel.name)
    if a is not None and b is not None:
        return (first.time, a), (second.time, b)
    if model is None:
        return None
    from vbg.validate.comparison.resultants import resultant_courses

    time, made = resultant_courses(model, first, second, verdict)
    if channel.name not in made:
        return None
    x, y = made[channel.name]
    return (time, x), (time, y)


def overlay_rows(
    courses: Courses | None, channel: Channel, width: int, height: int, marks: Marks
) -> Rows:
    """The channel by both solvers, the second dashed."""
    name = channel.name
    curves = []
    for number_, ((time, values), pattern) in enumerate(
        zip(courses or (), ("solid", "dashed"), strict=False), 1
    ):
        curves.append(Curve(time, values, name, number_, pattern))  # type: ignore[arg-type]
    line, dash = marks.line, marks.dashed
    legend: Row = (
        (f"{line}{line} bond graph   ", "ink1"),
        (f"{dash}{dash} MSTMM   ", "ink2"),
        (f"{printable(name)} [{channel.unit}]", "dim"),
    )
    frame = Frame(unit=(channel.unit, ""), cursor=channel.worst_time)
    return (fit(legend, width), *plot(tuple(curves), width, height - 1, frame, marks))


def error_rows(
    courses: Courses | None, channel: Channel, width: int, height: int, marks: Marks
) -> Rows:
    """|difference| on a logarithmic scale with the tolerance as a line."""
    if courses is None or any(len(time) < 2 for time, _ in courses):
        return ((("put together from several forces of a model that is not open", "dim"),),)
    (mine, a), (others, b) = courses
    inside = (mine >= others[0]) & (mine <= others[-1])
    time = mine[inside]
    difference = np.abs(a[inside] - np.interp(time, others, b))
    level = channel.tolerance * channel.peak
    curve = Curve(time, difference, channel.name, 6)
    frame = Frame(level=level if level > 0 else None, log=True)
    rows = plot((curve,), width, height - 1, frame, marks)
    note = f"|Δ|, log scale; {marks.dashed * 3} tolerance {number(level, 2)} {channel.unit}"
    return (((pad(note, width), "dim"),), *rows)


def _values(solution: Solution, name: str) -> np.ndarray | None:
    """A channel of a solution; None if it has none of this name."""
    from vbg.errors import UsageError

    try:
        return solution[name]
    except UsageError:
        return None


def verdict_rows(verdict: Verdict | None, waiting: str, width: int, marks: Marks) -> Rows:
    """The verdict, its reason, its notes."""
    if waiting:
        return tuple(((line, "note"),) for line in wrap(waiting, width))
    if verdict is None:
        return (
            (("INCONCLUSIVE  there are no two runs of this model to compare", "warn"),),
            (("R runs both solvers and compares them", "focus"),),
        )
    mark = {"PASS": marks.ok, "FAIL": marks.error}.get(verdict.result, marks.warn)
    word = {"PASS": "PASS", "FAIL": "FAIL: NOT VALIDATED"}.get(verdict.result, verdict.result)
    rows: list[Row] = []
    text = f"{mark} {word}   {verdict.sentence}"
    rows += [((line, STYLES[verdict.result]),) for line in wrap(printable(text), width)]
    if math.isfinite(verdict.halving):
        from vbg.validate.report import halving_sentence

        rows += [
            ((line, "dim"),)
            for line in wrap(halving_sentence(verdict.halving, verdict.result), width)
        ]
    for low, high in verdict.excluded:
        rows.append(((f"left out: {low:.6g} to {high:.6g} s (about an event)", "warn"),))
    for note in verdict.notes:
        rows += [((line, "dim"),) for line in wrap(printable(f"note: {note}"), width)]
    return tuple(rows)


def side_rows(
    first: tuple[Run, Solution], second: tuple[Run, Solution], verdict: Verdict, width: int
) -> Rows:
    """The two runs side by side."""
    (run_a, a), (run_b, b) = first, second
    column = max((width - 18) // 2, 8)

    def row(name: str, left: Any, right: Any) -> Row:
        return (
            (pad(f" {name}", 18), "dim"),
            (pad(str(left), column), ""),
            (pad(str(right), column), ""),
        )

    hashes = [s.made_by.model_hash[:12] or "?" for s in (a, b)]
    rows = [
        row("", run_a.title, run_b.title),
        row("model", *hashes),
        row(
            "time",
            *(f"{s.time[0]:.4g}..{s.time[-1]:.4g} s" if len(s.time) else "-" for s in (a, b)),
        ),
        row("samples", len(a.time), len(b.time)),
        row("rtol", *(number(s.made_by.rtol, 2) for s in (a, b))),
        row("energy", *(_residual(s.audit.energy_residual) for s in (a, b))),
        row("position", *(_residual(s.audit.position_residual) for s in (a, b))),
        row("wall", *(f"{run.wall:.1f} s" for run in (run_a, run_b))),
    ]
    return tuple(rows)


def _residual(value: float) -> str:
    return number(value, 2) if math.isfinite(value) else "-"
