"""The solver that stays, numbers that are nudged, runs that say what changed."""

from __future__ import annotations

import asyncio
import csv
import os
import signal

import pytest

from tests.tui.conftest import MODEL
from vbg import runner
from vbg.tui import make_app
from vbg.tui.actions.model.nudging import nudged
from vbg.tui.picturing import press, screen_text, settled, typed
from vbg.tui.session.runs import Run
from vbg.tui.session.solving import solver as solver_module
from vbg.tui.session.solving.jobs import Job
from vbg.tui.session.solving.solver import Solver
from vbg.tui.state.changes import changes


def job_on(solver: Solver, folder, number: int, text: str = MODEL) -> Job:
    run = Run(number, "vbg", "", str(folder / f"{number}.h5"), t_end=2.0)
    return Job(run, runner.Job("m.toml", text, result=run.result), lambda run: None, solver)


async def test_one_process_does_runs_refuses_models_and_is_cancelled(tmp_path, monkeypatch):
    """A refused model, a cancelled run and one before its start leave the process fit: it is
    waited for, however long the machine takes."""
    monkeypatch.setattr(solver_module, "KILL_SECONDS", 600.0)
    solver = Solver()
    await solver.warm()
    first = await job_on(solver, tmp_path, 1).follow()
    assert first.state == "finished", first.log
    process = solver.process
    refused = await job_on(solver, tmp_path, 2, MODEL.replace("mass = 1.0", "mass = -1")).follow()
    assert refused.state == "failed" and "mass" in refused.sentence
    long = job_on(solver, tmp_path, 3, MODEL.replace("t_end = 2.0", "t_end = 1e6"))
    following = asyncio.create_task(long.follow())
    while long.run.state != "running":
        await asyncio.sleep(0.02)
    await long.cancel()
    assert (await following).state == "cancelled"
    again = await job_on(solver, tmp_path, 4).follow()
    assert again.state == "finished" and solver.process is process
    early = job_on(solver, tmp_path, 5)
    await early.cancel()
    assert (await early.follow()).state == "cancelled"
    last = await job_on(solver, tmp_path, 6).follow()
    assert last.state == "finished"
    solver.drop()
    await solver.process.wait()


@pytest.mark.slow
async def test_a_crash_of_the_process_costs_nothing(tmp_path):
    solver = Solver()
    long = job_on(solver, tmp_path, 1, MODEL.replace("t_end = 2.0", "t_end = 1e6"))
    following = asyncio.create_task(long.follow())
    while solver.process is None:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    os.kill(solver.process.pid, signal.SIGKILL)
    run = await following
    assert run.state == "failed" and "ended with code -9" in " ".join(run.log)
    assert (await job_on(solver, tmp_path, 2).follow()).state == "finished"
    solver.drop()
    await solver.process.wait()


@pytest.mark.parametrize(
    ("value", "less", "more"),
    [
        (40, 39, 41),
        (0.5, 0.49, 0.51),
        (-3.0, -3.1, -2.9),
        (1e-6, 9e-7, 1.1e-6),
        ("40 mm", "39 mm", "41 mm"),
        ("1.2e3 N/m", "1100 N/m", "1300 N/m"),
        (0, -0.1, 0.1),
    ],
)
def test_a_number_is_nudged_by_its_second_digit(value, less, more):
    assert nudged(value, -1) == less or nudged(value, -1) == pytest.approx(less, rel=0.09)
    assert nudged(value, 1) == more


@pytest.mark.parametrize("value", ["2*L", "L", True, [1, 2], float("inf"), "a.b", ""])
def test_what_is_no_number_is_not_nudged(value):
    assert nudged(value, 1) is None


def test_what_changed_is_told_in_few_words():
    old = {"parameters": {"r": "40 mm", "m": 1.0}, "bodies": {"a": {"mass": 2.0}}, "name": "x"}
    new = {"parameters": {"r": "50 mm", "m": 1.0}, "bodies": {"a": {"mass": 2.5}}, "name": "y"}
    assert changes(old, old) == "" == changes(old, {**old, "name": "z"})
    assert changes(old, new) == "r 40 mm → 50 mm, a.mass 2 → 2.5"
    assert changes(old, {}) == "r 40 mm → -, m 1 → -, 1 more"


@pytest.mark.slow
async def test_nudges_are_one_undo_step_and_one_run(model):
    """Three steps in a row: the curve of the last, the run before them behind it."""
    app = make_app(str(model))
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["r"])
        await settled(app, pilot)
        app.select(("parameters", "L"))
        app.main.activate("inspector")
        await typed(app, *[">"] * 3)
        while app.work.nudges.running or app.job is not None:
            await pilot.pause(0.05)
        await settled(app, pilot)
        assert app.work.data["parameters"]["L"] == 0.53
        assert app.work.document.undo_label == "set parameters.L 0.5 → 0.53"
        assert [run.state for run in app.work.runs] == ["finished", "finished"]
        assert app.work.runs[1].text_hash == app.work.document.now.hash, "of the last step"
        assert app.work.plot.overlay == app.work.runs[0].number
        assert "L 0.5" in app.work.runs[1].changed
        await press(app, pilot, ["u"])
        assert app.work.document.now.text == MODEL
    app.solver.drop()
    await app.solver.process.wait()


@pytest.mark.slow
async def test_a_sweep_is_a_run_for_each_value_and_a_table(model):
    """The model stays as it is; each run says its value, and its range stands in the table."""
    app = make_app(str(model))
    async with app.run_test(size=(160, 48)) as pilot:
        await settled(app, pilot)
        app.select(("parameters", "L"))
        app.main.activate("inspector")
        text = app.work.document.now.text
        await press(app, pilot, ["S"])
        await typed(app, *"0.3, 0.6, 1.2", "enter")
        while len(app.work.runs) < 3 or app.job is not None:
            await pilot.pause(0.05)
        await settled(app, pilot)
        assert app.work.document.now.text == text and not app.work.document.undo_label
        assert [run.changed for run in app.work.runs] == [f"L 0.5 → {v}" for v in (0.3, 0.6, 1.2)]
        await press(app, pilot, ["3", "T"])
        await settled(app, pilot)
        seen = screen_text(app)
        assert "L 0.5 → 1.2" in seen and "max hinge" in seen
        await press(app, pilot, ["c"])
        await settled(app, pilot)
        head, *rows = list(csv.reader((model.parent / "runs.csv").open()))
        assert [row[1] for row in rows] == [f"L 0.5 → {v}" for v in (0.3, 0.6, 1.2)]
        solution = app.work.solutions[3]
        values = solution[head[3].split()[1]]
        assert float(rows[2][3]) == values.max() > values.min() == float(rows[2][2])
