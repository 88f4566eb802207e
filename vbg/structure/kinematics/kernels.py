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
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vbg.plumbing.kernels.compiled import Kernels

_SOURCES = ("kernels.py", "dyads.py", "solving.py")
KERNELS = Kernels("structure", [Path(__file__).with_name(name) for name in _SOURCES])


def compiled(function: Any) -> Any:
    """Decorator of all kernels of this package; a division by zero gives inf or nan."""
    return KERNELS.compiled(function, error_model="numpy")


def released(function: Any) -> Any:
    """The same of a kernel that runs without the interpreter's lock: threads run at its side."""
    return KERNELS.compiled(function, error_model="numpy", nogil=True)


POINT, DOT, DISTANCE, TURN, FIRST, SECOND, ORIENT = range(7)
OPEN, SINGULAR, CLOSED = range(3)  # how a solution ended: not converged, singular, solved


# columns of Terms.codes and of Terms.data
KIND, BODY_A, BODY_B, PART = range(4)
WEIGHT, A_VECTOR, B_VECTOR, AT_F, AT_M, AXES_F, AXES_M, WIDTH = 0, 1, 4, 7, 10, 13, 22, 31


class Terms(NamedTuple):
    """Terms of all equations, those of one equation one after the other.

    `start` : (equations + 1,) where the terms of an equation begin;
    `codes` : (k, 4) kind, bodies A and B, component of an ORIENT;
    `data` : (k, 31) weight, a in A (a DISTANCE has its length there), b in B,
    p_AF_A, p_BM_B, R_AF and R_BM row by row: in one array, because a call
    counts the references of every array it passes on;
    `slot` : (equations,) number of the drive, -1 without; `constant` : (equations,).
    """

    start: np.ndarray
    codes: np.ndarray
    data: np.ndarray
    slot: np.ndarray
    constant: np.ndarray


@compiled
def cross(a, b):
    """a x b; vectors of 3 are tuples here, which stay out of the heap."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled
def dot(a, b):
    """a . b of vectors of 3."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def plus(a, b):
    """a + b of vectors of 3."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@compiled
def minus(a, b):
    """a - b of vectors of 3."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def turned(R, v):
    """R v of a (3, 3) and a vector of 3."""
    return (
        R[0, 0] * v[0] + R[0, 1] * v[1] + R[0, 2] * v[2],
        R[1, 0] * v[0] + R[1, 1] * v[1] + R[1, 2] * v[2],
        R[2, 0] * v[0] + R[2, 1] * v[1] + R[2, 2] * v[2],
    )


@compiled
def fixed_in(R, body, data, k, c):
    """World axes of the vector in columns c to c + 2 of term k, fixed in `body`."""
    x, y, z = data[k, c], data[k, c + 1], data[k, c + 2]
    return (
        R[body, 0, 0] * x + R[body, 0, 1] * y + R[body, 0, 2] * z,
        R[body, 1, 0] * x + R[body, 1, 1] * y + R[body, 1, 2] * z,
        R[body, 2, 0] * x + R[body, 2, 1] * y + R[body, 2, 2] * z,
    )


@compiled
def axis_of(R, body, data, k, c, i):
    """World axes of column i of the matrix in columns c to c + 8 of term k, fixed in `body`."""
    x, y, z = data[k, c + i], data[k, c + 3 + i], data[k, c + 6 + i]
    return (
        R[body, 0, 0] * x + R[body, 0, 1] * y + R[body, 0, 2] * z,
        R[body, 1, 0] * x + R[body, 1, 1] * y + R[body, 1, 2] * z,
        R[body, 2, 0] * x + R[body, 2, 1] * y + R[body, 2, 2] * z,
    )


@compiled
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


@compiled
def product(A, B):
    """A B of 3 x 3 matrices."""
    out = np.zeros((3, 3))
    for i in range(3):
        for k in range(3):
            for j in range(3):
                out[i, j] += A[i, k] * B[k, j]
    return out


@compiled
def wrapped(angle, near):
    """The angle plus whole turns that lies nearest to `near`."""
    return angle - 2.0 * math.pi * round((angle - near) / (2.0 * math.pi))


@compiled
def term(codes, data, k, p, R, near, target):
    """Value of term k, g and h in world axes, p_M - p_A and p_M - p_B."""
    kind, A, B = codes[k, KIND], codes[k, BODY_A], codes[k, BODY_B]
    r_F, r_M = fixed_in(R, A, data, k, AT_F), fixed_in(R, B, data, k, AT_M)
    lever = (
        p[B, 0] - p[A, 0] + r_M[0],
        p[B, 1] - p[A, 1] + r_M[1],
        p[B, 2] - p[A, 2] + r_M[2],
    )
    none = (0.0, 0.0, 0.0)
    if kind == POINT:
        g = fixed_in(R, A, data, k, A_VECTOR)
        return dot(g, minus(lever, r_F)), g, none, lever, r_M
    if kind == DISTANCE:
        d, length = minus(lever, r_F), data[k, A_VECTOR]
        g = (d[0] / length, d[1] / length, d[2] / length)
        return (dot(d, d) - length**2) / (2.0 * length), g, none, lever, r_M
    if kind == DOT:
        a, b = fixed_in(R, A, data, k, A_VECTOR), fixed_in(R, B, data, k, B_VECTOR)
        return dot(a, b), none, cross(b, a), lever, r_M
    value, h = angular(codes, data, k, R, target)
    if kind != ORIENT:
        value = wrapped(value, near[k])
    return value, none, h, lever, r_M


@compiled
def angular(codes, data, k, R, target):
    """Value and h of a TURN, FIRST, SECOND or ORIENT, an angle within half a turn."""
    kind, A, B = codes[k, KIND], codes[k, BODY_A], codes[k, BODY_B]
    x_F, y_F = axis_of(R, A, data, k, AXES_F, 0), axis_of(R, A, data, k, AXES_F, 1)
    z_F, z_M = axis_of(R, A, data, k, AXES_F, 2), axis_of(R, B, data, k, AXES_M, 2)
    x_M = axis_of(R, B, data, k, AXES_M, 0)
    if kind == TURN:
        return math.atan2(dot(y_F, x_M), dot(x_F, x_M)), z_F
    if kind == FIRST:
        return math.atan2(-dot(x_F, z_M), dot(y_F, z_M)), z_F
    if kind == SECOND:
        return math.atan2(-dot(z_F, x_M), -dot(z_F, axis_of(R, B, data, k, AXES_M, 1))), z_M
    i = codes[k, PART]
    j, m = (i + 1) % 3, (i + 2) % 3
    F_j, F_m = axis_of(R, A, data, k, AXES_F, j), axis_of(R, A, data, k, AXES_F, m)
    value = 0.0
    for c in range(3):
        axis = axis_of(R, B, data, k, AXES_M, c)
        value += 0.5 * (target[k, j, c] * dot(F_m, axis) - target[k, m, c] * dot(F_j, axis))
    return value, axis_of(R, A, data, k, AXES_F, i)


@compiled
def bias(codes, data, k, p, R, V):
    """s'' of term k without the accelerations: what the velocities alone make of it."""
    kind, A, B = codes[k, KIND], codes[k, BODY_A], codes[k, BODY_B]
    w_A, w_B = (V[A, 0], V[A, 1], V[A, 2]), (V[B, 0], V[B, 1], V[B, 2])
    if kind == POINT or kind == DISTANCE:  # noqa: SIM109
        r_F, r_M = fixed_in(R, A, data, k, AT_F), fixed_in(R, B, data, k, AT_M)
        v_F = plus((V[A, 3], V[A, 4], V[A, 5]), cross(w_A, r_F))
        v_M = plus((V[B, 3], V[B, 4], V[B, 5]), cross(w_B, r_M))
        p_AB = (p[B, 0] - p[A, 0], p[B, 1] - p[A, 1], p[B, 2] - p[A, 2])
        d, d_dot = minus(plus(p_AB, r_M), r_F), minus(v_M, v_F)
        d_ddot = minus(cross(w_B, cross(w_B, r_M)), cross(w_A, cross(w_A, r_F)))
        if kind == DISTANCE:
            return (dot(d_dot, d_dot) + dot(d, d_ddot)) / data[k, A_VECTOR]
        a = fixed_in(R, A, data, k, A_VECTOR)
        a_dot = cross(w_A, a)
        return dot(a, d_ddot) + 2.0 * dot(a_dot, d_dot) + dot(cross(w_A, a_dot), d)
    if kind == DOT:
        a, b = fixed_in(R, A, data, k, A_VECTOR), fixed_in(R, B, data, k, B_VECTOR)
        a_dot, b_dot = cross(w_A, a), cross(w_B, b)
        return dot(cross(w_A, a_dot), b) + 2.0 * dot(a_dot, b_dot) + dot(a, cross(w_B, b_dot))
    if kind == SECOND:
        return dot(cross(w_B, axis_of(R, B, data, k, AXES_M, 2)), minus(w_B, w_A))
    i = codes[k, PART] if kind == ORIENT else 2
    return dot(cross(w_A, axis_of(R, A, data, k, AXES_F, i)), minus(w_B, w_A))


@compiled
def equation(terms, e, p, R, near, target, columns, row, V):
    """Value of equation e; its Jacobian over the bodies with a column goes to `row`.

    `columns` : (n,) first column of a body or -1; `row` : (m,) is overwritten.
    Returns the value and J V of the bodies without columns, from `V` (n, 6).
    """
    codes, data = terms.codes, terms.data
    row[:] = 0.0
    total, outside = -terms.constant[e], 0.0
    for k in range(terms.start[e], terms.start[e + 1]):
        value, g, h, lever_A, lever_B = term(codes, data, k, p, R, near, target)
        weight = data[k, WEIGHT]
        total += weight * value
        for side in range(2):
            body = codes[k, BODY_A + side]
            sign = -weight if side == 0 else weight
            turn = plus(cross(lever_A if side == 0 else lever_B, g), h)
            c = columns[body]
            if c >= 0:
                for i in range(3):
                    row[c + i] += sign * turn[i]
                    row[c + 3 + i] += sign * g[i]
            elif body > 0:
                for i in range(3):
                    outside += sign * (turn[i] * V[body, i] + g[i] * V[body, 3 + i])
    return total, outside


@compiled
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


@compiled
def system(terms, equations, bodies, p, R, near, target, drive, V, basis, columns):
    """J (m, B N), residual (m,) and the part of J V outside, for some equations and bodies."""
    m, B = len(equations), basis.shape[0]
    for i in range(len(bodies)):
        columns[bodies[i]] = 6 * i
    J, residual, outside = np.empty((m, B * len(bodies))), np.empty(m), np.empty(m)
    row = np.empty(6 * len(bodies))
    for i in range(m):
        e = equations[i]
        value, beside = equation(terms, e, p, R, near, target, columns, row, V)
        slot = terms.slot[e]
        if slot >= 0 and terms.codes[terms.start[e], KIND] != ORIENT:
            value -= drive[slot]
        residual[i], outside[i] = value, beside
        reduced(row, basis, J[i])
    for i in range(len(bodies)):
        columns[bodies[i]] = -1
    return J, residual, outside


@compiled
def beside(terms, equations, bodies, p, R, V):
    """(m,) J V of the bodies that are not among `bodies`."""
    inside = np.zeros(len(p), dtype=np.bool_)
    for i in range(len(bodies)):
        inside[bodies[i]] = True
    nothing, identity = np.zeros(len(terms.codes)), np.zeros((len(terms.codes), 3, 3))
    out = np.zeros(len(equations))
    for i in range(len(equations)):
        e = equations[i]
        for k in range(terms.start[e], terms.start[e + 1]):
            A, B = terms.codes[k, BODY_A], terms.codes[k, BODY_B]
            if (inside[A] or A == 0) and (inside[B] or B == 0):
                continue
            _, g, h, lever_A, lever_B = term(terms.codes, terms.data, k, p, R, nothing, identity)
            for side in range(2):
                body = A if side == 0 else B
                if inside[body] or body == 0:
                    continue
                turn = plus(cross(lever_A if side == 0 else lever_B, g), h)
                sign = (-1.0 if side == 0 else 1.0) * terms.data[k, WEIGHT]
                for c in range(3):
                    out[i] += sign * (turn[c] * V[body, c] + g[c] * V[body, 3 + c])
    return out


@compiled
def move(bodies, step, basis, p, R):
    """Displace `bodies` by `step`, (B N,): rotations about world axes, then translations."""
    B = basis.shape[0]
    for i in range(len(bodies)):
        delta = np.zeros(6)
        for k in range(B):
            delta += basis[k] * step[B * i + k]
        R[bodies[i]] = product(rotation(delta[:3]), R[bodies[i]])
        p[bodies[i]] += delta[3:]


@compiled
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


@compiled
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


@compiled
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
    outside = beside(terms, equations, bodies, p, R, Acc)
    for i in range(m):
        e = equations[i]
        rhs[i] = -outside[i]
        if terms.slot[e] >= 0:
            rhs[i] += rate[1, terms.slot[e]]
        for k in range(terms.start[e], terms.start[e + 1]):
            rhs[i] -= terms.data[k, WEIGHT] * bias(terms.codes, terms.data, k, p, R, V)
    found, regular = solved(J, rhs)
    _spread(bodies, found, basis, Acc)
    return regular


@compiled
def _spread(bodies, found, basis, V):
    for i in range(len(bodies)):
        V[bodies[i]] = 0.0
        for k in range(basis.shape[0]):
            V[bodies[i]] += basis[k] * found[basis.shape[0] * i + k]


def ensure_terms() -> None:
    """Compiles what is called for single linkages outside the sweep, or loads it."""

    def compile_all() -> None:
        codes, data = np.zeros((1, 4), dtype=np.int64), np.zeros((1, WIDTH))
        start, slot = np.arange(2), np.full(1, -1, dtype=np.int64)
        terms = Terms(start, codes, data, slot, np.zeros(1))
        p, R, V = np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((2, 6))
        near, target, columns = np.zeros(1), np.zeros((1, 3, 3)), np.full(2, -1, dtype=np.int64)
        one, basis = np.arange(1, 2), np.eye(6)
        system(terms, one - 1, one, p, R, near, target, near, V, basis, columns)
        move(one, np.zeros(6), basis, p, R)
        term(codes, data, 0, p, R, near, target)
        bias(codes, data, 0, p, R, V)

    KERNELS.ensure("terms", compile_all)
