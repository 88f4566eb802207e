"""What a verdict is made from, so that it can be made again with other settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vbg.model import Model
from vbg.solution import Solution
from vbg.tmm_bridge.notes import APART, channels_in
from vbg.validate.compare import compare
from vbg.validate.comparison.judging import LOOSEST
from vbg.validate.comparison.pairing import Window, torn_windows
from vbg.validate.comparison.sides import goes_on, undecided_windows
from vbg.validate.comparison.values import Channel, Verdict


@dataclass(frozen=True, eq=False)
class Evidence:
    """Runs of both solvers and how they came about.

    coarser, rougher : the second and the first solver with twice the step, None if not run so;
    replayed : joints whose effort was replayed;  least : the tolerance relative to
    peaks that a replay allows, None without one;  notes : what was done to get the runs;
    model : what was solved;  parts : names of the parts whose efforts were replayed;
    beside, other_beside : the first and the second run again, with rows beside those that lie on
    a crossing, None where there are none or the verdict did not hang on them;  alone : why one of
    these could not be had, empty if both were;
    fault : why the starts cannot both be right, empty if they can;  unsure : why a replay
    proves no fault, empty if it does.
    """

    first: Solution
    second: Solution
    coarser: Solution | None = None
    replayed: frozenset[str] = frozenset()
    least: float | None = None
    notes: tuple[str, ...] = ()
    rougher: Solution | None = None
    model: Model | None = None
    parts: tuple[str, ...] = ()
    fault: str = ""
    unsure: str = ""
    beside: Solution | None = None
    other_beside: Solution | None = None
    alone: str = ""


def verdict_on(
    evidence: Evidence,
    *,
    tolerance: float | None = None,
    exclude: tuple[tuple[float, float], ...] = (),
) -> Verdict:
    """The verdict; `tolerance` relative to each channel's peak, `exclude` windows [s]
    that are left out."""
    allowed = evidence.least if tolerance is None else tolerance
    verdict = _compared(evidence, allowed, exclude)
    torn, why = _undecided(evidence, verdict, exclude)
    if torn and _compared(evidence, allowed, (*exclude, *torn)).result != "FAIL":
        verdict = unproven(verdict, why)
    apart = [n.what.removeprefix(APART) for n in evidence.second.notes if n.what.startswith(APART)]
    if not verdict.channels and apart:
        sentence = (
            f"Nothing to compare: the model has no joints, and {apart[0]} Take that part out of a"
            " copy to have the rest compared; of the run itself its energy audit judges."
        )
        verdict = replace(verdict, sentence=sentence)
    if evidence.fault:
        verdict = replace(verdict, result="FAIL", sentence=evidence.fault)
    elif evidence.unsure and tolerance is None:
        verdict = unproven(verdict, evidence.unsure)
    if verdict.result == "PASS":
        verdict = _without_vague_replays(verdict, max(tolerance or 0.0, LOOSEST))
    once = tuple(name for name in verdict.once if name not in evidence.parts)
    notes = tuple(n for n in (*evidence.notes, *verdict.notes) if n != verdict.sentence)
    return replace(verdict, notes=notes, replayed=evidence.parts, once=once)


def _undecided(
    evidence: Evidence, verdict: Verdict, exclude: tuple[Window, ...]
) -> tuple[tuple[Window, ...], str]:
    """Windows about rows at which what failed proves no fault, and why; none where a place or an
    angle did, which is the same before and behind."""
    if verdict.result != "FAIL" or any(goes_on(c.name, c.unit) for c in verdict.failed()):
        return (), ""
    if evidence.alone:
        return torn_windows(evidence.first, evidence.second, exclude), evidence.alone
    if evidence.beside is None:
        return (), ""
    beside = evidence.beside, evidence.other_beside
    several = undecided_windows(evidence.first, evidence.second, exclude, beside)
    at = ", ".join(f"{0.5 * (begin + end):.6g} s" for begin, end in several[:8])
    return several, (
        f"Outputs differ only where several laws switch or bend at one instant, of which a solver"
        f" may have some before the row and others behind it: {at}. Change the output step a"
        " little, so that no row lies there."
    )


def _compared(
    evidence: Evidence, tolerance: float | None, exclude: tuple[tuple[float, float], ...]
) -> Verdict:
    return compare(
        evidence.first,
        evidence.second,
        model=evidence.model,
        tolerance=tolerance,
        coarser=evidence.coarser,
        rougher=evidence.rougher,
        not_unique=channels_in(evidence.second.notes),
        replayed=evidence.replayed,
        exclude=exclude,
        beside=(evidence.beside, evidence.other_beside),
    )


def _without_vague_replays(verdict: Verdict, allowed: float) -> Verdict:
    """The verdict, INCONCLUSIVE where a step twice as long changes a replayed part by more than
    `allowed` of its peak: what the record says is then not what the part does, and both solvers
    agree on a motion under it that neither has found (0/0 of Painleve's rod)."""
    vague = [
        c
        for c in verdict.channels
        if c.source == "replayed" and c.result == "PASS" and c.integration > allowed
    ]
    if not vague:
        return verdict
    worst = max(vague, key=lambda c: c.integration)
    sentence = (
        f"Both solvers agree under what was replayed, but a step twice as long changes {worst.name}"
        f" by {worst.integration:.2g} of its peak, and no second solver has that part: the record"
        " may be wrong by as much. Shorten the run, or tighten its tolerance until that is below"
        f" {allowed:g}."
    )
    marked = tuple(replace(c, result="INCONCLUSIVE") if c in vague else c for c in verdict.channels)
    return replace(verdict, result="INCONCLUSIVE", sentence=sentence, channels=marked)


def unproven(verdict: Verdict, why: str) -> Verdict:
    """The verdict where differences of channels prove nothing: no channel says FAIL either."""
    if verdict.result != "FAIL" or not verdict.failed():
        return verdict

    def softened(channel: Channel) -> Channel:
        return replace(channel, result="INCONCLUSIVE") if channel.result == "FAIL" else channel

    channels = tuple(softened(channel) for channel in verdict.channels)
    return replace(verdict, result="INCONCLUSIVE", sentence=why, channels=channels)
