"""An engineer's stories, in a real terminal.

Each is run at 80x24; VBG_STORIES names other ways (160x48; plain, without colour on
a terminal that calls itself screen), or is "all".  A wait that fails prints the screen.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.tui.conftest import CLASH
from tests.tui.terminal import HAVE_TMUX, ROOT, Terminal, alive, children_of

pytestmark = pytest.mark.skipif(not HAVE_TMUX, reason="tmux is not installed")

WAYS = {
    "80x24": ((80, 24), {}),
    "160x48": ((160, 48), {}),
    "plain": ((80, 24), {"NO_COLOR": "1", "TERM": "screen"}),
}
CHOSEN = os.environ.get("VBG_STORIES", "80x24").replace("all", ",".join(WAYS)).split(",")

PENDULUM = """\
vbg = 1
name = "pendulum"   # the smallest machine

[parameters]
L = 0.5   # metres

[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = "L**2/12", zz = "L**2/12" }
points = { A = ["-L/2", 0, 0], B = ["L/2", 0, 0] }

# the only joint
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
friction = { viscous = 0.05 }

[simulate]
t_end = 1.0
output_step = 0.005
"""


@pytest.fixture(params=CHOSEN)
def terminal(request, tmp_path):
    size, extra = WAYS[request.param]
    session = Terminal(tmp_path, size, dict(extra))
    yield session
    session.close()


def started(terminal: Terminal, text: str = PENDULUM, name: str = "demo.toml") -> None:
    (terminal.home / name).write_text(text, encoding="utf-8")
    terminal.start(name)
    terminal.wait("0 errors")


def wait_for_end(children: list[int]) -> None:
    """The child processes there were must be gone soon."""
    end = time.monotonic() + 60
    while any(alive(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert children and not any(alive(pid) for pid in children)


def go_to(terminal: Terminal, name: str) -> None:
    """Mark a part by the filter, and leave the filter."""
    terminal.keys("/")
    terminal.wait("Filter")
    terminal.type(name)
    terminal.keys("Enter")
    terminal.wait(f"Model: {name}")


def test_new_from_template_in_four_keys(terminal):
    shutil.copy(ROOT / "examples" / "pendulum.toml", terminal.home / "other.toml")
    terminal.start()
    terminal.wait("New from template")
    terminal.keys("Enter")
    terminal.wait("File name")
    terminal.keys("Enter")
    terminal.wait("r runs it")
    assert (terminal.home / "pendulum.toml").exists()
    terminal.keys("r")
    terminal.wait("finished at t = 2 s")
    terminal.quit()


@pytest.mark.slow
def test_a_bad_unit_stays_in_the_field(terminal):
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Tab", "e")
    if terminal.size[0] >= 120:
        terminal.keys("Escape", "Tab", "e")
    terminal.wait("bodies.rod.mass")
    terminal.type("2 kgg")
    terminal.wait("kgg")
    terminal.keys("Enter")
    assert "bodies.rod.mass" in terminal.wait("Enter accepts")
    terminal.keys("BSpace")
    terminal.wait_gone("kgg")
    terminal.keys("Enter")
    terminal.wait("undo: set bodies.rod.mass")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    text = (terminal.home / "demo.toml").read_text()
    assert 'mass = "2 kg"' in text and "# the only joint" in text and "# metres" in text
    terminal.quit()


@pytest.mark.slow
def test_add_a_joint(terminal):
    started(terminal)
    terminal.keys("a", "b")
    for expected in ("body: mass", "body: inertia", "Name of the new body"):
        terminal.wait(expected)
        terminal.keys("Enter")
    terminal.wait("undo: add bodies.body1")
    terminal.keys("a", "j")
    terminal.wait("Add a joint")
    terminal.type("coincide")
    terminal.wait("Removes 3 of 6 freedoms")
    terminal.keys("Enter")
    terminal.wait("first body and point")
    terminal.type("rod.B")
    terminal.keys("Enter")
    terminal.wait("second body and point")
    terminal.type("body1")
    terminal.keys("Enter")
    terminal.wait("Name of the new spherical")
    terminal.keys("Enter")
    terminal.wait("undo: add joints.J1")
    terminal.wait("0 errors")
    terminal.quit()


@pytest.mark.slow
def test_deleted_parts_come_back(terminal):
    text = PENDULUM + "".join(f"\n[parameters.p{i}]\nvalue = {i}\n" for i in range(5))
    started(terminal, text)
    go_to(terminal, "p0")
    terminal.keys("Escape")
    for i in range(5):
        terminal.keys("d")
        terminal.wait(f"undo: delete parameters.p{i}")
        go_to(terminal, f"p{i + 1}" if i < 4 else "L")
        terminal.keys("Escape")
    for i in reversed(range(5)):
        terminal.keys("u")
        terminal.wait(f"redo: delete parameters.p{i}")
    terminal.keys("C-q")
    terminal.wait("EXIT=0")
    assert (terminal.home / "demo.toml").read_text() == text


def test_run_and_plot(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("finished at t = 1 s")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.wait("N ")
    terminal.keys("Right", "Right")
    terminal.wait("Cursor  t = 0.51")
    terminal.keys("+", "S", "0", "C")
    terminal.wait("Space on a signal")
    terminal.keys("Space")
    terminal.wait("[x]")
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


def test_cancel_keeps_what_was_computed(terminal):
    slow = PENDULUM.replace("t_end = 1.0", "t_end = 2000.0")
    started(terminal, slow)
    terminal.keys("r")
    terminal.wait("ETA")
    child = children_of(terminal.process())
    terminal.keys("x")
    terminal.wait("cancelled at t = ")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: cancelled at")
    terminal.wait("hinge.")
    terminal.keys("5")
    terminal.wait("INCONCLUSIVE")
    terminal.quit()
    wait_for_end(child)


def test_both_solvers_agree(terminal):
    started(terminal)
    terminal.keys("5")
    terminal.wait("INCONCLUSIVE")
    terminal.keys("R")
    shown = terminal.wait("PASS   ")
    assert "VACUOUS" in shown or "VACUOUS" in terminal.screen()
    terminal.keys("E")
    terminal.wait("the report (folder)")
    terminal.keys("Enter")
    terminal.wait("Write to")
    terminal.keys("Enter")
    terminal.wait("wrote demo-report")
    report = terminal.home / "demo-report"
    assert "PASS" in (report / "report.md").read_text()
    assert {f.name for f in report.iterdir()} >= {"report.md", "channels.csv", "error.svg"}
    terminal.quit()


# Half the friction in one solver only, under the hash of the honest model.
FAULT = """\
import sys
if "vbg.validate.child" in " ".join(sys.orig_argv):
    import dataclasses
    import vbg.tmm_bridge.solver as bridge
    honest = bridge.simulate
    def simulate(model, **settings):
        wrong = model.edited(("joints", "hinge", "friction", "viscous"), 0.02)
        solution = honest(wrong, **settings)
        made = dataclasses.replace(solution.made_by, model_hash=model.hash)
        return dataclasses.replace(solution, made_by=made)
    bridge.simulate = simulate
"""


@pytest.mark.slow
def test_a_fault_in_one_solver_is_found(terminal):
    (terminal.home / "fault").mkdir()
    (terminal.home / "fault" / "sitecustomize.py").write_text(FAULT)
    terminal.extra["PYTHONPATH"] = str(terminal.home / "fault")
    started(terminal)
    terminal.keys("5", "R")
    terminal.wait("FAIL: NOT VALIDATED")
    terminal.quit()


@pytest.mark.slow
def test_a_validation_is_cancelled_with_both_its_solvers(terminal):
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("5", "R")
    terminal.wait("validating")
    child = children_of(terminal.process())
    end = time.monotonic() + 30
    while len(solvers := [p for c in child for p in children_of(c)]) < 2:
        assert time.monotonic() < end, "the two solvers never started"
        time.sleep(0.02)
    terminal.keys("x")
    terminal.wait("INCONCLUSIVE")
    terminal.wait("The validation was cancelled")
    wait_for_end([*child, *solvers])
    terminal.quit()


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
def test_the_file_changes_while_edited(terminal):
    started(terminal)
    file = terminal.home / "demo.toml"
    file.write_text(PENDULUM.replace("L = 0.5", "L = 0.7"))
    terminal.wait("changed on disk: reloaded")
    go_to(terminal, "rod")
    terminal.keys("Escape", "c")
    terminal.wait("undo: copy rod")
    file.write_text(PENDULUM.replace("L = 0.5", "L = 0.9"))
    terminal.wait("was changed by another program")
    terminal.type("differ")
    terminal.keys("Enter")
    terminal.wait("-L = 0.9")
    terminal.keys("Escape")
    terminal.wait("keep mine")
    terminal.type("theirs")
    terminal.keys("Enter")
    terminal.wait("reload from disk")
    assert "L = 0.9" in file.read_text()
    terminal.keys("u")
    terminal.wait("redo: reload from disk")
    terminal.quit()


@pytest.mark.slow
def test_brackets_and_wide_names_are_only_text(terminal):
    text = PENDULUM.replace(
        '"pendulum"   # the smallest machine', '"[bold]曲柄[/bold] [red]連桿"'
    ).replace("[bodies.rod]\n", '[bodies."J[1]"]\nmass = "[N]"\n\n[bodies.rod]\n')
    (terminal.home / "a[b].toml").write_text(text, encoding="utf-8")
    terminal.start("a[b].toml")
    terminal.wait("[bold]曲柄[/bold] [red]連桿")
    terminal.wait("a[b].toml")
    terminal.wait("error")
    for key in ("Down", "]", "]", "2", "3", "4", "5", "6", "1", "?"):
        terminal.keys(key)
    terminal.wait("Help")
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_ten_thousand_parts(terminal):
    bodies = "".join(
        f"\n[bodies.b{i}]\nmass = 1\ninertia = {{ xx = 1, yy = 1, zz = 1 }}\n" for i in range(10000)
    )
    (terminal.home / "demo.toml").write_text(PENDULUM + bodies)
    terminal.start("demo.toml")
    terminal.wait("Bodies  10001")
    terminal.keys("G", "Up", "Up")
    terminal.wait("b9999")
    terminal.quit()


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
def test_an_external_editor(terminal):
    script = terminal.home / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read(); open(p, 'w').write(t + '# hi')"
    )
    terminal.extra["EDITOR"] = f"{sys.executable} {script}"
    started(terminal)
    terminal.keys("C-e")
    terminal.wait("undo: edit in the editor")
    terminal.quit()


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


def test_a_conflict_is_explained_and_fixed(terminal):
    (terminal.home / "demo.toml").write_text(CLASH)
    terminal.start("demo.toml")
    terminal.wait("1 error")
    terminal.keys("w")
    terminal.wait("Why: conflict 1 of 1")
    terminal.keys("1")
    terminal.wait("Model")
    assert "1 error" in terminal.screen(), "a digit is a view, never a fix"
    terminal.keys("w", "Enter")
    terminal.wait("Conflict 1 of 1")
    terminal.keys("1")
    terminal.wait("0 errors")
    terminal.wait("causal: ")
    terminal.keys("1")
    terminal.wait("Model")
    terminal.keys("u")
    terminal.wait("1 error")
    terminal.quit()


@pytest.mark.slow
def test_a_new_user_reaches_the_report_in_forty_keys(terminal):
    """New, change a length, add a motor to a joint, run, plot two signals, validate, export."""
    count = 0

    def press(*names: str) -> None:
        nonlocal count
        count += len(names)
        terminal.keys(*names)

    def say(text: str) -> None:
        nonlocal count
        count += len(text)
        terminal.type(text)

    terminal.start()
    terminal.wait("New from template")
    press("Enter")
    terminal.wait("File name")
    press("Enter")
    terminal.wait("r runs it")
    press("Down", "Down", "e")
    terminal.wait("parameters.L.value")
    say("0.8")
    press("Enter")
    terminal.wait("undo: set parameters.L.value")
    press("a", "m")
    terminal.wait("Add on a joint")
    say("torque on")
    terminal.wait("torque")
    press("Enter")
    terminal.wait("joints.hinge")
    press("Enter")
    terminal.wait("torque: torque")
    press("Enter")
    terminal.wait("Name of the new torque")
    press("Enter")
    terminal.wait("undo: add forces.torque1")
    press("r")
    terminal.wait("finished at t = ")
    press("4")
    terminal.wait("run 1 bond graph: finished")
    press("C", "Space", "Down", "Space")
    terminal.wait("[x]")
    press("5", "R")
    terminal.wait("PASS   ")
    press("E")
    terminal.wait("the report (folder)")
    press("Enter")
    terminal.wait("Write to")
    press("Enter")
    terminal.wait("wrote pendulum-report")
    assert count <= 40, count
    assert "PASS" in (terminal.home / "pendulum-report" / "report.md").read_text()
    terminal.quit()
