"""An engineer's stories: a model is run, plotted and validated."""

from __future__ import annotations

import time

import pytest

from tests.tui.stories.telling import PENDULUM, started, wait_for_end
from tests.tui.terminal import PATIENCE, children_of


def test_run_and_plot(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("finished at t = 1 s")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.wait("N ")
    terminal.keys("Right", "Right")
    terminal.wait("Cursor  t = 0.51")
    terminal.keys("2")
    terminal.wait("power at t = 0.51")
    terminal.keys("Space")
    terminal.wait("power at t = 1 s")
    terminal.keys("4")
    terminal.keys("+", "S", "0", "C")
    terminal.wait("Space on a signal")
    terminal.keys("Space")
    terminal.wait("[x]")
    terminal.quit()


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
    terminal.wait("PASS   ", "VACUOUS")
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
    end = time.monotonic() + PATIENCE
    while len(solvers := [p for c in child for p in children_of(c)]) < 2:
        assert time.monotonic() < end, "the two solvers never started"
        time.sleep(0.02)
    terminal.keys("x")
    terminal.wait("INCONCLUSIVE")
    terminal.wait("The validation was cancelled")
    wait_for_end([*child, *solvers])
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
    say("forces.torque")
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
