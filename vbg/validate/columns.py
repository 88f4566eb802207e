"""Verdicts on further methods: the discrete-time method, other engines."""

from __future__ import annotations

from vbg.solution import Solution
from vbg.tmm_bridge.notes import channels_in
from vbg.validate.child import Answer
from vbg.validate.compare import compare
from vbg.validate.comparison.judging import LOOSEST, TOLERANCE
from vbg.validate.comparison.pairing import Window, torn_windows
from vbg.validate.comparison.sides import goes_on
from vbg.validate.comparison.values import Verdict
from vbg.validate.evidence import Evidence, unproven

FIXED_STEP = 0.1  # what the error of a fixed step may excuse at most
SPLINE = 30.0  # times what the spline of a replayed effort misses between its samples


def column_of(
    evidence: Evidence | None,
    answer: Answer,
    tolerance: float | None,
    exclude: tuple[tuple[float, float], ...],
    missed: float = 0.0,
    loosest: float = FIXED_STEP,
) -> Verdict:
    """Verdict on a further method; what it cannot run does not spoil that on the others.

    `missed` is what the splines of replayed efforts miss, relative to their peaks; `loosest`
    bounds what the method's own error may excuse.
    """
    if answer.error is not None or evidence is None:
        return Verdict("INCONCLUSIVE", f"It did not run: {answer.error}")
    fine, coarser = answer.solutions[0], coarse_of(answer.solutions)
    for solution in answer.solutions:
        if solution.status.code != "finished":
            why = f"{solution.status.sentence} {solution.status.remedy}"
            return Verdict("INCONCLUSIVE", f"With {solution.made_by.method}: {why}")

    def judged(windows: tuple[Window, ...]) -> Verdict:
        return compare(
            evidence.first,
            fine,
            model=evidence.model,
            tolerance=tolerance,
            coarser=coarser,
            not_unique=channels_in(evidence.second.notes),
            exclude=windows,
            least=max(TOLERANCE, min(SPLINE * missed, LOOSEST)),
            loosest=loosest,
            beside=(evidence.beside, evidence.beside),
        )

    verdict = judged(exclude)
    torn = torn_windows(evidence.first, fine, exclude)
    placed = any(goes_on(c.name, c.unit) for c in verdict.failed())
    doubted = verdict.result == "FAIL" and torn and not placed
    if doubted and judged((*exclude, *torn)).result != "FAIL":
        verdict = unproven(verdict, _between(torn))
    if SPLINE * missed > LOOSEST and tolerance is None:
        return unproven(verdict, unsure(missed))
    return verdict


def coarse_of(runs: tuple[Solution, ...]) -> Solution | None:
    """The run with twice the step, if one was made."""
    return runs[1] if len(runs) > 1 else None


def _between(torn: tuple[Window, ...]) -> str:
    """Why rows on a crossing that a method does not look for prove nothing."""
    at = ", ".join(f"{0.5 * (begin + end):.6g} s" for begin, end in torn[:8])
    return (
        "Outputs differ only at an instant at which a law switches or bends, which this method"
        f" steps over: its row there may have some of the law and not the rest: {at}. Change the"
        " output step a little, so that no row lies there."
    )


def unsure(missed: float) -> str:
    """Why a replay proves nothing."""
    return (
        "The efforts that were recorded and replayed change too fast between two outputs"
        f" (their spline misses {missed:.1g} of the peak) to prove a fault in either solver."
        " Give a smaller output step."
    )
