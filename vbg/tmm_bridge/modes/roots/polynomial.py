"""Characteristic polynomials with all their digits, and their roots.

p(s) = det(s - S) = s^n + c_1 s^(n-1) + ... + c_n of a matrix of doubles, which are exact numbers:
by elimination to Hessenberg form and its recursion (J. Wilkinson, The Algebraic Eigenvalue
Problem, 1965, chapters 6 and 7) in decimals of so many digits that nothing of S is lost.  Its roots
all at once by the corrections

    N_i / (1 - N_i sum_j 1 / (z_i - z_j)),   N = p / p'

(O. Aberth, Mathematics of Computation 27 (1973) 339) from circles that Newton's polygon of the
coefficients tells (D. Bini, Numerical Algorithms 13 (1996) 179).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.motion.rotation import Array

Exact = NDArray[Any]  # of Decimal

DIGITS, MORE = 60, 1  # of a decimal: and more for each row
EACH = 20  # and for each root of a cluster behind the first: their products have so many in common
STEPS, CLOSED = 500, 1e-20  # of the corrections; relative size of the last one
NONE = 1e-18  # of a root: its real or imaginary part so small is rounding
BESIDE = 1e-12  # relative: where a search begins that is told a root
TURNED = 0.7  # rad of the first roots on their circles, off any symmetry


@contextmanager
def digits_for(n: int, alike: int = 1, more: int = 0) -> Iterator[None]:
    """Decimals of as many digits as matrices (n, n) need of which so many poles are `alike`: p is
    known to its digits, a root of m alike to their m-th part; and so many more."""
    digits = DIGITS + MORE * n + EACH * (alike - 1) + more
    with localcontext(Context(prec=digits, Emin=-(10**9), Emax=10**9)):
        yield


@dataclass(frozen=True)
class Roots:
    """z = re + i im of a polynomial, in decimals."""

    re: Exact
    im: Exact

    @property
    def values(self) -> NDArray[np.complex128]:
        """In doubles; what is real, or imaginary, is so exactly."""
        z = self.re.astype(float) + 1j * self.im.astype(float)
        z.real[np.abs(z.real) <= NONE * np.abs(z)] = 0.0
        z.imag[np.abs(z.imag) <= NONE * np.abs(z)] = 0.0
        return np.asarray(z)


def exact(numbers: Array) -> Exact:
    return np.asarray(np.frompyfunc(Decimal, 1, 1)(numbers), dtype=object)


def characteristic(S: Array) -> Exact:
    """1, c_1, ..., c_n of S (n, n)."""
    H, n = _hessenberg(exact(S)), len(S)
    found = [exact(np.array([1.0]))]
    for k in range(n):
        p = np.concatenate([found[k], exact(np.zeros(1))])
        p[1:] -= H[k, k] * found[k]
        along = Decimal(1)
        for i in range(k - 1, -1, -1):
            along *= H[i + 1, i]
            if not along:
                break
            p[k + 1 - i :] -= along * H[i, k] * found[i]
        found.append(p)
    return found[n]


def _hessenberg(H: Exact) -> Exact:
    """Zeros below the first diagonal beside the main one, by elimination with pivots."""
    for k in range(1, len(H) - 1):
        i = k + int(np.argmax(np.abs(H[k:, k - 1])))
        if not H[i, k - 1]:
            continue
        H[[k, i]] = H[[i, k]]
        H[:, [k, i]] = H[:, [i, k]]
        share = H[k + 1 :, k - 1] / H[k, k - 1]
        H[k + 1 :, k - 1 :] -= share[:, None] * H[k, k - 1 :]
        H[:, k] += H[:, k + 1 :] @ share
    return H


def at(p: Exact, z: Roots) -> Roots:
    """p(z)."""
    re, im = z.re * 0 + p[0], z.im * 0
    for c in p[1:]:
        re, im = re * z.re - im * z.im + c, re * z.im + im * z.re
    return Roots(re, im)


def sizes_at(p: Exact, z: Roots) -> Array:
    """log10 |p(z)|."""
    value = at(p, z)
    squares = value.re * value.re + value.im * value.im
    return np.asarray(0.5 * np.frompyfunc(log10, 1, 1)(squares).astype(float))


def derivative(p: Exact) -> Exact:
    n = len(p) - 1
    if n == 0:
        return exact(np.zeros(1))
    return np.asarray(p[:-1] * np.array([Decimal(n - k) for k in range(n)], dtype=object))


def ratio(a: Roots, b: Roots) -> Roots:
    """a / b, and 0 where b is."""
    size = b.re * b.re + b.im * b.im
    size[size == 0] = Decimal("Infinity")
    return Roots(
        (a.re * b.re + a.im * b.im) / size,
        (a.im * b.re - a.re * b.im) / size,
    )


def roots(p: Exact, near: Sequence[complex] = ()) -> Roots:
    """All roots of p, as many as they are multiple, the largest of them `near` these; last
    coefficients of zero are roots of zero."""
    zeros = len(p) - 1 - int(np.flatnonzero(p != 0)[-1])
    p = p[: len(p) - zeros]
    z, slope, nothing = _first(p, near), derivative(p), exact(np.zeros(zeros))
    left = np.arange(len(z.re))
    for _ in range(STEPS):
        if not len(left):
            return Roots(np.append(nothing, z.re), np.append(nothing, z.im))
        here = Roots(z.re[left], z.im[left])
        newton = _plain(ratio(at(p, here), at(slope, here)))
        re, im = here.re[:, None] - z.re, here.im[:, None] - z.im
        between = re.astype(float) + 1j * im.astype(float)
        between[between == 0.0] = np.inf
        step = newton / (1.0 - newton * (1.0 / between).sum(axis=1))
        z.re[left], z.im[left] = here.re - exact(step.real), here.im - exact(step.imag)
        left = left[np.abs(step) > CLOSED * np.abs(_plain(here))]
    raise UsageError(f"{len(left)} of {len(p) - 1} poles of a part do not part from one another.")


def _plain(z: Roots) -> NDArray[np.complex128]:
    return np.asarray(z.re.astype(float) + 1j * z.im.astype(float))


def _first(p: Exact, near: Sequence[complex]) -> Roots:
    """Points on the circles of Newton's polygon, the least concave line above log |c_k|, the
    outermost replaced by those `near` roots, no two alike."""
    places = np.flatnonzero(p != 0)
    heights = {k: log10(p[k]) for k in places.tolist()}
    line: list[int] = []
    for k in places.tolist():
        while len(line) > 1 and (heights[line[-1]] - heights[line[-2]]) * (k - line[-2]) <= (
            heights[k] - heights[line[-2]]
        ) * (line[-1] - line[-2]):
            line.pop()
        line.append(k)
    found: list[complex] = []
    for a, b in pairwise(line):
        radius = 10.0 ** ((heights[b] - heights[a]) / (b - a))
        angles = 2.0 * np.pi * (np.arange(b - a) / (b - a) + a / len(p)) + TURNED
        found += (radius * np.exp(1j * angles)).tolist()
    z = np.array(found, dtype=complex)
    z = z[np.argsort(np.abs(z), kind="stable")]
    rng, count = np.random.default_rng(1), min(len(near), len(z))
    told = np.array(sorted(near, key=abs), dtype=complex)[len(near) - count :]
    z[len(z) - count :] = told * (1.0 + BESIDE * rng.standard_normal(count))
    return Roots(exact(z.real), exact(z.imag))


def log10(value: Decimal) -> float:
    """log10 |value|, of numbers of any size; -infinity of 0."""
    if not value:
        return float("-inf")
    place = value.adjusted()
    return float(np.log10(abs(float(value.scaleb(-place))))) + place
