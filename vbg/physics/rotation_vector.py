"""The rotation vector of a rotation, smooth through the angle zero.

With the cosine c of the angle a, c1 = cos(a/2) = sqrt((1 + c)/2), c2 and c3 those of a/4 and a/8,
and w = sin^2(a/16) = (1 - c3)/2, which never exceeds 0.039 below half a turn,

    a / sin a = F(w) / (c1 c2 c3),   F = b / sin b = sum_n (2n)!! / (2n+1)!! w^n,   b = a/8,
    g(a) = (1 - a/2 cot(a/2)) / a^2 = g(a/2)/4 + tan(a/4) / (4 a),   g(a/4) = G(w),

the series of F from arcsin(z) / sqrt(1 - z^2) (M. Abramowitz, I. Stegun, 15.1.6 with 15.3.3), G
from the Taylor series of the cotangent (4.3.70).  No square root vanishes and nothing is divided by
the angle, so the law has a slope everywhere, and no kink where the angle is zero.

A law without stiffness about the axes N turns on about them through half a turn, where c1 = 0 and
sin(a) n = 2 c1 u, u = sin(a/2) n, no longer tells n.  With

    c1^2 = ((1 + c)^2 + sin^2 a)/4,      Q = u u^T = ((R + R^T)/2 - c 1)/2,

both of which keep their digits there, u = (c1 (c1 u) + Q P u)/(c1^2 + tr(Q P)), P = N N^T, where
of u on the right rounding decides only along N, which the law does not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import (
    Block,
    call,
    const,
    divide,
    dot,
    identity,
    linear,
    mul,
    skew,
    times,
)

TERMS = 13  # 0.039^13 < 1e-18
NO_COSINE = 1e-32  # added to c1^2: its rounding at half a turn


@dataclass(frozen=True, slots=True)
class RotationVector:
    """`vector`: axis times angle of a rotation (3 x 1); `to_torque` turns the gradient
    of an energy by it into the torque conjugate to the angular velocity; `half`: Rodrigues'
    vector of half the rotation, tan(a/4) along the axis."""

    vector: Block
    to_torque: Block
    half: Block


def rotation_vector(
    R_AB: Block, R_AB_0: NDArray[np.float64], free: NDArray[np.float64] | None = None
) -> RotationVector:
    """Rotation vector of R_AB against its start R_AB_0, in A: R_AB = exp(skew) R_AB_0.

    With sin(a) n = 1/2 sum of (axis i before) x (axis i after), cos(a) = (trace - 1)/2;
    rate = Jl^-1 w,  Jl^-1 = 1 - skew/2 + g skew^2,  g = (1 - a/2 cot(a/2)) / a^2
    (left Jacobian of SO(3); G. Chirikjian, Stochastic Models, vol. 2, eq. 10.86), so the
    torque is Jl^-T times the gradient.  Valid below half a turn, about axes `free` (3, n) in A,
    orthonormal, at any angle.
    """
    before = [const(R_AB_0[:, i]) for i in range(3)]
    after = [mul(R_AB, const(np.eye(3)[:, i])) for i in range(3)]
    sine_n = linear(*((0.5, mul(skew(b), a)) for b, a in zip(before, after, strict=True)))
    cosine = linear(
        *((0.5, dot(b, a)) for b, a in zip(before, after, strict=True)), (-0.5, const(1.0))
    )
    # 1 but for rounding and the length of a quaternion between two projections
    length = call("sqrt", dot(sine_n, sine_n) + times(cosine, cosine))
    one = const(1.0)
    c = divide(cosine, length)
    if free is None:
        c1 = _half(c)
    else:
        s = divide(sine_n, length)
        c1 = call("sqrt", _quarter_of_sum(c, s))
    c2 = _half(c1)
    c3 = _half(c2)
    w = 0.5 * (one - c3)
    eighth = _horner(_angle_over_sine(), w)  # (a/8) / sin(a/8)
    quarter = divide(eighth, c3)  # (a/4) / sin(a/4)
    if free is None:
        ratio = divide(quarter, times(c1, c2))
        vector = times(divide(ratio, length), sine_n)
    else:
        u = _along_half(before, after, free, (c, c1, s, length))
        vector = times(2.0 * divide(quarter, c2), u)
    # tan(u) / u = 1 / (u / sin(u) cos(u)), u = a/8 and a/4
    of_half = 0.25 * _horner(_cotangent(), w) + divide(const(0.0625), times(eighth, c3))
    g = 0.25 * of_half + divide(const(0.0625), times(quarter, c2))
    across = skew(vector)
    to_torque = identity(3) + 0.5 * across + times(g, mul(across, across))
    half = times(divide(const(0.25), times(quarter, c2)), vector)
    return RotationVector(vector, to_torque, half)


def _half(cosine: Block) -> Block:
    """The cosine of half an angle below half a turn."""
    return call("sqrt", 0.5 * (const(1.0) + cosine))


def _quarter_of_sum(c: Block, s: Block) -> Block:
    """c1^2 of the cosine c and sin(a) n, to the last digits of it at half a turn, too."""
    beside = const(1.0) + c
    return 0.25 * (times(beside, beside) + dot(s, s)) + const(NO_COSINE)


def _along_half(
    before: Sequence[Block],
    after: Sequence[Block],
    free: NDArray[np.float64],
    of: tuple[Block, Block, Block, Block],
) -> Block:
    """u = sin(a/2) n from c, c1, sin(a) n and the length of the rotation."""
    c, c1, s, length = of
    seen = times(divide(const(0.5), c1), mul(const(free @ free.T), s))  # P u
    turned = linear(*((0.5, times(dot(b, seen), a)) for b, a in zip(before, after, strict=True)))
    back = linear(*((0.5, times(dot(a, seen), b)) for b, a in zip(before, after, strict=True)))
    along = 0.5 * (times(divide(const(1.0), length), turned + back) - times(c, seen))
    trace = times(c1, c1)
    for n in free.T:
        axis = const(n)
        parts = (
            (1.0, times(dot(axis, a), dot(axis, b))) for b, a in zip(before, after, strict=True)
        )
        trace = trace + 0.5 * (divide(linear(*parts), length) - c)
    return times(divide(const(1.0), trace), times(0.5 * c1, s) + along)


def _horner(coefficients: Sequence[float], w: Block) -> Block:
    result = const(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = times(w, result) + const(coefficient)
    return result


@cache
def _angle_over_sine() -> tuple[float, ...]:
    """F: b / sin b in powers of w = sin^2(b/2)."""
    term, found = Fraction(1), []
    for n in range(TERMS):
        found.append(float(term))
        term *= Fraction(2 * n + 2, 2 * n + 3)
    return tuple(found)


@cache
def _cotangent() -> tuple[float, ...]:
    """G: (1 - b cot b) / (4 b^2) in powers of w = sin^2(b/2), where b^2 = 2 sum of
    (4 w)^n / (n^2 (2n choose n)) and 1 - b cot b = sum of |B_2n| (2 b)^2n / (2n)!."""
    square = [Fraction(0)] + [
        Fraction(2 * 4**n, n * n * comb(2 * n, n)) for n in range(1, TERMS + 1)
    ]
    bernoulli = _bernoulli(2 * TERMS)
    result = [Fraction(0)] * TERMS
    power = [Fraction(1)] + [Fraction(0)] * (TERMS - 1)  # of (2 b)^2
    for n in range(1, TERMS + 1):
        weight = abs(bernoulli[2 * n]) / factorial(2 * n)
        result = [r + weight * p for r, p in zip(result, power, strict=True)]
        power = [
            sum((4 * square[i] * power[k - i] for i in range(k + 1)), Fraction(0))
            for k in range(TERMS)
        ]
    return tuple(map(float, result))


def _bernoulli(most: int) -> list[Fraction]:
    """Bernoulli's numbers from their recurrence."""
    found = [Fraction(1)]
    for m in range(1, most + 1):
        whole = sum((comb(m + 1, k) * found[k] for k in range(m)), Fraction(0))
        found.append(-whole / (m + 1))
    return found
