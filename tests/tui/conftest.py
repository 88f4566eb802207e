"""A model with two recorded runs, and the application on it, far from the user's folders."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.speed.tui import reports
from vbg.io.runs import hdf5
from vbg.solution import Audit, Event, MadeBy, Solution, Status
from vbg.tui import make_app
from vbg.tui.session.kept.document import digest
from vbg.tui.session.runs import Run, remember, runs_folder
from vbg.tui.session.validation import Settings, Validation
from vbg.tui.session.validation import remember as remember_validation

MODEL = """\
vbg = 1
name = "pendulum"

[parameters]
L = 0.5   # metres

[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = "L**2/12", zz = "L**2/12" }
points = { A = ["-L/2", 0, 0], B = ["L/2", 0, 0] }

[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
friction = { viscous = 0.05 }

[simulate]
t_end = 2.0
output_step = 0.01
"""

# Two sources that both fix one voltage.
CLASH = """\
vbg = 1
name = "clash"

[electric.U1]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = 10.0

[electric.U2]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = 12.0

[electric.R1]
kind = "resistor"
nodes = ["a", "gnd"]
R = 5.0
"""


def recorded(seed: float, solver: str) -> Solution:
    """A made-up but smooth motion of the rod, with an event."""
    t = np.linspace(0.0, 2.0, 201)
    angle = np.sin(3 * t)
    zero, one = np.zeros_like(t), np.ones_like(t)
    half = angle / 2
    force = np.stack([10 * np.sin(6 * t) * (1 + seed), zero, 9.81 * one], axis=1)
    signals = {
        "rod.position": 0.25 * np.stack([np.cos(angle), zero, -np.sin(angle)], axis=1),
        "rod.rotation": np.stack([np.cos(half), zero, np.sin(half), zero], axis=1),
        "hinge.force": force,
        "hinge.angle": angle,
    }
    units = {"rod.position": "m", "rod.rotation": "1", "hinge.force": "N", "hinge.angle": "rad"}
    return Solution(
        t,
        signals,
        audit=Audit(1e-9, 1e-12, 1e-11, events=(Event(0.7, "joints.hinge", "touches the stop"),)),
        made_by=MadeBy(solver, "pendulum", "9f3ca1", "dop853", 1e-8, 1e-10, {}, 201, 2000, 0.1),
        status=Status("finished", "The simulation reached its end."),
        units=units,
    )


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    # what is started in a terminal uses the compiled sources there are
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", os.environ.get("PYTHONPYCACHEPREFIX", ""))
    for name in ("STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    assert not (said := reports(tmp_path / "state")), said


def put_run(model: Path, number: int, solver: str, seed: float = 0.0) -> Run:
    """Leave a finished run beside `model`, as an earlier session would have."""
    file = runs_folder(model) / f"{number:04d}-{solver}.h5"
    solution = recorded(seed, solver)
    hdf5.write(solution, file)
    audit = asdict(solution.audit) | {"events": []}
    run = Run(
        number,
        solver,
        digest(model.read_text()),
        str(file),
        state="finished",
        sentence="The simulation reached its end.",
        fraction=1.0,
        time=2.0,
        t_end=2.0,
        wall=1.2,
        audit=audit,
        made_by={"method": "dop853", "n_steps": 201, "n_rates": 2000, "cpu": 0.1},
        log=("10:00:00 started", "10:00:01 The simulation reached its end."),
    )
    remember(run)
    return run


def put_validation(model: Path, *runs: Run) -> Validation:
    """Leave the validation of two runs, as an earlier session would have."""
    first, second = runs
    evidence = {"notes": {"tuple": []}, "replayed": {"set": []}}
    text_hash = digest(model.read_text())
    validation = Validation(
        1, first.number, second.number, text_hash, "", Settings(), evidence, "PASS", ""
    )
    remember_validation(model, validation)
    return validation


@pytest.fixture
def model(tmp_path) -> Path:
    file = tmp_path / "demo.toml"
    file.write_text(MODEL)
    return file


@pytest.fixture
def app_with_runs(model):
    """The application with a run of each solver, in agreement."""
    put_validation(model, put_run(model, 1, "vbg"), put_run(model, 2, "mstmm", seed=1e-9))
    return make_app(str(model), marks="unicode")
