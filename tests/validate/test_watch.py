"""The watch on a run, and what `vbg validate` gives back to the shell."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.cli.main import main
from vbg.errors import Problem
from vbg.simulate.record.told import CONCERNED, POSTURE
from vbg.solution import Audit, Solution
from vbg.validate import child
from vbg.validate.children import here

MACHINES = Path(__file__).parent / "machines"


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(child.time, "process_time", lambda: now[0])
    return now


def test_what_is_spent_before_the_first_step_is_no_standstill(clock):
    """Kernels may have to be compiled: minutes on a slow machine."""
    watch = child.Watch(60.0, lambda fraction: None)
    clock[0] = 500.0
    assert watch(0.0, 0.0)
    clock[0] = 559.0
    assert watch(0.0, 0.0)
    clock[0] = 561.0
    assert not watch(0.005, 0.0)
    assert watch.status(None, 0.1).code == "cancelled"


def test_a_run_that_gets_a_percent_further_goes_on(clock):
    watch = child.Watch(10.0, lambda fraction: None)
    for percent in range(50):
        clock[0] += 9.0
        assert watch(0.01 * percent, 0.0)
    clock[0] += 11.0
    assert not watch(0.4905, 0.0)


def test_a_run_that_is_stuck_at_a_weak_posture_names_it(clock):
    """A parallelogram on one line: soften what is stiff would be no remedy there."""
    weak = (
        f"{POSTURE}, and takes digits of the joint forces away: at t = 0.2 s.{CONCERNED} all of A."
    )
    stuck = Solution(
        np.linspace(0.0, 0.2, 3),
        {},
        notes=(Problem("warning", "simulate", weak, ""),),
        audit=Audit(carried=((0.1, 0.11), (0.2, 0.2))),
    )
    watch = child.Watch(10.0, lambda fraction: None)
    watch(0.0, 0.0)
    clock[0] = 11.0
    assert not watch(0.001, 0.2)
    told = watch.status(stuck.status, 0.2, child.weak_posture(stuck))
    assert f"It stood at {POSTURE}. Concerned: all of A." in told.sentence
    assert "soften" not in told.remedy and "soften" in watch.status(stuck.status, 0.2).remedy
    passed = replace(stuck, time=np.linspace(0.0, 0.3, 3))
    assert child.weak_posture(passed) == ""


@pytest.fixture
def validated(monkeypatch, capsys):
    """The command in this process, both solvers as well: (exit code, output, errors)."""
    monkeypatch.setattr("vbg.validate.both.children", here)

    def run(file, *options):
        try:
            code = main(["validate", str(file), *options])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    "name, options, code, word",
    [
        ("rest2", ("--t-end", "0.05"), 0, "PASS"),
        ("chaos-20s", ("--t-end", "20", "--rtol", "1e-5", "--output-step", "0.5"), 1, "INCONC"),
    ],
)
def test_the_exit_code_is_that_of_the_verdict(validated, name, options, code, word):
    ended, out, errors = validated(MACHINES / f"{name}.toml", *options)
    assert (ended, word in out) == (code, True), out + errors


def test_a_model_that_is_wrong_is_no_verdict(validated, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text("vbg = 1\n[bodies.a]\nmass = -1\n")
    code, out, errors = validated(file)
    assert code == 1
    assert "INCONCLUSIVE" not in out
    assert "mass" in errors
    assert validated(file, "--no-such-option")[0] == 2


def test_a_part_without_a_twin_is_inconclusive_and_no_wrong_command(validated, tmp_path):
    file = tmp_path / "held.toml"
    file.write_text(
        "vbg = 1\n[bodies.rod]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = 1 }\n"
        "points = { A = [-0.2, 0, 0] }\n[joints.pin]\nkind = 'revolute'\naxis = [0, 1, 0]\n"
        "between = ['ground', 'rod.A']\nrelease = 'pin.force.z > 15 N'\n"
        "[simulate]\nt_end = 0.01\noutput_step = 0.005\n"
    )
    code, out, errors = validated(file)
    assert code == 1, errors
    assert "INCONCLUSIVE" in out
    assert "pin.force" in out


def test_what_ends_a_child_is_told(tmp_path):
    """While the thread that waits for the end of its parent still reads: no abort of Python's own
    in the place of the error."""
    command = [sys.executable, "-P", "-m", "vbg.validate.child"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = os.environ | {"PYTHONPATH": str(Path(vbg.__file__).parents[1])}
    files = [str(tmp_path / "none.job"), str(tmp_path / "answer")]
    with subprocess.Popen([*command, *files], text=True, env=environment, **pipes) as child:
        told = child.stderr.read()
        assert child.wait() == 1
    assert told.strip().splitlines()[-1].startswith("FileNotFoundError")
