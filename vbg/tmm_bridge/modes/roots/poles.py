"""Poles of z' = S z: zeros of free motions, slow ones beside fast ones, and what they are known to.

What depends on one another (strongly connected parts of S) has poles of its own.  Coefficients of
the characteristic polynomial are sums of products of entries: smooth, however close poles are, and
the same in all coordinates and units.  Of m poles at zero the last m are zero: no larger than they
change in copies of S that rounding might have made.  Then

    p(s) = s^m q(s) + what rounding left,

and the others are roots of p where they are larger than what rounding left has, else of q.  A root
s changes by dp(s) / p'(s), or (k! dp(s) / p^(k)(s))^(1/k) where it is k-fold; the roots of what is
left are zeros known to that only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.modes.roots.decimal_form import FEWER, Decimals, Forms
from vbg.tmm_bridge.modes.roots.polynomial import (
    Exact,
    Roots,
    characteristic,
    derivative,
    digits_for,
    exact,
    log10,
    roots,
    sizes_at,
)

Complex = NDArray[np.complex128]

EPS = float(np.finfo(float).eps)
SLOW = 1e-4  # of the largest pole or entry: rounding of entries may make smaller poles
COPIES, SPREAD = 6, 4.0  # each moved by more than what S itself may be off by
SMALL = 1e-7  # of a pole: a real or imaginary part as small, and no larger than its error, is none
SURE = 1e-8  # of a pole: what it is known to where no more digits are looked for
LAST = 10  # times what decimals round by
VAGUE = 1e-6  # of a pole: what one is known to from which it is looked for in decimals
NEAR = 1e-3  # of a pole: what one is known to from which the search for its digits begins
QUOTIENTS, BESIDE = 3, 1e-9 * (1.0 + 0.7j)  # of one pole; relative: where S less it is inverted
ALIKE = 1e-3  # relative: poles no further apart are alike
PARTED = 10.0  # times the largest that rounding left: others are known apart from it


@dataclass(frozen=True)
class Poles:
    """Eigenvalues [1/s] by size, each `known` to so much [1/s]."""

    values: Complex
    known: Array


def may_be_rounding(S: Array) -> bool:
    """Whether S has poles so small beside the largest one, or its largest entry, that rounding may
    have made them."""
    sizes = np.abs(np.linalg.eigvals(S)) if len(S) else np.ones(1)
    return bool(sizes.min() <= SLOW * max(sizes.max(), np.abs(S).max(initial=0.0)))


def poles_of(S: Array, samples: Array | None = None, decimals: Decimals | None = None) -> Poles:
    """Of S (n, n), off by one of the `samples` (k, n, n) and last digits; where these leave poles
    zero or vague, of the same form in `decimals`."""
    off = np.zeros((0, *S.shape)) if samples is None else samples
    linked = (S != 0.0) | off.any(axis=0)
    if decimals is not None:
        linked |= decimals.linked
    values, known = [np.zeros(0, dtype=complex)], [np.zeros(0)]
    for part in _parts(linked):
        one, more = S[np.ix_(part, part)], off[:, part[:, None], part]
        found = _together(one, more)
        if np.any(found.known > SURE * np.abs(found.values)):
            nonzero = bool(np.all(found.known <= NEAR * np.abs(found.values)))
            found = (_one_by_one(one, more, found) if nonzero else None) or _exact(one, more, found)
            if np.any(found.known > VAGUE * np.abs(found.values)):
                forms = None if decimals is None else decimals.forms
                found = found if forms is None else _summed(forms, part, more, found)
        values.append(found.values)
        known.append(found.known)
    every, sure = np.concatenate(values), np.concatenate(known)
    small = np.minimum(sure, SMALL * np.abs(every))
    every.real[np.abs(every.real) <= small] = 0.0
    every.imag[np.abs(every.imag) <= small] = 0.0
    order = np.lexsort((every.imag, np.abs(every)))
    return Poles(np.asarray(every[order] + 0.0, dtype=complex), sure[order])


def _parts(linked: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(linked, directed=True, connection="strong")
    return [np.flatnonzero(label == k) for k in range(count)]


def _together(S: Array, samples: Array) -> Poles:
    """All with the rounding of the largest, where they are not close to one another."""
    from scipy.linalg import eig, matrix_balance

    even, T = matrix_balance(S, permute=False)
    size = np.diag(T)
    values, left, right = eig(even, left=True)
    off = float(np.linalg.norm(np.abs(samples).max(axis=0, initial=0.0) / size[:, None] * size))
    off = SPREAD * (off + len(S) * EPS * float(np.linalg.norm(even)))
    along = np.abs((left.conj() * right).sum(axis=0))
    return Poles(values.astype(complex), off / np.maximum(along, EPS))


def _one_by_one(S: Array, samples: Array, rough: Poles) -> Poles | None:
    """Those that are not sure by two-sided Rayleigh quotients w.S v / w.v, residuals in more digits
    than S has, v and w by inverse iteration beside each (A. Ostrowski, Archive for Rational
    Mechanics and Analysis 3 (1959) 325).  None where that does not close in on poles apart from one
    another and from zero by far more than they are known to."""
    from scipy.linalg import eig, lu_factor, lu_solve, matrix_balance

    even, T = matrix_balance(S, permute=False)
    off, one = samples / np.diag(T)[:, None] * np.diag(T), np.eye(len(S))
    long, size = even.astype(np.clongdouble), np.abs(even)
    values, left, right = eig(even, left=True)
    found, known = values.astype(complex), rough.known.copy()
    for i in np.flatnonzero((known > SURE * np.abs(found)) & (found.imag >= 0.0)):
        w, v, change = left[:, i].astype(complex), right[:, i].astype(complex), np.inf
        shifted = even - found[i] * (1.0 + BESIDE) * one
        factor = lu_factor(shifted)
        for _ in range(QUOTIENTS):
            v, w = lu_solve(factor, v), lu_solve(factor, w, trans=2)
            v, w = v / np.linalg.norm(v), w / np.linalg.norm(w)
            along = np.vdot(w, v)
            missing = (long @ v - found[i] * v.astype(np.clongdouble)).astype(complex)
            change = np.vdot(w, missing) / along
            found[i] += change
        moved = np.abs([np.vdot(w, sample @ v) for sample in off]).max(initial=0.0)
        digits = EPS * float(np.abs(w) @ size @ np.abs(v))
        known[i] = SPREAD * (float(moved) + digits) / abs(along)
        if not abs(change) <= known[i]:
            return None
        if found[i].imag > 0.0:
            pair = int(np.argmin(np.abs(values - values[i].conj())))
            found[pair], known[pair] = found[i].conj(), known[i]
    gaps = np.abs(found[:, None] - found) + np.where(one, np.inf, 0.0)
    far = known < NEAR * np.minimum(np.abs(found), gaps.min(axis=1, initial=np.inf))
    return Poles(found, known) if far.all() else None


def _exact(S: Array, samples: Array, rough: Poles) -> Poles:
    from scipy.linalg import matrix_balance

    size = np.diag(matrix_balance(S, permute=False)[1])  # powers of 2
    return _of_copies([one / size[:, None] * size for one in _copies(S, samples)], rough)


def _summed(forms: Forms, part: NDArray[np.intp], samples: Array, rough: Poles) -> Poles:
    """Of a part of the form in decimals."""
    copies = [one[np.ix_(part, part)] for one in forms.copies]
    with digits_for(len(part), more=forms.digits):
        for k in range(COPIES if len(samples) else 0):
            copies[1 + k] = copies[1 + k] + exact(_moved_by(samples, k))
    with digits_for(len(part), _alike(rough.values), forms.digits - FEWER):
        rounded = characteristic(forms.rounded[np.ix_(part, part)])
    return _of_copies(copies, rough, forms.digits, rounded)


def _of_copies(
    copies: Sequence[Exact | Array], rough: Poles, digits: int = 0, rounded: Exact | None = None
) -> Poles:
    """Of the first of the copies, which differ by what it may be off by, the polynomial `rounded`
    by what is rounding of decimals."""
    n, alike = len(copies[0]), _alike(rough.values)
    near = rough.values[rough.known <= NEAR * np.abs(rough.values)].tolist()
    with digits_for(n, alike, digits):
        p, *others = (characteristic(one) for one in copies)
        others += [] if rounded is None else [p + LAST * (rounded - p)]
        changes = np.array([other - p for other in others])
        most = np.abs(changes).max(axis=0)
        m = n - int(np.flatnonzero(np.abs(p) > most)[-1])
        left = _zeros_known_to((np.abs(p) + most)[n - m :], p[n - m])
        z = _by_size(roots(p, near))
        if 0 < m < n and abs(z.values[m]) <= PARTED * abs(z.values[m - 1]):
            p, changes = p[: n - m + 1], changes[:, : n - m + 1]
            z = _by_size(roots(p, near))
        else:
            z = Roots(z.re[m:], z.im[m:])
        known = _moved(p, changes, z, alike) + EPS * np.abs(z.values)
    values = np.concatenate([np.zeros(m), z.values])
    return Poles(values, np.concatenate([np.full(m, left), known]))


def _alike(values: Complex) -> int:
    """How many poles lie together at most."""
    apart = np.abs(values[:, None] - values)
    return int((apart <= ALIKE * np.abs(values)).sum(axis=1).max())


def _copies(S: Array, samples: Array) -> Array:
    """S, and S as rounding might have made it, rather more than it does (1 + COPIES, n, n)."""
    rng = np.random.default_rng(7)
    copies = np.repeat(S[None], 1 + COPIES, axis=0)
    copies[1:] *= 1.0 + SPREAD * EPS * rng.standard_normal((COPIES, *S.shape))
    for k in range(COPIES if len(samples) else 0):
        copies[1 + k] += _moved_by(samples, k)
    return copies


def _moved_by(samples: Array, k: int) -> Array:
    return np.asarray(SPREAD * (-1.0) ** (k // len(samples)) * samples[k % len(samples)])


def _zeros_known_to(last: Exact, first: Decimal) -> float:
    """No root of first s^m + ... + last_m is larger than twice this (M. Fujiwara, Tohoku
    Mathematical Journal 10 (1916) 167)."""
    size = log10(first)
    sizes = [(log10(c) - size) / k for k, c in enumerate(last[1:], 1)]
    return 2.0 * 10.0 ** max(sizes, default=float("-inf"))


def _by_size(z: Roots) -> Roots:
    order = np.argsort(np.abs(z.values), kind="stable")
    return Roots(z.re[order], z.im[order])


def _moved(p: Exact, changes: Exact, z: Roots, alike: int) -> Array:
    """What the roots z of p, of which so many are `alike`, move by where p changes: by the least of
    (dp k! / p^(k))^(1/k), k to the number of those."""
    if not len(z.re):
        return np.zeros(0)
    slopes, slope, units = [], p, 0.0
    for k in range(1, min(alike + 1, len(p) - 1) + 1):
        slope, units = derivative(slope), units + float(np.log10(k))
        slopes.append(sizes_at(slope, z) - units)
    most = np.zeros(len(z.re))
    for change in changes:
        moved = sizes_at(change, z)
        ways = [(moved - size) / k for k, size in enumerate(slopes, 1) if np.isfinite(size).any()]
        by = np.min([np.where(np.isnan(way), np.inf, way) for way in ways], axis=0)
        most = np.maximum(most, 10.0 ** np.where(np.isfinite(moved), by, -np.inf))
    return most
