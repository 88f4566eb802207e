"""The kernel of the discrete-time method that Python calls."""

from __future__ import annotations

import numpy as np

from vbg.assemble.program.machine import NO_PLACES, NO_VALUES, NOTHING
from vbg.plumbing.kernels.native import Native, read_only
from vbg.simulate.discrete.tables import KERNELS, Flat

_PAIRS = read_only(np.zeros((0, 2), dtype=np.int64))
_TAPE = NOTHING, _PAIRS, _PAIRS
UNWATCHED = NO_PLACES, NO_VALUES, NO_VALUES  # no half turns
_MACHINE = Flat(*3 * (NO_PLACES, NO_VALUES), NO_VALUES, NO_VALUES)

steps_of = Native(
    KERNELS,
    "vbg.simulate.discrete.kernels:steps_of",
    *(NO_VALUES, 0.0, 0.0, 0, _MACHINE, 0, *_TAPE, *_TAPE, *UNWATCHED),
)
