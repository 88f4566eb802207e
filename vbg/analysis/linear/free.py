"""Free motions of z' = A z: poles at zero, and what is left without them.

A v = 0 is decided by elimination with complete pivoting on rows and columns of one size, of A and
of copies of it that rounding might have made, all by the same pivots: what remains is zero if none
of it is larger than what it differs by between these (stochastic arithmetic: J. Vignes, Mathematics
and Computers in Simulation 35, 1993), or if the largest pivot d would spread rounding e of its
column and f of its row, e f > d^2, over others that are known.  With the null vectors N = [N1; I]
of places a and b,
w = z_a - N1 z_b moves by itself,

    w' = (A_aa - N1 A_ba) w,    z_b' = A_ba w,

and a chain of zeros (a place whose speed is free) is found there again, in the copies, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Places = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
COPIES = 6
SPREAD = 10.0  # times the largest difference of a copy: rounding is no larger
EVEN = 4  # passes that bring rows and columns to one size


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Places a and b, N1 (k, a, b) and A_ba (k, b, a), of A and its copies."""

    moving: Places
    free: Places
    ratios: Array
    drifts: Array

    @property
    def ratio(self) -> Array:
        return np.asarray(self.ratios[0])

    @property
    def drift(self) -> Array:
        return np.asarray(self.drifts[0])


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """`copies` of the matrix of w, the first of them `A`, without poles at zero, behind the
    `levels`."""

    copies: Array
    levels: tuple[Level, ...]

    @property
    def A(self) -> Array:
        return np.asarray(self.copies[0])

    @property
    def size(self) -> int:
        """Of the matrix with its poles at zero."""
        return len(self.A) + sum(len(level.free) for level in self.levels)

    @property
    def zeros(self) -> Array:
        """The eigenvectors of the poles at zero, one for each, those of chains again (n, count)."""
        found, size = [np.zeros((len(self.A), 0))], len(self.A)
        for level in reversed(self.levels):
            size = len(level.moving) + len(level.free)
            heads = np.hstack([level.drift @ each for each in found])
            lost = ~heads.any(axis=0)  # of a motion that is free but for what rounding has hidden
            heads[:, lost] = np.eye(len(level.free))[:, :1]
            found = [_column(level, size, heads), _column(level, size, np.eye(len(level.free)))]
        return np.hstack(found)

    def span(self, copy: int, also: Array) -> Array:
        """A basis (n, count) of all motions whose poles are zero, of one of the copies of A, and of
        those w in `also`."""
        found = also
        for level in reversed(self.levels):
            a, b = level.moving, level.free
            whole = np.zeros((len(a) + len(b), len(b) + found.shape[1]))
            whole[b, np.arange(len(b))] = 1.0
            whole[a, : len(b)], whole[a, len(b) :] = level.ratios[copy], found
            found = whole
        return found

    def fast(self, copy: int) -> Array:
        """A basis (n, r) of all other motions: those of w, and what they make of z_b."""
        if not len(self.A):
            return np.zeros((self.size, 0))
        found: Array = np.eye(len(self.A))
        back = np.asarray(np.linalg.inv(self.copies[copy]), dtype=float)
        for level in reversed(self.levels):
            whole = np.zeros((len(level.moving) + len(level.free), found.shape[1]))
            whole[level.free] = level.drifts[copy] @ found @ back
            whole[level.moving] = found + level.ratios[copy] @ whole[level.free]
            found = whole
        return found

    def right(self, value: complex, w: Complex) -> Complex:
        """The eigenvector z of w, A w = value w."""
        for level in reversed(self.levels):
            z = np.zeros(len(level.moving) + len(level.free), dtype=complex)
            z[level.free] = level.drift @ w / value
            z[level.moving] = w + level.ratio @ z[level.free]
            w = z
        return w

    def left(self, w: Complex) -> Complex:
        """The left eigenvector of that of w."""
        for level in reversed(self.levels):
            z = np.zeros(len(level.moving) + len(level.free), dtype=complex)
            z[level.moving], z[level.free] = w, -level.ratio.T @ w
            w = z
        return w


def without_free(copies: Array) -> Reduced:
    """The first of the `copies` (1 + k, n, n), as the others might have been it, without its poles
    at zero."""
    levels: list[Level] = []
    while copies.shape[1]:
        found = _level(copies)
        if found is None:
            break
        level, copies = found
        levels.append(level)
    return Reduced(copies, tuple(levels))


def copies_of(A: Array, samples: Array) -> Array:
    """A (n, n), off by one of the `samples` (k, n, n) and by last digits, and as rounding might
    have made it (1 + COPIES, n, n)."""
    rng = np.random.default_rng(3)
    copies = np.repeat(A[None], 1 + COPIES, axis=0)
    copies[1:] *= 1.0 + EPS * rng.standard_normal((COPIES, *A.shape))
    for k in range(COPIES if len(samples) else 0):
        copies[1 + k] += samples[k % len(samples)]
    return copies


def _level(copies: Array) -> tuple[Level, Array] | None:
    """The null space of A, and what is left of all copies without it; None where there is none."""
    n, (rows, columns) = copies.shape[1], even(copies[0])
    U, order, k = copies / rows[:, None] / columns, np.arange(n), 0
    while k < n:
        left = U[:, k:, k:]
        off = SPREAD * np.abs(left[1:] - left[0]).max(axis=0)
        sure = np.where(np.abs(left[0]) > off, np.abs(left[0]), 0.0)
        i, j = (k + int(place) for place in divmod(int(np.argmax(sure)), n - k))
        if sure[i - k, j - k] == 0.0 or _hides(sure, off, i - k, j - k):
            break
        U[:, [k, i]] = U[:, [i, k]]
        U[:, :, [k, j]] = U[:, :, [j, k]]
        order[[k, j]] = order[[j, k]]
        below = U[:, k + 1 :, k] / U[:, k, k, None]
        U[:, k + 1 :, k + 1 :] -= below[:, :, None] * U[:, k, None, k + 1 :]
        U[:, k + 1 :, k] = 0.0
        k += 1
    if k == n:
        return None
    a, b = order[:k], order[k:]
    ratios = np.array(-np.linalg.solve(np.triu(U[:, :k, :k]), U[:, :k, k:]), dtype=float)
    ratios *= columns[b] / columns[a][:, None]
    drifts = copies[:, b[:, None], a]
    return Level(a, b, ratios, drifts), copies[:, a[:, None], a] - ratios @ drifts


def _hides(sure: Array, off: Array, i: int, j: int) -> bool:
    """Whether a pivot, the largest of what is `sure` (not zero), would hide another entry behind
    what is unsure in its row and column: of two soft springs whose determinant is rounding."""
    vague = np.where(sure == 0.0, off, 0.0)
    spread = vague[:, j, None] * vague[i]
    return bool(np.any(spread[sure > 0.0] > sure[i, j] ** 2))


def _column(level: Level, size: int, y: Array) -> Array:
    found = np.zeros((size, y.shape[1]))
    found[level.free], found[level.moving] = y, level.ratio @ y
    return found


def even(A: Array) -> tuple[Array, Array]:
    """Sizes of rows and columns that leave largest entries near 1 in all."""
    rows, columns = np.ones(len(A)), np.ones(len(A))
    for _ in range(EVEN):
        largest = (np.abs(A) / rows[:, None] / columns).max(axis=1)
        rows *= np.sqrt(np.where(largest > 0.0, largest, 1.0))
        largest = (np.abs(A) / rows[:, None] / columns).max(axis=0)
        columns *= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return rows, columns
