"""The watch on a run, and what `vbg validate` gives back to the shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vbg.validate import child

MACHINES = Path(__file__).parent / "machines"
REPRODUCED = MACHINES.parents[1] / "tmm_bridge" / "reproduced"


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


def validated(file, *options):
    command = [sys.executable, "-m", "vbg.cli", "validate", str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    "name, options, code, word",
    [
        ("rest2", ("--t-end", "0.05"), 0, "PASS"),
        ("chaos-20s", ("--t-end", "20", "--rtol", "1e-5", "--output-step", "0.5"), 1, "INCONC"),
    ],
)
def test_the_exit_code_is_that_of_the_verdict(name, options, code, word):
    ended = validated(MACHINES / f"{name}.toml", *options)
    assert (ended.returncode, word in ended.stdout) == (code, True), ended.stdout + ended.stderr


def test_a_model_that_is_wrong_is_no_verdict(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text("vbg = 1\n[bodies.a]\nmass = -1\n")
    ended = validated(file)
    assert ended.returncode == 1
    assert "INCONCLUSIVE" not in ended.stdout
    assert "mass" in ended.stderr
    assert validated(file, "--no-such-option").returncode == 2


def test_a_part_without_a_twin_is_inconclusive_and_no_wrong_command(tmp_path):
    file = tmp_path / "held.toml"
    file.write_text(
        "vbg = 1\n[electric.C]\nkind = 'capacitor'\nnodes = ['a', 'gnd']\nC = 1\n"
        "[electric.U]\nkind = 'voltage_source'\nnodes = ['b', 'gnd']\nvoltage = 'held'\n"
        "[electric.R]\nkind = 'resistor'\nnodes = ['a', 'b']\nR = 1\n"
        "[signals.held]\nkind = 'sample_and_hold'\ninput = '1 - C.voltage'\nperiod = 0.1\n"
        "[simulate]\nt_end = 0.3\n"
    )
    ended = validated(file)
    assert ended.returncode == 1, ended.stderr
    assert "INCONCLUSIVE" in ended.stdout
    assert "signals.held" in ended.stdout
