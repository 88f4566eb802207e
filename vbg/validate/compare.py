"""Two solutions of one model, channel by channel: the verdict.

Joint forces and torques, efforts of drives and couplings, the motion of bodies and
joints and the energies are compared, and what a redundant mechanism determines of its
joint forces; the energy audit of each side and the start count as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbg.model import Model
from vbg.solution import Solution
from vbg.validate.comparison.audits import failed_audits
from vbg.validate.comparison.connected import groups_of, owner_of
from vbg.validate.comparison.elastic import elastic_rounding
from vbg.validate.comparison.ended import agreed, stopped, stopped_at_once, until_both_end
from vbg.validate.comparison.islands import floating_rounding
from vbg.validate.comparison.judging import (
    FLOOR,
    LOOSEST,
    SAFETY,
    TINY,
    TOLERANCE,
    Judge,
    channel_of,
    largest_by_unit,
    motion_error,
    noise_of,
    own_changes,
    promises,
    rounding,
    told_by_kind,
    vector_peaks,
)
from vbg.validate.comparison.lost import lost_outputs, not_compared
from vbg.validate.comparison.pairing import (
    COVERAGE,
    Pair,
    Window,
    carried_windows,
    coarse_columns,
    common_times,
    joined,
    pairs_of,
    singular_windows,
    too_much_cut,
    torn_windows,
    turned_alike,
    unpaired_row,
    why_left_out,
)
from vbg.validate.comparison.resultants import PASSED_POWER, resultant_pairs
from vbg.validate.comparison.runs import Runs
from vbg.validate.comparison.scales import scales_of, seen_by_unit
from vbg.validate.comparison.sides import Torn, on_one_side, torn_rows, why_on_one_side
from vbg.validate.comparison.values import Channel, Result, Verdict

Array = np.ndarray[Any, Any]
CONVERGES = 2.8  # growth of an error with the step, 4 at order 2, that still shows convergence
FIXED_STEP = {"rk4", "discrete-time"}
SURE = 0.5  # of a run that ended early: what stopped it (a singular posture) spoils no more
HARDLY_COMMON = (
    "The output times of the two runs agree, away from singular postures, over less than"
    f" {100 * COVERAGE:.0f} % of the span."
)
NAMES = {"vbg": "the bond-graph solver", "tmm_bridge": "the transfer-matrix solver"}


def compare(
    first: Solution,
    second: Solution,
    *,
    model: Model | None = None,
    tolerance: float | None = None,
    coarser: Solution | None = None,
    rougher: Solution | None = None,
    not_unique: frozenset[str] = frozenset(),
    replayed: frozenset[str] = frozenset(),
    exclude: tuple[Window, ...] = (),
    least: float = TOLERANCE,
    loosest: float = LOOSEST,
    beside: tuple[Solution | None, Solution | None] = (None, None),
) -> Verdict:
    """PASS, FAIL or INCONCLUSIVE.

    `model` gives the scales beside which a component is rounding, the parts that outputs
    belong to and the joint points; without it the solutions alone are judged.
    `tolerance` is relative to each channel's peak; without it, it is `least` or four times the
    measured error of integration, as far as both solvers show it, if that is larger.
    `coarser` is a run of the second solver at wider tolerances, `rougher` one of the first.
    `not_unique` names components that the model does not determine, `replayed` the joints whose
    effort was replayed.
    `loosest` bounds what a measured error of integration may excuse.
    `beside` are both runs with rows beside those that lie on a crossing (`comparison.sides`);
    without one of them, values on different sides of it differ.  Of a method that cannot be asked
    for such rows, the first one's may be given twice: its values must be on those sides.

    Of a run that ended early the verdict is INCONCLUSIVE and says until when both agree; where
    one failed (it was not cancelled) and they contradict each other by more than 1e-3 in what
    both are sure of, it is a FAIL.
    """
    runs = Runs(first, second, coarser, rougher, model, *beside)
    heading = _heading(first, second, exclude)
    if obstacle := _obstacle(first, second):
        return Verdict("INCONCLUSIVE", obstacle, **heading)
    if early := stopped(first, second):
        kept = {
            "not_unique": not_unique,
            "replayed": replayed,
            "exclude": exclude,
            "beside": beside,
        }
        return _ended(runs, early, max(tolerance or 0.0, LOOSEST), heading, kept)
    near = joined(*singular_windows(second), *carried_windows(first, second))
    heading["excluded"] = (*exclude, *near)
    common = common_times(first, second, heading["excluded"])
    if common is None:
        return Verdict("INCONCLUSIVE", HARDLY_COMMON, **heading)
    if unpaired := unpaired_row(first, second):
        return Verdict("INCONCLUSIVE", f"The output times differ: {unpaired}.", **heading)
    runs = replace(runs, second=turned_alike(first, second, *common))
    lost, once = lost_outputs(runs, replayed)
    pairs, moved, torn = _compared(runs, common, not_unique, followed=not replayed and not once)
    channels, halving = _judged(runs, common, pairs, moved, (tolerance, least, loosest))
    marked = tuple(_marked(c, not_unique, replayed) for c in channels)
    limit = max(least, tolerance or 0.0)
    unsound, told = failed_audits((first, second), limit, NAMES)
    missing, cut = _unaccounted(runs, limit), too_much_cut(first, exclude)
    result, sentence = _conclusion(marked, lost, missing, _asked_of(runs), unsound, cut)
    time = first.time[common[0]].tolist()
    return Verdict(
        result,
        sentence,
        marked,
        span=(time[0], time[-1]),
        halving=halving,
        notes=(*why_left_out(near), *why_on_one_side(torn), *told, *not_compared(runs)),
        once=once,
        audits={s.made_by.solver: s.audit.energy_residual for s in (first, second)},
        **heading,
    )


def _ended(
    runs: Runs, early: str, limit: float, heading: Mapping[str, Any], kept: Mapping[str, Any]
) -> Verdict:
    """Of runs of which one ended `early`: what both have until then, within the tolerance."""
    first, second = runs.first, runs.second
    begun, whole = (
        compare(*until_both_end(first, second, part), model=runs.model, tolerance=limit, **kept)
        for part in (SURE, 1.0)
    )
    if begun.result == "FAIL" and not stopped(first, second, "cancelled"):
        return replace(begun, sentence=f"{begun.sentence} Then {early}")
    return Verdict("INCONCLUSIVE", f"{early} {agreed(whole, limit)}".strip(), **heading)


def _heading(first: Solution, second: Solution, exclude: tuple[Window, ...]) -> dict[str, Any]:
    """Of what model, by whom, without which windows."""
    return {
        "model": second.made_by.model or first.made_by.model,
        "model_hash": first.made_by.model_hash,
        "solvers": (first.made_by.solver or "vbg", second.made_by.solver or "mstmm"),
        "excluded": exclude,
    }


def _obstacle(first: Solution, second: Solution) -> str:
    """Why the two cannot be compared; empty if they can."""
    if (early := stopped(first, second)) and stopped_at_once(first, second):
        return early
    if first.made_by.model_hash != second.made_by.model_hash:
        return "The two runs are of different models (their hashes differ). Run both again."
    if not len(first.time) or not len(second.time):
        return "A run has no output."
    return ""


def _compared(
    runs: Runs, common: tuple[Array, Array], not_unique: frozenset[str], *, followed: bool
) -> tuple[list[Pair], dict[str, Array], tuple[Torn, ...]]:
    """All components that count, by what those of the second run are moved to be on one side of
    crossings with the first one's, and the rows on these."""
    pairs = _counting(runs, common, not_unique, followed=followed)
    one, other = runs.beside, runs.other_beside
    if one is None or other is None or (rows := common_times(one, other, ())) is None:
        return pairs, {}, ()
    torn = torn_rows(runs.first, runs.second, common, one.time[rows[0]])
    if not torn:
        return pairs, {}, ()
    there = replace(runs, first=one, second=other)
    beside = {p.name: p for p in _counting(there, rows, not_unique, followed=followed)}
    moved, torn = on_one_side(pairs, torn, beside)
    return [replace(p, second=p.second + moved.get(p.name, 0.0)) for p in pairs], moved, torn


def _counting(
    runs: Runs, common: tuple[Array, Array], not_unique: frozenset[str], *, followed: bool
) -> list[Pair]:
    """All components that count: those that both have, energies where both `followed` those of
    all parts, and resultants where forces are not unique."""
    pairs = list(pairs_of(runs.first, runs.second, *common))
    audits = (runs.first.audit.energy_residual, runs.second.audit.energy_residual)
    if not followed or not np.isfinite(audits).all():
        pairs = [pair for pair in pairs if not pair.name.startswith("energy.")]
    if runs.model is not None and not_unique:
        pairs += resultant_pairs(runs.model, runs.first, runs.second, *common, not_unique)
    return pairs


def _judged(
    runs: Runs,
    common: tuple[Array, Array],
    pairs: Sequence[Pair],
    moved: Mapping[str, Array],
    tolerances: tuple[float | None, float, float],
) -> tuple[list[Channel], float]:
    """Every component judged, and how the largest error grows with the step; the coarser run is
    moved as the second one was."""
    i, j = common
    rough = coarse_columns(runs.rougher, runs.first, i)
    coarser = {
        name: column + moved.get(name, 0.0)
        for name, column in coarse_columns(runs.coarser, runs.second, j).items()
    }
    changes = [own_changes(p, rough.get(p.name), coarser.get(p.name)) for p in pairs]
    largest, noise = largest_by_unit(pairs), _noise(runs)
    if any(p.name.endswith(PASSED_POWER) for p in pairs):
        products = (
            largest.get("N", 0.0) * largest.get("m/s", 0.0),
            largest.get("N*m", 0.0) * largest.get("rad/s", 0.0),
        )
        largest["W"] = max(largest.get("W", 0.0), *products)
    motion = motion_error(pairs, [either for either, _ in changes], largest, noise)
    shown, vectors = _natural(runs, shown=True), vector_peaks(pairs)
    promised = promises(_asked_of(runs), largest, shown, told_by_kind(pairs, changes))
    judge = Judge(*tolerances, largest, noise, motion, promised, shown, vectors)
    judges = _judges(runs, pairs, judge)
    if FIXED_STEP & {runs.first.made_by.method, runs.second.made_by.method}:
        # whose error is that of its step, however good the other run is
        changes = [(either, either) for either, _ in changes]
    time = runs.first.time[i]
    channels = [
        channel_of(judges.get(owner_of(p.name), judge), time, p, *c)
        for p, c in zip(pairs, changes, strict=True)
    ]
    return channels, _halving(channels, coarser, pairs)


def _judges(runs: Runs, pairs: Sequence[Pair], judge: Judge) -> dict[str, Judge]:
    """The judge of each part where not all of the machine hangs together: of what does, with the
    scales of that alone."""
    groups = [] if runs.model is None else groups_of(runs.model)
    found: dict[str, Judge] = {}
    for group in groups if len(groups) > 1 else ():
        own = _within(runs, group)
        largest = largest_by_unit([pair for pair in pairs if owner_of(pair.name) in group])
        shown = _natural(own, shown=True)
        there = replace(judge, largest=largest, noise=_noise(own), shown=shown)
        found |= dict.fromkeys(group, there)
    return found


def _within(runs: Runs, group: frozenset[str]) -> Runs:
    """What the runs tell of these parts alone."""

    def told(solution: Solution) -> Solution:
        signals = {n: values for n, values in solution.signals.items() if owner_of(n) in group}
        return replace(solution, signals=signals)

    model = None if runs.model is None else runs.model.only(group)
    return Runs(told(runs.first), told(runs.second), model=model)


def _asked_of(runs: Runs) -> float:
    """The wider relative tolerance of the two runs."""
    return float(max(np.nan_to_num([s.made_by.rtol for s in (runs.first, runs.second)])))


def _noise(runs: Runs) -> dict[str, float]:
    """Unit, or signal -> magnitude that is rounding beside the machine; empty without the model."""
    if runs.model is None:
        return {}
    shown = _natural(runs, shown=True)
    noise = rounding(_natural(runs), shown)
    speed = max(seen_by_unit(one).get("m/s", 0.0) for one in (runs.first, runs.second))
    steps = max(runs.first.made_by.n_steps, runs.second.made_by.n_steps)
    elastic = elastic_rounding(runs.model, shown.get("m", 0.0), speed, steps)
    for unit, value in elastic.items():
        noise[unit] = max(noise.get(unit, 0.0), value)
    return noise | floating_rounding(runs.model, _currents(runs))


def _currents(runs: Runs) -> dict[str, float]:
    """The largest that each electric part has had in either run [A]."""
    found: dict[str, float] = {}
    for one in (runs.first, runs.second):
        for name in runs.model.electric if runs.model is not None else ():
            values = np.abs(one.signals.get(f"{name}.current", np.zeros(0)))
            known = values[np.isfinite(values)]
            found[name] = max(found.get(name, 0.0), float(known.max(initial=0.0)))
    return found


def _natural(runs: Runs, *, shown: bool = False) -> dict[str, float]:
    """Unit -> magnitude that the machine has, or that follows from what it shows; empty without the
    model."""
    if runs.model is None:
        return {}
    return scales_of(runs.model, runs.first, runs.second, shown=shown)


def _marked(channel: Channel, not_unique: frozenset[str], replayed: frozenset[str]) -> Channel:
    """The channel with what is known of its joint."""
    if channel.name in not_unique:
        channel = replace(channel, result="NOT UNIQUE")
    if channel.name.split(".")[0] in replayed:
        channel = replace(channel, source="replayed")
    return channel


def _unaccounted(runs: Runs, allowed: float) -> str:
    """Which solver's energy audit does not close though its step was fine enough."""
    noise = _natural(runs).get("J", 0.0) * TOLERANCE
    for fine, coarse in ((runs.first, runs.rougher), (runs.second, runs.coarser)):
        residual = fine.audit.energy_residual
        if not residual > allowed or coarse is None or "energy.residual" not in fine:
            continue
        if float(np.abs(fine["energy.residual"]).max()) <= noise:
            continue
        change = abs(coarse.audit.energy_residual - residual)
        rtol = float(np.nan_to_num(fine.made_by.rtol))
        if coarse.status.code == "finished" and residual > SAFETY * (change + rtol):
            who = NAMES.get(fine.made_by.solver, fine.made_by.solver)
            return (
                f"The energy audit of {who} does not close: {residual:.2g} of the largest energy"
                " is missing, and a step twice as long hardly changes that."
            )
    return ""


def _conclusion(
    channels: tuple[Channel, ...],
    lost: tuple[str, ...],
    unaccounted: str,
    rtol: float,
    unsound: str = "",
    cut: str = "",
) -> tuple[Result, str]:
    """The result and its sentence; `unsound` says why a run is not to be trusted, `cut` why what
    was compared is too little for a PASS."""
    counted = [c for c in channels if c.result in ("PASS", "FAIL", "INCONCLUSIVE")]
    failed = [c for c in counted if c.result == "FAIL"]
    if failed:
        void = min((c for c in failed if math.isnan(c.max_error)), key=_begins, default=None)
        if void is not None:
            return "FAIL", (
                f"{void.name} has no value (nan) from t = {void.since:.6g} s on in a solver;"
                f" {len(failed)} of {len(counted)} non-zero channels are above tolerance."
            )
        worst = max(failed, key=lambda c: c.max_error / max(c.peak, TINY))
        return "FAIL", (
            f"{len(failed)} of {len(counted)} non-zero channels are above tolerance; worst is"
            f" {worst.name}: {worst.max_error:.3g} {worst.unit} of {worst.peak:.3g} at"
            f" t = {worst.worst_time:.6g} s."
        )
    if lost:
        return "FAIL", f"Outputs that only one solver has: {', '.join(lost[:8])}."
    if unaccounted:
        return "FAIL", unaccounted
    unsure = [c for c in counted if c.result == "INCONCLUSIVE"]
    if unsure:
        return "INCONCLUSIVE", _not_proven(unsure, rtol)
    if unsound:
        return "INCONCLUSIVE", unsound
    if not counted:
        return "INCONCLUSIVE", (
            "Nothing to compare: every channel is zero or not unique. Nothing moves in this time:"
            " run it until a source begins (--t-end), or start it moving."
        )
    moving = [c for c in counted if c.proves is not None]
    if moving and not any(c.proves for c in moving):
        return "INCONCLUSIVE", (
            f"Nothing is proven: all {len(counted)} non-zero channels agree, but those that change"
            " do so by little more than rounding beside the machine's size or its distance from the"
            " origin. Let it move farther, or write it nearer to the origin."
        )
    if cut:
        return "INCONCLUSIVE", cut
    worst = max(counted, key=lambda c: c.max_error / c.peak)
    error, change = worst.max_error / worst.peak, worst.integration
    loose = error > TOLERANCE and math.isfinite(change)
    return "PASS", (
        f"All {len(counted)} non-zero channels agree; worst is {worst.name}:"
        f" {error:.2g} of its peak"
        + (f", where steps twice as long change {change:.2g}." if loose else ".")
    )


def _begins(channel: Channel) -> float:
    return channel.since


def _not_proven(unsure: list[Channel], rtol: float) -> str:
    """What errors of integration leave open, by which of them, and what to do; `rtol` of the
    runs."""
    worst = max(unsure, key=lambda c: c.max_error / max(c.peak, TINY))
    changed = max(unsure, key=lambda c: c.integration if math.isfinite(c.integration) else math.inf)
    begins = min((c.since for c in unsure if math.isfinite(c.since)), default=0.0)
    differs = worst.max_error / max(worst.peak, TINY)
    if not math.isfinite(changed.integration):
        why = "the runs with twice the step ended early"
    elif SAFETY * changed.integration >= differs:
        why = (
            f"a step twice as long changes {changed.name} by {changed.integration:.2g} of its peak"
            " in one solver alone"
        )
    else:
        why = (
            f"{worst.name} differs by {differs:.2g} of its peak, no more than a relative tolerance"
            f" of {rtol:g}, beside the largest of its unit and in the motion, may make of it"
        )
    shorter = f" Up to t = {begins:.4g} s they agree: shorten the run," if begins else " Shorten"
    return (
        f"{len(unsure)} channels differ, but not by more than errors of integration explain:"
        f" {why}.{shorter} or tighten its tolerance."
    )


def _halving(
    channels: Sequence[Channel], columns: Mapping[str, Array], pairs: Sequence[Pair]
) -> float:
    """Largest error of the coarser run against the first solver, over that of the finer."""
    counted = {c.name: c.peak for c in channels if c.result in ("PASS", "FAIL", "INCONCLUSIVE")}
    coarse = fine = 0.0
    for pair in pairs:
        column = columns.get(pair.name)
        if pair.name not in counted or column is None or not np.isfinite(column).all():
            continue
        coarse = max(coarse, float(np.abs(column - pair.first).max()) / counted[pair.name])
        fine = max(fine, float(np.abs(pair.second - pair.first).max()) / counted[pair.name])
    if coarse == 0.0 and fine == 0.0:
        return math.nan
    return coarse / fine if fine > 0.0 else math.inf


def own_error(fine: Solution, coarser: Solution, model: Model | None = None) -> tuple[float, str]:
    """What doubling the step changes most, relative to a channel's peak, and in which channel.

    Channels that are zero beside the others of their unit, or beside the model, do not count,
    nor do outputs next to a singular posture, or on different sides of a crossing.
    """
    near = (*singular_windows(fine), *fine.audit.carried, *coarser.audit.carried)
    near += torn_windows(fine, coarser, near)
    common = common_times(fine, coarser, near)
    if common is None:
        return math.inf, ""
    pairs = [p for p in pairs_of(fine, coarser, *common) if not p.name.startswith("energy.")]
    floors, noise = largest_by_unit(pairs), _noise(Runs(fine, coarser, model=model))
    errors = [
        (float(np.abs(p.first - p.second).max()) / p.peak, p.name)
        for p in pairs
        if p.peak > max(FLOOR * max(floors.get(p.kind, 0.0), TINY), noise_of(p, noise))
        and np.isfinite(p.first - p.second).all()
    ]
    return max(errors, default=(0.0, ""))
