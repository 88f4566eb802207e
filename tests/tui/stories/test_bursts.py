"""Keys typed faster than anything can be drawn, through a pseudo-terminal: none is lost.

What was done is read from the saved file, so nothing waits for the screen between the keys.
"""

from __future__ import annotations

import os
import time
import tomllib

import pytest

from benchmarks.speed.tui import Session
from tests.tail import tail
from tests.tui.conftest import MODEL

SAVE, ESC = "\x13", "\x1b"
END_OF_TEXT, BACK_TAB = "\x1b[1;5F", "\x1b[Z"
DOWN, LEFT = "\x1b[B", "\x1b[D"


def typed(home, keys: str, *, gap: float = 0.0, text: str = MODEL, ahead: str = "") -> dict:
    """The model after `keys`, saved: all written at once, or with a gap [s] between any two;
    those of `ahead` are written before vbg has even begun."""
    file = home / "burst.toml"
    file.write_text(text)
    with Session(home, ("burst.toml",)) as session:
        os.write(session.descriptor, ahead.encode())
        session.wait("0 errors")
        for piece in [keys + SAVE] if gap == 0.0 else [*keys, SAVE]:
            os.write(session.descriptor, piece.encode())
            _pause(session, gap)
        session.wait("saved")
    return tomllib.loads(file.read_text())


@pytest.mark.parametrize("gap", tail([0.0, 0.001, 0.01, 0.05], 1))
def test_a_body_is_added_by_one_burst(tmp_path, gap):
    found = typed(tmp_path, "ab\r\rarm\r", gap=gap)
    assert set(found["bodies"]) == {"rod", "arm"}


@pytest.mark.slow
def test_dialogs_follow_one_another_in_one_burst(tmp_path):
    """A body, a joint that is searched for with its ends, a parameter, an undo of the last."""
    keys = "ab\r\rarm\rajspher\rrod.B\rarm\relbow\rapk\r12\rapgone\r3\ru"
    found = typed(tmp_path, keys)
    assert found["joints"]["elbow"] == {"kind": "spherical", "between": ["rod.B", "arm"]}
    assert found["parameters"] == {"L": 0.5, "k": 12}


def test_a_burst_before_the_first_frame(tmp_path):
    """The terminal still makes a line feed of Enter then."""
    found = typed(tmp_path, "apn\r3\r", ahead="apk\r2\r")
    assert found["parameters"] == {"L": 0.5, "k": 2, "n": 3}


def test_a_field_is_edited_within_a_burst(tmp_path):
    """Typed over, corrected with Backspace and the arrows, a refused value corrected."""
    found = typed(tmp_path, f"{DOWN * 2}e0.8\x7f9\re-x\r\x7f\x7f1.5{LEFT}\x7f\r")
    assert found["parameters"]["L"] == 15


def test_a_pasted_text_keeps_its_place_among_the_keys(tmp_path):
    found = typed(tmp_path, "ap\x1b[200~length\x1b[201~2\r7\r")
    assert found["parameters"]["length2"] == 7


def test_the_text_of_the_file_is_written_by_a_burst(tmp_path):
    """A table, its key completed from the declarations, then a part by the menu; all at once."""
    keys = f"t{END_OF_TEXT}\r[bodies.arm]\rmas\t2.5\rine\t{{ xx\t1, yy = 1, zz = 1 }}"
    found = typed(tmp_path, f"{keys}{BACK_TAB}apk\r3\r")
    assert found["bodies"]["arm"] == {"mass": 2.5, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    assert found["parameters"]["k"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.05])
@pytest.mark.parametrize("keys", ["ab", "ab\r\rar"])
def test_a_dialog_is_left_within_a_burst(tmp_path, keys, gap):
    """Escape, and the keys after it are for what was there before: none of them is Alt's."""
    found = typed(tmp_path, f"{keys}{ESC}apk\r3\r", gap=gap)
    assert set(found["bodies"]) == {"rod"} and found["parameters"]["k"] == 3


def _pause(session: Session, seconds: float) -> None:
    """Let time pass, reading what is written meanwhile."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        session.listen(left)
