"""Cancel at every moment of a child's life: before it is there, while it starts, while it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.tui.conftest import MODEL
from vbg import runner
from vbg.tui.session.runs import Run
from vbg.tui.session.solving.child import Child
from vbg.tui.session.solving.jobs import Job
from vbg.tui.session.solving.validation_job import ValidationJob
from vbg.tui.session.validation import Validation

LONG = MODEL.replace("t_end = 2.0", "t_end = 1e6")
MOMENTS = (-1.0, 0.0, 0.01, 0.05, 0.2, 0.7)  # s after the start; -1: before it


async def cancelled_after(job: Job | ValidationJob, moment: float) -> None:
    """Follow `job` and cancel it at the moment."""
    if moment < 0:
        await job.cancel()
        await job.follow()
        return
    following = asyncio.create_task(job.follow())  # type: ignore[var-annotated, arg-type]
    await asyncio.sleep(moment)
    await job.cancel()
    await following


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_run_is_cancelled_at_any_time(tmp_path, moment):
    told = []
    run = Run(1, "vbg", "", str(tmp_path / "1.h5"), t_end=1e6)
    job = Job(run, runner.Job("m.toml", LONG, result=run.result), told.append)
    await cancelled_after(job, moment)
    await job.ending
    assert job.run.state == "cancelled", (job.run.sentence, job.run.log)
    assert "failed" not in {r.state for r in told}
    assert job.child.process.returncode is not None


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_validation_is_cancelled_at_any_time(tmp_path, moment):
    runs = {
        solver: Run(number, solver, "", str(tmp_path / f"{number}.h5"), t_end=1e6)
        for number, solver in enumerate(("vbg", "mstmm"), 1)
    }
    stem = str(tmp_path / "0001")
    job = ValidationJob(Validation(1, 1, 2, "", ""), runs, "m.toml", LONG, stem, lambda run: None)
    await cancelled_after(job, moment)
    await job.ending
    assert {run.state for run in job.runs.values()} == {"cancelled"}
    assert "cancelled" in job.validation.sentence and not job.validation.evidence
    assert not list(Path(tmp_path).glob("*.scratch")), "nothing temporary is left"


async def test_half_a_line_of_a_killed_child_is_no_message(tmp_path):
    """It wrote until it was killed."""
    words = 'import sys; sys.stdout.write(\'{"kind": "stage"}\\n{"ki\'); sys.stdout.flush()'
    child = Child(["python3", "-c", words])
    assert [message async for message in child.messages("{}")] == [{"kind": "stage"}]
    await child.close()
