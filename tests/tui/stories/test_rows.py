"""An engineer's stories: the mouse, what a crash left, problems, runs as history, studies."""

from __future__ import annotations

import os
import signal
import zipfile

import pytest

from tests.tui.stories.telling import PENDULUM, click, differs, go_to, started


@pytest.mark.slow
def test_the_mouse_goes_to_views_marks_and_turns(terminal):
    """Tabs, a signal, the machine; what is marked goes to the clipboard by its escape sequence."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("finished at t = 1 s")
    click(terminal, "4 Plot")
    terminal.wait("run 1 bond graph: finished")
    terminal.keys("y")
    terminal.wait("copied: ")
    click(terminal, "6 3D")
    terminal.wait("longest arrow of the run")
    shown = terminal.wait("hinge")
    click(terminal, "hinge", drag=(9, 3))
    differs(terminal, shown)
    terminal.quit()


@pytest.mark.slow
def test_what_a_crash_left_is_offered_until_it_is_taken(terminal):
    """Esc keeps it for the next time; the count is of what was never saved."""
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Escape", "c")
    terminal.wait("undo: copy rod")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    terminal.keys("c")
    terminal.wait("2 edits")
    os.kill(terminal.process(), signal.SIGKILL)
    terminal.wait("EXIT=137")
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("1 change from")
    terminal.keys("Escape")
    terminal.wait_gone("1 change from")
    terminal.keys("C-q")
    terminal.wait("EXIT=0")
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("1 change from")
    terminal.keys("Enter")
    terminal.wait("recovered 1 change;")
    terminal.quit()


def test_a_problem_is_read_whole_and_mended_by_its_number(terminal):
    """On the smallest screen, too; one undo step."""
    bad = PENDULUM.replace('"rod.A"', '"rodd.A"')
    (terminal.home / "demo.toml").write_text(bad)
    terminal.start("demo.toml")
    terminal.wait("1 error")
    terminal.resize(60, 18)
    terminal.keys("]", "!")
    terminal.wait("Enter goes to the place")

    def read(screen: str) -> bool:
        shown = " ".join(screen.replace("│", " ").split())
        return "Did you mean" in shown and "1: " in shown

    terminal.until(read, "a suggestion by its number")
    terminal.keys("1")
    terminal.wait("0 errors")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    assert (terminal.home / "demo.toml").read_text() == PENDULUM
    terminal.keys("u")
    terminal.wait("1 error")
    terminal.quit()


@pytest.mark.slow
def test_runs_are_kept_noted_pinned_told_and_written(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("finished at t = 1 s")
    go_to(terminal, "L")
    terminal.keys("Escape", ">")
    terminal.wait("run 2 bond graph finished")
    terminal.keys("3", "n")
    terminal.wait("Note")
    terminal.type("a little longer")
    terminal.keys("Enter")
    terminal.keys("b", "T")
    terminal.wait("L 0.5")
    terminal.keys("Escape", "E")
    terminal.wait("all runs")
    terminal.type("all runs")
    terminal.keys("Enter")
    terminal.wait("demo-runs")
    terminal.keys("C-u")
    terminal.type("lot.zip")
    terminal.keys("Enter")
    terminal.wait("wrote 2 runs")
    with zipfile.ZipFile(terminal.home / "lot.zip") as lot:
        told = lot.read("lot/runs.md").decode()
    assert "baseline. a little longer" in told and "L 0.5 → 0.51" in told
    terminal.keys("d")
    terminal.wait("Remove run")
    terminal.keys("Escape")
    terminal.wait_gone("Remove run")
    terminal.quit()


@pytest.mark.slow
def test_a_study_is_watched_and_its_best_taken(terminal):
    """By keys alone, all that is asked answered by what is offered; one undo step."""
    started(terminal)
    terminal.keys("M")
    terminal.wait("a measure over one or two parameters")
    for asked in ("Over which parameters", "Which measure"):
        terminal.keys("Enter")
        terminal.wait(asked)
    terminal.keys("Enter")
    terminal.wait("finished, 9 runs")
    terminal.keys("g")
    terminal.wait("u takes it back")
    terminal.keys("u")
    terminal.wait("redo: set L")
    terminal.quit()
