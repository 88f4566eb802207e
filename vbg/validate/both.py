"""Both solvers on one model, each in a child process, and the verdict on their agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from vbg.engines import ENGINES
from vbg.engines.rotors import rotors_of
from vbg.errors import AssemblyError, UsageError, VbgError
from vbg.fields import WRITTEN
from vbg.model import Model
from vbg.simulate.record.beyond import BeyondPart
from vbg.simulate.record.peaks import hidden
from vbg.simulate.settings import check, settings_of
from vbg.solution import Solution
from vbg.validate.beside import with_rows_beside
from vbg.validate.child import PATIENCE, Answer, Job, has_fixed_steps
from vbg.validate.children import Run, Tell, here
from vbg.validate.children import in_children as children
from vbg.validate.columns import FIXED_STEP, SPLINE, coarse_of, column_of, unsure
from vbg.validate.compare import NAMES
from vbg.validate.comparison.ended import stopped
from vbg.validate.comparison.judging import LOOSEST, TOLERANCE
from vbg.validate.comparison.values import Channel, Verdict
from vbg.validate.evidence import Evidence, verdict_on
from vbg.validate.poses import (
    Poses,
    at_written_speeds,
    first_poses,
    remedy_for,
)
from vbg.validate.recorded import (
    Recorded,
    has_twins,
    replayed_parts,
    replays_from,
    without_twin,
)
from vbg.validate.review import review
from vbg.validate.starting import (
    angles_at_start,
    counted_joints,
    held_at_start,
    not_handed,
    with_modes,
)

if TYPE_CHECKING:
    from vbg.analysis.begin import Asked

# A verdict is on the equations: integration is kept out of it where that is cheap.
RTOL, ATOL = 1e-11, 1e-13
TIGHTEST = (1e-13, 1e-15)  # near what rounding leaves of DOP853's error control
# Further columns and their scheme: the discrete-time transfer matrix method.
SCHEMES = {"dt": "newmark", "dt-houbolt": "houbolt", "dt-wilson": "wilson"}
ALSO = (*SCHEMES, *ENGINES)  # or another engine
RESTARTS = 2  # of the second solver: from the first one's posture, then from its speeds, too


@dataclass(frozen=True, eq=False)
class Report:
    """The verdict and everything it was made from; `also` holds further columns
    (the discrete-time method) by name, each with its verdict; `evidence` is what
    `verdict_on` makes a verdict with other settings from, None where a solver has no run."""

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


@dataclass(frozen=True, eq=False)
class _Second:
    """How the second solver was run: its job, all answers, what was done, what is wrong with
    the starts."""

    job: Job
    answers: Mapping[str, Answer]
    notes: tuple[str, ...] = ()
    fault: str = ""


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
    patience: float = PATIENCE,
    start: Asked | None = None,
    progress: Tell | None = None,
    in_children: bool = True,
) -> Report:
    """Run the bond-graph solver and the embedded transfer-matrix solver and compare.

    Settings that are not given are those of `model.simulate`, with tolerances of
    at most 1e-11 and 1e-13; a solver whose own error, measured by doubling its step, is
    above 1e-6 there runs again at 1e-13 and 1e-15.  `tolerance` is relative to each channel's peak;
    `exclude` are windows of time to leave out, noted in the verdict;
    `also=("dt",)` adds the discrete-time transfer matrix method by Newmark's step,
    "dt-houbolt" and "dt-wilson" by theirs, "pinocchio", "mujoco", "exudyn" and "drake" these
    engines; the methods at the step `dt_step` [s], default 0.5 ms or half the output step.
    `progress(solver, fraction)` is called as the runs go on.

    `start`, over that of the model: see `vbg.analysis.begin`; the second solver is handed it.

    A run that spends `patience` seconds of processor time without getting a percent further is
    ended, and the verdict is INCONCLUSIVE; so it is where only one of the solvers refuses the
    model.

    Raises UsageError for an unknown column and settings out of range; the errors of the model
    that both solvers meet (ModelError, AssemblyError, ...).
    """
    if strange := set(also) - set(ALSO):
        raise UsageError(f"validate: also={sorted(strange)[0]!r} is unknown; there is {ALSO}.")
    if not isinstance(model, Model):
        what = f"validate: a Model is asked for; got {type(model).__name__}"
        raise UsageError(f"{what}. vbg.read(PATH) reads a model file.")
    asked = settings_of(model.simulate, t_end=t_end, output_step=output_step, rtol=rtol, atol=atol)
    check(asked)
    job = Job(
        "vbg",
        model,
        asked.t_end,
        asked.output_step,
        min(asked.rtol, RTOL) if rtol is None else asked.rtol,
        min(asked.atol, ATOL) if atol is None else asked.atol,
        coarse=True,
        tightest=TIGHTEST if rtol is None and atol is None else None,
        patience=patience,
        begin=start,
    )
    run = children if in_children else here
    second = _both(job, run, progress)
    answer = second.answers["vbg"]
    second = replace(second, notes=(*second.notes, *_hidden(answer), *_in_both(answer)))
    for name, answer in second.answers.items():
        if answer.error is not None:
            return _refused(name, answer.error, second)
    evidence = _evidence(second)
    report = _report(evidence, tolerance, exclude)
    ended = stopped(evidence.first, evidence.second)
    if also or report.result == "FAIL" or (report.result != "PASS" and not ended):
        evidence = with_rows_beside(evidence, job, second.job, run, progress)
        report = _report(evidence, tolerance, exclude)
    again = replace(second.job, step=dt_step)
    return _with_columns(report, again, also, run, progress, tolerance, exclude)


def _hidden(answer: Answer) -> tuple[str, ...]:
    """What is not compared, since no row shows it."""
    notes = () if answer.error is not None else answer.solutions[0].notes
    return tuple(f"Compared at the output rows only: {words}" for words in hidden(notes))


def _in_both(answer: Answer) -> tuple[str, ...]:
    """What the model itself has not, of which no second solution tells."""
    notes = () if answer.error is not None else answer.solutions[0].notes
    beyond = [note for note in notes if isinstance(note, BeyondPart)]
    return tuple(f"In both solvers: {each.where}: {each.what} {each.remedy}" for each in beyond)


def _both(job: Job, run: Run, progress: Tell | None) -> _Second:
    """Both solvers' runs, the second one's begun where it may be compared with the first's.

    Raises what is wrong with the model itself.
    """
    model, other = job.model, replace(job, solver="mstmm")
    notes: tuple[str, ...] = (_by_auto(model),) if has_fixed_steps(model) else ()
    answers: dict[str, Answer] = {}
    if model.fmu:
        answers = run({"vbg": job}, progress)
        _raise_of_model(answers["vbg"])
        if answers["vbg"].error is not None or not len(answers["vbg"].solutions[0].time):
            return _Second(other, answers)
        other = replace(other, exchanged=answers["vbg"].solutions[0].exchanged)
        names = ", ".join(model.fmu)
        notes = (*notes, f"Replayed from the bond-graph run: what the FMUs told ({names}).")
    reason = without_twin(other.machine)
    begun = (model.simulate.start if job.begin is None else job.begin) != WRITTEN
    if begun and not reason and (parts := not_handed(model)):
        reason = f"The start of {', '.join(parts)} is none that a file can write."
    if reason or begun:
        answers = answers or run({"vbg": job}, progress)
        _raise_of_model(answers["vbg"])
        if answers["vbg"].error is not None or not len(answers["vbg"].solutions[0].time):
            return _Second(other, answers)
    if begun:
        other, handing = _handed(other, answers["vbg"].solutions[0])
        notes = (*notes, handing)
    if reason:
        try:
            replays = replays_from(model, answers["vbg"].solutions[0])
        except UsageError as error:
            neither = UsageError(f"{reason} {error}")
            return _Second(other, {**answers, "mstmm": Answer(error=neither)})
        other = replace(other, replays=replays)
        answers |= run({"mstmm": other}, progress)
        notes = (
            *notes,
            *(
                (f"Replayed from the bond-graph run: {', '.join(replays)}. {reason}",)
                if replays
                else ()
            ),
        )
    else:
        if has_twins(other.machine):
            notes = (
                *notes,
                "Integrated by the transfer-matrix solver too: one-dimensional parts, controllers.",
            )
        if answers:
            answers |= run({"mstmm": other}, progress)
        else:
            answers = run({"vbg": job, "mstmm": other}, progress)
        _raise_of_model(answers["vbg"])
    if answers["vbg"].error is not None or not len(answers["vbg"].solutions[0].time):
        return _Second(other, answers, notes)
    return _one_start(_Second(other, answers, notes), run, progress)


def _by_auto(model: Model) -> str:
    return (
        f"The bond-graph solver ran by the method auto: {model.simulate.method} of the file takes"
        " fixed steps, whose error is none of the equations. What that method makes of the machine"
        " is not judged here: compare its results with those of auto (`vbg results compare`)."
    )


def _handed(other: Job, first: Solution) -> tuple[Job, str]:
    """The second solver's job with the start of the first one's run, and a word about it."""
    model = other.model
    poses = first_poses(first, tuple(model.bodies))
    bent = with_modes(model, first)
    held = held_at_start(model, first)
    angles = angles_at_start(first, model.joints)
    job = replace(other, model=bent, poses=poses, angles=angles, held=held, known_as=model.hash)
    return job, "The transfer-matrix solver was handed the start of the bond-graph solver."


def _raise_of_model(answer: Answer) -> None:
    """What the first solver finds wrong with the model is no verdict."""
    if answer.error is not None and not isinstance(answer.error, UsageError):
        raise answer.error


def _one_start(second: _Second, run: Run, progress: Tell | None) -> _Second:
    """The second solver's run from a start that may be compared with the first one's."""
    model = second.job.model
    first = second.answers["vbg"].solutions[0]
    if isinstance(second.answers["mstmm"].error, AssemblyError):
        poses = first_poses(first, tuple(model.bodies))
        why = "could not close the written posture alone"
        again = _from_poses(second.job, at_written_speeds(poses, model), first, as_written=True)
        second = _again(second, again, why, run, progress)
    for restart in range(RESTARTS + 1):
        answer = second.answers["mstmm"]
        if answer.error is not None or not len(answer.solutions[0].time):
            return second
        remedy = remedy_for(model, first, answer.solutions[0])
        if remedy.fault or remedy.poses is None:
            return replace(second, fault=remedy.fault)
        if restart == RESTARTS:
            break
        as_written = remedy.speeds_as_written
        again = _from_poses(second.job, remedy.poses, first, as_written=as_written)
        second = _again(second, again, f"assembled {remedy.reason}", run, progress)
    return replace(
        second, fault=f"The starts differ even from one posture: {remedy.reason.capitalize()}."
    )


def _from_poses(job: Job, poses: Poses, first: Solution, *, as_written: bool) -> Job:
    """The second solver's job from `poses` of the first one's start, flexible bodies bent and
    gears turned as they are there."""
    model = with_modes(job.model, first, rates=not as_written)
    name = job.known_as or job.model.hash
    angles = job.angles or angles_at_start(first, counted_joints(job.model))
    again = replace(job, model=model, poses=poses, angles=angles, known_as=name)
    return replace(again, speeds_as_written=as_written)


def _again(second: _Second, job: Job, why: str, run: Run, progress: Tell | None) -> _Second:
    """The second solver started from other poses."""
    note = (
        f"The transfer-matrix solver {why}: it was started again from the start of the"
        " bond-graph solver."
    )
    answers = {**second.answers, **run({"mstmm": job}, progress)}
    return replace(second, job=job, answers=answers, notes=(*second.notes, note))


def _refused(name: str, error: VbgError, second: _Second) -> Report:
    """The report where one solver has no run at all."""
    who = {"vbg": NAMES["vbg"], "mstmm": NAMES["tmm_bridge"]}[name].capitalize()
    model = second.job.model
    verdict = Verdict(
        "INCONCLUSIVE",
        f"{who} did not run: {error}",
        model=model.name,
        model_hash=model.hash,
        solvers=("vbg", "tmm_bridge"),
        notes=second.notes,
    )
    solutions = {n: a.solutions[0] for n, a in second.answers.items() if a.error is None}
    return Report(verdict, solutions)


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
    was, and of other engines, from the first solver's first row.  They move bodies only: efforts
    of one-dimensional parts and controllers are replayed."""
    if not also:
        return _reviewed(report, {}, 0.0)
    answers: dict[str, Answer] = {}
    jobs: dict[str, Job] = {}
    for name in also:
        try:
            again = replace(job, tightest=None, replays=_replays(job, name, report))
        except UsageError as error:
            answers[name] = Answer(error=error)
        else:
            jobs[name] = _column(again, name, report)
    answers |= run(jobs, progress) if jobs else {}
    replayed = (r for column in jobs.values() for r in (column.replays or {}).values())
    missed = max((r.spline_error() for r in replayed), default=0.0)
    columns = {
        name: column_of(
            report.evidence,
            answer,
            tolerance,
            exclude,
            missed,
            loosest=FIXED_STEP if name in SCHEMES else LOOSEST,
        )
        for name, answer in answers.items()
    }
    solutions = {name: a.solutions[0] for name, a in answers.items() if a.error is None}
    report = replace(report, also=columns, solutions={**report.solutions, **solutions})
    return _reviewed(report, answers, missed)


def _replays(job: Job, name: str, report: Report) -> Mapping[str, Recorded]:
    """What a further column is told of the first run's efforts; engines know rotors on joints."""
    first = report.solutions["vbg"]
    if name not in ENGINES:
        return job.replays or replays_from(job.model, first)
    known = {part for rotor in rotors_of(job.model) for part in rotor.parts}
    return replays_from(job.model, first, known, frictions_apart=True)


def _column(job: Job, name: str, report: Report) -> Job:
    """The job of a further column."""
    if name in SCHEMES:
        return replace(job, solver="dt", scheme=SCHEMES[name])
    first = report.solutions["vbg"]
    row = {signal: np.array(values[0]) for signal, values in first.signals.items()}
    model = job.model if report.evidence is None else report.evidence.model or job.model
    return replace(job, solver=name, model=model, first_row=row, poses=None)


def _reviewed(report: Report, answers: Mapping[str, Answer], missed: float) -> Report:
    """The report with what the evidence says about a FAIL."""
    evidence = report.evidence
    if evidence is None or report.result != "FAIL":
        return report
    swapped = replace(evidence, first=evidence.second, beside=evidence.other_beside)
    witnesses = {
        name: (report.also[name], column_of(swapped, answer, None, (), missed))
        for name, answer in answers.items()
    }
    said = review(evidence, report.verdict, witnesses)
    return replace(report, verdict=replace(report.verdict, review=said))


def _evidence(second: _Second) -> Evidence:
    runs = {name: answer.solutions for name, answer in second.answers.items()}
    replays: Mapping[str, Recorded] = second.job.replays or {}
    missed = max((r.spline_error() for r in replays.values()), default=0.0)
    model = second.job.model
    return Evidence(
        runs["vbg"][0],
        runs["mstmm"][0],
        coarse_of(runs["mstmm"]),
        frozenset(key.rpartition(".")[2].partition("[")[0] for key in replays),
        min(SPLINE * missed, LOOSEST) if SPLINE * missed > TOLERANCE else None,
        second.notes,
        coarse_of(runs["vbg"]),
        model,
        replayed_parts(model) if replays else (),
        second.fault,
        unsure(missed) if SPLINE * missed > LOOSEST else "",
    )


def _report(
    evidence: Evidence, tolerance: float | None, exclude: tuple[tuple[float, float], ...]
) -> Report:
    verdict = verdict_on(evidence, tolerance=tolerance, exclude=exclude)
    verdict = replace(verdict, notes=(*verdict.notes, *_magnified(verdict)))
    return Report(verdict, {"vbg": evidence.first, "mstmm": evidence.second}, {}, evidence)


def _magnified(verdict: Verdict) -> tuple[str, ...]:
    """How far the motion blows up errors of integration, if it does so visibly."""
    compared = (c for c in verdict.channels if c.result not in ("VACUOUS", "NOT UNIQUE"))
    measured = [c for c in compared if c.integration > TOLERANCE]
    if not measured:
        return ()
    worst = max(measured, key=lambda c: c.integration)
    return (
        f"The motion magnifies errors of integration: in {worst.name} a step twice as long changes"
        f" {worst.integration:.1e} of the peak.",
    )
