"""The command line on a real terminal (a pty): progress, Ctrl-C, colour, and into a pipe."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vbg.cli.main import main
from vbg.io.runs import hdf5

pty = pytest.importorskip("pty")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMMAND = (sys.executable, "-m", "vbg.cli")


class OnTerminal:
    """A command whose standard streams are a terminal of its own."""

    def __init__(self, *arguments, **environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ.pop("NO_COLOR", None)
            os.environ.update(environment)
            os.execv(COMMAND[0], [*COMMAND, *map(str, arguments)])
        self.text = ""

    def until(self, pattern, seconds=120.0):
        """Reads until the output matches; two minutes are for the first compilation."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"no {pattern!r} in {self.text[-2000:]!r}"
            if not self._read():
                break
        assert re.search(pattern, self.text), self.text[-2000:]

    def _read(self):
        ready, _, _ = select.select([self.terminal], [], [], 1.0)
        if not ready:
            return True
        try:
            block = os.read(self.terminal, 1 << 16)
        except OSError:
            # Linux says so when the last process of a terminal is gone
            return False
        self.text += block.decode("utf-8", "replace")
        return bool(block)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        """Reads to the end; the exit code."""
        while self._read():
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.slow
def test_a_long_run_shows_its_progress_and_ctrl_c_keeps_what_there_is(tmp_path):
    path = tmp_path / "out.h5"
    run = OnTerminal("run", EXAMPLES / "double-pendulum.toml", "--t-end", "3000 s", "-o", path)
    run.until(r"\[[#.]{30}\] +\d+ %  t = [\d.]+ s, .* left")
    run.type("\x03")
    run.until("cancelled")
    assert run.end() == 130
    assert "Traceback" not in run.text and "energy     stored" in run.text
    solution = hdf5.read(path)
    assert solution.status.code == "cancelled" and 0.0 < solution.time[-1] < 3000.0
    assert solution.unit("hinge.angle") == "rad"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "out.h5"
    arguments = ["run", str(EXAMPLES / "pendulum.toml"), "-q", "--t-end", "0.1", "-o", str(path)]
    assert main(arguments) == 0
    return path


@pytest.mark.slow
def test_colour_only_on_a_terminal_that_wants_it(result):
    coloured = OnTerminal("plot", result, "hinge.angle", TERM="xterm")
    assert coloured.end() == 0 and "\x1b[34m" in coloured.text
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = OnTerminal("plot", result, "hinge.angle", **{"TERM": "xterm"} | environment)
        assert plain.end() == 0
        assert "\x1b[" not in plain.text and "hinge.angle [rad]" in plain.text
    piped = subprocess.run(
        [*COMMAND, "plot", str(result), "hinge.angle"], capture_output=True, text=True, check=True
    )
    assert "\x1b[" not in piped.stdout


@pytest.mark.parametrize(
    "words",
    [
        "parts | head -1",
        f"show graph {EXAMPLES}/slider-crank.toml | head -1",
        f"run {EXAMPLES}/pendulum.toml --all --t-end 0.01 | head -1",
        "plot RESULT 'hinge.*' | head -1",
        "parts --json | head -c 10",
    ],
)
def test_a_reader_that_has_enough_ends_in_silence(words, result):
    command = f"{' '.join(COMMAND)} {words.replace('RESULT', str(result))}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120
    )
    assert done.stdout and done.stderr == "" and done.returncode == 0
