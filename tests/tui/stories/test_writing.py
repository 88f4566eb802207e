"""An engineer's stories: the text of the file beside the tree."""

from __future__ import annotations

import re

import pytest

from tests.tui.stories.telling import PENDULUM, go_to, started


def test_text_and_tree_have_one_cursor(terminal):
    """What is marked in the tree is where the cursor of the text begins, and the other way."""
    started(terminal)
    go_to(terminal, "hinge")
    terminal.keys("Escape", "t")
    lines = PENDULUM.splitlines()
    here, there = (1 + lines.index(f"[{name}]") for name in ("joints.hinge", "bodies.rod"))
    terminal.wait(f"Text  {here}:")
    terminal.keys(*(here - there) * ["Up"])
    terminal.wait(f"Text  {there}:")
    terminal.keys("Escape")
    terminal.keys("y")
    terminal.wait("copied: [bodies.rod]")
    terminal.quit()


def test_a_broken_file_is_repaired_inside(terminal):
    """Opened with a text that is no TOML: told with its line, mended by its number or by hand."""
    (terminal.home / "demo.toml").write_text(PENDULUM.replace("mass = 1.0", "mass = 3 kg"))
    terminal.start("demo.toml")
    terminal.wait("1 error")
    terminal.keys("!")
    terminal.wait("1: ")
    terminal.keys("1")
    terminal.wait("0 errors")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    assert 'mass = "3 kg"' in (terminal.home / "demo.toml").read_text()
    terminal.quit()


@pytest.mark.slow
def test_what_is_wrong_in_the_text_is_told_at_its_line(terminal):
    """While it is written; completion gives the key, and undo takes the lines back."""
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Escape", "t")
    terminal.wait("Tab completes")
    terminal.keys("End", "Enter")
    terminal.type("masss = 2.0")
    terminal.wait("1 error")
    shown = " ".join(re.sub(r"[│|]", " ", terminal.wait("masss")).split())
    assert "mass" in shown
    terminal.keys("C-u", "BSpace")
    terminal.wait("0 errors")
    terminal.keys("End", "Enter")
    terminal.type("com")
    terminal.keys("Tab")
    terminal.wait("com = ")
    terminal.type("[0, 0, 0.01]")
    terminal.wait("0 errors")
    terminal.keys("Escape", "C-s")
    terminal.wait("saved demo.toml")
    assert "com = [0, 0, 0.01]" in (terminal.home / "demo.toml").read_text()
    terminal.quit()
