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
ALONE = 1e-9  # of the largest eigenvalue: a smaller one belongs to shares that change nothing
NOISE = 100.0  # times what A and its transpose differ by, which may look like an eigenvalue


def held(A: Array, b: Array, ahead: Array, back: Array) -> tuple[Modes, Array]:
    """1 for each that goes ahead, -1 back, 0 held, which may take all that it can; and f.

    Those without a grip go where they are pushed: an open clutch, and what has an extremum while
    the linkage moves on, as the slide of a slider-crank at its dead centre."""
    power = np.diag(A) * (ahead + back)
    able = power > WITHOUT_GRIP * np.abs(b)
    f = np.zeros(len(b))
    if able.any():
        D, Q, _ = _scaled(A, ahead, back, able)
        largest = float(np.diag(Q).max())
        regular = Q / largest + SHARING * np.eye(len(D))
        f[able] = D * _optimum(regular, D * b[able] / largest, -ahead[able] / D, back[able] / D)
    growth = A @ f + b
    stays = able & (np.abs(growth) <= ROUNDED * (power + np.abs(b)))
    return np.where(stays, 0, np.sign(growth)).astype(np.intp), f


def alone(A: Array, f: Array, ahead: Array, back: Array, modes: Modes) -> Modes:
    """The same modes, but of those held by the efforts f as few as hold without help: shares move
    along what changes no acceleration until one of them is all that its friction can hold, which
    that one then keeps (1 or -1), if possible the way it holds already: on the other one it would
    be a load on the others; what these have to hold stays within their limits."""
    f, modes = np.array(f), modes.copy()
    while (free := np.flatnonzero(modes == 0)).size:
        D, Q, noise = _scaled(A, ahead, back, free)
        values, vectors = np.linalg.eigh(Q)
        if not values[0] <= max(ALONE, NOISE * noise) * values[-1]:
            break
        ways = [
            _until(f[free], way * D * vectors[:, 0], ahead[free], back[free]) for way in (1, -1)
        ]
        first, moved = min(ways, key=lambda way: f[free][way[0]] * way[1][way[0]] < 0.0)
        f[free] = moved
        modes[free[first]] = -1 if moved[first] > 0.0 else 1
    return modes


def _until(f: Array, z: Array, ahead: Array, back: Array) -> tuple[int, Array]:
    """Which of f is the first at its limit on the way along z, and f there."""
    limits = np.where(z > 0.0, back, -ahead)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(z != 0.0, (limits - f) / z, np.inf)
    first = int(np.argmin(room))
    length = float(room[first])  # infinite where none can hold anything
    moved = f + (max(length, 0.0) * z if np.isfinite(length) else 0.0)
    moved[first] = limits[first]
    return first, moved


def _scaled(
    A: Array, ahead: Array, back: Array, those: NDArray[np.intp] | NDArray[np.bool_]
) -> tuple[Array, Array, float]:
    """What each of `those` can hold, A between them in these units, symmetric, and its noise over
    the largest entry: that of accelerations, which light bodies or short ones have much of."""
    D = np.maximum(ahead, back)[those]
    Q = D[:, None] * A[those][:, those] * D
    largest = float(np.abs(Q).max())
    noise = float(np.abs(Q - Q.T).max()) / largest if largest > 0.0 else 0.0
    return D, 0.5 * (Q + Q.T), noise


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
