"""Free motions of z' = A z: poles at zero, and what is left without them.

A v = 0 is decided by elimination with complete pivoting on rows and columns of one size, each entry
with the error that its own and those of the pivots leave in it (running error analysis:
J. Wilkinson, SIAM Review 13, 1971): what remains is zero if no entry of it is larger than its
error.  With the null vectors N = [N1; I] of places a and b, w = z_a - N1 z_b moves by itself,

    w' = (A_aa - N1 A_ba) w,    z_b' = A_ba w,

and a chain of zeros (a place whose speed is free) is found there again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Places = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
DIGITS = 4.0  # last digits that an entry may be off by
EVEN = 4  # passes that bring rows and columns to one size


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Places a and b, N1 (a, b) and A_ba."""

    moving: Places
    free: Places
    ratio: Array
    drift: Array


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """`A` of w without poles at zero, behind the `levels`."""

    A: Array
    levels: tuple[Level, ...]

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


def without_free(A: Array, error: Array) -> Reduced:
    """A (n, n), its entries known to `error` and their last digits, without its poles at zero."""
    levels: list[Level] = []
    error = error + DIGITS * EPS * np.abs(A)
    while len(A) and (level := _level(A, error)) is not None:
        a, b = level.moving, level.free
        error = _inner(error, a, a) + np.abs(level.ratio) @ _inner(error, b, a)
        A = _inner(A, a, a) - level.ratio @ level.drift
        levels.append(level)
    return Reduced(A, tuple(levels))


def _inner(of: Array, rows: Places, columns: Places) -> Array:
    return np.asarray(of[np.ix_(rows, columns)])


def _column(level: Level, size: int, y: Array) -> Array:
    found = np.zeros((size, y.shape[1]))
    found[level.free], found[level.moving] = y, level.ratio @ y
    return found


def _level(A: Array, error: Array) -> Level | None:
    """The null space of A, None where there is none."""
    from scipy.linalg import solve_triangular

    n, (rows, columns) = len(A), _even(A)
    U, off = A / rows[:, None] / columns, error / rows[:, None] / columns
    order, k = np.arange(n), 0
    while k < n:
        sure = np.where(np.abs(U[k:, k:]) > off[k:, k:], np.abs(U[k:, k:]), 0.0)
        i, j = (k + int(place) for place in divmod(int(np.argmax(sure)), n - k))
        if sure[i - k, j - k] == 0.0:
            break
        for part in (U, off):
            part[[k, i]] = part[[i, k]]
            part[:, [k, j]] = part[:, [j, k]]
        order[[k, j]] = order[[j, k]]
        _eliminate(U, off, k)
        k += 1
    if k == n:
        return None
    a, b = order[:k], order[k:]
    ratio = -solve_triangular(U[:k, :k], U[:k, k:]) if k else np.zeros((0, n))
    sizes = columns[b] / columns[a][:, None]
    return Level(a, b, ratio * sizes, _inner(A, b, a))


def _eliminate(U: Array, off: Array, k: int) -> None:
    """Column k below the pivot, with the errors that this leaves."""
    pivot, below, beside = U[k, k], U[k + 1 :, k] / U[k, k], U[k, k + 1 :].copy()
    moved, sure = np.outer(below, beside), off[k, k] / abs(pivot) + EPS
    off[k + 1 :, k + 1 :] += (
        np.outer(np.abs(below), off[k, k + 1 :])
        + np.outer(off[k + 1 :, k] / abs(pivot), np.abs(beside))
        + sure * np.abs(moved)
    )
    U[k + 1 :, k + 1 :] -= moved
    U[k + 1 :, k] = 0.0


def _even(A: Array) -> tuple[Array, Array]:
    """Sizes of rows and columns that leave largest entries near 1 in all."""
    rows, columns = np.ones(len(A)), np.ones(len(A))
    for _ in range(EVEN):
        largest = (np.abs(A) / rows[:, None] / columns).max(axis=1)
        rows *= np.sqrt(np.where(largest > 0.0, largest, 1.0))
        largest = (np.abs(A) / rows[:, None] / columns).max(axis=0)
        columns *= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return rows, columns
