"""Numerical tests hold at any rounding, or they test nothing.

Rounding differs between processors, compilers and orders of summation; a test that passes at one
rounding only has met it by luck.  So a test of a run takes its start `SHAKES` times, each state
moved by SIZE of itself, and the whole suite runs under two instruction sets (`.ci/run`:
NUMBA_CPU_NAME=generic, and the processor's own).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import vbg

SHAKES = 10
SIZE = 1e-13


def shaken(start: vbg.Start, count: int = SHAKES, size: float = SIZE) -> Iterator[vbg.Start]:
    """The start as it is, and `count` times with every number of it moved by up to `size` of
    itself, or of 1 where it is smaller."""
    system = start.system
    yield start
    for seed in range(count):
        random = np.random.default_rng(seed)
        moved = size * np.maximum(np.abs(start.state), 1.0) * random.uniform(-1, 1, system.size)
        for s in system.slices:
            if s.state.kind in ("quadrature", "discrete"):
                moved[s.first : s.last] = 0.0
        yield replace(start, state=start.state + moved)
