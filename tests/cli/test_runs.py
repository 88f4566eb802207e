"""Runs in a child process: cancelling, killing, and what is left afterwards."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vbg import runner
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io.runs import hdf5

LONG = "3000"


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "swing.toml"
    main(["new", "double-pendulum", "-o", str(path)])
    return path


def start(pendulum, result):
    """`vbg run` on a motion that would take minutes."""
    return subprocess.Popen(
        [sys.executable, "-m", "vbg.cli", "run", pendulum, "--t-end", LONG, "-o", result],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background of a shell has inherited that SIGINT is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_rows(path, number=100):
    """Until the result file has `number` rows; two minutes are for the first compilation."""
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        try:
            if len(hdf5.read(path).time) >= number:
                return
        except UsageError:
            # not there yet, or being created
            pass
        time.sleep(0.05)
    pytest.fail(f"no {number} rows in {path}")


def children(pid):
    """Processes whose parent is `pid`."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = file.read_text().rsplit(")", 1)[1].split()
        except OSError:
            # it ended meanwhile
            continue
        if int(after_name[1]) == pid:
            found.append(int(file.parent.name))
    return found


def alive(pid):
    """Whether the process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid):
    deadline = time.monotonic() + 20.0
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_ctrl_c_keeps_the_partial_result(pendulum, tmp_path):
    path = tmp_path / "out.h5"
    run = start(pendulum, path)
    wait_for_rows(path)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "cancelled" in out
    solution = hdf5.read(path)
    assert solution.status.code == "cancelled"
    assert len(solution.time) >= 100 and 0.0 < solution.time[-1] < float(LONG)


@pytest.mark.slow
def test_a_killed_solver_is_reported_and_its_rows_stay(pendulum, tmp_path):
    path = tmp_path / "out.h5"
    run = start(pendulum, path)
    wait_for_rows(path)
    (child,) = children(run.pid)
    os.kill(child, signal.SIGKILL)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 1 and not out
    assert "signal 9" in err and str(path) in err
    assert len(hdf5.read(path).time) >= 100


@pytest.mark.slow
def test_a_killed_command_leaves_no_orphan_and_a_readable_file(pendulum, tmp_path):
    path = tmp_path / "out.h5"
    run = start(pendulum, path)
    wait_for_rows(path)
    (child,) = children(run.pid)
    run.kill()
    run.communicate(timeout=60)
    wait_until_gone(child)
    assert len(hdf5.read(path).time) >= 100


def talk(job, *lines):
    """Messages of a child that runs `job`, whose standard input gets `lines` and stays open."""
    child = subprocess.Popen(
        runner.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=runner.environment(),
    )
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write("\n".join([job.to_json(), *lines, ""]))
    child.stdin.flush()
    messages = [json.loads(line) for line in child.stdout]
    child.stdin.close()
    return messages, child.wait()


@pytest.mark.parametrize("solver", runner.SOLVERS)
def test_messages_of_a_run(pendulum, solver):
    job = runner.Job(str(pendulum), solver=solver, settings={"t_end": 0.4})
    messages, code = talk(job)
    assert code == 0
    assert messages[0] == {"kind": "stage", "stage": "reading"}
    fractions = [m["fraction"] for m in messages if m["kind"] == "progress"]
    assert fractions == sorted(fractions) and all(0.0 <= f <= 1.0 for f in fractions)
    last = messages[-1]
    assert last["kind"] == "finished" and last["status"]["code"] == "finished"
    assert last["made_by"]["solver"] and last["made_by"]["n_steps"] > 0
    assert {"hinge.angle", "elbow.force.x"} <= {row["signal"] for row in last["summary"]}


def test_a_text_may_be_run_that_was_never_saved(pendulum):
    text = pendulum.read_text("utf-8").replace("m1 = { value = 1.0", "m1 = { value = 2.0")
    messages, _ = talk(runner.Job("unsaved.toml", text=text, settings={"t_end": 0.1}))
    assert messages[-1]["status"]["code"] == "finished"


def test_cancel_on_standard_input(pendulum):
    job = runner.Job(str(pendulum), settings={"t_end": float(LONG)})
    messages, code = talk(job, '{"cmd": "cancel"}')
    if code == runner.INTERRUPTED:  # the model was not yet read: there is nothing to keep
        assert all(m["kind"] == "stage" for m in messages)
    else:
        assert code == 0 and messages[-1]["status"]["code"] == "cancelled"


def test_a_broken_model_is_a_message_not_a_traceback(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("vbg = 1\n[bodies.rod]\nmass = -1\n")
    messages, code = talk(runner.Job(str(path)))
    assert code == 1
    assert messages[-1]["kind"] == "failed" and messages[-1]["error"] == "ModelError"
    assert {problem["line"] for problem in messages[-1]["problems"]} == {2, 3}


def test_who_has_heard_of_a_broken_model_may_go(tmp_path, monkeypatch):
    """The end of standard input after the last message is no wish to end the run."""
    path = tmp_path / "bad.toml"
    path.write_text("vbg = 1\n[bodies.rod]\nmass = -1\n")
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail(f"ended with {code}"))
    for model in (path, tmp_path / "none.toml"):
        cancel, said = runner._Cancel(), io.StringIO()
        assert runner.run(runner.Job(str(model)), runner._OfProcess(said, cancel)) == 1
        cancel.ask()
        assert json.loads(said.getvalue().splitlines()[-1])["kind"] == "failed"


def test_a_full_disk_is_told_in_words(pendulum, tmp_path):
    """A limit on the size of files stands in for the disk."""
    import resource

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    command = [sys.executable, "-m", "vbg.cli", "run", pendulum, "-q", "--t-end", "5"]
    for name in ("out.h5", "out.csv"):
        done = subprocess.run(
            [*command, "--output-step", "1e-4", "-o", tmp_path / name],
            capture_output=True,
            text=True,
            preexec_fn=limited,
            timeout=120,
        )
        assert done.returncode == 1
        assert "cannot be written any further: File too large." in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    assert hdf5.read(tmp_path / "out.h5").status.code == "failed"
