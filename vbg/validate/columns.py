"""Verdicts on further methods: the discrete-time method, other engines."""

from __future__ import annotations

from vbg.solution import Solution
from vbg.tmm_bridge.notes import channels_in
from vbg.validate.child import Answer
from vbg.validate.compare import compare
from vbg.validate.comparison.judging import LOOSEST, TOLERANCE
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
    verdict = compare(
        evidence.first,
        fine,
        model=evidence.model,
        tolerance=tolerance,
        coarser=coarser,
        not_unique=channels_in(evidence.second.notes),
        exclude=exclude,
        least=max(TOLERANCE, min(SPLINE * missed, LOOSEST)),
        loosest=loosest,
        beside=(evidence.beside, evidence.beside),
    )
    if SPLINE * missed > LOOSEST and tolerance is None:
        return unproven(verdict, unsure(missed))
    return verdict


def coarse_of(runs: tuple[Solution, ...]) -> Solution | None:
    """The run with twice the step, if one was made."""
    return runs[1] if len(runs) > 1 else None


def unsure(missed: float) -> str:
    """Why a replay proves nothing."""
    return (
        "The efforts that were recorded and replayed change too fast between two outputs"
        f" (their spline misses {missed:.1g} of the peak) to prove a fault in either solver."
        " Give a smaller output step."
    )
