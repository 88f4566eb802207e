"""What is printed after a run: signals, residuals, energy audit, how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from vbg.cli.text import count, figure, table
from vbg.display import rules_of, scale
from vbg.errors import Problem
from vbg.platform.text import escaped
from vbg.plumbing.components import spellings, vector_of

Ending = dict[str, Any]
# A component of a vector below this part of the vector (or of 1, in SI) is left out.
NEGLIGIBLE = 1e-9
LOADS = ("N", "N*m", "Pa")
AUDIT = ("residual.", "energy.")
KINEMATIC = frozenset(
    ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
)
KINDS = 20  # of events, shown at most
SOLVERS = {"tmm_bridge": "transfer-matrix solver (MSTMM)"}


def report(
    ending: Ending, *, patterns: Sequence[str] | None, limit: int | None, every_event: bool = False
) -> str:
    """The whole report; `patterns` choose signals, `limit` bounds their number; `every_event`
    is listed, or they are counted by their kind."""
    listed = _listed if every_event else _counted
    audit = (*_audit(ending), *listed(ending["audit"]["events"]))
    display = ending.get("display", ())
    blocks = [_head(ending), _signals(ending["summary"], patterns, limit, display)]
    blocks += ["\n".join(measures(ending.get("measures", [])))]
    blocks += ["\n".join(audit), "\n".join(_origin(ending))]
    return "\n\n".join(block for block in blocks if block)


def _head(ending: Ending) -> str:
    status = ending["status"]
    lines = [f"{ending['name'] or 'model'}: {status['code']}. {status['sentence']}"]
    if status["remedy"]:
        lines.append(status["remedy"])
    lines += [str(Problem(**note)) for note in ending["notes"]]
    return "\n".join(line.rstrip() for line in lines)


def matching(summary: list[Ending], patterns: Sequence[str] | None) -> list[Ending]:
    """The rows of signals that a pattern names; all without patterns."""
    if patterns is None:
        return summary
    spelled = spellings([row["signal"] for row in summary])
    return [
        row
        for row in summary
        if any(_matches(spelled[row["signal"]], pattern) for pattern in patterns)
    ]


def _signals(
    summary: list[Ending],
    patterns: Sequence[str] | None,
    limit: int | None,
    display: Sequence[str],
) -> str:
    """The table; without a limit all, else the first ones and the energies, leaving out
    components that stay zero while others of their vector do not.  Forces, torques and pressures
    come first, motions of bodies behind all else of the machine."""
    spelled = spellings([row["signal"] for row in summary])
    chosen = matching(summary, patterns)
    shown = chosen
    if limit is not None:
        moving = _without_zeros(chosen)
        energies = [row for row in moving if row["signal"].startswith("energy.")]
        others = [row for row in moving if not row["signal"].startswith("energy.")]
        shown = sorted(others, key=_rank)[:limit] + energies
    shown = sorted(shown, key=_rank)
    if not summary:
        return "No output instant was reached."
    unmet = [one for one in patterns or () if not any(_matches(s, one) for s in spelled.values())]
    if not shown:
        return _no_match(next(iter(unmet), ""), [row["signal"] for row in summary])
    rows = [
        (row["signal"], *(figure(row[k]) for k in ("min", "max", "final")), row["unit"])
        for row in (_in_units(row, display) for row in shown)
    ]
    text = table([("signal", "min", "max", "final", "unit"), *rows], "<>>><")
    hidden = len(chosen) - len(shown)
    text += "".join(f"\n{_no_match(one, [row['signal'] for row in summary])}" for one in unmet)
    return text + (f"\n{hidden} not shown: --all, or --signals PATTERN" if hidden else "")


def _rank(row: Ending) -> int:
    """Place in the table: what an engineer sizes by, other signals, how bodies move, the audit.
    Within each the order is that of the machine."""
    if row["signal"].startswith(AUDIT):
        return 3
    if row["unit"] in LOADS:
        return 0
    return 2 if KINEMATIC.intersection(row["signal"].split(".")) else 1


def measures(found: list[Ending]) -> Iterator[str]:
    """The answers of the run, one on a line."""
    if not found:
        return
    known = [row for row in found if row["value"] is not None]
    rows = [(row["name"], figure(row["value"], 6), row["unit"]) for row in known]
    if rows:
        yield table([("measure", "value", "unit"), *rows], "<><")
    yield from (f"{row['name']}: no value: {row['why']}" for row in found if row not in known)
    yield from (f"note: {row['note']}" for row in known if row["note"])


def _in_units(row: Ending, display: Sequence[str]) -> Ending:
    """A row of the summary, which is in SI, in the units of `display`."""
    found = scale(rules_of(display), row["signal"], row["unit"])
    values = {
        key: None if row[key] is None else (row[key] - found.offset) / found.factor
        for key in ("min", "max", "final")
    }
    return {**row, **values, "unit": found.unit}


def _no_match(pattern: str, signals: list[str]) -> str:
    """What may have been meant: the nearest names, or those of the same part."""
    names = list(dict.fromkeys(vector_of(name) for name in signals))
    near = get_close_matches(pattern.strip("*"), names, n=3)
    part = pattern.split(".")[0]
    near = near or [name for name in names if name.split(".")[0] == part][:6]
    hint = f"Nearest: {', '.join(near)}." if near else "--all prints them all."
    return f"No signal matches '{escaped(pattern)}'. {hint}"


def _without_zeros(rows: list[Ending]) -> list[Ending]:
    """Without components that are rounding of their vector, or of what has the same unit: of 1 at
    most, so that what is small is told of a small machine."""
    largest: dict[str, float] = {}
    beside: dict[str, float] = {}
    for row in rows:
        vector, unit = vector_of(row["signal"]), row["unit"]
        largest[vector] = max(largest.get(vector, 0.0), _size(row))
        beside[unit] = min(1.0, max(beside.get(unit, 0.0), _size(row)))
    return [
        row
        for row in rows
        if vector_of(row["signal"]) == row["signal"]
        or _size(row) > NEGLIGIBLE * max(beside[row["unit"]], largest[vector_of(row["signal"])])
    ]


def _size(row: Ending) -> float:
    """Largest magnitude of a signal; infinite where it is not a number."""
    return max(math.inf if row[k] is None else abs(row[k]) for k in ("min", "max"))


def _matches(spelled: Iterable[str], pattern: str) -> bool:
    """Components by letter or number: A.force.z, A.force[2]."""
    literal = pattern.replace("[", "[[]")
    return any(fnmatchcase(name, literal) for name in spelled)


def _audit(ending: Ending) -> Iterator[str]:
    audit = ending["audit"]
    dependent = audit.get("dependent_residual")
    yield (
        f"residuals  position {figure(audit['position_residual'], 2)},"
        f" velocity {figure(audit['velocity_residual'], 2)} (largest, rad or lengths)"
        + (f"; dependent stores {figure(dependent, 2)} (V, A, bar)" if dependent else "")
    )
    if audit["energy_residual"] is None:
        yield "energy     not followed by this solver where there are one-dimensional parts"
    else:
        yield (
            f"energy     stored = supplied - dissipated to {figure(audit['energy_residual'], 2)}"
            " of the largest energy"
        )
    yield f"audit      {_verdict(audit)}"


def _verdict(audit: Ending) -> str:
    """Whether the residuals are within their limits, in words."""
    if failures := audit.get("failures"):
        return f"failed: {'; '.join(failures)}"
    names = ("energy", "position", "velocity")
    known = [n for n in names if audit[f"{n}_residual"] is not None and audit.get(f"{n}_limit")]
    if not known:
        return "not judged: this method has no limits"
    limits = ", ".join(f"{name} {figure(audit[f'{name}_limit'], 1)}" for name in known)
    return f"passed: within {limits}"


def _counted(events: list[Ending]) -> Iterator[str]:
    """How often each kind of event happened, by its first time."""
    if not events:
        return
    kinds: dict[str, list[float]] = {}
    for event in events:
        kinds.setdefault(f"{event['where']} {event['what']}", []).append(event["time"])
    further = "; --events lists them" if len(events) > 1 else ""
    yield f"events     {count(len(events), 'event')}{further}"
    for kind, times in list(kinds.items())[:KINDS]:
        often = f"{len(times)} times, first {times[0]:.6g} s, last {times[-1]:.6g} s"
        yield f"           {kind}: {often if len(times) > 1 else f'{times[0]:.6g} s'}"
    if len(kinds) > KINDS:
        yield f"           ... and {len(kinds) - KINDS} kinds more"


def _listed(events: list[Ending]) -> Iterator[str]:
    """Every event."""
    if events:
        yield f"events     {count(len(events), 'event')}"
    for event in events:
        yield f"           t = {event['time']:.6g} s: {event['where']} {event['what']}"


def _origin(ending: Ending) -> Iterator[str]:
    made = ending["made_by"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    solver = SOLVERS.get(made["solver"], made["solver"])
    method = made["method"].removeprefix("mstmm ")
    yield f"made by    {solver}, {method}{_tolerances(made)}; {versions}"
    yield (
        f"           {count(made['n_steps'], 'step')}, {count(made['n_rates'], 'rate')},"
        f" {figure(made['cpu'], 2)} s CPU; model {made['model_hash'][:12]}"
    )
    if not ending["result"]:
        yield "result     not kept; -o NAME.h5 or NAME.csv keeps it"


def _tolerances(made: dict[str, Any]) -> str:
    """The tolerances; methods with a fixed step have none."""
    if made["rtol"] is None or math.isnan(made["rtol"]):
        return ""
    return f", rtol {figure(made['rtol'], 2)}, atol {figure(made['atol'], 2)}"
