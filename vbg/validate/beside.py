"""Both runs again, with rows beside those that lie on a crossing."""

from __future__ import annotations

from dataclasses import replace

from vbg.solution import Solution
from vbg.validate.child import Answer, Job
from vbg.validate.children import Run, Tell
from vbg.validate.compare import NAMES
from vbg.validate.comparison.sides import instants_beside
from vbg.validate.evidence import Evidence

_ALONE = (
    "Outputs at an instant at which a law switches or bends cannot be compared on one side of it:"
    " the run with rows beside them did not succeed ({why}). Change the output step a little, so"
    " that no row lies there."
)


def with_rows_beside(
    evidence: Evidence, job: Job, other: Job, run: Run, progress: Tell | None
) -> Evidence:
    """The evidence with what both solvers have before and behind the rows that a crossing lies on;
    as it is where there are none.  `job` and `other` are those of the two runs.

    What one solver cannot give is not taken from the other: the evidence then tells why the rows
    stay as far apart as they are."""
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
    made = zip(NAMES.values(), (evidence.first, evidence.second), jobs, strict=True)
    why = [f"{who}: {said}" for who, one, name in made if (said := _unfinished(one, answers[name]))]
    alone = _ALONE.format(why="; ".join(why)) if why else ""
    return replace(
        evidence,
        beside=beside,
        other_beside=other_beside,
        alone=alone,
        notes=(*evidence.notes, alone) if alone else evidence.notes,
    )


def _run_of(answer: Answer) -> Solution | None:
    return answer.solutions[0] if answer.error is None else None


def _unfinished(made: Solution, answer: Answer) -> str:
    """Why there is no such run as the one `made`; empty if there is."""
    if answer.error is not None:
        return str(answer.error)
    again = answer.solutions[0].status
    return again.sentence if again.code != made.status.code else ""
