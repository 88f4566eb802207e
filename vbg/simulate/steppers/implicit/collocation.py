"""Coefficients of collocation at Radau's points, and the polynomial inside a step.

With the shifted Legendre polynomials P_k of degree k on [0, 1] let

    V_ik = P_k(c_i),     S_ik = int_0^c_i P_k,     k = 0 ... s - 1.

The rate inside a step of length h is h x'(theta) = sum_k K_k P_k(theta), which takes the values of
the stages at the points c_i, h F = V K, so that these are x + Z, Z = S K = h A F, A = S V^-1.  The
points, with c_s = 1, are those of Radau's quadrature, exact to degree 2s - 2, in which the P_k are
orthogonal: its weights are b_i = 1 / sum_k (2k + 1) P_k(c_i)^2, and V^-1 = diag(2k + 1) V^T diag(b)
without an inverse.  At its end a step has order 2s - 1, inside order s (E. Hairer, G. Wanner,
Solving Ordinary Differential Equations II, IV.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from vbg.simulate.steppers.implicit.entries import beyond, inside

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Method:
    """Collocation at s points of Radau, s odd.

    c : (s,) the points, in steps.
    A : (s, s), Z = h A F.
    inverse : (s, s), K = inverse Z.
    shifts : (1 + s // 2,) the real eigenvalue of A^-1, and one of each conjugate pair.
    into, back : (1 + s // 2, s) and (s, 1 + s // 2), to their coordinates, and with the real part
        back.
    error : (s,), of the estimate f + shifts_0 / h error Z, which is shifts_0 / h times the end of
        a formula of order s, on the points and the beginning, less that of the step.
    """

    c: Array
    A: Array
    inverse: Array
    shifts: Complex
    into: Complex
    back: Complex
    error: Array

    @property
    def stages(self) -> int:
        """s."""
        return len(self.c)


@cache
def radau(s: int) -> Method:
    """The method of s points, s odd, of order 2s - 1."""
    c, weights = _points(s), 2.0 * np.arange(s) + 1.0
    V, S = values(c, s), integrals(c, s)
    b = 1.0 / (V * V @ weights)
    V_inverse = weights[:, None] * V.T * b
    A = S @ V_inverse
    inverse = np.linalg.solve(A, np.eye(s))
    found, T = np.linalg.eig(inverse)
    chosen = np.concatenate([np.flatnonzero(found.imag == 0.0), np.flatnonzero(found.imag > 0.0)])
    into, back = np.linalg.inv(T)[chosen], T[:, chosen]
    back[:, 1:] *= 2.0
    beginning = values(np.zeros(1), s)[0]
    error = -(beginning / found[chosen[0]].real) @ V_inverse @ inverse
    return Method(c, A, V_inverse @ inverse, found[chosen], into, back, error)


def _points(s: int) -> Array:
    """Zeros of P_s - P_s-1 on [0, 1], the last of which is 1."""
    series = np.zeros(s + 1)
    series[-2:] = -1.0, 1.0
    x = np.sort(legendre.legroots(series).real)
    x -= legendre.legval(x, series) / legendre.legval(x, legendre.legder(series))
    x[-1] = 1.0
    return np.asarray(0.5 * (1.0 + x))


def values(c: Array, s: int) -> Array:
    """V at the points c, (len(c), s)."""
    return np.asarray(_legendre(c, s).T)


def integrals(c: Array, s: int) -> Array:
    """S at the points c, (len(c), s): int P_k = (P_k+1 - P_k-1) / (4k + 2), which is 0 at 0."""
    P = _legendre(c, s + 1)
    found = np.empty((len(c), s))
    found[:, 0] = c
    found[:, 1:] = (P[2:] - P[:-2]).T / (4.0 * np.arange(1, s) + 2.0)
    return found


def _legendre(c: Array, count: int) -> Array:
    """P_0 ... at the points c, as rows, by (k + 1) P_k+1 = (2k + 1) (2c - 1) P_k - k P_k-1."""
    x = 2.0 * c - 1.0
    P = np.ones((count, len(c)))
    P[1] = x
    for k in range(1, count - 1):
        P[k + 1] = ((2 * k + 1) / (k + 1) * x) * P[k] - k / (k + 1) * P[k - 1]
    return P


@dataclass(frozen=True, slots=True)
class Inside:
    """The state in a step of length h from (begin, x): x + S(theta) K, `end` at its end."""

    begin: float
    h: float
    x: Array
    K: Array
    end: Array

    def __call__(self, t: float) -> Array:
        """The state at t."""
        return np.asarray(self.each(np.array([t], dtype=float))[0])

    def each(self, times: Array) -> Array:
        """Those at several times, as rows."""
        states = np.empty((len(times), len(self.x)))
        inside(self.K, self.x, self.end, self.begin, self.h, times, states)
        return states

    def beyond(self, theta: Array) -> Array:
        """By how much the polynomial goes on from the end, at `theta` counted from the beginning
        in steps."""
        changes = np.empty((len(theta), len(self.x)))
        beyond(self.K, theta, changes)
        return changes
