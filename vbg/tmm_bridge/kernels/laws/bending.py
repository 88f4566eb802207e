"""Flexible bodies in the transfer equations: modes between the frame and the points it carries.

A point i of a flexible body moves with the frame, which floats, and with the modes,

    [a_i; alpha_i] = X_i [a; alpha] + c_i + H_i q'',   H_i = R (S_t; g (S_r + c x S_r)),
    c = S_r q / 2,   g = 1 / (1 + c^2),   w_rel = 2 g (c' + c x c'),

so what it transmits, S_i [a_i; alpha_i] + e_i, reaches the frame and the modes alike:

    [F]   [S    s] [a ]   [e  ]      S += X^T S_i X,   s += X^T S_i H,   e   += X^T (e_i + S_i c_i),
    [0] = [s^T  M] [q''] + [e_q]     M += H^T S_i H,                     e_q += H^T (e_i + S_i c_i).

Beyond the points' share M is flex_M, 1 (modes of unit mass), s = (0; R G), G_j = q . flex_G_j,
and by the balance of angular momentum h = J(q) w + G q' in the body's axes, and that of each mode,

    e_m = J' w + G' q' + w x h,   e_q = G'^T w - 1/2 w^T dJ/dq w - w . dG/dq q'.

The modes are eliminated where the frame is met, as the hinges are:

    f = tau - e_q,   S <- S - s M^-1 s^T,   e <- e + s M^-1 f,   q'' = M^-1 (f - s^T [a; alpha]).
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import block_times, sum_of, symmetric_times, transposed_times
from vbg.tmm_bridge.kernels.motion.kinematics import (
    cross,
    hinge_frame,
    put,
    to_world,
    triple,
    turn_by_quaternion,
)
from vbg.tmm_bridge.kernels.rows import (
    LINK_BENDS,
    LINK_PARENT,
    LINK_POSITION,
    LINK_SHAPE,
    W_A,
    W_ACC,
    W_ALPHA,
    W_ARM,
    W_B,
    W_C,
    W_CA,
    W_CB,
    W_EM,
    W_N,
    W_P,
    W_R,
    W_V,
    W_W,
)
from vbg.tmm_bridge.kernels.sources import compiled

GROWN, GROWING = 6, 12  # columns of the room of a flexible body: J(q) - J and its rate


@compiled
def shape_times(t, k, first, y, at):
    """Rows first ... first + 2 of the shape of point k times what stands in y from `at` on."""
    x0, x1, x2 = 0.0, 0.0, 0.0
    n = t.flexes[t.points[k], 3]
    for m in range(n):
        x0 += t.shape[k, first, m] * y[at + m]
        x1 += t.shape[k, first + 1, m] * y[at + m]
        x2 += t.shape[k, first + 2, m] * y[at + m]
    return x0, x1, x2


@compiled
def carried_node(t, s, i, y):
    """Motion of a point that a flexible body carries, and its columns H."""
    work, p, k = s.work, t.links[i, LINK_PARENT], t.links[i, LINK_SHAPE]
    f = t.points[k]
    q, v = t.flexes[f, 1], t.sizes[0] + t.flexes[f, 2]
    place = t.link[i]
    u = shape_times(t, k, 0, y, q)
    us = shape_times(t, k, 0, y, v)
    c = shape_times(t, k, 3, y, q)
    cs = shape_times(t, k, 3, y, v)
    c = (0.5 * c[0], 0.5 * c[1], 0.5 * c[2])
    cs = (0.5 * cs[0], 0.5 * cs[1], 0.5 * cs[2])
    g = 1.0 / (1.0 + c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
    turn_by_quaternion(work, i, hinge_frame(work, t.link, i, p), 1.0, c[0], c[1], c[2])
    x = cross(c[0], c[1], c[2], cs[0], cs[1], cs[2])
    rel = (2.0 * g * (cs[0] + x[0]), 2.0 * g * (cs[1] + x[1]), 2.0 * g * (cs[2] + x[2]))
    slowing = -2.0 * g * (c[0] * cs[0] + c[1] * cs[1] + c[2] * cs[2])
    r = to_world(
        work,
        p,
        place[LINK_POSITION] + u[0],
        place[LINK_POSITION + 1] + u[1],
        place[LINK_POSITION + 2] + u[2],
    )
    su = to_world(work, p, us[0], us[1], us[2])
    wr = to_world(work, p, rel[0], rel[1], rel[2])
    w, velocity, o = triple(work, p, W_W), triple(work, p, W_V), triple(work, p, W_P)
    a = cross(w[0], w[1], w[2], r[0], r[1], r[2])
    b = cross(w[0], w[1], w[2], a[0] + 2.0 * su[0], a[1] + 2.0 * su[1], a[2] + 2.0 * su[2])
    d = cross(w[0], w[1], w[2], wr[0], wr[1], wr[2])
    put(work, i, W_N, 0.0, 0.0, 0.0)
    put(work, i, W_ARM, r[0], r[1], r[2])
    put(work, i, W_P, o[0] + r[0], o[1] + r[1], o[2] + r[2])
    put(
        work,
        i,
        W_V,
        velocity[0] + a[0] + su[0],
        velocity[1] + a[1] + su[1],
        velocity[2] + a[2] + su[2],
    )
    put(work, i, W_W, w[0] + wr[0], w[1] + wr[1], w[2] + wr[2])
    put(work, i, W_CA, b[0], b[1], b[2])
    put(
        work,
        i,
        W_CB,
        d[0] + slowing * wr[0],
        d[1] + slowing * wr[1],
        d[2] + slowing * wr[2],
    )
    columns(t, s, k, p, c, g)


@compiled
def columns(t, s, k, p, c, g):
    """H of point k, world axes: the frame is node p."""
    for m in range(t.flexes[t.points[k], 3]):
        x = to_world(s.work, p, t.shape[k, 0, m], t.shape[k, 1, m], t.shape[k, 2, m])
        h = (t.shape[k, 3, m], t.shape[k, 4, m], t.shape[k, 5, m])
        z = cross(c[0], c[1], c[2], h[0], h[1], h[2])
        z = to_world(s.work, p, g * (h[0] + z[0]), g * (h[1] + z[1]), g * (h[2] + z[2]))
        for j in range(3):
            s.column[k, j, m] = x[j]
            s.column[k, 3 + j, m] = z[j]


@compiled
def body_axes(work, i, v):
    """R^T v of node i."""
    r = work[i]
    return (
        r[W_R] * v[0] + r[W_R + 3] * v[1] + r[W_R + 6] * v[2],
        r[W_R + 1] * v[0] + r[W_R + 4] * v[1] + r[W_R + 7] * v[2],
        r[W_R + 2] * v[0] + r[W_R + 5] * v[1] + r[W_R + 8] * v[2],
    )


@compiled
def six_times(d, v):
    """Symmetric (xx, yy, zz, xy, yz, zx) times v."""
    return (
        d[0] * v[0] + d[3] * v[1] + d[5] * v[2],
        d[3] * v[0] + d[1] * v[1] + d[4] * v[2],
        d[5] * v[0] + d[4] * v[1] + d[2] * v[2],
    )


@compiled
def grow(t, s, f, y):
    """J(q) - J and its rate, (6,) each, of flexible body f in its axes, into its room."""
    q, v, n = t.flexes[f, 1], t.sizes[0] + t.flexes[f, 2], t.flexes[f, 3]
    for k in range(6):
        grown, growing = 0.0, 0.0
        for m in range(n):
            along = 0.0
            for l in range(n):
                along += t.flex_JJ[f, k, m, l] * y[q + l]
            grown += (t.flex_J[f, k, m] + along) * y[q + m]
            growing += (t.flex_J[f, k, m] + 2.0 * along) * y[v + m]
        s.room[f, GROWN + k] = grown
        s.room[f, GROWING + k] = growing


@compiled
def bend_balance(t, s, i, y):
    """What bending adds to the balance of the frame i: S, e, and all of s, M, e_q."""
    f = t.links[i, LINK_BENDS]
    q, v, n = t.flexes[f, 1], t.sizes[0] + t.flexes[f, 2], t.flexes[f, 3]
    w = body_axes(s.work, i, triple(s.work, i, W_W))
    grow(t, s, f, y)
    room = s.room[f]
    for j in range(6):
        room[j] = 0.0  # G q', then G' q'
    for m in range(n):
        for l in range(n):
            s.bend_M[f, m, l] = t.flex_M[0] if l == m else 0.0
        e = -0.5 * centrifugal(t, f, m, w, y, q, n)
        for j in range(3):
            g, forth, back = 0.0, 0.0, 0.0  # (G)_jm, (G'^T w)_m, (w . dG/dq_m q')
            for l in range(n):
                g += t.flex_G[f, j, l, m] * y[q + l]
                forth += y[v + l] * t.flex_G[f, j, l, m]
                back += t.flex_G[f, j, m, l] * y[v + l]
            e += w[j] * (forth - back)
            room[j] += g * y[v + m]
            room[3 + j] += forth * y[v + m]
            s.bend[f, j, m] = 0.0
            s.bend[f, 3 + j, m] = g
        s.bend_e[f, m] = e
        x = to_world(s.work, i, s.bend[f, 3, m], s.bend[f, 4, m], s.bend[f, 5, m])
        s.bend[f, 3, m], s.bend[f, 4, m], s.bend[f, 5, m] = x
    d = (room[6], room[7], room[8], room[9], room[10], room[11])
    jw = six_times(d, w)
    rate = six_times((room[12], room[13], room[14], room[15], room[16], room[17]), w)
    h = cross(w[0], w[1], w[2], jw[0] + room[0], jw[1] + room[1], jw[2] + room[2])
    x = to_world(
        s.work,
        i,
        rate[0] + room[3] + h[0],
        rate[1] + room[4] + h[1],
        rate[2] + room[5] + h[2],
    )
    for j in range(3):
        s.work[i, W_EM + j] += x[j]
    add_turned(s.work, i, d)


@compiled
def centrifugal(t, f, m, w, y, q, n):
    """w^T dJ/dq_m w."""
    products = (
        w[0] * w[0],
        w[1] * w[1],
        w[2] * w[2],
        2.0 * w[0] * w[1],
        2.0 * w[1] * w[2],
        2.0 * w[2] * w[0],
    )
    total = 0.0
    for k in range(6):
        slope = t.flex_J[f, k, m]
        for l in range(n):
            slope += 2.0 * t.flex_JJ[f, k, m, l] * y[q + l]
        total += slope * products[k]
    return total


@compiled
def add_turned(work, i, d):
    """C += R d R^T."""
    for j in range(3):
        e = body_axes(work, i, (1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)))
        x = six_times(d, e)
        x = to_world(work, i, x[0], x[1], x[2])  # column j
        work[i, W_C + j] += x[j]
        if j == 0:
            work[i, W_C + 3] += x[1]
            work[i, W_C + 5] += x[2]
        if j == 1:
            work[i, W_C + 4] += x[2]


@compiled
def bend_laws(t, s, y):
    """Efforts of stiffness and damping on the modes."""
    for f in range(t.flexes.shape[0]):
        q, v, n = t.flexes[f, 1], t.flexes[f, 2], t.flexes[f, 3]
        for m in range(n):
            s.tau[v + m] -= t.flex[f, m, 0] * y[q + m] + t.flex[f, m, 1] * y[t.sizes[0] + v + m]


@compiled
def bend_loss(t, y):
    """Power that the damping of modes turns into heat."""
    lost = 0.0
    for f in range(t.flexes.shape[0]):
        v = t.sizes[0] + t.flexes[f, 2]
        for m in range(t.flexes[f, 3]):
            lost += t.flex[f, m, 1] * y[v + m] ** 2
    return lost


@compiled
def lean_point(t, s, i):
    """Shares of point i in s and M of its flexible body."""
    k = t.links[i, LINK_SHAPE]
    f = t.points[k]
    n, r, H = t.flexes[f, 3], triple(s.work, i, W_ARM), s.column
    for m in range(n):
        a, b = (H[k, 0, m], H[k, 1, m], H[k, 2, m]), (H[k, 3, m], H[k, 4, m], H[k, 5, m])
        force = sum_of(symmetric_times(s.work, i, W_A, a), block_times(s.work, i, b))
        moment = sum_of(transposed_times(s.work, i, a), symmetric_times(s.work, i, W_C, b))
        x = cross(r[0], r[1], r[2], force[0], force[1], force[2])
        for j in range(3):
            s.bend[f, j, m] += force[j]
            s.bend[f, 3 + j, m] += moment[j] + x[j]
        for l in range(n):
            total = 0.0
            for j in range(3):
                total += H[k, j, l] * force[j] + H[k, 3 + j, l] * moment[j]
            s.bend_M[f, l, m] += total


@compiled
def factor(M, f, n):
    """Cholesky factor of the leading n x n of M[f], in place below the diagonal.  Returns whether
    there is one."""
    for j in range(n):
        total = M[f, j, j]
        for k in range(j):
            total -= M[f, j, k] * M[f, j, k]
        if not total > 0.0:
            return False
        d = math.sqrt(total)
        M[f, j, j] = d
        for i in range(j + 1, n):
            total = M[f, i, j]
            for k in range(j):
                total -= M[f, i, k] * M[f, j, k]
            M[f, i, j] = total / d
    return True


@compiled
def solve_modes(L, f, n, x, at):
    """x = (L L^T)^-1 x in place, the n entries from `at` on."""
    for j in range(n):
        total = x[at + j]
        for k in range(j):
            total -= L[f, j, k] * x[at + k]
        x[at + j] = total / L[f, j, j]
    for j in range(n - 1, -1, -1):
        total = x[at + j]
        for k in range(j + 1, n):
            total -= L[f, k, j] * x[at + k]
        x[at + j] = total / L[f, j, j]


@compiled
def lost_inertia(s, f, n, j, l):
    """(s M^-1 s^T)_jl."""
    total = 0.0
    for m in range(n):
        total += s.bend[f, j, m] * s.lever[f, l, m]
    return total


@compiled
def condense(t, s, i):
    """S of frame i behind its modes.  Returns whether M has a factor."""
    f = t.links[i, LINK_BENDS]
    n, w = t.flexes[f, 3], s.work[i]
    if not factor(s.bend_M, f, n):
        return False
    for j in range(6):
        for m in range(n):
            s.lever[f, j, m] = s.bend[f, j, m]
        solve_modes(s.bend_M, f, n, s.lever[f, j], 0)
    for j in range(3):
        nxt = (j + 1) % 3
        w[W_A + j] -= lost_inertia(s, f, n, j, j)
        w[W_A + 3 + j] -= lost_inertia(s, f, n, j, nxt)
        w[W_C + j] -= lost_inertia(s, f, n, 3 + j, 3 + j)
        w[W_C + 3 + j] -= lost_inertia(s, f, n, 3 + j, 3 + nxt)
        for l in range(3):
            w[W_B + 3 * j + l] -= lost_inertia(s, f, n, j, 3 + l)
    return True


@compiled
def load_point(t, s, i, eq, em, gain, out, at):
    """Add `gain` times what the loads of point i leave on the modes, H^T e, to out[at:]."""
    k = t.links[i, LINK_SHAPE]
    for m in range(t.flexes[t.points[k], 3]):
        total = 0.0
        for j in range(3):
            total += s.column[k, j, m] * eq[j] + s.column[k, 3 + j, m] * em[j]
        out[at + m] += gain * total


@compiled
def pass_modes(t, s, i, unbalanced, at, e, to):
    """Add s M^-1 f to the six from e[i, to] on, f from unbalanced[at] on."""
    f = t.links[i, LINK_BENDS]
    for j in range(6):
        for m in range(t.flexes[f, 3]):
            e[i, to + j] += s.lever[f, j, m] * unbalanced[at + m]


@compiled
def modes_move(t, s, i, unbalanced, at, out):
    """q'' = M^-1 f - (s M^-1)^T [a; alpha] of frame i, which is in the work table."""
    f = t.links[i, LINK_BENDS]
    v, n = t.flexes[f, 2], t.flexes[f, 3]
    for m in range(n):
        out[v + m] = unbalanced[at + m]
    solve_modes(s.bend_M, f, n, out, v)
    for m in range(n):
        for j in range(3):
            out[v + m] -= s.lever[f, j, m] * s.work[i, W_ACC + j]
            out[v + m] -= s.lever[f, 3 + j, m] * s.work[i, W_ALPHA + j]


@compiled
def move_point(t, s, i, out):
    """Add H q'' to the accelerations of point i; `out` are those of all hinges."""
    k = t.links[i, LINK_SHAPE]
    f = t.points[k]
    v = t.flexes[f, 2]
    for m in range(t.flexes[f, 3]):
        for j in range(3):
            s.work[i, W_ACC + j] += s.column[k, j, m] * out[v + m]
            s.work[i, W_ALPHA + j] += s.column[k, 3 + j, m] * out[v + m]
