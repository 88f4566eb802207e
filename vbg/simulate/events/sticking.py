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
OWN = 1e-8  # of its own entry, where that is little beside the largest
ROUNDED = 1e-6  # of what makes an acceleration: less is none
WITHOUT_GRIP = 1e-9  # of the growth of a speed: what a friction takes off it, or rounding
PIVOTS = 200  # exchanges for each friction
ALONE = 1e-9  # of the largest eigenvalue: a smaller one belongs to shares that change nothing
TINY = np.finfo(float).tiny
NOISE = 100.0  # times what A and its transpose differ by, which may look like an eigenvalue


def held(A: Array, b: Array, ahead: Array, back: Array) -> tuple[Modes, Array, bool]:
    """1 for each that goes ahead, -1 back, 0 held, which may take all that it can; f; and whether
    that is the optimum.

    Those without a grip go where they are pushed: an open clutch, and what has an extremum while
    the linkage moves on, as the slide of a slider-crank at its dead centre."""
    power = np.diag(A) * (ahead + back)
    able = power > WITHOUT_GRIP * np.abs(b)
    f, found = np.zeros(len(b)), True
    if able.any():
        D, Q = _scaled(A, ahead, back, able)
        largest = float(np.diag(Q).max())
        regular = Q / largest
        regular += np.diag(np.minimum(SHARING, OWN * np.diag(regular)))
        push = D * b[able] / largest
        shares, found = _optimum(regular, push, -ahead[able] / D, back[able] / D)
        f[able] = D * shares
    growth = A @ f + b
    stays = able & (np.abs(growth) <= ROUNDED * (power + np.abs(b)))
    goes = np.where(stays, 0.0, np.sign(growth))
    modes = np.nan_to_num(goes).astype(np.intp)  # the next step tells of a law without a slope
    return modes, f, found


def alone(A: Array, f: Array, ahead: Array, back: Array, modes: Modes) -> Modes:
    """The same modes, but of those held by the efforts f as few as hold without help, and these as
    far from their limits as can be; the others are at theirs (1 or -1)."""
    free = np.flatnonzero((modes == 0) & (np.maximum(ahead, back) > 0.0))  # others have no share
    if not free.size:
        return modes
    D = np.maximum(ahead, back)[free]
    room = np.stack([-ahead[free], back[free]], axis=1) / D[:, None]
    share = np.clip(f[free] / D, room[:, 0], room[:, 1])
    idle = _idle(A[np.ix_(free, free)], D)
    if not idle.shape[1]:
        return modes
    ways = np.concatenate([np.eye(len(free)), -np.eye(len(free))])
    found = [_outward(idle, share, room, way) for way in ways]
    modes = modes.copy()
    modes[free], _ = max(found, key=lambda reached: _slack(reached[0], reached[1], room))
    return modes


def _idle(A: Array, D: Array) -> Array:
    """Orthonormal directions of shares, in units of what each can hold, that change no
    acceleration.  Each effort counts by what it does where it acts, sqrt(A_ii): a clutch that has
    just begun to close is none of them for being weak."""
    own = np.sqrt(np.maximum(np.diag(A), 0.0))
    unit = np.divide(1.0, own, out=np.zeros(len(own)), where=own > 0.0)
    C = unit[:, None] * A * unit
    values, vectors = np.linalg.eigh(0.5 * (C + C.T))
    least = max(ALONE, NOISE * float(np.abs(C - C.T).max()))
    efforts = vectors[:, values <= least * values[-1]]
    shares = efforts * (np.where(unit > 0.0, unit, 1.0) / D)[:, None]
    return np.linalg.qr(shares / np.maximum(np.abs(shares).max(axis=0), TINY))[0]


def _outward(idle: Array, share: Array, room: Array, way: Array) -> tuple[Modes, Array]:
    """Which are at their limits, and the shares, once nothing is left of the `idle` directions,
    which change no acceleration: along them shares grow the `way` that is wanted, one after
    another until it is at its limit."""
    share, modes = share.copy(), np.zeros(len(share), dtype=np.intp)
    while idle.shape[1]:
        along = idle @ (idle.T @ np.where(modes == 0, way, 0.0))
        if np.abs(along).max() <= ALONE:
            along = idle[:, 0] * (1.0 if idle[:, 0] @ share >= 0.0 else -1.0)
        along[modes != 0] = 0.0
        limits = np.where(along > 0.0, room[:, 1], room[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(np.abs(along) > ALONE, (limits - share) / along, np.inf)
        first = int(np.argmin(length))
        share = np.clip(share + length[first] * along, room[:, 0], room[:, 1])
        share[first], modes[first] = limits[first], -1 if along[first] > 0.0 else 1
        turned = np.linalg.svd(idle[first : first + 1])[2]
        idle = idle @ turned[1:].T  # directions that do not move that one
    return modes, share


def _slack(modes: Modes, share: Array, room: Array) -> float:
    """How far those that hold are from their limits."""
    holds = modes == 0
    return float(np.minimum(room[:, 1] - share, share - room[:, 0]).min(initial=1.0, where=holds))


def _scaled(A: Array, ahead: Array, back: Array, those: NDArray[np.bool_]) -> tuple[Array, Array]:
    """What each of `those` can hold, and A between them in these units, symmetric."""
    D = np.maximum(ahead, back)[those]
    Q = D[:, None] * A[those][:, those] * D
    return D, 0.5 * (Q + Q.T)


def _optimum(Q: Array, c: Array, lower: Array, upper: Array) -> tuple[Array, bool]:
    """f by exchanges of the first that is wrong (K. Murty, Opsearch 11, 1974), which end as Q is
    positive definite; False where they have not after PIVOTS each."""
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
            return np.clip(f, lower, upper), True
        first = int(np.flatnonzero(wrong)[-1])
        at[first] = 0 if at[first] else (1 if f[first] < lower[first] else -1)
    return np.clip(f, lower, upper), False
