"""An engineer's stories: what is kept, under which name, and until when."""

from __future__ import annotations

import os
import signal

import pytest

from tests.tui.stories.telling import PENDULUM, go_to, started


@pytest.mark.slow
def test_a_verdict_is_of_its_model_and_stays(terminal):
    """More runs, another model, the model as it was, another day: PASS, none, PASS, PASS."""
    started(terminal)
    terminal.keys("5", "R")
    terminal.wait("PASS   ")
    terminal.keys("r")
    terminal.wait("run 3 bond graph finished")
    terminal.keys("4")
    terminal.wait("run 3 bond graph: finished")
    terminal.keys("5")
    terminal.wait("PASS   ")
    terminal.keys("1")
    go_to(terminal, "L")
    terminal.keys("Escape", ">")
    terminal.wait("run 4 bond graph finished")
    terminal.keys("5")
    terminal.wait("INCONCLUSIVE")
    terminal.keys("u")
    terminal.wait("PASS   ")
    terminal.quit()
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("0 errors")
    terminal.keys("5")
    terminal.wait("PASS   ")
    terminal.quit()


@pytest.mark.slow
def test_a_model_under_another_name_is_recovered_under_that(terminal):
    """`.toml` is added to a name without an ending; the journal goes with the name."""
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Escape", "c")
    terminal.wait("undo: copy rod")
    _command(terminal, "Save as")
    terminal.wait("Enter accepts")
    terminal.keys("C-u")
    terminal.type("other")
    terminal.keys("Enter")
    terminal.wait("saved other.toml")
    terminal.keys("c")
    terminal.wait("2 edits")
    os.kill(terminal.process(), signal.SIGKILL)
    terminal.wait("EXIT=137")
    assert (terminal.home / "demo.toml").read_text() == PENDULUM
    terminal.close()
    terminal.start("demo.toml")
    assert "never saved" not in terminal.wait("0 errors")
    terminal.keys("C-q")
    terminal.wait("EXIT=0")
    terminal.close()
    terminal.start("other.toml")
    terminal.wait("1 change from")
    terminal.keys("Enter")
    terminal.wait("recovered 1 change;")
    terminal.quit()


@pytest.mark.slow
def test_a_run_is_removed_when_it_is_confirmed(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("3", "d")
    terminal.wait("Remove run 1")
    terminal.keys("Escape")
    terminal.wait_gone("Remove run 1")
    terminal.wait("Runs: 1")
    terminal.keys("d")
    terminal.wait("Remove run 1")
    terminal.type("remove")
    terminal.keys("Enter")
    terminal.wait_gone("Runs: 1")
    terminal.quit()


@pytest.mark.slow
def test_a_theme_is_refused_or_kept(terminal):
    (terminal.home / "demo.toml").write_text(PENDULUM)
    terminal.start("demo.toml", "--theme", "no-such-theme")
    shown = " ".join(terminal.wait("EXIT=2").split())
    assert "no-such-theme: there is no such theme; there are" in shown
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("0 errors")
    _command(terminal, "Theme")
    terminal.wait("vbg-contrast")
    terminal.type("nord")
    terminal.keys("Enter")
    terminal.wait_gone("type to filter")
    terminal.quit()
    terminal.close()
    terminal.start("demo.toml")
    terminal.wait("0 errors")
    _command(terminal, "Theme")
    terminal.until(lambda screen: "▌nord" in screen or ">nord" in screen)
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_a_table_of_elsewhere_is_opened_as_a_run(terminal):
    """What Plot wrote as CSV, a note on the run behind, and the one compared with the other."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.keys("E")
    terminal.wait("Export")
    terminal.type("csv")
    terminal.keys("Enter")
    terminal.wait("Write to")
    terminal.keys("C-u")
    terminal.type("bench.csv")
    terminal.keys("Enter")
    terminal.wait("wrote bench.csv")
    terminal.keys("3", "O")
    terminal.wait("Open a result")
    terminal.type("bench.csv")
    terminal.keys("Enter")
    terminal.wait("Runs: 2")
    terminal.keys("4", "o")
    terminal.wait("Compare")
    terminal.keys("Enter")
    terminal.wait("and run 2")
    terminal.quit()


def _command(terminal, name: str) -> None:
    """Do what the palette calls `name`."""
    terminal.keys("C-p")
    terminal.wait("type to filter")
    terminal.type(name)
    terminal.wait(name)
    terminal.keys("Enter")
