"""Two solutions of one model, channel by channel: the verdict.

A pure function of two Solution values.  Joint forces and torques, efforts of
drives and couplings, and the motion of bodies and joints are compared; energies
and residuals are not, they belong to each solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from vbg.solution import FINISHED, Solution

Array = np.ndarray[Any, Any]
Mark = Literal["PASS", "FAIL", "VACUOUS", "NOT UNIQUE"]
Result = Literal["PASS", "FAIL", "INCONCLUSIVE"]

TOLERANCE = 1e-6
# A measured error of integration loosens a channel's tolerance by this factor, up to a limit:
# what grows faster in both solvers than any tolerance can follow is for the user to shorten.
SAFETY = 4.0
LOOSEST = 1e-3
# In a singular posture the loops lose a constraint, and beside it forces grow from rounding by
# the inverse of the nearness.  This part of its usual value is too near to compare them: both
# solvers keep joints closed to about 1e-10, which leaves 1e-10 / 3e-4 = 3e-7 of a force.
NEAREST = 3e-4
FLOOR = 1e-8  # of the largest channel of the same unit: smaller channels are zero
TINY = 1e-300
ROUNDING = 1e-12  # of the largest channel of the same unit: what arithmetic leaves
COVERAGE = 0.95
BESIDE = 1e-9  # of the span: so near to an event an output instant may be on either side of it
ON = 1e-13  # relative: so near it is on the event itself, where rows hold the values after it
_EFFORTS = ("N", "N*m")
_OWN = ("energy.", "residual.")


@dataclass(frozen=True)
class Channel:
    """One compared component.

    peak : largest magnitude in either solution; max_error at `worst_time` [s];
    relative_l2 : ||difference|| / ||first||; tolerance : what was allowed;
    integration : what doubling the step changes in either solver's own run, the
    larger of the two, relative to the peak: a bound of the errors of integration
    (NaN if no coarser run was made); source : "integrated", or "replayed" where the
    second solver took an effort from the first.
    """

    name: str
    unit: str
    peak: float
    max_error: float
    worst_time: float
    relative_l2: float
    tolerance: float
    integration: float
    source: str
    result: Mark


@dataclass(frozen=True)
class Verdict:
    """What the comparison says; `sentence` says why.

    halving : largest error of the coarser run over that of the finer, over all
    channels: two solvers can agree on a coarse wrong answer, but then it stays
    near 1.  `excluded` are the windows (from, to) that were left out.
    """

    result: Result
    sentence: str
    channels: tuple[Channel, ...] = ()
    model: str = ""
    model_hash: str = ""
    solvers: tuple[str, str] = ("", "")
    span: tuple[float, float] = (math.nan, math.nan)
    halving: float = math.nan
    excluded: tuple[tuple[float, float], ...] = ()
    notes: tuple[str, ...] = field(default=())

    def failed(self) -> tuple[Channel, ...]:
        """Channels above their tolerance, worst first."""
        bad = [channel for channel in self.channels if channel.result == "FAIL"]
        return tuple(sorted(bad, key=lambda c: -c.max_error / max(c.peak, 1e-300)))


def compare(
    first: Solution,
    second: Solution,
    *,
    tolerance: float | None = None,
    coarser: Solution | None = None,
    rougher: Solution | None = None,
    not_unique: frozenset[str] = frozenset(),
    replayed: frozenset[str] = frozenset(),
    exclude: tuple[tuple[float, float], ...] = (),
    least: float = TOLERANCE,
    loosest: float = LOOSEST,
) -> Verdict:
    """PASS, FAIL or INCONCLUSIVE.

    `tolerance` is relative to each channel's peak; without it, it is `least` or four times the
    measured error of integration if that is larger.  `coarser` is a run of the
    second solver at wider tolerances, `rougher` one of the first.  `not_unique` names
    components that the model does not determine, `replayed` the joints whose effort was
    replayed.
    `loosest` bounds what a measured error of integration may excuse.

    A run that failed early (it was not cancelled) is compared as far as both are
    sure: where they contradict each other by more than 1e-3 already there, that is
    a FAIL; else the verdict is INCONCLUSIVE.
    """
    heading: dict[str, Any] = {
        "model": second.made_by.model or first.made_by.model,
        "model_hash": first.made_by.model_hash,
        "solvers": (first.made_by.solver or "vbg", second.made_by.solver or "mstmm"),
        "excluded": exclude,
    }
    obstacle = _obstacle(first, second)
    if obstacle:
        return Verdict("INCONCLUSIVE", obstacle, **heading)
    early = _stopped(first, second)
    if early:
        limit = max(tolerance or 0.0, LOOSEST)
        begun = compare(*_begun(first, second), tolerance=limit, exclude=exclude)
        if begun.result == "FAIL":
            return replace(begun, sentence=f"{begun.sentence} Then {early}")
        return Verdict("INCONCLUSIVE", early, **heading)
    near = singular_windows(second)
    torn = _torn(first, second, (*exclude, *near))
    heading["excluded"] = (*exclude, *near, *torn)
    common = _common_times(first, second, heading["excluded"])
    if common is None:
        return Verdict(
            "INCONCLUSIVE",
            f"The output times of the two runs agree, away from singular postures, over less than"
            f" {100 * COVERAGE:.0f} % of the span.",
            **heading,
        )
    i, j = common
    pairs = list(_pairs(first, second, i, j))
    columns = _coarse_columns(coarser, second, j)
    coarse = (_coarse_columns(rougher, first, i), columns)
    channels = _channels(first.time[i], pairs, coarse, (tolerance, least, loosest))
    marked = tuple(_marked(c, not_unique, replayed) for c in channels)
    unproven = _unproven(marked, loosest) if replayed else None
    result, sentence = unproven or _judge(marked)
    return Verdict(
        result,
        sentence,
        marked,
        span=(float(first.time[i][0]), float(first.time[i][-1])),
        halving=_halving(marked, columns, pairs),
        notes=(*_why_left_out(near), *_why_torn(torn), *_missing(first, second)),
        **heading,
    )


def _obstacle(first: Solution, second: Solution) -> str:
    """Why the two cannot be compared; empty if they can."""
    if cancelled := _stopped(first, second, "cancelled"):
        return cancelled
    if first.made_by.model_hash != second.made_by.model_hash:
        return "The two runs are of different models (their hashes differ). Run both again."
    if not len(first.time) or not len(second.time):
        return "A run has no output."
    return ""


def _stopped(first: Solution, second: Solution, how: str = "failed") -> str:
    """Which of the two ended early, and why; empty if none did so in this way."""
    for solution in (first, second):
        if solution.status.code == how:
            who = solution.made_by.solver or "a solver"
            return f"{who}: {solution.status.sentence} {solution.status.remedy}".strip()
    return ""


def _begun(first: Solution, second: Solution) -> tuple[Solution, Solution]:
    """Both up to half of what both reached, as if they had ended there: what stopped one of
    them (a singular posture) may spoil its last instants, but not the first half."""
    half = 0.5 * min(first.time[-1], second.time[-1])

    def cut(solution: Solution) -> Solution:
        n = int(np.count_nonzero(solution.time <= half))
        signals = {name: values[:n] for name, values in solution.signals.items()}
        return replace(solution, time=solution.time[:n], signals=signals, status=FINISHED)

    return cut(first), cut(second)


def _common_times(
    first: Solution, second: Solution, exclude: tuple[tuple[float, float], ...]
) -> tuple[Array, Array] | None:
    """Places of the common output times in both runs; None if they are too few."""
    span = max(first.time[-1] - first.time[0], second.time[-1] - second.time[0])
    near = 1e-9 * max(span, 1e-300)
    j = np.clip(np.searchsorted(second.time, first.time), 1, len(second.time) - 1)
    j = j - (np.abs(second.time[j - 1] - first.time) < np.abs(second.time[j] - first.time))
    same = np.abs(second.time[j] - first.time) <= near
    if same.sum() < COVERAGE * max(len(first.time), len(second.time)):
        return None
    for begin, end in exclude:
        same &= (first.time < begin) | (first.time > end)
    i = np.flatnonzero(same)
    return (i, j[i]) if len(i) else None


def _pairs(
    first: Solution, second: Solution, i: Array, j: Array
) -> Iterator[tuple[str, str, Array, Array]]:
    """(name, unit, first, second) of every component that both solutions have."""
    for name, values in first.signals.items():
        if name.startswith(_OWN) or name not in second.signals:
            continue
        a, b = values[i], second.signals[name][j]
        if a.shape != b.shape:
            continue
        unit = second.units.get(name, "")
        if name.endswith(".rotation"):
            b = b * np.where(np.sum(a * b, axis=1, keepdims=True) < 0.0, -1.0, 1.0)
        if a.ndim == 1:
            yield name, unit, a, b
        else:
            for k in range(a.shape[1]):
                yield f"{name}[{k}]", unit, a[:, k], b[:, k]


def _missing(first: Solution, second: Solution) -> tuple[str, ...]:
    """A note if the second solver has no twin of some signals."""
    lost = [n for n in first.signals if n not in second.signals and not n.startswith(_OWN)]
    if not lost:
        return ()
    shown = ", ".join(lost[:8]) + (", ..." if len(lost) > 8 else "")
    return (f"Not compared, the transfer-matrix solver does not have them: {shown}.",)


def _peak(a: Array, b: Array) -> float:
    return float(max(np.abs(a).max(), np.abs(b).max()))


def _largest_by_unit(pairs: list[tuple[str, str, Array, Array]]) -> dict[str, float]:
    largest: dict[str, float] = {}
    for _, unit, a, b in pairs:
        largest[unit] = max(largest.get(unit, 0.0), _peak(a, b))
    forces = [largest[unit] for unit in _EFFORTS if unit in largest]
    arm = max((_peak(a, b) for name, _, a, b in pairs if ".position" in name), default=0.0)
    for unit in _EFFORTS[1:]:
        # A moment is zero if it is next to nothing beside the forces at their arms.
        if unit in largest:
            largest[unit] = max([largest[unit], *(force * min(arm, 1.0) for force in forces)])
    return largest


def _coarse_columns(coarser: Solution | None, fine: Solution, j: Array) -> dict[str, Array]:
    """Components of the coarser run at the same places; none if it is not comparable."""
    if coarser is None or coarser.status.code != "finished" or len(coarser.time) != len(fine.time):
        return {}
    return {name: b for name, _, _, b in _pairs(fine, coarser, j, j)}


def _changes(*runs: tuple[Array, Array | None]) -> float:
    """Largest difference of a solver's fine and coarse run, NaN if there is no coarse one."""
    found = [float(np.abs(fine - coarse).max()) for fine, coarse in runs if coarse is not None]
    return max(found, default=math.nan)


def own_error(fine: Solution, coarser: Solution) -> tuple[float, str]:
    """What doubling the step changes most, relative to a channel's peak, and in which channel.

    Channels that are zero beside the others of their unit do not count, nor do outputs next
    to a singular posture.
    """
    common = _common_times(fine, coarser, singular_windows(fine))
    if common is None:
        return math.inf, ""
    pairs = list(_pairs(fine, coarser, *common))
    floors = _largest_by_unit(pairs)
    errors = [
        (float(np.abs(a - b).max()) / _peak(a, b), name)
        for name, unit, a, b in pairs
        if _peak(a, b) > FLOOR * max(floors[unit], TINY) and np.isfinite(a - b).all()
    ]
    return max(errors, default=(0.0, ""))


def singular_windows(solution: Solution) -> tuple[tuple[float, float], ...]:
    """Spans of outputs so near a singular posture that rounding alone decides the forces."""
    if "residual.nearness" not in solution or len(solution.time) < 2:
        return ()
    nearness, time = solution["residual.nearness"], solution.time
    usual = float(np.median(nearness))
    near = np.flatnonzero(nearness < NEAREST * usual)
    groups = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1) if len(near) else []
    edge = 1e-6 * float(time[-1] - time[0]) / len(time)
    return tuple((float(time[g[0]]) - edge, float(time[g[-1]]) + edge) for g in groups)


def _why_left_out(windows: tuple[tuple[float, float], ...]) -> tuple[str, ...]:
    if not windows:
        return ()
    at = ", ".join(f"{0.5 * (begin + end):.6g} s" for begin, end in windows)
    return (
        f"Left out, next to a singular posture, where rounding decides the joint forces: {at}.",
    )


def _torn(
    first: Solution, second: Solution, exclude: tuple[tuple[float, float], ...]
) -> tuple[tuple[float, float], ...]:
    """Windows about the output instants so near to an event that errors of its time decide on
    which side a run has them, and where the two runs differ.

    An instant on an event to rounding, as on the edge of a pulse, is on the same side in both
    runs by their own rule and is compared.
    """
    events = np.sort([event.time for run in (first, second) for event in run.audit.events])
    common = _common_times(first, second, exclude)
    if common is None or not len(events):
        return ()
    i, j = common
    time = first.time[i]
    margin = BESIDE * float(first.time[-1] - first.time[0])
    low, high = np.searchsorted(events, [time - margin, time + margin])
    beside = [
        k
        for k in np.flatnonzero(low < high)
        if np.abs(events[low[k] : high[k]] - time[k]).max() > ON * abs(time[k])
    ]
    differ = np.zeros(len(beside), dtype=bool)
    for _, _, a, b in _pairs(first, second, i, j) if beside else ():
        differ |= np.abs(a[beside] - b[beside]) > LOOSEST * _peak(a, b)
    return tuple((float(t) - margin, float(t) + margin) for t in time[beside][differ])


def _why_torn(windows: tuple[tuple[float, float], ...]) -> tuple[str, ...]:
    if not windows:
        return ()
    at = ", ".join(f"{0.5 * (begin + end):.6g} s" for begin, end in windows[:8])
    more = f" and {len(windows) - 8} more" if len(windows) > 8 else ""
    return (
        "Left out, outputs at the instant of an event, which the two runs have on different sides"
        f" of it: {at}{more}.",
    )


def _channels(
    time: Array,
    pairs: list[tuple[str, str, Array, Array]],
    coarse: tuple[Mapping[str, Array], Mapping[str, Array]],
    tolerances: tuple[float | None, float, float],
) -> list[Channel]:
    """Every component judged beside the largest of its unit; `coarse` are the components of
    the first and the second solver's coarser runs."""
    floors = _largest_by_unit(pairs)
    rough, coarser = coarse
    channels = []
    for name, unit, a, b in pairs:
        changes = _changes((a, rough.get(name)), (b, coarser.get(name)))
        channels.append(_channel(name, unit, time, a, b, changes, floors[unit], tolerances))
    return channels


def _channel(
    name: str,
    unit: str,
    time: Array,
    a: Array,
    b: Array,
    changes: float,
    largest: float,
    tolerances: tuple[float | None, float, float],
) -> Channel:
    """Errors of one component and whether they are allowed."""
    tolerance, least, loosest = tolerances
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    peak, error = _peak(a, b), np.abs(a - b)
    worst = int(np.argmax(error)) if finite else int(np.argmax(~np.isfinite(a - b)))
    size = float(np.linalg.norm(a))
    l2 = float(np.linalg.norm(a - b)) / size if size > 0.0 else math.inf * bool(error.any())
    # Where the first solver says zero, the others of the unit tell how small that is.
    zero = float(np.abs(a).max()) <= FLOOR * largest
    scale = largest if zero else peak
    integration = changes / max(scale, TINY)
    allowed = least if tolerance is None else tolerance
    if tolerance is None and integration > 0.0:
        allowed = min(max(allowed, SAFETY * integration), loosest)
    mark: Mark = "FAIL"
    if finite and error[worst] <= allowed * scale:
        if zero:
            mark = "VACUOUS"
        elif l2 <= allowed or error[worst] <= ROUNDING * largest:
            mark = "PASS"
    return Channel(
        name,
        unit,
        peak,
        float(error[worst]),
        float(time[worst]),
        l2 if math.isfinite(l2) else math.inf,
        allowed,
        integration,
        "integrated",
        mark,
    )


def _marked(channel: Channel, not_unique: frozenset[str], replayed: frozenset[str]) -> Channel:
    """The channel with what is known of its joint."""
    if channel.name in not_unique:
        channel = replace(channel, result="NOT UNIQUE")
    if channel.name.split(".")[0] in replayed:
        channel = replace(channel, source="replayed")
    return channel


def _unproven(channels: tuple[Channel, ...], loosest: float) -> tuple[Result, str] | None:
    """INCONCLUSIVE where efforts are replayed and channels differ, but none by more than the
    solvers' own runs change with their step: what a motor or a brake would damp runs free
    where its recorded effort is replayed, and then proves nothing."""
    failed = [c for c in channels if c.result == "FAIL"]
    own = [c for c in failed if c.integration > loosest]
    if not failed or any(c.max_error > SAFETY * c.integration * c.peak for c in failed):
        return None
    if not own:
        return None
    worst = max(own, key=lambda c: c.integration)
    return "INCONCLUSIVE", (
        f"{len(failed)} channels differ, but not by more than the step of integration changes"
        f" them where efforts are replayed, {worst.integration:.2g} of the peak of {worst.name}:"
        " nothing is proven. Shorten the run or write outputs more often."
    )


def _judge(channels: tuple[Channel, ...]) -> tuple[Result, str]:
    counted = [c for c in channels if c.result in ("PASS", "FAIL")]
    failed = [c for c in counted if c.result == "FAIL"]
    if not counted:
        return "INCONCLUSIVE", "Nothing to compare: every channel is zero or not unique."
    if failed:
        worst = max(failed, key=lambda c: c.max_error / max(c.peak, 1e-300))
        return "FAIL", (
            f"{len(failed)} of {len(counted)} non-zero channels are above tolerance; worst is"
            f" {worst.name}: {worst.max_error:.3g} {worst.unit} of {worst.peak:.3g} at"
            f" t = {worst.worst_time:.6g} s."
        )
    worst = max(counted, key=lambda c: c.max_error / c.peak)
    return "PASS", (
        f"All {len(counted)} non-zero channels agree; worst is {worst.name}:"
        f" {worst.max_error / worst.peak:.2g} of its peak."
    )


def _halving(
    channels: tuple[Channel, ...],
    columns: Mapping[str, Array],
    pairs: list[tuple[str, str, Array, Array]],
) -> float:
    """Largest error of the coarser run against the first solver, over that of the finer."""
    if not columns:
        return math.nan
    counted = {c.name: c.peak for c in channels if c.result in ("PASS", "FAIL")}
    coarse = fine = 0.0
    for name, _, a, b in pairs:
        if name in counted and name in columns:
            coarse = max(coarse, float(np.abs(columns[name] - a).max()) / counted[name])
            fine = max(fine, float(np.abs(b - a).max()) / counted[name])
    return coarse / fine if fine > 0.0 else math.inf
