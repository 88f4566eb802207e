"""What two solutions have in common: output times, components, windows to leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vbg.plumbing.components import component_names
from vbg.solution import Solution
from vbg.validate.comparison.scales import kind_of

Array = np.ndarray[Any, Any]
Window = tuple[float, float]

# In a singular posture the loops lose a constraint, and beside it forces grow from rounding by
# the inverse of the nearness.  This part of its usual value is too near to compare them: both
# solvers keep joints closed to about 1e-10, which leaves 1e-10 / 3e-4 = 3e-7 of a force.
NEAREST = 3e-4
BESIDE_SINGULAR = 1e-2  # of the usual nearness: so near may be what a solver passes in one leap
COVERAGE = 0.95
BESIDE = 1e-9  # of the span: so near to a crossing an output row may be on either side of it
VISIBLE = 1e-6  # of a peak: what a verdict sees of runs on different sides of it
_OWN = ("residual.", "energy.residual", "energy.stored")


@dataclass(frozen=True, eq=False)
class Pair:
    """One component of both solutions at the common times."""

    name: str
    unit: str
    first: Array
    second: Array

    @property
    def peak(self) -> float:
        """Largest magnitude in either."""
        return float(max(np.abs(self.first).max(), np.abs(self.second).max()))

    @property
    def kind(self) -> str:
        """What it is compared with others of."""
        return kind_of(self.name, self.unit)


def common_times(
    first: Solution, second: Solution, exclude: tuple[Window, ...]
) -> tuple[Array, Array] | None:
    """Places of the common output times in both runs; None if they are too few."""
    same, j = _same_times(first, second)
    if same.sum() < COVERAGE * max(len(first.time), len(second.time)):
        return None
    for begin, end in exclude:
        same &= (first.time < begin) | (first.time > end)
    i = np.flatnonzero(same)
    return (i, j[i]) if len(i) else None


def too_much_cut(solution: Solution, windows: tuple[Window, ...]) -> str:
    """Why windows that were asked for leave too little for a PASS; empty if they do not: COVERAGE
    of the rows and of the time has to be left, as two runs must have that much in common."""
    time = solution.time
    if not windows or len(time) < 2:
        return ""
    out, past, cut = np.zeros(len(time), dtype=bool), float(time[0]), 0.0
    for begin, end in sorted(windows):
        out |= (time >= begin) & (time <= end)
        cut += max(min(end, float(time[-1])) - max(begin, past), 0.0)
        past = max(past, end)
    share, span = max(cut / float(time[-1] - time[0]), out.mean()), float(time[-1] - time[0])
    if share <= 1.0 - COVERAGE:
        return ""
    return (
        f"All that is compared agrees, but the windows that were excluded are {cut:.4g} s of"
        f" {span:.4g} s and {int(out.sum())} of {len(time)} rows: a PASS says so of"
        f" {100 * COVERAGE:.0f} % of both. Make the windows shorter or the run longer, or let it"
        " end where they begin (--t-end)."
    )


def unpaired_row(first: Solution, second: Solution) -> str:
    """What tells of the first row that one run has and the other has not; empty if they have
    the same ones, each once."""
    rows, (same, j) = (len(first.time), len(second.time)), _same_times(first, second)
    if rows[0] == rows[1] and same.all() and np.array_equal(j, np.arange(rows[1])):
        return ""
    n = min(rows)
    gaps = np.flatnonzero(~same[:n] | (j[:n] != np.arange(n)))
    at = int(gaps[0]) if len(gaps) else n
    times = [f"{run.time[at]:.9g} s" if at < len(run.time) else "none" for run in (first, second)]
    return f"{rows[0]} rows against {rows[1]}, row {at + 1} at {times[0]} against {times[1]}"


def _same_times(first: Solution, second: Solution) -> tuple[Array, Array]:
    """Which times of the first run the second has, and where."""
    span = max(first.time[-1] - first.time[0], second.time[-1] - second.time[0])
    if len(second.time) < 2:
        return np.abs(first.time - second.time[0]) <= 0.0, np.zeros(len(first.time), dtype=int)
    j = np.clip(np.searchsorted(second.time, first.time), 1, len(second.time) - 1)
    j = j - (np.abs(second.time[j - 1] - first.time) < np.abs(second.time[j] - first.time))
    return np.abs(second.time[j] - first.time) <= 1e-9 * max(span, 1e-300), j


def turned_alike(first: Solution, second: Solution, i: Array, j: Array) -> Solution:
    """The second solution with the signs of its quaternions, at the common times, that are nearer
    to the first one's: what its coarser run is held against must have them, too."""
    signals = dict(second.signals)
    for name, b in second.signals.items():
        a = first.signals.get(name)
        if name.endswith(".rotation") and a is not None and a[0].shape == b[0].shape:
            signals[name] = b.copy()
            signals[name][j] = _nearer(a[i], b[j])
    return replace(second, signals=signals)


def _nearer(a: Array, b: Array) -> Array:
    """Quaternions b with the signs that are nearer to those of a."""
    return b * np.where(np.sum(a * b, axis=1, keepdims=True) < 0.0, -1.0, 1.0)


def pairs_of(first: Solution, second: Solution, i: Array, j: Array) -> Iterator[Pair]:
    """Every component that both solutions have; of a rotation the sign that is nearer."""
    for name, values in first.signals.items():
        if name.startswith(_OWN) or name not in second.signals:
            continue
        a, b = values[i], second.signals[name][j]
        if a.shape != b.shape:
            continue
        unit = second.units.get(name, "") or first.units.get(name, "")
        if name.endswith(".rotation"):
            b = _nearer(a, b)
        if a.ndim == 1:
            yield Pair(name, unit, a, b)
        else:
            for one, x, y in zip(component_names(name, a.shape[1]), a.T, b.T):
                yield Pair(one, unit, x, y)


def coarse_columns(coarser: Solution | None, fine: Solution, places: Array) -> Mapping[str, Array]:
    """Components of the coarser run at the given outputs of the fine one, whose own stand where
    the coarser one did not compute its efforts, beside singular postures, or has the row on the
    other side of a crossing; NaN where it has none, as behind its end if it stopped early.  Empty
    without a coarser run."""
    if coarser is None:
        return {}
    out = np.full(len(places), np.nan)
    if not len(coarser.time):
        return dict.fromkeys(_components(fine), out)
    same, j = _same_times(fine, coarser)
    at = np.flatnonzero(same[places])
    if not len(at):
        return dict.fromkeys(_components(fine), out)
    columns = {}
    time = fine.time[places[at]]
    carried = on_other_sides(fine, coarser, places[at], j[places[at]])
    for begin, end in coarser.audit.carried:
        carried |= (time >= begin) & (time <= end)
    for pair in pairs_of(fine, coarser, places[at], j[places[at]]):
        column = out.copy()
        column[at] = np.where(carried, pair.first, pair.second)
        columns[pair.name] = column
    return columns


def _components(solution: Solution) -> Iterator[str]:
    for name, values in solution.signals.items():
        if values.ndim == 1:
            yield name
        else:
            yield from component_names(name, values.shape[1])


def lost_signals(first: Solution, second: Solution) -> tuple[str, ...]:
    """Outputs that one side has and the other has not, or has with other components."""
    lost = set(first.signals) ^ set(second.signals)
    both = set(first.signals) & set(second.signals)
    lost |= {n for n in both if first.signals[n][0].size != second.signals[n][0].size}
    return tuple(sorted(n for n in lost if not n.startswith(("energy.", "residual."))))


def singular_windows(solution: Solution) -> tuple[Window, ...]:
    """Spans of outputs so near a singular posture that rounding alone decides the forces."""
    if "residual.nearness" not in solution or len(solution.time) < 2:
        return ()
    nearness, time = solution["residual.nearness"], solution.time
    usual = float(np.median(nearness))
    near = np.flatnonzero(nearness < NEAREST * usual)
    groups = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1) if len(near) else []
    edge = 1e-6 * float(time[-1] - time[0]) / len(time)
    return tuple((float(time[g[0]]) - edge, float(time[g[-1]]) + edge) for g in groups)


def carried_windows(carried: Solution, other: Solution) -> tuple[Window, ...]:
    """Spans across singular postures in which efforts of `carried` were not computed, as far as
    the other solution has the posture nearly singular, too."""
    spans = carried.audit.carried
    if not spans or "residual.nearness" not in other or len(other.time) < 2:
        return ()
    nearness, time = other["residual.nearness"], other.time
    near = nearness < BESIDE_SINGULAR * float(np.median(nearness))
    inside = [near[(time >= begin) & (time <= end)] for begin, end in spans]
    return tuple(
        span for span, rows in zip(spans, inside, strict=True) if rows.any() and rows.all()
    )


def joined(*windows: Window) -> tuple[Window, ...]:
    """The windows in order, those that overlap as one."""
    found: list[Window] = []
    for begin, end in sorted(windows):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


def why_left_out(windows: tuple[Window, ...]) -> tuple[str, ...]:
    """The note on windows about singular postures."""
    if not windows:
        return ()
    at = ", ".join(f"{0.5 * (begin + end):.6g} s" for begin, end in windows)
    return (
        f"Left out, next to a singular posture, where rounding decides the joint forces: {at}.",
    )


def torn_windows(
    first: Solution, second: Solution, exclude: tuple[Window, ...]
) -> tuple[Window, ...]:
    """Windows about the output rows which the two runs have on different sides of a crossing, or
    so near to one that only one of them has found there, and where they differ.

    They leave rows out where nothing tells what is on either side: of a solver's own coarse run
    beside its fine one (`compare.own_error`), and where a run with rows beside did not succeed, to
    see whether both differ anywhere else, of which no PASS is made (`evidence.verdict_on`).  A
    verdict compares such rows on one side of the crossing (`sides.torn_rows`).

    A row on an instant that is written, as on the edge of a pulse, is on the same side in both
    runs by their own rule and is compared.
    """
    common = common_times(first, second, exclude)
    if common is None:
        return ()
    i, j = common
    apart = np.flatnonzero(on_other_sides(first, second, i, j))
    differ = np.zeros(len(apart), dtype=bool)
    for pair in pairs_of(first, second, i, j) if len(apart) else ():
        differ |= np.abs(pair.first[apart] - pair.second[apart]) > VISIBLE * pair.peak
    margin = BESIDE * span_of(first)
    return tuple((float(t) - margin, float(t) + margin) for t in first.time[i][apart][differ])


def on_other_sides(first: Solution, second: Solution, i: Array, j: Array) -> Array:
    """Which rows, i of the first run and j of the second, (n,), lie BESIDE a crossing and are not
    told by both to be on one side: behind all crossings there, before all of them, or behind the
    same one of as many."""
    (passed, near, told), (passed_2, near_2, told_2) = crossed(first, i), crossed(second, j)
    before = (passed == 0) & (passed_2 == 0)
    behind = (passed == near) & (passed_2 == near_2)
    between = (near == near_2) & (passed == passed_2)
    on_one = told & told_2 & (before | behind | between)
    apart: Array = ((near > 0) | (near_2 > 0)) & ~on_one
    return apart


def crossed(run: Solution, rows: Array) -> tuple[Array, Array, Array]:
    """How many of the crossings BESIDE it each row is behind, how many those are, and whether
    there are any and the run tells on which side of all of them the row is."""
    crossings, margin = run.audit.crossings, BESIDE * span_of(run)
    instants = np.array([t for t, _ in crossings])
    kept = np.array([before >= 0 for _, before in crossings], dtype=bool)
    rows_before = np.maximum.accumulate(np.array([before for _, before in crossings], dtype=int))
    low = np.searchsorted(instants, run.time[rows] - margin)
    high = np.searchsorted(instants, run.time[rows] + margin, side="right")
    passed = np.clip(np.searchsorted(rows_before, rows, side="right"), low, high) - low
    told = np.concatenate([[0], np.cumsum(kept)])
    return passed, high - low, (high > low) & (told[high] - told[low] == high - low)


def span_of(run: Solution) -> float:
    """Its duration [s]."""
    return float(run.time[-1] - run.time[0])
