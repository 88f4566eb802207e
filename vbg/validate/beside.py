"""Both runs again, with rows beside those that lie on a crossing."""

from __future__ import annotations

from dataclasses import replace

from vbg.solution import Solution
from vbg.validate.child import Answer, Job
from vbg.validate.children import Run, Tell
from vbg.validate.comparison.sides import instants_beside
from vbg.validate.evidence import Evidence


def with_rows_beside(
    evidence: Evidence, job: Job, other: Job, run: Run, progress: Tell | None
) -> Evidence:
    """The evidence with what both solvers have before and behind the rows that a crossing lies on;
    as it is where there are none.  `job` and `other` are those of the two runs."""
    instants = instants_beside(evidence.first, evidence.second)
    if not instants:
        return evidence
    jobs = {
        name: replace(
            one,
            rtol=made.made_by.rtol,
            atol=made.made_by.atol,
            t_end=max(one.t_end, *instants),
            beside=instants,
            coarse=False,
            tightest=None,
        )
        for name, one, made in (("vbg", job, evidence.first), ("mstmm", other, evidence.second))
    }
    answers = run(jobs, progress)
    beside, other_beside = (_run_of(answers[name]) for name in jobs)
    return replace(evidence, beside=beside, other_beside=other_beside)


def _run_of(answer: Answer) -> Solution | None:
    return answer.solutions[0] if answer.error is None else None
