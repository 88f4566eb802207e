"""Two machines that between them use every part of the mechanics, small enough to run in a
tenth of a second."""

from __future__ import annotations

from pathlib import Path

import vbg

HERE = Path(__file__).parent
BAR = {"xx": 0.003, "yy": 0.021, "zz": 0.023, "xy": 0.001, "yz": -0.0007, "zx": 0.0012}


def arm() -> vbg.Model:
    return vbg.read(HERE / "arm.toml")


def loop() -> vbg.Model:
    return vbg.read(HERE / "loop.toml")
