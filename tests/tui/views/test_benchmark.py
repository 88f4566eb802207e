"""The benchmark of the terminal interface runs, and the bytes of 3D stay within what SSH bears."""

from __future__ import annotations

import re
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("the benchmark uses a pseudo-terminal and /proc", allow_module_level=True)

from benchmarks.speed import tui


@pytest.mark.slow
def test_every_measure_prints_its_line(capsys):
    tui.with_home(lambda home: tui.first_frame(home, times=1))
    tui.with_home(lambda home: tui.keys(home, bodies=2, presses=2))
    tui.with_home(lambda home: tui.opening(home, bodies=5, presses=2))
    tui.with_home(lambda home: tui.curves(home, points=500, presses=2))
    tui.with_home(lambda home: tui.motion(home, seconds=2.0, points=501))
    out = capsys.readouterr().out
    for words in ("first frame: ", "4 parts, graph: ", "open 10 parts: ", "redraw of 500-point"):
        assert words in out
    frames, size = re.search(r"([\d.]+) frames a second .* (\d+) kB a second", out).groups()
    assert 1.0 < float(frames) < 14.0
    assert 0 < int(size) < 60
