"""An engineer's stories: what happens to the terminal, the file and the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.tui.stories.telling import PENDULUM, go_to, started, wait_for_end
from tests.tui.terminal import ROOT, children_of


def test_recovery_after_a_kill(terminal):
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Escape", "c")
    terminal.wait("undo: copy rod")
    os.kill(terminal.process(), signal.SIGKILL)
    terminal.wait("EXIT=137")
    assert (terminal.home / "demo.toml").read_text() == PENDULUM
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("never saved")
    terminal.keys("Enter")
    terminal.wait("recovered 1 change;")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    assert "[bodies.rod1]" in (terminal.home / "demo.toml").read_text()
    assert (terminal.home / "demo.toml.bak").read_text() == PENDULUM
    terminal.quit()


@pytest.mark.slow
def test_suspended_and_back(terminal):
    """Ctrl-Z gives the shell, fg the screen as it was."""
    (terminal.home / "demo.toml").write_text(PENDULUM, encoding="utf-8")
    terminal.start("demo.toml", in_shell=True)
    terminal.wait("0 errors")
    terminal.keys("C-z")
    terminal.wait("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.wait("0 errors")
    terminal.keys("j", "j")
    terminal.wait("Model")
    terminal.keys("C-q")
    terminal.wait_gone("0 errors")


@pytest.mark.slow
def test_resize_storm(terminal):
    started(terminal)
    for i in range(40):
        terminal.resize(20 + (i * 37) % 150, 6 + (i * 13) % 45)
    terminal.resize(52, 14)
    terminal.wait("need 60x18, have 52x14")
    terminal.resize(60, 18)
    terminal.wait("Model")
    terminal.resize(*terminal.size)
    terminal.wait("Model")
    terminal.quit()


@pytest.mark.slow
def test_redirected_error_stream_is_refused(terminal):
    (terminal.home / "demo.toml").write_text(PENDULUM)
    terminal.start("demo.toml", redirect="2>log")
    terminal.wait("EXIT=2")
    assert "standard error" in (terminal.home / "log").read_text()


@pytest.mark.slow
def test_leaving_during_a_run(terminal):
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("r")
    terminal.wait("ETA")
    child = children_of(terminal.process())
    terminal.keys("C-q")
    terminal.wait("A simulation is running")
    terminal.keys("Enter")
    terminal.wait("EXIT=0")
    wait_for_end(child)


@pytest.mark.slow
def test_killed_interface_leaves_no_child(terminal):
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("r")
    terminal.wait("ETA")
    child = children_of(terminal.process())
    os.kill(terminal.process(), signal.SIGKILL)
    terminal.wait("EXIT=137")
    wait_for_end(child)


@pytest.mark.slow
def test_killed_interface_leaves_no_validation(terminal):
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("5", "R")
    terminal.wait("validating")
    child = children_of(terminal.process())
    solvers: list[int] = []
    while len(solvers) < 2:
        solvers = [p for c in child for p in children_of(c)]
        time.sleep(0.02)
    os.kill(terminal.process(), signal.SIGKILL)
    terminal.wait("EXIT=137")
    wait_for_end([*child, *solvers])


@pytest.mark.slow
def test_a_picture_without_a_terminal(tmp_path):
    (tmp_path / "demo.toml").write_text(PENDULUM)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "vbg.cli",
            "tui",
            "demo.toml",
            "--screenshot",
            "edit",
            "-o",
            "s.svg",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "XDG_STATE_HOME": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pendulum" in (tmp_path / "s.svg").read_text()
