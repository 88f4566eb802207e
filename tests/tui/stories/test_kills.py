"""Killed at any moment of an edit, on a real terminal: what was seen to be done is not lost."""

from __future__ import annotations

import os
import random
import re
import signal
import time

import pytest

from benchmarks.speed.tui import Session
from tests.tail import tail
from tests.tui.conftest import MODEL
from vbg.tui.session.kept.recovery import abandoned, replay

EDITS = 12


@pytest.mark.parametrize("seed", tail(range(50), 2))
def test_nothing_that_was_shown_is_lost(tmp_path, seed):
    """Parameters are added by menu and by writing, undone and done again, one key every few
    milliseconds, until SIGKILL; the journal has every step that was painted, and no half of one."""
    generator = random.Random(seed)
    file = tmp_path / "killed.toml"
    file.write_text(MODEL)
    with Session(tmp_path, (file.name,)) as session:
        session.wait("0 errors")
        end = time.monotonic() + generator.uniform(0.05, 1.5)
        typing = "".join(f"apk{i}\r{i}\r" + "u\x12" * (i % 3 == 0) for i in range(EDITS))
        for key in typing:
            os.write(session.descriptor, key.encode())
            session.listen(generator.uniform(0.0, 0.006))
            if time.monotonic() > end:
                break
        os.kill(session.pid, signal.SIGKILL)
        try:
            while session.listen(0.2):
                pass
        except SystemExit:
            pass  # the other side of the terminal is gone
        seen = [int(n) for n in re.findall(r"undo: add parameter k(\d+)", session.said())]
    assert file.read_text() == MODEL
    found = abandoned(file)
    if not found:
        assert max(seen, default=0) == 0, "the only one may be undone at this moment"
        return
    parameters = replay(found[0]).now.data["parameters"]
    kept = [name for name in parameters if name != "L"]
    assert kept == [f"k{i}" for i in range(len(kept))], "in order, each whole"
    assert len(kept) >= max(seen, default=-1), "the last one may be undone at this moment"
