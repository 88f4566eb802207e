"""Finding and comparing what a folder holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

import numpy as np

from vbg import units
from vbg.analysis.studies.table import Finished
from vbg.errors import ModelError, UsageError
from vbg.io.runs.folder import Entry
from vbg.solution import Solution

TEXTS = ("file", "kind", "model", "status", "solver", "method")
ROUNDING = 1e-6  # of the largest signal of a unit: what spans less is not told as large
FROM_ANYWHERE = ("m", "rad")  # counted from a place that could be another: spans, not values
GAPS = "residual."  # what a solver leaves of its conditions, not what the machine does
NUMBERS = ("rows", "t_end", "energy")
_CONDITION = re.compile(r"(?P<name>.+?)(?P<sign><=|>=|!=|<|>|=|~)(?P<value>.*)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: math.isclose(a, b, rel_tol=1e-9),
    "!=": lambda a, b: not math.isclose(a, b, rel_tol=1e-9),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`name` of a field, tag, parameter or measure; `sign` one of = != < <= > >= ~ (pattern)."""

    name: str
    sign: str
    value: str


def parse_condition(text: str) -> Condition:
    """A condition as `model=crank`, `r>0.04`, `tag~base*`; raises UsageError for others."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"'{text}' is no condition; write NAME=VALUE, as in model=crank, status!=finished, "
            "tag~base*, r>0.04 or 'max(A.force)<=100'."
        )
    condition = Condition(match["name"].strip(), match["sign"], match["value"].strip())
    texts = condition.name in (*TEXTS, "tag")
    if texts and condition.sign not in ("=", "!=", "~"):
        raise UsageError(f"'{text}': {condition.name} is a text; compare it by =, != or ~.")
    if not texts and condition.sign == "~":
        raise UsageError(f"'{text}': ~ is for texts; compare numbers by =, !=, <, <=, >, >=.")
    if not texts and not _is_number(condition.value):
        raise UsageError(
            f"'{text}': '{condition.value}' is no number (parameters: SI; measures: their unit)."
        )
    return condition


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def find(entries: Sequence[Entry], conditions: Sequence[Condition]) -> tuple[Entry, ...]:
    """The entries that fulfil all conditions; one without the parameter or measure does not.  A
    measure is compared in the unit of the first that has it.

    Raises UsageError for a name that none of them has, and for a measure of several quantities.
    """
    known = {*TEXTS, *NUMBERS, "tag"}
    known |= {name for entry in entries for name in (*entry.parameters, *entry.measures)}
    for condition in conditions:
        if entries and condition.name not in known:
            near = get_close_matches(condition.name, sorted(known), n=1)
            remedy = f"; did you mean '{near[0]}'?" if near else "."
            raise UsageError(f"no result here has '{condition.name}'{remedy}")
    compared = alike(entries, [condition.name for condition in conditions])
    return tuple(
        entry
        for entry, one in zip(entries, compared, strict=True)
        if all(fulfils(one, condition) for condition in conditions)
    )


def alike(entries: Sequence[Entry], names: Sequence[str]) -> tuple[Entry, ...]:
    """The entries with each of the measures `names` in one unit, that of the first entry that has
    it in one.

    Raises UsageError where it is of another quantity in another entry.
    """
    for name in names:
        having = [entry for entry in entries if name in entry.measures and entry.units.get(name)]
        if len({entry.units[name] for entry in having}) > 1:
            entries = [_in_unit(entry, name, having[0]) for entry in entries]
    return tuple(entries)


def _in_unit(entry: Entry, name: str, first: Entry) -> Entry:
    """The entry with a measure in the unit that it has in `first`; without a unit it is SI."""
    unit, wanted = entry.units.get(name, ""), first.units[name]
    if name not in entry.measures or unit == wanted:
        return entry
    try:
        factor, offset = units.conversion(unit, wanted) if unit else (1.0, 0.0)
    except ModelError as error:
        raise UsageError(
            f"{name} is in {wanted} in {first.file} and in {unit} in {entry.file}: {error}."
            " Search where it is one quantity."
        ) from None
    value = factor * entry.measures[name] + offset
    if not unit:
        factor, offset = units.conversion(wanted, "")
        value = (value - offset) / factor
    return replace(
        entry, measures={**entry.measures, name: value}, units={**entry.units, name: wanted}
    )


def what_there_is(entries: Sequence[Entry], conditions: Sequence[Condition]) -> tuple[str, ...]:
    """A line for every text that is asked for and no entry has: which ones there are."""
    told = []
    for c in conditions:
        if c.sign == "!=" or c.name not in (*TEXTS, "tag") or any(fulfils(e, c) for e in entries):
            continue
        own = [e.tags if c.name == "tag" else (str(getattr(e, c.name)),) for e in entries]
        there = sorted({text for texts in own for text in texts if text})
        part = f"; {c.name}~*{c.value}* finds a part" if any(c.value in t for t in there) else ""
        told.append(f"no {c.name} here is '{c.value}'; there is {_some(there)}{part}")
    return tuple(told)


def _some(texts: Sequence[str]) -> str:
    """At most eight of them."""
    if not texts:
        return "none at all"
    shown = ", ".join(f"'{text}'" for text in texts[:8])
    return f"{shown} and {len(texts) - 8} more" if len(texts) > 8 else shown


def fulfils(entry: Entry, condition: Condition) -> bool:
    """Whether the entry fulfils the condition."""
    if condition.name == "tag":
        has = any(_alike(tag, condition) for tag in entry.tags)
        return not has if condition.sign == "!=" else has
    if condition.name in TEXTS:
        alike = _alike(str(getattr(entry, condition.name)), condition)
        return not alike if condition.sign == "!=" else alike
    value = number(entry, condition.name)
    return value is not None and _COMPARED[condition.sign](value, float(condition.value))


def _alike(text: str, condition: Condition) -> bool:
    if condition.sign == "~":
        return fnmatchcase(text, condition.value)
    return text == condition.value


def number(entry: Entry, name: str) -> float | None:
    """A number of the entry by the name of a field, measure or parameter; None without it."""
    if name in NUMBERS:
        value = float(getattr(entry, name))
        return None if math.isnan(value) else value
    for own in (entry.measures, entry.parameters):
        if name in own:
            return float(own[name])
    return None


def differing(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Parameters whose values are not the same in all entries."""
    names = dict.fromkeys(name for entry in entries for name in entry.parameters)
    return tuple(
        name for name in names if len({entry.parameters.get(name) for entry in entries}) > 1
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference of a signal between two runs, at `time`; `relative` to what the
    signal spans in the first, at least a millionth of the largest signal of its unit there (of
    lengths and angles, of the widest)."""

    signal: str
    largest: float
    relative: float
    time: float


@dataclass(frozen=True, slots=True)
class Shift:
    """The largest difference of a measure between two studies in the `runs` that both have, at
    `point`; in the unit of the first, `relative` to what it spans there."""

    measure: str
    unit: str
    largest: float
    relative: float
    runs: int
    point: dict[str, float]


def shifts(first: Finished, other: Finished) -> tuple[Shift, ...]:
    """Of every measure that both studies have, the largest relative one first.

    A measure without a unit is in SI.  Raises UsageError where they vary other parameters, or have
    no run or no measure in common.
    """
    names, common = tuple(first.parameters), [m for m in first.measures if m in other.measures]
    if set(names) != set(other.parameters):
        told = " and ".join(", ".join(one.parameters) for one in (first, other))
        raise UsageError(f"the studies vary other parameters: {told}.")
    places = [
        {point: i for i, point in enumerate(zip(*(s.parameters[n] for n in names), strict=True))}
        for s in (first, other)
    ]
    points = [point for point in places[0] if point in places[1]]
    if not points or not common:
        raise UsageError("the studies have no run or no measure in common.")
    found = []
    for measure in common:
        a, b = (
            np.array([study.measures[measure][at[point]] for point in points])
            for study, at in zip((first, other), places, strict=True)
        )
        unit, theirs = first.units[measure], other.units[measure]
        if unit != theirs:
            factor, offset = units.conversion(theirs, "") if theirs else (1.0, 0.0)
            own, zero = units.conversion(unit, "") if unit else (1.0, 0.0)
            b = (factor * b + offset - zero) / own
        apart = np.nan_to_num(np.abs(b - a), nan=-1.0)
        worst, runs = int(np.argmax(apart)), int((apart >= 0.0).sum())
        if not runs:
            continue  # it has no value in one of them
        size = float(max(np.nanmax(a) - np.nanmin(a), ROUNDING * np.nanmax(np.abs(a))))
        largest = float(apart[worst])
        relative = largest / size if size > 0.0 else math.inf if largest else 0.0
        at_worst = dict(zip(names, points[worst], strict=True))
        found.append(Shift(measure, unit, largest, relative, runs, at_worst))
    return tuple(sorted(found, key=lambda one: -one.relative))


def differences(first: Solution, second: Solution) -> tuple[Difference, ...]:
    """Of every signal that both have, the largest relative one first, over the time that both
    reach; between output instants of the second on straight lines.

    Residuals of the solvers are left out.  Raises UsageError where they have no signal or no
    time in common.
    """
    common = [n for n in first.signals if n in second.signals and not n.startswith(GAPS)]
    if not common or not len(first.time) or not len(second.time):
        raise UsageError("the runs have no signal in common.")
    end = min(first.time[-1], second.time[-1])
    begin = max(first.time[0], second.time[0])
    times = first.time[(first.time >= begin) & (first.time <= end)]
    if not len(times):
        raise UsageError("the runs have no time in common.")
    shared = {name: [_columns(run, name, times) for run in (first, second)] for name in common}
    shared = {name: pair for name, pair in shared.items() if pair[0].shape == pair[1].shape}
    spans = {name: float(np.ptp(pair[0], axis=0).max()) for name, pair in shared.items()}
    widest: dict[str, float] = {}
    for name, span in spans.items():
        unit = first.units.get(name, "")
        values = shared[name][0]
        size = span if unit in FROM_ANYWHERE else float(np.abs(values).max(initial=0.0))
        widest[unit] = max(widest.get(unit, 0.0), size)
    found = []
    for name, (a, b) in shared.items():
        apart = np.nan_to_num(np.abs(a - b).max(axis=1), nan=np.inf)
        worst = int(np.argmax(apart))
        largest = float(apart[worst])
        scale = max(spans[name], ROUNDING * widest[first.units.get(name, "")])
        relative = largest / scale if scale > 0.0 else (0.0 if largest == 0.0 else math.inf)
        found.append(Difference(name, largest, relative, float(times[worst])))
    return tuple(sorted(found, key=lambda one: -one.relative))


def _columns(solution: Solution, name: str, times: np.ndarray) -> np.ndarray:
    """(n, k) the signal at `times`."""
    values = np.asarray(solution.signals[name], dtype=float)
    columns = values.reshape(len(values), -1).T
    return np.array([np.interp(times, solution.time, column) for column in columns]).T
