"""Both solvers on one model, each in a child process, and the verdict on their agreement."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from vbg.errors import AssemblyError, UsageError
from vbg.model import Model
from vbg.solution import Solution
from vbg.tmm_bridge.motion.uniqueness import channels_in
from vbg.validate.child import Answer, Job, restored, solve
from vbg.validate.compare import LOOSEST, TOLERANCE, Channel, Verdict, compare
from vbg.validate.evidence import Evidence, verdict_on
from vbg.validate.poses import first_poses, starts_differ
from vbg.validate.recorded import Recorded, has_twins, replays_from, without_twin

Tell = Callable[[str, float], None]
Run = Callable[[Mapping[str, Job], Tell | None], dict[str, Answer]]
# A verdict is on the equations: integration is kept out of it where that is cheap.
RTOL, ATOL = 1e-11, 1e-13
TIGHTEST = (1e-13, 1e-15)  # near what rounding leaves of DOP853's error control
# Further columns and their scheme: the discrete-time transfer matrix method.
ALSO = {"dt": "newmark", "dt-houbolt": "houbolt", "dt-wilson": "wilson"}
FIXED_STEP = 0.1  # what the error of a fixed step may excuse at most
SPLINE = 30.0  # times what the spline of a replayed effort misses between its samples
CHILD = "vbg.validate.child"


@dataclass(frozen=True, eq=False)
class Report:
    """The verdict and everything it was made from; `also` holds further columns
    (the discrete-time method) by name, each with its verdict; `evidence` is what
    `verdict_on` makes a verdict with other settings from."""

    verdict: Verdict
    solutions: Mapping[str, Solution]
    also: Mapping[str, Verdict] = field(default_factory=dict)
    evidence: Evidence | None = None

    @property
    def result(self) -> str:
        """PASS, FAIL or INCONCLUSIVE."""
        return self.verdict.result

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Channels of the verdict."""
        return self.verdict.channels


def validate(
    model: Model,
    *,
    t_end: float | None = None,
    output_step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    tolerance: float | None = None,
    also: tuple[str, ...] = (),
    exclude: tuple[tuple[float, float], ...] = (),
    dt_step: float | None = None,
    progress: Tell | None = None,
    in_children: bool = True,
) -> Report:
    """Run the bond-graph solver and the embedded transfer-matrix solver and compare.

    Settings that are not given are those of `model.simulate`, with tolerances of
    at most 1e-11 and 1e-13; a solver whose own error, measured by doubling its step, is
    above 1e-6 there runs again at 1e-13 and 1e-15.  `tolerance` is relative to each channel's peak;
    `exclude` are windows of time to leave out, noted in the verdict;
    `also=("dt",)` adds the discrete-time transfer matrix method by Newmark's step,
    "dt-houbolt" and "dt-wilson" by theirs, at the step `dt_step` [s], default 0.5 ms or half
    the output step.
    `progress(solver, fraction)` is called as the runs go on.

    Raises UsageError for an unknown column; the errors of the model that both
    solvers meet (ModelError, AssemblyError, ...).
    """
    if strange := set(also) - set(ALSO):
        raise UsageError(
            f"validate: also={sorted(strange)[0]!r} is unknown; there is {tuple(ALSO)}."
        )
    s = model.simulate
    job = Job(
        "vbg",
        model,
        s.t_end if t_end is None else t_end,
        s.output_step if output_step is None else output_step,
        min(s.rtol, RTOL) if rtol is None else rtol,
        min(s.atol, ATOL) if atol is None else atol,
        coarse=True,
        tightest=TIGHTEST if rtol is None and atol is None else None,
    )
    run = _in_children if in_children else _here
    jobs = {"vbg": job, "mstmm": replace(job, solver="mstmm")}
    replays: dict[str, Recorded] = {}
    notes: tuple[str, ...] = ()
    reason = without_twin(model)
    if reason:
        answers = run({"vbg": job}, progress)
        replays = replays_from(model, _sole(answers["vbg"]))
        jobs["mstmm"] = replace(jobs["mstmm"], replays=replays)
        answers |= run({"mstmm": jobs["mstmm"]}, progress)
        notes = (
            f"Replayed from the bond-graph run: the efforts on {', '.join(replays)}. {reason}",
        )
    else:
        if has_twins(model):
            notes = (
                "Integrated by the transfer-matrix solver too: one-dimensional parts, controllers.",
            )
        answers = run(jobs, progress)
    first = _sole(answers["vbg"])
    reason = _other_start(model, answers)
    if reason:
        poses = first_poses(first, tuple(model.bodies))
        jobs["mstmm"] = replace(jobs["mstmm"], poses=poses)
        answers |= run({"mstmm": jobs["mstmm"]}, progress)
        notes = (
            *notes,
            f"{reason}: it was started again from the start of the bond-graph solver.",
        )
    report = _report(answers, tolerance, exclude, notes, replays)
    again = replace(jobs["mstmm"], step=dt_step)
    return _with_columns(report, again, also, run, progress, tolerance, exclude)


def _with_columns(
    report: Report,
    job: Job,
    also: tuple[str, ...],
    run: Run,
    progress: Tell | None,
    tolerance: float | None,
    exclude: tuple[tuple[float, float], ...],
) -> Report:
    """The report with columns of the discrete-time method, started as the transfer-matrix solver
    was; it moves bodies only: efforts of one-dimensional parts and controllers are replayed."""
    if not also:
        return report
    replays: Mapping[str, Recorded] = job.replays or {}
    try:
        replays = replays or replays_from(job.model, report.solutions["vbg"])
    except UsageError as error:
        answers = {name: Answer(error=error) for name in also}
    else:
        again = replace(job, solver="dt", tightest=None, replays=replays)
        answers = run({name: replace(again, scheme=ALSO[name]) for name in also}, progress)
    missed = max((r.spline_error() for r in replays.values()), default=0.0)
    columns = {
        name: column_of(report.evidence, answer, tolerance, exclude, missed)
        for name, answer in answers.items()
    }
    solutions = {name: a.solutions[0] for name, a in answers.items() if a.error is None}
    return replace(report, also=columns, solutions={**report.solutions, **solutions})


def _sole(answer: Answer) -> Solution:
    """The solution of an answer; its error is raised."""
    if answer.error is not None:
        raise answer.error
    return answer.solutions[0]


def _other_start(model: Model, answers: Mapping[str, Answer]) -> str:
    """Why the transfer-matrix solver must start from the other's posture; empty if not."""
    if isinstance(answers["mstmm"].error, AssemblyError):
        return "The transfer-matrix solver could not close the written posture alone"
    first, second = _sole(answers["vbg"]), _sole(answers["mstmm"])
    bodies = tuple(model.bodies)
    body, by = starts_differ(first_poses(first, bodies), first_poses(second, bodies))
    if not body:
        return ""
    return f"The transfer-matrix solver assembled another start ({body}, by {by:.2g})"


def _report(
    answers: Mapping[str, Answer],
    tolerance: float | None,
    exclude: tuple[tuple[float, float], ...],
    notes: tuple[str, ...],
    replays: Mapping[str, Recorded],
) -> Report:
    missed = max((r.spline_error() for r in replays.values()), default=0.0)
    evidence = Evidence(
        _sole(answers["vbg"]),
        _sole(answers["mstmm"]),
        answers["mstmm"].solutions[1],
        frozenset(key.rpartition(".")[2].partition("[")[0] for key in replays),
        min(SPLINE * missed, LOOSEST) if SPLINE * missed > TOLERANCE else None,
        notes,
        answers["vbg"].solutions[1],
    )
    verdict = verdict_on(evidence, tolerance=tolerance, exclude=exclude)
    verdict = replace(verdict, notes=(*verdict.notes, *_magnified(verdict)))
    if SPLINE * missed > LOOSEST and verdict.result == "FAIL" and tolerance is None:
        verdict = replace(verdict, result="INCONCLUSIVE", sentence=_unsure(missed))
    solutions = {name: _sole(answer) for name, answer in answers.items()}
    return Report(verdict, solutions, {}, evidence)


def column_of(
    evidence: Evidence | None,
    answer: Answer,
    tolerance: float | None,
    exclude: tuple[tuple[float, float], ...],
    missed: float = 0.0,
) -> Verdict:
    """Verdict on a further method; what it cannot run does not spoil that on the others.

    `missed` is what the splines of replayed efforts miss, relative to their peaks.
    """
    if answer.error is not None or evidence is None:
        return Verdict("INCONCLUSIVE", f"It did not run: {answer.error}")
    fine, coarser = answer.solutions
    for solution in answer.solutions:
        if solution.status.code == "failed":
            why = f"{solution.status.sentence} {solution.status.remedy}"
            return Verdict("INCONCLUSIVE", f"With {solution.made_by.method}: {why}")
    verdict = compare(
        evidence.first,
        fine,
        tolerance=tolerance,
        coarser=coarser,
        not_unique=channels_in(evidence.second.notes),
        exclude=exclude,
        least=max(TOLERANCE, min(SPLINE * missed, LOOSEST)),
        loosest=FIXED_STEP,
    )
    if SPLINE * missed > LOOSEST and verdict.result == "FAIL" and tolerance is None:
        return replace(verdict, result="INCONCLUSIVE", sentence=_unsure(missed))
    return verdict


def _unsure(missed: float) -> str:
    """Why a replay proves nothing."""
    return (
        "The efforts that were recorded and replayed change too fast between two outputs"
        f" (their spline misses {missed:.1g} of the peak) to prove a fault in either solver."
        " Give a smaller output step."
    )


def _magnified(verdict: Verdict) -> tuple[str, ...]:
    """How far the motion blows up errors of integration, if it does so visibly."""
    measured = [c for c in verdict.channels if c.integration > TOLERANCE and c.result != "VACUOUS"]
    if not measured:
        return ()
    worst = max(measured, key=lambda c: c.integration)
    return (
        f"The motion magnifies errors of integration: in {worst.name} a step twice as long changes"
        f" {worst.integration:.1e} of the peak.",
    )


def _here(jobs: Mapping[str, Job], progress: Tell | None) -> dict[str, Answer]:
    """Run the jobs one after the other in this process."""

    def teller(name: str) -> Callable[[float], None]:
        return lambda fraction: progress(name, fraction) if progress is not None else None

    return {name: solve(job, teller(name)) for name, job in jobs.items()}


def _in_children(jobs: Mapping[str, Job], progress: Tell | None) -> dict[str, Answer]:
    """Run each job in a child of its own, all at once."""
    with tempfile.TemporaryDirectory(prefix="vbg-validate-") as folder:
        children = {name: _start(job, Path(folder), name) for name, job in jobs.items()}
        listeners = [
            threading.Thread(target=_listen, args=(child.stdout, name, progress), daemon=True)
            for name, child in children.items()
        ]
        for listener in listeners:
            listener.start()
        try:
            answers = {}
            for name, child in children.items():
                errors = child.stderr.read() if child.stderr else ""
                code = child.wait()
                file = Path(folder) / f"{name}.answer"
                if code != 0 or not file.exists():
                    raise UsageError(
                        f"validate: the process of solver {name} ended with code {code}."
                        f" Its last words: {' '.join(errors.strip().splitlines()[-1:])[-500:]}"
                    )
                answers[name] = restored(pickle.loads(file.read_bytes()))
        finally:
            for child in children.values():
                if child.poll() is None:
                    child.terminate()
        for listener in listeners:
            listener.join()
    return answers


def _start(job: Job, folder: Path, name: str) -> subprocess.Popen[str]:
    """A child at work on the job."""
    file = folder / f"{name}.job"
    file.write_bytes(pickle.dumps(job))
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "vbg.validate.child",
            str(file),
            str(folder / f"{name}.answer"),
        ],
        stdin=subprocess.PIPE,  # closed when this process ends, however: then the child ends, too
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # two runs side by side: threads of a small product of matrices only wait for each other
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OPENBLAS_NUM_THREADS": "1"},
    )


def _listen(stream: IO[str] | None, name: str, progress: Tell | None) -> None:
    """Pass on what a child tells."""
    for line in stream or ():
        if progress is not None and line.startswith("{"):
            progress(name, float(json.loads(line)["fraction"]))
