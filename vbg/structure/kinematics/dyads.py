"""Closed-form positions of planar dyads and of one-body groups, compiled.

A planar pose is z (complex, position of the body's origin) and u (unit
complex, rotation since the reference posture).  A point fixed in the body is
z + u a, a direction u d, with a, d complex in the reference posture.

Dyads of bodies i, j, by outer pair of i, inner pair, outer pair of j
(E. E. Peisach, closed-form dyads as in Kinzel and Chang, 1984, reference 14):

RRR  C on two circles about A and B
RRP  C on a circle about A and on a line
RPR  the line of the sliding pair at a given distance between A and B
PRP  C on two lines
RPP  body i turns with j's carrier, then two lines
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vbg.structure.kinematics.kernels import compiled

NEWTON, RRR, RRP, RPR, PRP, RPP, DRIVEN = range(7)


class Dyads(NamedTuple):
    """Parameters of planar groups, one row for each group, complex unless said.

    `kind` : (groups,) int; `bodies` : (groups, 4) int: i, j, carrier of i's
    outer pair, carrier of j's; `points` : (groups, 6): outer pair of i on its
    carrier and on i, inner pair on i and on j, outer pair of j on j and on
    its carrier; `along` : (groups, 3): directions of sliding of the outer pair
    of i (on its carrier), of the inner pair (on i), of the outer pair of j.
    """

    kind: np.ndarray
    bodies: np.ndarray
    points: np.ndarray
    along: np.ndarray


@compiled
def _component(a, b):
    """Re(conj(a) b), the component of b along a."""
    return a.real * b.real + a.imag * b.imag


@compiled
def _across(a, b):
    """Im(conj(a) b), positive where b lies to the left of a."""
    return a.real * b.imag - a.imag * b.real


@compiled
def rrr(A, B, a, b, C_before):
    """C at distances a from A and b from B, on the side of AB where it was.

    Returns C and whether the circles meet.
    """
    D = B - A
    d2 = _component(D, D)
    if d2 == 0.0:
        return C_before, False
    x = (a * a - b * b + d2) / (2.0 * d2)
    y2 = a * a / d2 - x * x
    if y2 < 0.0:
        return C_before, False
    side = 1.0 if _across(D, C_before - A) >= 0.0 else -1.0
    return A + D * complex(x, side * math.sqrt(y2)), True


@compiled
def rrp(A, a, start, along, C_before):
    """C at distance a from A on the line start + s along, next to where it was."""
    half = _component(along, start - A)
    square = half * half - _component(start - A, start - A) + a * a
    if square < 0.0:
        return C_before, False
    side = 1.0 if _component(along, C_before - start) + half >= 0.0 else -1.0
    return start + along * (-half + side * math.sqrt(square)), True


@compiled
def rpr(A, B, q, offset, u_before):
    """u with  conj(u q) . (B - A) = offset  (component along u q), next to u_before."""
    W = np.conj(q) * (B - A)
    size = abs(W)
    if size <= abs(offset):
        return u_before, False
    spread = math.acos(offset / size)
    first = W / size * complex(math.cos(spread), math.sin(spread))
    second = W / size * complex(math.cos(spread), -math.sin(spread))
    if _component(first, u_before) >= _component(second, u_before):
        return first, True
    return second, True


@compiled
def meet(start, along, other, onward):
    """The point where the lines start + s along and other + t onward meet."""
    wide = _across(along, onward)
    if abs(wide) < 1e-13:
        return start, False
    return start + along * (_across(other - start, onward) / wide), True


@compiled
def solve_dyad(dyads, g, z, u):
    """Poses of the two bodies of planar group g; False where it cannot be assembled."""
    kind = dyads.kind[g]
    i, j, K, L = dyads.bodies[g]
    A_K, A_i, C_i, C_j, B_j, B_L = dyads.points[g]
    slide_K, slide_i, slide_L = dyads.along[g]
    A, B = z[K] + u[K] * A_K, z[L] + u[L] * B_L
    if kind == RRR:
        C, fine = rrr(A, B, abs(C_i - A_i), abs(C_j - B_j), z[i] + u[i] * C_i)
        u[i], u[j] = (C - A) / (C_i - A_i), (C - B) / (C_j - B_j)
        u[i], u[j] = u[i] / abs(u[i]), u[j] / abs(u[j])
    elif kind == RRP:
        u[j] = u[L]
        start = B + u[j] * (C_j - B_j)
        C, fine = rrp(A, abs(C_i - A_i), start, u[L] * slide_L, z[i] + u[i] * C_i)
        u[i] = (C - A) / (C_i - A_i)
        u[i] = u[i] / abs(u[i])
    elif kind == RPR:
        q = slide_i * 1j
        offset = -_component(q, (C_j - B_j) - (C_i - A_i))
        u[i], fine = rpr(A, B, q, offset, u[i])
        u[j] = u[i]
        z[i], z[j] = A - u[i] * A_i, B - u[j] * B_j
        return fine
    elif kind == PRP:
        u[i], u[j] = u[K], u[L]
        start, other = A + u[i] * (C_i - A_i), B + u[j] * (C_j - B_j)
        C, fine = meet(start, u[K] * slide_K, other, u[L] * slide_L)
    else:
        u[i] = u[j] = u[L]
        z[i] = A - u[i] * A_i
        start = B + u[j] * (C_j - B_j)
        C, fine = meet(start, u[L] * slide_L, z[i] + u[i] * C_i, u[i] * slide_i)
        z[j] = C - u[j] * C_j
        return fine
    z[i], z[j] = C - u[i] * C_i, C - u[j] * C_j
    return fine
