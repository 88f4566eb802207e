"""Poles of z' = S z, slow ones beside fast ones and zeros of free motions with all their digits.

Zeros, chains of them too, are taken out first, one direction S v = 0 after the other: with
z_i - (v_i / v_p) z_p as the other coordinates, an elimination, fast and slow rows stay apart.  S is
regular if no matrix within the errors E of its entries is singular, which is so if the spectral
radius of |S^-1| E is below 1 (J. Demmel, SIAM J. Matrix Anal. Appl. 13, 1992).  Eigenvalues of S
are as good as the largest is, those of its inverse as good as the smallest, so that each half comes
from the one that serves it.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.rotation import Array

SLOW = 1e-4  # of the largest pole: rounding of entries may make smaller ones
NOTHING = 1e-24  # of the largest pole: below, squares of last digits
DIGITS = 16.0  # times n and the last digit of an entry: what its row is computed to
SERVES = 1e6  # times the smallest pole, or below the largest: what either is good to
BESIDE, ITERATIONS = 1e-6, 4
PARTED = 1.001  # times the size: poles of more are not conjugate
EVEN = 4  # passes that bring rows and columns to one size


def may_be_rounding(S: Array) -> bool:
    """Whether S has poles so small beside the largest one that rounding may have made them."""
    sizes = np.abs(np.linalg.eigvals(S)) if len(S) else np.ones(1)
    return bool(sizes.min() <= SLOW * sizes.max())


def poles_of(S: Array, off: Array) -> Array:
    """Eigenvalues [1/s] of S (n, n), by size; each entry may be `off` by so much."""
    from scipy.linalg import matrix_balance

    left, T = matrix_balance(np.where(np.abs(S) > off, S, 0.0), permute=False)
    unsure = off / np.diag(T)[:, None] * np.diag(T)
    nothing = 0
    while len(left) and not _is_regular(left, unsure):
        v = _direction(left)
        p = int(np.argmax(np.abs(v)))
        others = np.arange(len(left)) != p
        share = (v / v[p])[others]
        rows, row = left[others][:, others], left[p, others]
        last = DIGITS * len(left) * np.finfo(float).eps
        off_v = (unsure + last * np.abs(left)) @ np.abs(v / v[p])
        off_share = np.abs(np.linalg.pinv(rows, rcond=last)) @ off_v[others]
        unsure = unsure[others][:, others] + np.outer(np.abs(share), unsure[p, others])
        unsure += np.outer(off_share + last * np.abs(share), np.abs(row)) + last * np.abs(rows)
        left, nothing = rows - np.outer(share, row), nothing + 1
    values = np.concatenate([np.zeros(nothing), _graded(left)])
    values[np.abs(values) <= NOTHING * np.abs(values).max(initial=0.0)] = 0.0
    return np.asarray(values[np.lexsort((values.imag, np.abs(values)))] + 0.0, dtype=complex)


def _is_regular(S: Array, off: Array) -> bool:
    from scipy.linalg import lu

    rows, columns = _even(S)
    even = S / rows[:, None] / columns
    L, U = lu(even, permute_l=True)
    try:
        inverse = np.linalg.inv(even)
    except np.linalg.LinAlgError:
        return False
    lost = DIGITS * len(S) * np.finfo(float).eps * (np.abs(L) @ np.abs(U))
    moved = np.abs(inverse) @ (off / rows[:, None] / columns + lost)
    return bool(np.all(np.isfinite(moved)) and np.abs(np.linalg.eigvals(moved)).max() < 1.0)


def _direction(S: Array) -> Array:
    """The direction that S moves least, rows and columns of one size."""
    rows, columns = _even(S)
    _, _, right = np.linalg.svd(S / rows[:, None] / columns)
    v = right[-1]
    seen = np.abs(v) > DIGITS * len(S) * np.finfo(float).eps
    return np.asarray(np.where(seen, v, 0.0) / columns)


def _even(S: Array) -> tuple[Array, Array]:
    """Sizes of rows and columns that leave largest entries of 1 in all."""
    rows, columns = np.ones(len(S)), np.ones(len(S))
    for _ in range(EVEN):
        even = np.abs(S) / rows[:, None] / columns
        rows *= _root(even.max(axis=1))
        columns *= _root(even.max(axis=0))
    return rows, columns


def _root(sizes: Array) -> Array:
    return np.sqrt(np.where(sizes > 0.0, sizes, 1.0))


def _graded(S: Array) -> Array:
    """Eigenvalues of a regular S: the k smallest of its inverse and the n - k largest of its own, k
    next to the middle of all decades where it parts no pair of one size."""
    if not len(S):
        return np.zeros(0, dtype=complex)
    fast = _by_size(np.linalg.eigvals(S).astype(complex))
    times = np.linalg.eigvals(np.linalg.inv(S)).astype(complex)
    slow = _by_size(1.0 / times[times != 0.0])
    least, most, count = abs(slow[0]), abs(fast[-1]), len(slow)
    if least > SLOW * most:
        return fast
    above = np.append(np.abs(fast), np.inf)[1 : count + 1]
    parted = above > PARTED * np.abs(slow)
    off_middle = np.abs(
        np.log(np.abs(slow)) + np.log(np.minimum(above, most)) - np.log(least * most)
    )
    if not parted.any():
        return fast
    k = 1 + int(np.argmin(np.where(parted, off_middle, np.inf)))
    values = np.concatenate([slow[:k], fast[k:]])
    between = (np.abs(values) > SERVES * least) & (np.abs(values) * SERVES < most)
    values[between] = [_closed_in(S, value) for value in values[between]]
    return values


def _by_size(values: Array) -> Array:
    return np.asarray(values[np.argsort(np.abs(values), kind="stable")])


def _closed_in(S: Array, value: complex) -> complex:
    """An eigenvalue of S by inverse iteration beside it."""
    near = value * (1.0 + BESIDE)
    z = np.random.default_rng(len(S)).standard_normal(len(S)).astype(complex)
    for _ in range(ITERATIONS):
        found = np.linalg.solve(S - near * np.eye(len(S)), z)
        place = int(np.argmax(np.abs(found)))
        change = z[place] / found[place]
        z = found / found[place]
    return complex(near + change)
