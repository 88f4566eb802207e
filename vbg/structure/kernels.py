"""Compiled kernels of group kinematics: terms of constraint equations and Newton's method.

An equation of a pair is a weighted sum of terms.  Each term is a scalar s of
the poses of bodies A and B with the rate

    s' = g . (v_M - v_F - w_A x d) + h . (w_B - w_A),    d = p_M - p_F,

with g fixed in A (mathematics of joints as constraint sources: one row for a
translation along g, one for a rotation about h).  Poses are p_WB (n, 3) and
R_WB (n, 3, 3); body 0 is the frame.  Velocities are (n, 6), w_WB_W before
v_WB_W.  World axes throughout.

=========  =====================================  ============================
POINT      a . d, a fixed in A                    g = a
DOT        a . b, a fixed in A, b in B            h = b x a
DISTANCE   (d . d - l^2) / 2 l                    g = d / l
TURN       angle of x_M from x_F about z_F        h = z_F
FIRST      angle of z_M from y_F about z_F        h = z_F
SECOND     angle of -z_F from y_M about z_M       h = z_M
ORIENT     rotation from a given R_FM, part i     h = axis i of F
=========  =====================================  ============================
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

POINT, DOT, DISTANCE, TURN, FIRST, SECOND, ORIENT = range(7)
OPEN, SINGULAR, CLOSED = range(3)  # how a solution ended: not converged, singular, solved


class Terms(NamedTuple):
    """Terms of all equations, those of one equation one after the other.

    `start` : (equations + 1,) where the terms of an equation begin;
    `kind`, `first`, `second` : (k,); `weight` : (k,); `a_A`, `b_B` : (k, 3)
    vectors of DOT and POINT, `a_A[0]` the length of a DISTANCE; `part` : (k,)
    component of an ORIENT; `p_AF_A`, `p_BM_B` : (k, 3); `R_AF`, `R_BM` :
    (k, 3, 3); `slot` : (equations,) number of the drive, -1 without;
    `constant` : (equations,).
    """

    start: np.ndarray
    kind: np.ndarray
    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray
    a_A: np.ndarray
    b_B: np.ndarray
    part: np.ndarray
    p_AF_A: np.ndarray
    p_BM_B: np.ndarray
    R_AF: np.ndarray
    R_BM: np.ndarray
    slot: np.ndarray
    constant: np.ndarray


@njit(cache=True)
def cross(a, b):
    """a x b; vectors of 3 are tuples here, which stay out of the heap."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit(cache=True)
def dot(a, b):
    """a . b of vectors of 3."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def plus(a, b):
    """a + b of vectors of 3."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@njit(cache=True)
def minus(a, b):
    """a - b of vectors of 3."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@njit(cache=True)
def turned(R, v):
    """R v of a (3, 3) and a vector of 3."""
    return (
        R[0, 0] * v[0] + R[0, 1] * v[1] + R[0, 2] * v[2],
        R[1, 0] * v[0] + R[1, 1] * v[1] + R[1, 2] * v[2],
        R[2, 0] * v[0] + R[2, 1] * v[1] + R[2, 2] * v[2],
    )


@njit(cache=True)
def axis_of(R, R_AF, i):
    """Column i of R R_AF."""
    return turned(R, (R_AF[0, i], R_AF[1, i], R_AF[2, i]))


@njit(cache=True)
def rotation(vector):
    """Rotation matrix of a rotation vector, (3, 3) (Rodrigues)."""
    angle = math.sqrt(dot(vector, vector))
    s, c = 1.0, 0.5
    if angle > 1e-8:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle**2
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = c * vector[i] * vector[j]
        out[i, i] += 1.0 - c * angle**2
    out[0, 1] -= s * vector[2]
    out[1, 0] += s * vector[2]
    out[0, 2] += s * vector[1]
    out[2, 0] -= s * vector[1]
    out[1, 2] -= s * vector[0]
    out[2, 1] += s * vector[0]
    return out


@njit(cache=True)
def product(A, B):
    """A B of 3 x 3 matrices."""
    out = np.zeros((3, 3))
    for i in range(3):
        for k in range(3):
            for j in range(3):
                out[i, j] += A[i, k] * B[k, j]
    return out


@njit(cache=True)
def wrapped(angle, near):
    """The angle plus whole turns that lies nearest to `near`."""
    return angle - 2.0 * math.pi * round((angle - near) / (2.0 * math.pi))


@njit(cache=True)
def term(terms, k, p, R, near, target):
    """Value of term k, g and h in world axes, p_M - p_A and p_M - p_B."""
    A, B, kind = terms.first[k], terms.second[k], terms.kind[k]
    r_F, r_M = turned(R[A], terms.p_AF_A[k]), turned(R[B], terms.p_BM_B[k])
    lever = plus(minus(p[B], p[A]), r_M)
    none = (0.0, 0.0, 0.0)
    if kind == POINT:
        g = turned(R[A], terms.a_A[k])
        return dot(g, minus(lever, r_F)), g, none, lever, r_M
    if kind == DISTANCE:
        d, length = minus(lever, r_F), terms.a_A[k, 0]
        g = (d[0] / length, d[1] / length, d[2] / length)
        return (dot(d, d) - length**2) / (2.0 * length), g, none, lever, r_M
    if kind == DOT:
        a, b = turned(R[A], terms.a_A[k]), turned(R[B], terms.b_B[k])
        return dot(a, b), none, cross(b, a), lever, r_M
    value, h = angular(terms, k, R[A], R[B], target)
    if kind != ORIENT:
        value = wrapped(value, near[k])
    return value, none, h, lever, r_M


@njit(cache=True)
def angular(terms, k, R_WA, R_WB, target):
    """Value and h of a TURN, FIRST, SECOND or ORIENT, an angle within half a turn."""
    kind, R_AF, R_BM = terms.kind[k], terms.R_AF[k], terms.R_BM[k]
    x_F, y_F = axis_of(R_WA, R_AF, 0), axis_of(R_WA, R_AF, 1)
    z_F, z_M = axis_of(R_WA, R_AF, 2), axis_of(R_WB, R_BM, 2)
    x_M = axis_of(R_WB, R_BM, 0)
    if kind == TURN:
        return math.atan2(dot(y_F, x_M), dot(x_F, x_M)), z_F
    if kind == FIRST:
        return math.atan2(-dot(x_F, z_M), dot(y_F, z_M)), z_F
    y_M = axis_of(R_WB, R_BM, 1)
    if kind == SECOND:
        return math.atan2(-dot(z_F, x_M), -dot(z_F, y_M)), z_M
    i = terms.part[k]
    j, m = (i + 1) % 3, (i + 2) % 3
    F_j, F_m = axis_of(R_WA, R_AF, j), axis_of(R_WA, R_AF, m)
    goal, value = target[k], 0.0
    for c in range(3):
        axis = axis_of(R_WB, R_BM, c)
        value += 0.5 * (goal[j, c] * dot(F_m, axis) - goal[m, c] * dot(F_j, axis))
    return value, axis_of(R_WA, R_AF, i)


@njit(cache=True)
def bias(terms, k, p, R, V):
    """s'' of term k without the accelerations: what the velocities alone make of it."""
    A, B, kind = terms.first[k], terms.second[k], terms.kind[k]
    w_A, w_B = (V[A, 0], V[A, 1], V[A, 2]), (V[B, 0], V[B, 1], V[B, 2])
    if kind == POINT or kind == DISTANCE:  # noqa: SIM109
        r_F, r_M = turned(R[A], terms.p_AF_A[k]), turned(R[B], terms.p_BM_B[k])
        d = minus(plus(minus(p[B], p[A]), r_M), r_F)
        v_F, v_M = plus(V[A, 3:], cross(w_A, r_F)), plus(V[B, 3:], cross(w_B, r_M))
        d_dot = minus(v_M, v_F)
        d_ddot = minus(cross(w_B, cross(w_B, r_M)), cross(w_A, cross(w_A, r_F)))
        if kind == DISTANCE:
            return (dot(d_dot, d_dot) + dot(d, d_ddot)) / terms.a_A[k, 0]
        a = turned(R[A], terms.a_A[k])
        a_dot = cross(w_A, a)
        return dot(a, d_ddot) + 2.0 * dot(a_dot, d_dot) + dot(cross(w_A, a_dot), d)
    if kind == DOT:
        a, b = turned(R[A], terms.a_A[k]), turned(R[B], terms.b_B[k])
        a_dot, b_dot = cross(w_A, a), cross(w_B, b)
        return dot(cross(w_A, a_dot), b) + 2.0 * dot(a_dot, b_dot) + dot(a, cross(w_B, b_dot))
    if kind == SECOND:
        return dot(cross(w_B, axis_of(R[B], terms.R_BM[k], 2)), minus(w_B, w_A))
    i = terms.part[k] if kind == ORIENT else 2
    return dot(cross(w_A, axis_of(R[A], terms.R_AF[k], i)), minus(w_B, w_A))


@njit(cache=True)
def equation(terms, e, p, R, near, target, drive, columns, row, V):
    """Residual of equation e; its Jacobian over the bodies with a column goes to `row`.

    `columns` : (n,) first column of a body or -1; `row` : (m,) is overwritten.
    Returns the residual and J V of the bodies without columns, from `V` (n, 6).
    """
    row[:] = 0.0
    residual, outside = -terms.constant[e], 0.0
    slot = terms.slot[e]
    for k in range(terms.start[e], terms.start[e + 1]):
        value, g, h, lever_A, lever_B = term(terms, k, p, R, near, target)
        weight = terms.weight[k]
        residual += weight * value
        if slot >= 0 and terms.kind[k] == ORIENT:
            slot = -1
        for side in range(2):
            body = terms.first[k] if side == 0 else terms.second[k]
            sign = -weight if side == 0 else weight
            turn = plus(cross(lever_A if side == 0 else lever_B, g), h)
            c = columns[body]
            if c >= 0:
                for i in range(3):
                    row[c + i] += sign * turn[i]
                    row[c + 3 + i] += sign * g[i]
            elif body > 0:
                outside += sign * (dot(turn, V[body, :3]) + dot(g, V[body, 3:]))
    if slot >= 0:
        residual -= drive[slot]
    return residual, outside


@njit(cache=True)
def reduced(row, basis, out):
    """`row` over velocities (6 a body) as a row over the freedoms of a plane (3 a body)."""
    if basis.shape[0] == 6:
        out[:] = row
        return
    for b in range(len(row) // 6):
        for i in range(basis.shape[0]):
            out[basis.shape[0] * b + i] = 0.0
            for j in range(6):
                out[basis.shape[0] * b + i] += basis[i, j] * row[6 * b + j]


@njit(cache=True)
def system(terms, equations, bodies, p, R, near, target, drive, V, basis, columns):
    """J (m, B N), residual (m,) and the part of J V outside, for some equations and bodies."""
    m, B = len(equations), basis.shape[0]
    for i in range(len(bodies)):
        columns[bodies[i]] = 6 * i
    J, residual, outside = np.empty((m, B * len(bodies))), np.empty(m), np.empty(m)
    row = np.empty(6 * len(bodies))
    for i in range(m):
        residual[i], outside[i] = equation(
            terms, equations[i], p, R, near, target, drive, columns, row, V
        )
        reduced(row, basis, J[i])
    for i in range(len(bodies)):
        columns[bodies[i]] = -1
    return J, residual, outside


@njit(cache=True)
def move(bodies, step, basis, p, R):
    """Displace `bodies` by `step`, (B N,): rotations about world axes, then translations."""
    B = basis.shape[0]
    for i in range(len(bodies)):
        delta = np.zeros(6)
        for k in range(B):
            delta += basis[k] * step[B * i + k]
        R[bodies[i]] = product(rotation(delta[:3]), R[bodies[i]])
        p[bodies[i]] += delta[3:]


@njit(cache=True)
def solved(J, rhs):
    """x of J x = rhs by Gauss with row pivots, in place; False where J is singular."""
    n = len(rhs)
    x, scale = rhs.copy(), np.abs(J).max()
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(J[i, k]) > abs(J[pivot, k]):
                pivot = i
        if abs(J[pivot, k]) < 1e-13 * scale:
            return x, False
        if pivot != k:
            for j in range(k, n):
                J[k, j], J[pivot, j] = J[pivot, j], J[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        for i in range(k + 1, n):
            factor = J[i, k] / J[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    J[i, j] -= factor * J[k, j]
                x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= J[k, j] * x[j]
        x[k] /= J[k, k]
    return x, True


@njit(cache=True)
def newton(terms, equations, bodies, p, R, near, target, drive, basis, columns, most):
    """Poses of one group from those known: Newton with steps in world axes.

    Ends after the step that was smaller than 1e-9, whose own error is its
    square; returns the number of steps and how it ended.
    """
    V = np.zeros((len(p), 6))
    for count in range(most):
        J, residual, _ = system(
            terms, equations, bodies, p, R, near, target, drive, V, basis, columns
        )
        step, regular = solved(J, -residual)
        if not regular:
            return count, SINGULAR
        size = np.abs(step).max()
        if not size < 1e6:
            return count, OPEN
        if size > 1.0:
            step /= size
        move(bodies, step, basis, p, R)
        if size < 1e-9:
            return count + 1, CLOSED
    return most, OPEN


@njit(cache=True)
def rates(terms, equations, bodies, p, R, near, target, drive, rate, V, Acc, basis, columns):
    """Velocities V and accelerations Acc (n, 6) of one group: two right sides of one matrix.

    J V = f',  J Acc = f'' - bias(V); `rate` : (2, drives) holds f', f''.
    Returns False where the matrix is singular.
    """
    m = len(equations)
    J, _, outside = system(terms, equations, bodies, p, R, near, target, drive, V, basis, columns)
    rhs = -outside
    for i in range(m):
        if terms.slot[equations[i]] >= 0:
            rhs[i] += rate[0, terms.slot[equations[i]]]
    found, regular = solved(J.copy(), rhs)
    if not regular:
        return False
    _spread(bodies, found, basis, V)
    _, _, outside = system(terms, equations, bodies, p, R, near, target, drive, Acc, basis, columns)
    for i in range(m):
        e = equations[i]
        rhs[i] = -outside[i]
        if terms.slot[e] >= 0:
            rhs[i] += rate[1, terms.slot[e]]
        for k in range(terms.start[e], terms.start[e + 1]):
            rhs[i] -= terms.weight[k] * bias(terms, k, p, R, V)
    found, regular = solved(J, rhs)
    _spread(bodies, found, basis, Acc)
    return regular


@njit(cache=True)
def _spread(bodies, found, basis, V):
    for i in range(len(bodies)):
        V[bodies[i]] = 0.0
        for k in range(basis.shape[0]):
            V[bodies[i]] += basis[k] * found[basis.shape[0] * i + k]


@njit(cache=True)
def angles(terms, p, R, near, target):
    """(k,) values of the angular terms, whole turns kept; others unchanged."""
    out = near.copy()
    for k in range(len(terms.kind)):
        if terms.kind[k] == TURN or terms.kind[k] == FIRST or terms.kind[k] == SECOND:
            out[k] = term(terms, k, p, R, near, target)[0]
    return out
