"""The kernels of the implicit method that Python calls, and the plan of a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.machine import Reader
from vbg.assemble.program.machine.plans import NO_PLACES, NO_VALUES, NOTHING
from vbg.plumbing.native import Native, Plan, read_only
from vbg.simulate.steppers.implicit.sources import KERNELS

Array = NDArray[np.float64]
ROWS = np.zeros((0, 0))


class _Step(NamedTuple):
    rate: Reader
    c: Array
    A: Array
    shifts_re: Array
    shifts_im: Array
    into_re: Array
    into_im: Array
    back_re: Array
    back_im: Array
    error: Array
    J: Array
    re: Array
    im: Array
    pivots: NDArray[np.int64]
    y: Array
    f: Array
    atol: Array
    rtol: Array
    Z: Array
    F: Array
    defect: Array
    change: Array
    scale: Array
    u_re: Array
    u_im: Array
    found: Array


class Step(_Step, Plan):
    """A step of s stages, m shifts, n states: the coefficients of its `collocation.Method`, J by
    columns (n n,), room for m matrices `re` and `im` (m n n,) with `pivots` (m, n), the state y,
    the rate f there and the tolerances (n,), the stages Z, and room besides: F, defect, change
    (s, n), scale, u_re, u_im (n,).  `found` (4,): see `kernels.attempt`."""


NO_STEP = Step(
    NOTHING,
    NO_VALUES,
    ROWS,
    *2 * (NO_VALUES,),
    *4 * (ROWS,),
    *4 * (NO_VALUES,),
    np.zeros((0, 0), dtype=np.int64),
    *4 * (NO_VALUES,),
    *4 * (ROWS,),
    *4 * (NO_VALUES,),
)
_READ, _READ_ROWS = read_only(NO_VALUES), read_only(ROWS)


_COMPLEX = NOTHING._replace(work=np.zeros(8, dtype=np.complex128))


def _native(name: str, *example: Any) -> Native:
    return Native(KERNELS, f"vbg.simulate.steppers.implicit.kernels:{name}", *example)


derivatives = _native("derivatives", 0, _COMPLEX, 0.0, _READ, read_only(NO_PLACES), ROWS)
attempt = _native("attempt", 0, NO_STEP, _READ_ROWS, 0.0, 0.0, 0, 0, 0.0, 0.0)
inside = _native("inside", _READ_ROWS, _READ, _READ, 0.0, 0.0, _READ, ROWS)
beyond = _native("beyond", _READ_ROWS, _READ, ROWS)
