"""A verdict as text, JSON, Markdown and CSV; nothing is computed here."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from vbg.engines import ENGINES
from vbg.solution import Solution
from vbg.validate.both import Report
from vbg.validate.compare import CONVERGES
from vbg.validate.comparison.values import Channel, Verdict

SIGNS = {
    "PASS": "ok",
    "FAIL": "FAIL",
    "INCONCLUSIVE": "unsure",
    "VACUOUS": "zero",
    "NOT UNIQUE": "not unique",
}
_TITLES = {"vbg": "bond graph", "tmm_bridge": "transfer matrices (MSTMM)"}
COLUMNS = ("channel", "peak", "max error", "at [s]", "rel. L2", "tolerance", "result")


def ratio(channel: Channel) -> float:
    """Largest error over the peak."""
    return channel.max_error / channel.peak if channel.peak else 0.0


def ordered(verdict: Verdict) -> list[Channel]:
    """Failed channels first, then by error; zero and not unique ones last."""
    rank = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2, "NOT UNIQUE": 3, "VACUOUS": 4}
    return sorted(verdict.channels, key=lambda c: (rank[c.result], -ratio(c)))


def cells(c: Channel) -> tuple[str, ...]:
    """The row of a channel, as COLUMNS."""
    return (
        c.name,
        f"{c.peak:.4g} {c.unit}",
        f"{ratio(c):.1e}",
        f"{c.worst_time:.4g}",
        f"{c.relative_l2:.1e}",
        f"{c.tolerance:.1e}",
        SIGNS[c.result] + (" (replayed)" if c.source == "replayed" else ""),
    )


def is_joint_force(channel: Channel) -> bool:
    """Whether the channel is an effort: what the verdict is about."""
    return any(f".{what}" in channel.name for what in ("force", "torque", "drive", "effort"))


def text(report: Report, *, limit: int | None = 40) -> str:
    """The table and the verdict for a terminal; all failed channels and at most `limit` rows."""
    verdict = report.verdict
    rows = [c for c in ordered(verdict) if c.result != "VACUOUS"]
    efforts = [c for c in rows if is_joint_force(c)]
    shown = [c for c in rows if c.result in ("FAIL", "INCONCLUSIVE")]
    shown += [c for c in efforts if c not in shown]
    cut = shown if limit is None else shown[: max(limit, 1)]
    if not cut:
        return "\n".join(summary(report))
    table = [COLUMNS, *(cells(c) for c in cut)]
    widths = [max(len(row[k]) for row in table) for k in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    if len(shown) > len(cut):
        lines.append(f"... and {len(shown) - len(cut)} more")
    return "\n".join([*lines, "", *summary(report)])


def summary(report: Report) -> list[str]:
    """The verdict in a few lines."""
    v = report.verdict
    counts = {mark: sum(c.result == mark for c in v.channels) for mark in SIGNS}
    lines = [f"{v.word}  {v.sentence}", *v.review]
    if v.channels:
        lines.append(
            f"{v.model}: {' against '.join(_TITLES.get(s, s) for s in v.solvers)},"
            f" {v.span[0]:.4g} to {v.span[1]:.4g} s; "
            + ", ".join(f"{n} {SIGNS[mark]}" for mark, n in counts.items() if n)
            + "."
        )
        lines += [shares_sentence(v), *audit_sentence(v)]
    if math.isfinite(v.halving):
        lines.append(halving_sentence(v.halving, v.result))
    lines += [f"Left out: {a:.6g} to {b:.6g} s." for a, b in v.excluded]
    lines += [f"Note: {note}" for note in v.notes]
    for name, other in report.also.items():
        lines += _column(name, other, report.solutions.get(name))
    return lines


def shares_sentence(verdict: Verdict) -> str:
    """How much of the channels was really solved twice."""
    shares = ", ".join(f"{100 * share:.3g} % {what}" for what, share in verdict.shares.items())
    return f"Channels: {shares}."


def audit_sentence(verdict: Verdict) -> tuple[str, ...]:
    """The energy audit of either side."""
    said = [
        f"{_TITLES.get(solver, solver)} {f'{left:.1e}' if math.isfinite(left) else 'not followed'}"
        for solver, left in verdict.audits.items()
    ]
    return (
        (f"Energy that is not accounted for, of the largest: {', '.join(said)}.",) if said else ()
    )


def halving_sentence(halving: float, result: str = "PASS") -> str:
    """What doubling the step of the transfer-matrix solver did to the largest difference of
    the two solvers: where it follows the step it comes from integration, not from the
    equations."""
    if halving < CONVERGES:
        why = "it hardly follows the step: rounding where it is small, else the equations"
    elif result == "FAIL":
        why = "what remains when the step vanishes is the fault"
    else:
        why = "it comes from integration and vanishes with the step"
    return (
        "Step halving: with twice the step in the transfer-matrix solver the largest difference is"
        f" {halving:.3g} times as large; {why}."
    )


def _column(name: str, other: Verdict, solution: Solution | None) -> list[str]:
    """Verdict on a further method, its step and the order that was seen."""
    lines = [f"{name}: {other.word}  {other.sentence}"]
    if solution is not None:
        words = f"{name}: {solution.made_by.method}"
        if name not in ENGINES and math.isfinite(other.halving) and other.halving > 0.0:
            words += (
                f"; with twice that step the error is {other.halving:.3g} times as large (order"
                f" seen: {math.log2(other.halving):.2f})"
            )
            if other.result == "FAIL" and other.halving < CONVERGES:
                words += ": that step is too long (--dt-step), or it converges to something else"
        most = "" if name in ENGINES else ", at most 10 % of a peak"
        lines.append(f"{words}; allowed is four times what doubling it changes{most}.")
    return lines


def plain(report: Report) -> dict[str, Any]:
    """The report as plain data; NaN and infinities become None."""
    content = {
        "word": report.verdict.word,
        **asdict(report.verdict),
        "shares": report.verdict.shares,
        "also": {name: asdict(verdict) for name, verdict in report.also.items()},
        "runs": {name: _made(solution) for name, solution in report.solutions.items()},
    }
    cleaned: dict[str, Any] = _finite(content)
    return cleaned


def _made(solution: Solution) -> dict[str, Any]:
    made = {
        name: getattr(solution.made_by, name)
        for name in type(solution.made_by).__dataclass_fields__
    }
    return {
        **{k: dict(v) if isinstance(v, Mapping) else v for k, v in made.items()},
        "status": solution.status.code,
        "energy_residual": solution.audit.energy_residual,
        "position_residual": solution.audit.position_residual,
        "velocity_residual": solution.audit.velocity_residual,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_json(report: Report) -> str:
    """The report for another program."""
    return json.dumps(plain(report), indent=1)


def as_markdown(report: Report) -> str:
    """The report for a document."""
    v = report.verdict
    head, *rest = summary(report)
    lines = [f"# Validation of {v.model}", "", f"**{head}**", "", *(f"- {line}" for line in rest)]
    lines += [f"- model hash {v.model_hash}", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    lines += ["| " + " | ".join(cells(c)) + " |" for c in ordered(v)]
    return "\n".join(lines) + "\n"


def as_csv(report: Report) -> str:
    """All channels, one a row."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    names = list(Channel.__dataclass_fields__)
    writer.writerow(names)
    writer.writerows([getattr(c, name) for name in names] for c in ordered(report.verdict))
    return stream.getvalue()
