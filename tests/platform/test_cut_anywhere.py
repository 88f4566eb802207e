"""Writing a file is interrupted at each of its lines: nothing is left behind, nothing is half."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vbg

# Interrupts the writing of a file at its Nth line within vbg.platform, for N = 1, 2, ... until
# one writes to its end, each in a child that ends as `vbg` does.  Prints the number of the child
# and what its folder holds then.
SCRIPT = """
import atexit, itertools, os, sys
from pathlib import Path
import vbg.platform
from vbg.platform.files import write_text
from vbg.platform.locks import one_writer
import filelock, psutil

ROOM = os.path.dirname(vbg.platform.__file__)
folder = Path(sys.argv[1])

def write(path):
    with one_writer(path):
        write_text(path, "new")

def child(path, last):
    lines = itertools.count(1)
    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        if event == "line" and next(lines) == last:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    try:
        write(path)
        return 0
    except KeyboardInterrupt:
        return 1
    finally:
        sys.settrace(None)

for last in itertools.count(1):
    place = folder / str(last)
    place.mkdir()
    (place / "o.txt").write_text("old")
    number = os.fork()
    if number == 0:
        code = child(place / "o.txt", last)
        atexit._run_exitfuncs()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    print(last, *sorted(os.listdir(place)), (place / "o.txt").read_text(), sep=",")
    if code == 0:
        break
"""


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_an_interrupt_at_any_line_leaves_one_whole_file(tmp_path):
    room = Path(vbg.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(room)},
    )
    assert done.returncode == 0, done.stderr
    found = [line.split(",")[1:] for line in done.stdout.splitlines()]
    assert len(found) > 40
    assert found[0] == ["o.txt", "old"]
    assert found[-1] == ["o.txt", "new"]
    assert [one for one in found if one not in (["o.txt", "old"], ["o.txt", "new"])] == []
