"""An engineer's stories: what is seen, and how one moves in it, by keys and by the mouse."""

from __future__ import annotations

import base64
import os
import re

import pytest

from benchmarks.speed.tui import Session, chain
from tests.tui.conftest import CLASH, MODEL
from tests.tui.stories.telling import PENDULUM, click, differs, started
from tests.tui.terminal import Terminal


def test_q_says_how_to_quit_and_a_spoilt_screen_is_painted_again(terminal):
    started(terminal)
    terminal.keys("q")
    terminal.wait("ctrl+q quits; Esc goes back")
    with open(terminal.tty(), "w") as tty:
        tty.write("\x1b[3;3HSPOILT BY ANOTHER PROGRAM")
    terminal.wait("SPOILT")
    terminal.keys("C-l")
    terminal.wait_gone("SPOILT")
    terminal.wait("0 errors")
    terminal.quit()


@pytest.mark.slow
def test_choosers_rank_what_was_meant_first(terminal):
    """The letters of a kind in their order are enough; Enter takes the marked one."""
    started(terminal)
    terminal.keys("a", "j")
    terminal.wait("Add a joint")
    terminal.type("prsm")
    terminal.wait("one free translation")
    terminal.keys("Enter")
    terminal.wait("prismatic: between")
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_what_cannot_be_added_yet_says_why(terminal):
    terminal.start()
    terminal.wait("New from template")
    terminal.keys("Down", "Enter")
    terminal.wait("File name")
    terminal.keys("Enter")
    terminal.wait("a adds a part")
    for key in "jf":
        terminal.keys("a", key)
        terminal.wait("a l adds a link")
    terminal.quit()


def bar(screen: str) -> list[int]:
    """Where the bar at the right of a dialog stands, row by row."""
    return [row[-5:].count("█") for row in screen.splitlines()]


@pytest.mark.slow
def test_help_and_long_lists_are_gone_through(terminal):
    """To the end and back; without colour the bar beside them is a sign of its own."""
    started(terminal)
    terminal.keys("?")
    terminal.wait("Help: ")
    plain = "NO_COLOR" in terminal.extra
    first = terminal.until(lambda screen: not plain or any(bar(screen)))
    terminal.keys("End")
    terminal.wait("leave vbg")
    if plain:  # the bar is painted behind the text
        terminal.until(lambda screen: any(bar(screen)) and bar(screen) != bar(first))
    terminal.keys("Home")
    terminal.wait("The model. What is marked here")
    terminal.keys("Escape", "C-n")
    terminal.wait("New from template")
    terminal.keys("End")
    terminal.wait("wishbone-corner")
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_one_run_is_never_compared_with_itself(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.keys("o")
    terminal.wait("there is no other run")
    terminal.keys("r")
    terminal.wait("run 2 bond graph finished")
    terminal.keys("4", "o")
    terminal.wait("type to filter")

    def rows(screen: str) -> list[str]:
        return [row for row in screen.splitlines() if "bond graph" in row and "│ │" in row]

    shown = terminal.until(lambda screen: bool(rows(screen)), "the other runs")
    assert not any("run 2 " in row for row in rows(shown)), shown
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_curves_are_told_apart_by_letters(terminal):
    """Without any colour, too: in the legend and on each curve."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")

    def lettered(screen: str) -> bool:
        rows = screen.splitlines()
        at = next((i for i, row in enumerate(rows) if "hinge.force.x" in row and "z" in row), None)
        if at is None or re.findall(r"[^\w\s]([ab])[^\w\s] hinge", rows[at]) != ["a", "b"]:
            return False
        return all(any(letter in row[25:] for row in rows[at + 1 :]) for letter in "ab")

    terminal.until(lettered, "a and b in the legend and on the curves")
    terminal.quit()


@pytest.mark.slow
def test_plots_are_zoomed_moved_and_fitted_by_the_mouse(terminal):
    """The wheel, a drag with the whole in sight (a box), a drag within (along), a double click."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")
    whole = terminal.wait("run 1 bond graph: finished")
    rows = whole.splitlines()
    middle, x = len(rows) // 3, terminal.size[0] * 5 // 8
    terminal.type(f"\x1b[<64;{x};{middle}M")
    near = differs(terminal, whole)
    terminal.type(f"\x1b[<65;{x};{middle}M")
    differs(terminal, near)
    terminal.keys("0")
    whole = terminal.wait("run 1 bond graph: finished")
    _drag(terminal, x, middle, x + 12)
    box = differs(terminal, whole)
    _drag(terminal, x, middle, x + 9)
    differs(terminal, box)
    _click_twice(terminal, x, middle)
    terminal.wait(_axis(whole))
    terminal.quit()


def _axis(shown: str) -> str:
    """The numbers below the curves."""
    rows = [row[24:] for row in shown.splitlines()]
    return next(row for row in rows if re.search(r" 0\.0 +0\.\d", row)).rstrip(" │|")


def _drag(terminal: Terminal, x: int, y: int, end: int) -> None:
    terminal.type(f"\x1b[<0;{x};{y}M\x1b[<32;{end};{y}M\x1b[<0;{end};{y}m")


def _click_twice(terminal: Terminal, x: int, y: int) -> None:
    terminal.type(2 * f"\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m")


def test_a_double_click_edits(terminal):
    started(terminal)
    click(terminal, "L  0.5")
    y, x = place(terminal.filled("value   "), "value   ")
    _click_twice(terminal, x, y)
    terminal.wait("Enter accepts")
    terminal.keys("Escape")
    terminal.quit()


def place(shown: str, text: str) -> tuple[int, int]:
    """Row and column of a text on the screen, counted from 1."""
    rows = shown.splitlines()
    y = next(i for i, row in enumerate(rows, 1) if text in row)
    return y, rows[y - 1].index(text) + 1


@pytest.mark.slow
def test_verdicts_are_never_cut(terminal):
    """Each channel of the table ends with its whole verdict, on the smallest screen, too."""
    started(terminal)
    terminal.keys("5", "R")
    terminal.wait("PASS   ")
    for size in ((60, 18), (80, 24), (120, 40)):
        terminal.resize(*size)
        terminal.until(_whole_verdicts)
    terminal.quit()


def _whole_verdicts(shown: str) -> bool:
    """Whether the table is there and each of its channels has its verdict."""
    rows = [row for row in shown.splitlines() if re.match(r"^[│|][▌> ] ?hinge\.", row)]
    words = ("PASS", "VACUOUS (all zero)", "NOT UNIQUE")
    return "verdict" in shown and bool(rows) and all(any(w in r for w in words) for r in rows)


@pytest.mark.slow
def test_a_large_graph_opens_on_its_sources(terminal):
    """A source at the far end of a chain that no screen holds is in sight at once."""
    source = '[forces.pull]\nkind = "torque"\non = "joints.j39"\ntorque = 1.0\n'
    started(terminal, chain(40) + source)
    terminal.keys("2")
    terminal.wait("causal:")
    terminal.wait("pull")
    terminal.quit()


def test_a_conflict_is_shown_on_the_graph(terminal):
    (terminal.home / "demo.toml").write_text(CLASH)
    terminal.start("demo.toml")
    terminal.wait("1 error")
    terminal.keys("2")
    terminal.wait("U2")
    terminal.keys("c")
    terminal.wait("conflict 1 of 1")
    terminal.quit()


def test_what_is_marked_goes_to_the_clipboard_of_the_terminal(tmp_path):
    """The text of the part, by the escape sequence OSC 52."""
    (tmp_path / "demo.toml").write_text(MODEL)
    with Session(tmp_path, ("demo.toml",)) as session:
        session.wait("0 errors")
        os.write(session.descriptor, b"/hinge\r\x1by")
        session.wait("copied: ")
        session.wait("\x1b]52;c;")
        session.settle(0.2)
        found = re.search(rb"\x1b\]52;c;([^\x07\x1b]*)", session.said().encode())
        assert found is not None
        copied = base64.b64decode(found[1]).decode()
        assert copied.startswith("[joints.hinge]") and 'kind = "revolute"' in copied


@pytest.mark.slow
def test_the_machine_is_seen_in_every_way(terminal):
    """Shaded, cut open, with its forces, in other postures, from other sides."""
    shape = 'shape = { cylinder = { length = "L", radius = 0.05, axis = [1, 0, 0] } }\n\n# the only'
    started(terminal, PENDULUM.replace("# the only", shape, 1))
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("6")
    shown = terminal.wait("longest arrow of the run")
    for key in "dcbfi":
        terminal.keys(key)
        shown = differs(terminal, shown)
    terminal.quit()
