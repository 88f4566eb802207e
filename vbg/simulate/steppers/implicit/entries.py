"""The kernels of the implicit method that Python calls, and the plan of a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.machine import NO_PLACES, NO_VALUES, NOTHING, Reader
from vbg.plumbing.kernels.native import Native, Plan, read_only
from vbg.simulate.steppers.implicit.sources import KERNELS

Array = NDArray[np.float64]
ROWS = np.zeros((0, 0))


class _Fill(NamedTuple):
    row_of: NDArray[np.int64]
    column_of: NDArray[np.int64]
    begin: NDArray[np.int64]
    diagonal: NDArray[np.int64]
    column: NDArray[np.int64]
    given: NDArray[np.int64]
    to: NDArray[np.int64]
    source: NDArray[np.int64]
    shifted: NDArray[np.int64]


class Fill(_Fill, Plan):
    """Where the factors of sparse z - J are not zero, n states.

    row_of, column_of : (n,) the row and the column that those of a state become.
    begin : (n + 1,) where the places of each row begin; diagonal : (n,) the place on it.
    column : (places,) of each place, growing within a row.
    given : (n + 1,) where the entries of J begin in `to`, their columns, and `source`, their places
        among the entries of J, for each row.
    shifted : (n,) the column of z in each row."""


NO_FILL = Fill(*9 * (NO_PLACES,))


class _Step(NamedTuple):
    rate: Reader
    fill: Fill
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
    embedded: Array
    row_re: Array
    row_im: Array
    found: Array


class Step(_Step, Plan):
    """A step of s stages, m shifts, n states: the coefficients of its `collocation.Method`, J by
    columns (n n,), or the entries of a sparse one that has a `fill`, room for m matrices `re` and
    `im` with `pivots` (m, n), the state y, the rate f there and the tolerances (n,), the stages Z,
    and room besides: F, defect, change (s, n), the others (n,).  `found` (4,): see
    `kernels.steps.attempt`."""


NO_STEP = Step(
    NOTHING,
    NO_FILL,
    NO_VALUES,
    ROWS,
    *2 * (NO_VALUES,),
    *4 * (ROWS,),
    *4 * (NO_VALUES,),
    np.zeros((0, 0), dtype=np.int64),
    *4 * (NO_VALUES,),
    *4 * (ROWS,),
    *7 * (NO_VALUES,),
)
_READ, _READ_ROWS = read_only(NO_VALUES), read_only(ROWS)


_COMPLEX = NOTHING._replace(work=np.zeros(8, dtype=np.complex128))


def _native(name: str, *example: Any) -> Native:
    return Native(KERNELS, f"vbg.simulate.steppers.implicit.kernels.steps:{name}", *example)


derivatives = _native("derivatives", 0, _COMPLEX, 0.0, _READ, read_only(NO_PLACES), ROWS)
attempt = _native("attempt", 0, NO_STEP, _READ_ROWS, 0.0, 0.0, 0, 0, 0.0, 0.0)
inside = _native("inside", _READ_ROWS, _READ, _READ, 0.0, 0.0, _READ, ROWS)
beyond = _native("beyond", _READ_ROWS, _READ, ROWS)
