"""One solver in a process of its own: ``python -m vbg.validate.child JOB RESULT``.

JOB is a pickled `Job` that the parent wrote a moment ago into a folder of its
own, RESULT the file for the pickled answer.  Progress is told as JSON lines
``{"fraction": 0.4}`` on standard output.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vbg.engines import ENGINES
from vbg.errors import VbgError
from vbg.model import Model
from vbg.platform.processes import limit_processor_time
from vbg.simulate.record.told import CONCERNED, POSTURE
from vbg.solution import Solution, Status
from vbg.validate.compare import FIXED_STEP, own_error
from vbg.validate.comparison.judging import TOLERANCE
from vbg.validate.poses import StartPose
from vbg.validate.starting import with_starts

if TYPE_CHECKING:
    from vbg.analysis.begin import Asked
    from vbg.validate.recorded import Recorded

COARSER = 256.0  # 2^8: tolerances whose step, at order 8, is twice as long
Solver = Callable[..., Solution]
EVALUATIONS = 2e6  # of the transfer-matrix solver, some minutes of a large machine
SOLVERS = ("vbg", "mstmm", "dt", *ENGINES)
PATIENCE = 60.0  # processor time [s] without a further percent of the run: it is stuck
AT_START = 10.0  # times that before the first step: kernels may have to be compiled


@dataclass(frozen=True)
class Job:
    """What one child computes; `coarse` asks for a second run at wider tolerances.

    tightest : [rtol, atol] to repeat both runs at if they differ by more than the
    tolerance of a verdict, None for never.  scheme, step : of the discrete-time
    method, default half a millisecond or half the output step.
    poses : where the second solver starts, None for the written posture; speeds_as_written :
    whether their speeds are the file's, to be made consistent there.
    angles : of joints there [rad], by signal, where the turns of the poses are the first solver's.
    begin : where the first solver starts, None for what the model says.
    known_as : hash of the model whose start values were written into this one, empty for its own.
    patience : processor time [s] in which a run must get a percent further.
    exchanged : what the FMUs told in the first solver's run, None for those that run themselves.
    first_row : signals at the start of the first solver's run, from which an engine begins.
    beside : instants of rows besides those of the output step.
    held : those of nodes, stores and controllers, from which the second solver begins.
    """

    solver: str
    model: Model
    t_end: float
    output_step: float
    rtol: float
    atol: float
    coarse: bool = False
    tightest: tuple[float, float] | None = None
    poses: Mapping[str, StartPose] | None = None
    speeds_as_written: bool = False
    angles: Mapping[str, float] | None = None
    replays: Mapping[str, Recorded] | None = None
    scheme: str = "newmark"
    step: float | None = None
    patience: float = PATIENCE
    begin: Asked | None = None
    known_as: str = ""
    first_row: Mapping[str, Any] | None = None
    exchanged: Mapping[str, Any] | None = None
    held: Mapping[str, float] | None = None
    beside: tuple[float, ...] = ()

    @property
    def machine(self) -> Model:
        """The model, its FMUs recorded where another solver has run them, its parts beginning as
        they did there."""
        model = self.model
        if self.exchanged is not None:
            from vbg.validate.recorded import with_units_recorded

            model = with_units_recorded(model, self.exchanged)
        return model if self.held is None else with_starts(model, self.held)


@dataclass(frozen=True)
class Answer:
    """Solutions in the order fine, coarse; or the error that stopped the solver."""

    solutions: tuple[Solution, ...] = ()
    error: VbgError | None = None


def solve(job: Job, tell: Any) -> Answer:
    """Run the job in this process; errors of the model are answers."""
    try:
        by = solver_of(job)
        solutions = _runs(job, by, tell)
        if job.tightest is not None and _can_do_better(job.model, *solutions):
            rtol, atol = job.tightest
            # states of small size have a smaller atol in their file: it shrinks with rtol
            again = replace(job, rtol=rtol, atol=min(atol, job.atol * rtol / job.rtol))
            better = _runs(again, by, tell)
            solutions = better if better[0].status.code == "finished" else solutions
    except VbgError as error:
        return Answer(error=error)
    return Answer(tuple(solutions))


def _runs(job: Job, by: Solver, tell: Any) -> list[Solution]:
    """The run and, if it is asked for and the first finished, the one with twice its step."""
    runs = [_once(job, by, tell, doubled=False)]
    if job.coarse and runs[0].status.code == "finished":
        runs.append(_once(job, by, tell, doubled=True))
    return runs


def _can_do_better(model: Model, fine: Solution, coarser: Solution | None = None) -> bool:
    """Whether an explicit run has an error above a verdict's tolerance.

    A stiff one is left as it is: implicit steps of order 5 would become too many.
    """
    explicit = "dop853" in fine.made_by.method and "radau" not in fine.made_by.method
    return explicit and coarser is not None and own_error(fine, coarser, model)[0] > TOLERANCE


class Watch:
    """Ends a run that has spent its patience without getting a percent further; what it takes
    until it is first told of is the start, kernels to be compiled among it."""

    def __init__(self, patience: float, tell: Any):
        self.patience, self.tell = patience, tell
        self.reached, self.since, self.stuck = -1.0, 0.0, False

    def __call__(self, fraction: float, t: float) -> bool:
        """Progress of a run: False where it is stuck."""
        now = time.process_time()
        if not self.reached <= fraction < self.reached + 0.01:
            self.reached, self.since = fraction, now
            arm(2.0 * self.patience)
        self.stuck = now - self.since > self.patience
        self.tell(fraction)
        return not self.stuck

    def status(self, found: Status, t: float, posture: str = "") -> Status:
        """How the run ended: as it says, or because it was stuck, and at which `posture`."""
        if not self.stuck:
            return found
        ended = (
            f"The run was ended at t = {t:.6g} s: it had spent {self.patience:.4g} s of processor"
            " time without getting a percent further."
        )
        if posture:
            remedy = "End the run before it, or begin elsewhere (initial), so that it is passed by."
            return Status("cancelled", f"{ended} It stood at {posture}", remedy)
        remedy = "Shorten the run, soften the stiffest part, or grant it more (--patience)."
        return Status("cancelled", ended, remedy)


def weak_posture(solution: Solution) -> str:
    """The posture at the end of a run if constraints lose their grip there, and which."""
    reached = float(solution.time[-1]) if len(solution.time) else 0.0
    if not any(begin <= reached <= end for begin, end in solution.audit.carried):
        return ""
    told = next((note.what for note in solution.notes if POSTURE in note.what), "")
    return f"{POSTURE}.{''.join(told.partition(CONCERNED)[1:])}"


def arm(limit: float) -> None:
    """The system ends this process where it spends so much processor time [s] from now on
    without coming back: a child's only, and not that of whoever validates."""
    if in_child():
        limit_processor_time(limit)


def in_child() -> bool:
    """Whether this is the process of a child, and not that of whoever validates."""
    return __name__ == "__main__"


def _once(job: Job, by: Solver, tell: Any, *, doubled: bool) -> Solution:
    """One run, watched; `doubled` with twice the step, by tolerance or by name."""
    watch = Watch(job.patience, tell)
    if doubled and job.solver in ENGINES and job.replays:
        from vbg.validate.recorded import Recorded

        # every other sample: what their spline misses shows in the run, as the step does
        rough = {key: Recorded(r.time[::2], r.effort[::2]) for key, r in job.replays.items()}
        by = solver_of(replace(job, replays=rough))
    factor = COARSER if doubled else 1.0
    settings: dict[str, Any] = {"t_end": job.t_end, "output_step": job.output_step}
    if job.solver == "dt":
        from vbg.tmm_bridge.discrete.method import STEP

        fine = 0.5 * min(STEP, job.output_step) if job.step is None else job.step
        settings["step"] = fine * (2.0 if doubled else 1.0)
    else:
        settings |= {"rtol": factor * job.rtol, "atol": factor * job.atol}
    solution = by(**settings, progress=watch)
    if job.known_as:
        solution = replace(solution, made_by=replace(solution.made_by, model_hash=job.known_as))
    reached = float(solution.time[-1]) if len(solution.time) else 0.0
    return replace(solution, status=watch.status(solution.status, reached, weak_posture(solution)))


def solver_of(job: Job) -> Solver:
    """The solver with what is the same in all runs of the job."""
    if job.solver == "vbg":
        from vbg.analysis.begin import begin
        from vbg.assemble import assemble
        from vbg.simulate.simulating import simulate, simulate_beside

        start = begin(assemble(job.model), job.begin)
        method = "auto" if has_fixed_steps(job.model) else None
        if job.beside:
            return partial(simulate_beside, start, method=method, beside=job.beside)
        return partial(simulate, start, method=method)
    replays = {name: r.function() for name, r in (job.replays or {}).items()}
    if job.solver == "mstmm":
        from vbg.tmm_bridge.solver import simulate as embedded

        return partial(
            embedded,
            job.machine,
            poses=job.poses,
            speeds_as_written=job.speeds_as_written,
            angles=job.angles,
            replays=replays,
            held=job.held,
            patience=EVALUATIONS,
            beside=job.beside,
        )
    if job.solver in ENGINES:
        from vbg.engines.running import simulate as by_engine

        return partial(
            by_engine, job.machine, job.first_row or {}, engine=job.solver, replays=replays
        )
    from vbg.tmm_bridge.discrete.method import simulate as discrete

    return partial(
        discrete,
        job.machine,
        scheme=job.scheme,
        poses=job.poses,
        angles=job.angles,
        replays=replays,
    )


def has_fixed_steps(model: Model) -> bool:
    """Whether the model's own method takes steps without looking at their error: a verdict is on
    equations, and such a model is judged by `auto`."""
    return model.simulate.method in FIXED_STEP


def plain(answer: Answer) -> dict[str, Any]:
    """The answer without read-only views, which do not pickle."""
    solutions = [
        {
            f.name: dict(value) if isinstance(value, Mapping) else value
            for f in fields(Solution)
            for value in [getattr(solution, f.name)]
        }
        for solution in answer.solutions
    ]
    return {"solutions": solutions, "error": answer.error}


def restored(content: Mapping[str, Any]) -> Answer:
    """The answer that `plain` took apart."""
    return Answer(tuple(Solution(**s) for s in content["solutions"]), content["error"])


def main(arguments: list[str]) -> int:
    """Run the pickled job and write the pickled answer."""
    job = pickle.loads(Path(arguments[0]).read_bytes())
    arm(AT_START * job.patience)

    def tell(fraction: float) -> None:
        print(json.dumps({"fraction": round(float(np.clip(fraction, 0.0, 1.0)), 4)}), flush=True)

    content = pickle.dumps(plain(solve(job, tell)))
    Path(arguments[1]).write_bytes(content)
    return 0


def _end_with_parent() -> None:
    """Nobody waits for an answer any more once the parent has closed our standard input.

    Read below `sys.stdin`, whose lock a thread that waits would keep: Python aborts where it cannot
    get that at its end, and what ended it is lost."""
    while os.read(0, 4096):
        pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # at once: the thread above waits for ever
