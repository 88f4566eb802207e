"""Run, validate, the terminal interface and cancelling, in processes that have hidden from
themselves what only one family of systems has: as near to another one as can be had here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vbg

MODEL = """\
vbg = 1
[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = 2e-2, zz = 2e-2 }
points = { A = [-0.25, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
[simulate]
t_end = 0.1
output_step = 0.01
"""
# What the libraries need of it they have taken before; children of the process do the same.
HIDING = """
import asyncio, filelock, getpass, h5py, multiprocessing, numba, os, platformdirs, psutil
import signal, subprocess, sys, tempfile, textual.app, textual.drivers.headless_driver
import textual.drivers.linux_driver

HIDDEN = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"{name} is of another system", name=name)

for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hiding())
for name in ("killpg", "fork", "getuid", "geteuid", "setsid", "mkfifo", "getpgid", "nice"):
    delattr(os, name)
for name in ("SIGHUP", "SIGUSR1", "SIGPROF", "setitimer", "pthread_kill"):
    delattr(signal, name)
"""
CANCEL = """
import asyncio, sys
from vbg.tui import make_app
from vbg.tui.picturing import typed

async def until(app, pilot, state):
    for _ in range(1200):
        await pilot.pause(0.1)
        if app.work.runs and app.work.runs[-1].state == state:
            return
    raise AssertionError(app.work.runs)

async def main():
    app = make_app(sys.argv[1])
    async with app.run_test(size=(120, 40)) as pilot:
        await typed(app, "r")
        await until(app, pilot, "running")
        await typed(app, "x")
        await until(app, pilot, "cancelled")

asyncio.run(main())
"""

PICTURE = """
import asyncio, sys
from vbg.tui import make_app
from vbg.tui.picturing import screen_text, settled, typed

async def main():
    app = make_app(sys.argv[1])
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await typed(app, "4", "I")
        await settled(app, pilot)
        print(screen_text(app))

asyncio.run(main())
"""


@pytest.fixture
def hidden(tmp_path):
    """Runs Python with arguments where nothing of POSIX is left; what it said."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    paths = [str(tmp_path), str(Path(vbg.__file__).parents[1])]
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CONFIG")}
    environment = os.environ | folders | {"PYTHONPATH": os.pathsep.join(paths)}

    def run(*arguments: str | Path) -> str:
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
        return done.stdout + done.stderr

    assert run("-c", "import os, signal; print(hasattr(os, 'fork'))").strip() == "False"
    return run


@pytest.fixture
def model(tmp_path):
    """A name with a space and an umlaut, as such folders have."""
    folder = tmp_path / "Gerät 1"
    folder.mkdir()
    path = folder / "pendel ü.toml"
    path.write_text(MODEL, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".h5", ".csv"])
def test_a_run_leaves_its_result(ending, model, hidden):
    result = model.with_name(f"ergebnis ä{ending}")
    hidden("-m", "vbg.cli", "run", model, "-q", "-o", result)
    assert len(vbg.load(result).time) == 11
    assert not [file for file in model.parent.iterdir() if file.name.startswith(".")]


@pytest.mark.slow
def test_a_validation_comes_to_its_verdict(model, hidden):
    assert "PASS" in hidden("-m", "vbg.cli", "validate", model, "--t-end", "0.05")


@pytest.mark.slow
def test_a_terminal_that_cannot_be_asked_shows_no_pictures(model, hidden):
    assert "this terminal shows no pictures" in hidden("-c", PICTURE, model)


@pytest.mark.slow
def test_the_terminal_interface_runs_and_cancels(model, hidden):
    model.write_text(MODEL.replace("t_end = 0.1", "t_end = 1e6"), encoding="utf-8")
    hidden("-c", CANCEL, model)
