"""Laws of six dimensions between two bodies: bushings, beam elements, elastic hinges of the tree.

M on the second body is seen in F on the first: d its displacement, theta its rotation vector,
u and w its velocity and angular velocity, all in the axes of F.  With stiffness K and damping C

    SIX_FIRST    [f; m] = K [d; theta],   effort = -[f; Jl^-T m] - C [u; w];
    SIX_MIDDLE   [f; m] = K x + C x',     x = [H^T d; theta],   H^2 = R_FM,
                 effort = -[H f; Jl^-T m - (1/2) (d x H f + c x (d x H f))],

c = tan(|theta|/4) theta/|theta|, which is Rodrigues' vector of H.  The second follows from the
power: the axes half way turn with w_h = (w - c x w)/2 against F, for w = w_h + H w_h.  It is
the same law when both ends change places, and for a diagonal K the beam element of Timoshenko,
about its elastic centre.
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import dot, plus
from vbg.tmm_bridge.kernels.closing.constraints import vector_cross
from vbg.tmm_bridge.kernels.laws.efforts import apply
from vbg.tmm_bridge.kernels.motion.cuts import (
    C_F,
    C_M,
    C_PF,
    C_PM,
    C_U,
    C_WA,
    C_WB,
    at,
    frame_pair,
    store,
)
from vbg.tmm_bridge.kernels.rows import LINK_Q, LINK_V
from vbg.tmm_bridge.kernels.sources import compiled
from vbg.tmm_bridge.kernels.tables import SIX_MIDDLE


@compiled
def rotation_vector(c, out):
    """Rotation of M seen in F as axis times angle, into out[3:6].

    From R_FM: sin and cos of the angle by the skew part and the trace; near half a turn the axis n
    comes from the symmetric part, cos 1 + (1 - cos) n n^T, by the column of its largest component,
    and from the skew part only which way it points.
    """
    xx, yy, zz = (
        dot(at(c, C_F), at(c, C_M)),
        dot(at(c, C_F + 3), at(c, C_M + 3)),
        dot(at(c, C_F + 6), at(c, C_M + 6)),
    )
    zy, yz = dot(at(c, C_F + 6), at(c, C_M + 3)), dot(at(c, C_F + 3), at(c, C_M + 6))
    xz, zx = dot(at(c, C_F), at(c, C_M + 6)), dot(at(c, C_F + 6), at(c, C_M))
    yx, xy = dot(at(c, C_F + 3), at(c, C_M)), dot(at(c, C_F), at(c, C_M + 3))
    sx, sy, sz = 0.5 * (zy - yz), 0.5 * (xz - zx), 0.5 * (yx - xy)
    sine = math.sqrt(sx * sx + sy * sy + sz * sz)
    cosine = 0.5 * (xx + yy + zz - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6 or cosine > 0.0:
        k = 1.0 + angle * angle / 6.0 if sine < 1e-9 else angle / sine
        out[3], out[4], out[5] = k * sx, k * sy, k * sz
        return
    if xx >= yy and xx >= zz:
        nx, ny, nz = xx - cosine, 0.5 * (xy + yx), 0.5 * (xz + zx)
    elif yy >= zz:
        nx, ny, nz = 0.5 * (xy + yx), yy - cosine, 0.5 * (yz + zy)
    else:
        nx, ny, nz = 0.5 * (xz + zx), 0.5 * (yz + zy), zz - cosine
    k = angle / math.sqrt(nx * nx + ny * ny + nz * nz)
    k = math.copysign(k, nx * sx + ny * sy + nz * sz)
    out[3], out[4], out[5] = k * nx, k * ny, k * nz


@compiled
def rotation_vector_rate(theta, w):
    """theta' = Jl^-1 w = w - theta x w / 2 + k theta x (theta x w)."""
    return conjugate_torque_of(theta, (w[0], w[1], w[2]), -0.5)


@compiled
def conjugate_torque_of(theta, m, half):
    """m + half theta x m + k theta x (theta x m), k = (1 - (a/2) / tan(a/2)) / a^2 -> 1/12."""
    square = dot(theta, theta)
    if square < 1e-8:
        k = 1.0 / 12.0 + square / 720.0
    else:
        angle = 0.5 * math.sqrt(square)
        k = (1.0 - angle / math.tan(angle)) / square
    first = vector_cross(theta, m)
    return plus(plus(m, half, first), k, vector_cross(theta, first))


@compiled
def half_way(theta):
    """c = tan(a/4) theta / a, Rodrigues' vector of half the rotation."""
    square = dot(theta, theta)
    if square < 1e-8:
        k = 0.25 + square / 192.0
    else:
        angle = math.sqrt(square)
        k = math.tan(0.25 * angle) / angle
    return k * theta[0], k * theta[1], k * theta[2]


@compiled
def turned(c, sign, v):
    """H v (sign 1) or H^T v (sign -1) of the rotation with Rodrigues' vector c."""
    x = vector_cross(c, v)
    k = 2.0 / (1.0 + dot(c, c))
    return plus(plus(v, sign * k, x), k, vector_cross(c, x))


@compiled
def times_six(A, x, out):
    """out = A x, A row-major."""
    for j in range(6):
        out[j] = 0.0
        for k in range(6):
            out[j] += A[6 * j + k] * x[k]


@compiled
def first_law(K, C, x, rate, effort, room):
    """Effort of SIX_FIRST; returns (dissipated power, stored energy)."""
    lost, stored = 0.0, 0.0
    times_six(K, x, room)
    for j in range(6):
        stored += 0.5 * room[j] * x[j]
    m = conjugate_torque_of(at(x, 3), at(room, 3), 0.5)
    for j in range(3):
        effort[j], effort[3 + j] = -room[j], -m[j]
    times_six(C, rate, room)
    for j in range(6):
        effort[j] -= room[j]
        lost += room[j] * rate[j]
    return lost, stored


@compiled
def middle_law(K, C, x, rate, effort, room):
    """Effort of SIX_MIDDLE; returns (dissipated power, stored energy)."""
    d, theta, u, w = at(x, 0), at(x, 3), at(rate, 0), at(rate, 3)
    c = half_way(theta)
    turning = plus(w, -1.0, vector_cross(c, w))
    strain = room[6:12]
    store(strain, 0, turned(c, -1.0, d))
    store(strain, 3, theta)
    times_six(K, strain, room)
    stored, lost = 0.0, 0.0
    for j in range(6):
        stored += 0.5 * room[j] * strain[j]
    f, m = at(room, 0), at(room, 3)
    store(strain, 0, turned(c, -1.0, plus(u, -0.5, vector_cross(turning, d))))
    store(strain, 3, rotation_vector_rate(theta, w))
    times_six(C, strain, room)
    for j in range(6):
        lost += room[j] * strain[j]
    f, m = plus(f, 1.0, at(room, 0)), plus(m, 1.0, at(room, 3))
    f = turned(c, 1.0, f)
    arm = vector_cross(d, f)
    torque = conjugate_torque_of(theta, m, 0.5)
    torque = plus(plus(torque, -0.5, arm), -0.5, vector_cross(c, arm))
    for j in range(3):
        effort[j], effort[3 + j] = -f[j], -torque[j]
    return lost, stored


@compiled
def six_law(law, K, C, x, rate, out, room):
    """Effort on the second body, F axes, dissipated power and stored energy into out (8,)."""
    if law == SIX_MIDDLE:
        out[6], out[7] = middle_law(K, C, x, rate, out, room)
    else:
        out[6], out[7] = first_law(K, C, x, rate, out, room)


@compiled
def bushings(t, s):
    """Laws between bodies that the tree joins otherwise: the reverse acts on A's point at M."""
    c, x, rate, room = s.six[0], s.six[1], s.six[2], s.six[3]
    for n in range(t.bushes.shape[0]):
        a, b = t.bushes[n, 0], t.bushes[n, 1]
        frame_pair(s.work, a, b, t.bush[n, :24], c)
        d = plus(at(c, C_PM), -1.0, at(c, C_PF))
        w = plus(at(c, C_WB), -1.0, at(c, C_WA))
        rotation_vector(c, x)
        for j in range(3):
            axis = at(c, C_F + 3 * j)
            x[j] = dot(axis, d)
            rate[j] = dot(axis, at(c, C_U))
            rate[3 + j] = dot(axis, w)
        effort = s.bush[n]
        six_law(t.bushes[n, 2], t.bush[n, 24:60], t.bush[n, 60:96], x, rate, effort, room)
        for j in range(6):
            effort[8 + j] = x[j]
        for j in range(3):
            effort[14 + j] = rate[3 + j]
        force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for j in range(3):
            force = plus(force, effort[j], at(c, C_F + 3 * j))
            torque = plus(torque, effort[3 + j], at(c, C_F + 3 * j))
        apply(s.work, b, 1.0, at(c, C_PM), force, torque)
        apply(s.work, a, -1.0, at(c, C_PM), force, torque)


@compiled
def turned_by(q, sign, v):
    """R(q) v (sign 1) or R(q)^T v (sign -1); the quaternion need not be of unit length."""
    u = (q[1], q[2], q[3])
    k = 2.0 / (q[0] * q[0] + dot(u, u))
    x = vector_cross(u, v)
    return plus(plus(v, sign * k * q[0], x), k, vector_cross(u, x))


@compiled
def vector_of(q):
    """Rotation vector of a quaternion, below half a turn."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    size = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if size < 1e-9 * abs(q[0]):
        k = 2.0 / q[0]
    else:
        k = sign * 2.0 * math.atan2(size, abs(q[0])) / size
    return k * q[1], k * q[2], k * q[3]


@compiled
def strains(t, s, y):
    """Displacement, rotation vector and speeds of M in F of the tree's elastic hinges, from
    their joint coordinates.

    Where the node has F and its parent M (met from behind), with R = R_MF, p = p_F in M:
    d = -R^T p, theta = -theta', u = -(u' + w' x d), w = -w', node's axes being those of F.
    """
    n_q = t.sizes[0]
    for n in range(t.elastics.shape[0]):
        i = t.elastics[n, 0]
        q, v = t.links[i, LINK_Q], n_q + t.links[i, LINK_V]
        quat = (y[q + 3], y[q + 4], y[q + 5], y[q + 6])
        d, theta = (y[q], y[q + 1], y[q + 2]), vector_of(quat)
        u, w = (y[v], y[v + 1], y[v + 2]), (y[v + 3], y[v + 4], y[v + 5])
        if t.elastics[n, 2] == 1:
            d = turned_by(quat, -1.0, (-d[0], -d[1], -d[2]))
            theta = (-theta[0], -theta[1], -theta[2])
            x = vector_cross(w, d)
            u, w = (-u[0] - x[0], -u[1] - x[1], -u[2] - x[2]), (-w[0], -w[1], -w[2])
        else:
            u, w = turned_by(quat, 1.0, u), turned_by(quat, 1.0, w)
        store(s.strain[n], 0, d)
        store(s.strain[n], 3, theta)
        store(s.strain[n], 6, u)
        store(s.strain[n], 9, w)


@compiled
def elastic_hinges(t, s, y):
    """Efforts of the tree's elastic hinges, on their own freedoms."""
    room = s.six[3]
    for n in range(t.elastics.shape[0]):
        i = t.elastics[n, 0]
        x, effort = s.strain[n], s.elastic[n]
        K, C = t.elastic[n, :36], t.elastic[n, 36:]
        six_law(t.elastics[n, 1], K, C, x[:6], x[6:], effort, room)
        f, m = at(effort, 0), at(effort, 3)
        if t.elastics[n, 2] == 1:
            m = plus(m, 1.0, vector_cross(at(x, 0), f))
            f, m = (-f[0], -f[1], -f[2]), (-m[0], -m[1], -m[2])
        else:
            q = t.links[i, LINK_Q]
            quat = (y[q + 3], y[q + 4], y[q + 5], y[q + 6])
            f, m = turned_by(quat, -1.0, f), turned_by(quat, -1.0, m)
        v = t.links[i, LINK_V]
        for j in range(3):
            s.tau[v + j] += f[j]
            s.tau[v + 3 + j] += m[j]
