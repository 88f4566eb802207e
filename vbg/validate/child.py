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
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import VbgError
from vbg.model import Model
from vbg.solution import Solution
from vbg.validate.compare import TOLERANCE, own_error
from vbg.validate.poses import StartPose
from vbg.validate.recorded import Recorded

COARSER = 256.0  # 2^8: tolerances whose step, at order 8, is twice as long
PATIENCE = 2e6  # evaluations of the transfer-matrix solver, some minutes of a large machine
SOLVERS = ("vbg", "mstmm", "dt")


@dataclass(frozen=True)
class Job:
    """What one child computes; `coarse` asks for a second run at wider tolerances.

    tightest : [rtol, atol] to repeat both runs at if they differ by more than the
    tolerance of a verdict, None for never.  scheme, step : of the discrete-time
    method, default half a millisecond or half the output step.
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
    replays: Mapping[str, Recorded] | None = None
    scheme: str = "newmark"
    step: float | None = None


@dataclass(frozen=True)
class Answer:
    """Solutions in the order fine, coarse; or the error that stopped the solver."""

    solutions: tuple[Solution, ...] = ()
    error: VbgError | None = None


def solve(job: Job, tell: Any) -> Answer:
    """Run the job in this process; errors of the model are answers."""
    try:
        solutions = [_once(job, tell, doubled=False)]
        if job.coarse:
            solutions.append(_once(job, tell, doubled=True))
        if job.tightest is not None and _can_do_better(*solutions):
            rtol, atol = job.tightest
            # states of small size have a smaller atol in their file: it shrinks with rtol
            again = replace(job, rtol=rtol, atol=min(atol, job.atol * rtol / job.rtol))
            solutions = [_once(again, tell, doubled=False), _once(again, tell, doubled=True)]
    except VbgError as error:
        return Answer(error=error)
    return Answer(tuple(solutions))


def _can_do_better(fine: Solution, coarser: Solution) -> bool:
    """Whether an explicit run has an error above a verdict's tolerance.

    A stiff one is left as it is: implicit steps of order 5 would become too many.
    """
    explicit = "dop853" in fine.made_by.method and "radau" not in fine.made_by.method
    return explicit and own_error(fine, coarser)[0] > TOLERANCE


def _once(job: Job, tell: Any, *, doubled: bool) -> Solution:
    """One run; `doubled` with twice the step, by tolerance or by name."""
    factor = COARSER if doubled else 1.0
    settings: dict[str, Any] = {
        "t_end": job.t_end,
        "output_step": job.output_step,
        "rtol": factor * job.rtol,
        "atol": factor * job.atol,
        "progress": lambda fraction, t: tell(fraction),
    }
    if job.solver == "vbg":
        from vbg.assemble import assemble
        from vbg.simulate import simulate

        return simulate(assemble(job.model), **settings)
    replays = {name: r.function() for name, r in (job.replays or {}).items()}
    if job.solver == "mstmm":
        from vbg.tmm_bridge.solver import simulate as embedded

        return embedded(job.model, poses=job.poses, replays=replays, patience=PATIENCE, **settings)
    from vbg.tmm_bridge.discrete.method import STEP
    from vbg.tmm_bridge.discrete.method import simulate as discrete

    fine = 0.5 * min(STEP, job.output_step) if job.step is None else job.step
    return discrete(
        job.model,
        t_end=job.t_end,
        output_step=job.output_step,
        step=fine * (2.0 if doubled else 1.0),
        scheme=job.scheme,
        progress=settings["progress"],
        poses=job.poses,
        replays=replays,
    )


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

    def tell(fraction: float) -> None:
        print(json.dumps({"fraction": round(float(np.clip(fraction, 0.0, 1.0)), 4)}), flush=True)

    content = pickle.dumps(plain(solve(job, tell)))
    Path(arguments[1]).write_bytes(content)
    return 0


def _end_with_parent() -> None:
    """Nobody waits for an answer any more once the parent has closed our standard input."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # at once: the thread above waits for ever
