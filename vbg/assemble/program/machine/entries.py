"""The kernels that Python calls, each with arguments as it takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbg.assemble.program.machine.plans import (
    NO_ATTEMPT,
    NO_OPERANDS,
    NO_PLACES,
    NO_PROJECTION,
    NO_SEGMENTS,
    NO_SIGNALS,
    NO_VALUES,
    NOTHING,
)
from vbg.assemble.program.machine.sources import KERNELS
from vbg.plumbing.kernels.native import Native, read_only

_HERE = "vbg.assemble.program.machine"
_ROWS = np.zeros((0, 0))
_READ, _READ_ROWS, _PLACES = read_only(NO_VALUES), read_only(_ROWS), read_only(NO_PLACES)
_TAPE = read_only(NO_SEGMENTS), read_only(NO_OPERANDS), _READ, _PLACES, _READ


def _native(module: str, name: str, *example: Any) -> Native:
    return Native(KERNELS, f"{_HERE}.{module}:{name}", *example)


run = _native("tape", "run", NO_VALUES, *_TAPE)
_COMPLEX = np.zeros(0, dtype=np.complex128)
# complex quotients raise whatever the error model, real ones give what has no value
complex_run = Native(
    KERNELS,
    f"{_HERE}.tape:run",
    _COMPLEX,
    *_TAPE,
    name="complex_run",
    raises=ZeroDivisionError,
)
evaluate_each = _native("series.running", "evaluate_each", 0, NOTHING, _READ, _READ_ROWS, _ROWS)
rk4_step = _native("series.running", "rk4_step", 0, NOTHING, 0.0, 0.0, _READ, *3 * (NO_VALUES,))
attempt = _native("series.stepping", "attempt", 0, NO_ATTEMPT, 0.0, 0.0)
terms = _native("series.stepping", "terms", 0, NO_ATTEMPT, 0.0, 0.0)
inside = _native("series.stepping", "inside", _READ_ROWS, _READ, 0.0, 0.0, _READ, _ROWS)
normalise = _native("series.projection", "normalise", _PLACES, NO_VALUES)
measure = _native("series.projection", "measure", 0, NO_PROJECTION, 0.0, NO_VALUES)
project = _native(
    "series.projection", "project", 0, NO_PROJECTION, 0.0, NO_VALUES, 0.0, 0.0, NO_VALUES
)
project_each = _native(
    "series.projection", "project_each", 0, NO_PROJECTION, _READ, _ROWS, 0, 0.0, 0.0, NO_VALUES
)
write_rows = _native(
    "series.rows", "write_rows", 0, NO_SIGNALS, _READ, _READ_ROWS, _ROWS, 0.0, _ROWS
)


def interpreter() -> int:
    """Address of `run` on float64 workspaces, for the kernels that run tapes."""
    return run.address


def complex_interpreter() -> int:
    """Of the same on complex128 workspaces, as some analyses and implicit methods need it."""
    return complex_run.address
