"""What is printed after a run: signals, residuals, energy audit, how it was made."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from vbg.cli.text import count, figure, table

Ending = dict[str, Any]


def report(ending: Ending, *, pattern: str | None, limit: int | None) -> str:
    """The whole report; `pattern` chooses signals, `limit` bounds their number."""
    blocks = [_head(ending), _signals(ending["summary"], pattern, limit)]
    blocks += ["\n".join(_audit(ending)), "\n".join(_origin(ending))]
    return "\n\n".join(block for block in blocks if block)


def _head(ending: Ending) -> str:
    status = ending["status"]
    lines = [f"{ending['name'] or 'model'}: {status['code']}. {status['sentence']}"]
    if status["remedy"]:
        lines.append(status["remedy"])
    lines += [f"{n['severity']}: {n['where']}: {n['what']} {n['remedy']}" for n in ending["notes"]]
    return "\n".join(line.rstrip() for line in lines)


def _signals(summary: list[Ending], pattern: str | None, limit: int | None) -> str:
    chosen = [row for row in summary if pattern is None or _matches(row["signal"], pattern)]
    shown = chosen if limit is None else chosen[:limit]
    if not shown:
        return f"No signal matches '{pattern}'." if pattern else "No output instant was reached."
    rows = [
        (row["signal"], *(figure(row[k]) for k in ("min", "max", "final")), row["unit"])
        for row in shown
    ]
    text = table([("signal", "min", "max", "final", "unit"), *rows], "<>>><")
    hidden = len(chosen) - len(shown)
    return text + (f"\n... and {hidden} more: --all, or --signals PATTERN" if hidden else "")


def _matches(signal: str, pattern: str) -> bool:
    """Brackets of components are meant literally: A.force[2]."""
    return fnmatchcase(signal, pattern.replace("[", "[[]")) or signal.split("[")[0] == pattern


def _audit(ending: Ending) -> Iterator[str]:
    audit = ending["audit"]
    yield (
        f"residuals  position {figure(audit['position_residual'], 2)},"
        f" velocity {figure(audit['velocity_residual'], 2)} (largest, SI)"
    )
    yield (
        f"energy     stored = supplied - dissipated to {figure(audit['energy_residual'], 2)}"
        " of the largest energy"
    )
    if audit["events"]:
        yield f"events     {count(len(audit['events']), 'event')}"
        for event in audit["events"][:10]:
            yield f"           t = {event['time']:.6g} s: {event['where']} {event['what']}"


def _origin(ending: Ending) -> Iterator[str]:
    made = ending["made_by"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    yield (
        f"made by    {made['solver']}, {made['method']}, rtol {figure(made['rtol'], 2)},"
        f" atol {figure(made['atol'], 2)}; {versions}"
    )
    yield (
        f"           {count(made['n_steps'], 'step')}, {count(made['n_rates'], 'rate')},"
        f" {figure(made['cpu'], 2)} s CPU; model {made['model_hash'][:12]}"
    )
    if ending["result"]:
        yield f"result     {ending['result']}"
    else:
        yield "result     not kept; -o NAME.h5 or NAME.csv keeps it"
