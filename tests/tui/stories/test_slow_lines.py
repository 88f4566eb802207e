"""Slow lines and any moment of a cancel: no key is lost, no escape sequence is torn."""

from __future__ import annotations

import os
import random
import time
import tomllib

import pytest

from benchmarks.speed.tui import PATIENCE, Session
from tests.tail import tail
from tests.tui.conftest import MODEL
from tests.tui.stories.telling import PENDULUM, started

SAVE = "\x13"
DOWN, LEFT, BACK_TAB = "\x1b[B", "\x1b[D", "\x1b[Z"


def crawl(session: Session, seconds: float, *, most: int = 200) -> None:
    """Read what vbg writes as a line of some kilobytes a second does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.02)
        if session.listen(0.0):
            session.heard[-1] = (session.heard[-1][0], session.heard[-1][1][:most])


@pytest.mark.parametrize("seed", tail(range(6), 1))
def test_keys_over_a_line_that_tears_them(tmp_path, seed):
    """Each byte by itself, or a few of them, also within the sequence of an arrow and a letter of
    two bytes; a body by the menu, a field edited by arrows, a text with an umlaut."""
    generator = random.Random(seed)
    file = tmp_path / "slow.toml"
    file.write_text(MODEL)
    keys = f"ab\r\rarm\r{DOWN}apk\r12{LEFT}\x7f\r/L\r\x1be0.8\x7f9\r/arm\r\x1bRhebelä\x7f1\r{SAVE}"
    data = keys.encode()
    with Session(tmp_path, (file.name,)) as session:
        session.wait("0 errors")
        while data:
            size = generator.randint(1, 3)
            os.write(session.descriptor, data[:size])
            # an Esc that is followed at once by its sequence's rest, however slow the line is
            rests = data[:size].endswith(b"\x1b") and not data[size:].startswith((b"[", b"O"))
            session.settle(0.3 if rests else generator.uniform(0.001, 0.015))
            data = data[size:]
        session.wait("saved")
    found = tomllib.loads(file.read_text())
    assert set(found["bodies"]) == {"rod", "hebel1"}
    assert found["parameters"] == {"L": 0.9, "k": 2}


@pytest.mark.slow
def test_a_terminal_that_reads_slowly(tmp_path):
    """The screens of a burst of dialogs, read at some kilobytes a second: all is done."""
    file = tmp_path / "slow.toml"
    file.write_text(MODEL)
    with Session(tmp_path, (file.name,)) as session:
        session.wait("0 errors")
        for i in range(8):
            os.write(session.descriptor, f"apk{i}\r{i}\r2345?\x1b1".encode())
            crawl(session, 0.1)
        os.write(session.descriptor, SAVE.encode())
        end = time.monotonic() + PATIENCE
        while "k7" not in file.read_text():
            assert time.monotonic() < end
            crawl(session, 0.1)
    assert tomllib.loads(file.read_text())["parameters"] == {
        "L": 0.5,
        **{f"k{i}": i for i in range(8)},
    }


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
def test_a_run_is_cancelled_at_any_moment(terminal, delay):
    """Its child not there yet, importing, starting or stepping: cancelled, never failed; and the
    next run is as any other."""
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("r")
    time.sleep(delay)
    terminal.keys("x")
    terminal.wait("cancelled")
    terminal.keys("3")
    shown = terminal.wait("Runs: 1")
    assert "failed" not in shown and "error of vbg" not in shown
    terminal.keys("r")
    terminal.wait("ETA")
    terminal.keys("x")
    terminal.wait("cancelled at t = ")
    terminal.quit()
