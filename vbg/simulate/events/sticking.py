"""Which of several dry frictions at rest hold, and which way the others go.

At rest the speeds v of n frictions grow by v' = A f + b: f (n,) their efforts, A = J M^-1 J^T what
these do to each other, b the growth without any.  Dry friction resists what moves: f = -ahead where
v' > 0, back where v' < 0, between the two where v' = 0, which is the optimum of

    1/2 f A f + b f    with    -ahead <= f <= back

(J. J. Moreau, in Nonsmooth Mechanics and Applications, 1988: least power).  v' is unique.  f is
where A is regular; in a linkage of mobility 1 with dry joints A has rank 1, and any shares with the
right sum hold: those are taken that use least of what each can hold (least squares).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Modes = NDArray[np.intp]

SHARING = 1e-10  # of the largest entry of A, in units of what each can hold: which shares are taken
ROUNDED = 1e-6  # of what makes an acceleration: less is none
WITHOUT_GRIP = 1e-9  # of the growth of a speed: what a friction takes off it, or rounding
PIVOTS = 200  # exchanges for each friction


def held(A: Array, b: Array, ahead: Array, back: Array) -> Modes:
    """1 for each that goes ahead, -1 back, 0 held, which may take all that it can.

    Those without a grip go where they are pushed: an open clutch, and what has an extremum while
    the linkage moves on, as the slide of a slider-crank at its dead centre."""
    power = np.diag(A) * (ahead + back)
    able = power > WITHOUT_GRIP * np.abs(b)
    f = np.zeros(len(b))
    if able.any():
        D = np.maximum(ahead, back)[able]
        Q = D[:, None] * A[np.ix_(able, able)] * D
        Q = 0.5 * (Q + Q.T)
        largest = float(np.diag(Q).max())
        regular = Q / largest + SHARING * np.eye(len(D))
        f[able] = D * _optimum(regular, D * b[able] / largest, -ahead[able] / D, back[able] / D)
    growth = A @ f + b
    stays = able & (np.abs(growth) <= ROUNDED * (power + np.abs(b)))
    return np.where(stays, 0, np.sign(growth)).astype(np.intp)


def _optimum(Q: Array, c: Array, lower: Array, upper: Array) -> Array:
    """f by exchanges of the first that is wrong (K. Murty, Opsearch 11, 1974),
    which end as Q is positive definite."""
    n = len(c)
    at = np.zeros(n, dtype=np.intp)
    f = np.zeros(n)
    for _ in range(PIVOTS * n):
        free = at == 0
        f = np.where(at > 0, lower, np.where(at < 0, upper, 0.0))
        f[free] = np.linalg.solve(Q[np.ix_(free, free)], -(c + Q @ f)[free])
        growth = Q @ f + c
        wrong = (free & ((f < lower) | (f > upper))) | (~free & (at * growth < 0.0))
        if not wrong.any():
            break
        first = int(np.flatnonzero(wrong)[-1])
        at[first] = 0 if at[first] else (1 if f[first] < lower[first] else -1)
    return np.clip(f, lower, upper)
