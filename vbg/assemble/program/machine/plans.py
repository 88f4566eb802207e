"""What the kernels that run tapes are given: programs, and where in them things are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbg.plumbing.kernels.native import Plan

LOST = 1e300  # condition where a row that is kept has no pivot any more
CLOSED, MOVED, WANTS_CORRECTION = 0, 1, 2  # what `project` says


class _Reader(NamedTuple):
    work: NDArray[Any]
    segments: NDArray[Any]
    operands: NDArray[Any]
    factors: NDArray[Any]
    stream: NDArray[Any]
    kept: NDArray[np.float64]
    first: int
    last: int


class Reader(_Reader, Plan):
    """What compiled code needs to run a program: its workspace, what the interpreter reads,
    and where its outputs stand, one behind the other."""


NO_PLACES, NO_VALUES = np.zeros(0, dtype=np.int64), np.zeros(0)
NO_OPERANDS = np.zeros(0, dtype=np.int32)
NO_SEGMENTS = np.zeros((0, 13), dtype=np.int64)
NOTHING = Reader(
    np.zeros(8), NO_SEGMENTS, NO_OPERANDS, NO_VALUES, NO_PLACES, NO_VALUES, first=0, last=0
)
"""A program that does nothing."""


class _Projection(NamedTuple):
    measure: Reader
    residual: Reader
    correction: Reader
    quaternions: NDArray[Any]
    measured: NDArray[Any]
    period: NDArray[Any]
    posture_from: NDArray[Any]
    posture_to: NDArray[Any]
    velocity_from: NDArray[Any]
    velocity_to: NDArray[Any]
    lengths: NDArray[np.float64]
    rows: int


class Projection(_Projection, Plan):
    """Programs and places of a projection.

    `measure` gives the joint coordinates of the posture, which stand in x at `measured` and
    have the periods `period` (0: none); `residual` the `rows` position residuals and as many of
    velocity; `correction`, where it is lowered, steps of states for a right-hand side: words
    `posture_from` of its workspace belong to `posture_to` of x, likewise `velocity_*`.
    `quaternions`: where these begin in x.  `lengths` (rows,): what residuals are divided by before
    they are compared with tolerances.
    """


NO_PROJECTION = Projection(
    *3 * (NOTHING,), NO_PLACES, NO_PLACES, NO_VALUES, *4 * (NO_PLACES,), NO_VALUES, rows=0
)


class _Tableau(NamedTuple):
    weights: NDArray[np.float64]
    nodes: NDArray[np.float64]
    fifth: NDArray[np.float64]
    third: NDArray[np.float64]
    dense: NDArray[np.float64]


class Tableau(_Tableau, Plan):
    """Coefficients of Dormand and Prince's method, as in `vbg.plumbing.dormand_prince`."""


class _Pivots(NamedTuple):
    inverse: NDArray[Any]
    diagonal: NDArray[Any]
    rows: NDArray[Any]


class Pivots(_Pivots, Plan):
    """Places in a workspace of the inverse pivots of its constraint matrix and of the diagonal
    before, and the numbers of their rows."""


NO_PIVOTS = Pivots(NO_PLACES, NO_PLACES, NO_PLACES)


class _Signals(NamedTuple):
    rate: Reader
    outputs: Reader
    residual: Reader
    pivots: Pivots
    units: NDArray[Any]
    lengths: NDArray[np.float64]
    worst: NDArray[np.float64]
    gate: NDArray[np.float64]


class Signals(_Signals, Plan):
    """Programs of a row: `rate` gives the rates of all states and behind them the constraint
    efforts, `outputs` the signals from state, time and these, `residual` the residuals of
    position and velocity.  `pivots`: those of the rate.  `units`, one for each velocity residual:
    0 for a speed, else the unit of what must vanish between dependent stores.  `worst`: the largest
    gap and the largest speed of all rows so far, divided by `lengths`.  `gate`: which rows are
    told of, numbers as Gate has them."""


class Gate(NamedTuple):
    """A row that is open by c, at a condition K, is told of where `share` c K^2 exceeds `limit` and
    K `far` times `regular`, the least of all rows so far, or K `near`, or its largest effort times
    length `loaded`.  Openings are at least `rounding`; a velocity residual counts for `pace` [s]
    times as much.  `largest`: that of the efforts of the rows that are not told of."""

    share: float = 0.0
    near: float = np.inf
    loaded: float = np.inf
    rounding: float = 0.0
    pace: float = 0.0
    limit: float = np.inf
    largest: float = 0.0
    regular: float = np.inf
    far: float = 0.0


SHARE, NEAR, LOADED, ROUNDING, PACE, LIMIT, LARGEST, REGULAR, FAR = range(9)

NO_SIGNALS = Signals(
    NOTHING, NOTHING, NOTHING, NO_PIVOTS, NO_VALUES, NO_VALUES, NO_VALUES, NO_VALUES
)


class _Attempt(NamedTuple):
    rate: Reader
    tableau: Tableau
    pivots: Pivots
    K: NDArray[np.float64]
    x: NDArray[np.float64]
    end: NDArray[np.float64]
    F: NDArray[np.float64]
    atol: NDArray[np.float64]
    rtol: NDArray[np.float64]
    found: NDArray[np.float64]


class Attempt(_Attempt, Plan):
    """A step of that method: its stages K (16, n) from the state x to `end`, F (7, n) the terms
    of its polynomial, `atol` and `rtol` (n,); `found`: the error over the tolerance and the
    condition of the constraint matrix at the end of the step."""


NO_ATTEMPT = Attempt(
    NOTHING,
    Tableau(np.zeros((0, 0)), NO_VALUES, NO_VALUES, NO_VALUES, np.zeros((0, 0))),
    NO_PIVOTS,
    np.zeros((0, 0)),
    NO_VALUES,
    NO_VALUES,
    np.zeros((0, 0)),
    NO_VALUES,
    NO_VALUES,
    np.zeros(2),
)
