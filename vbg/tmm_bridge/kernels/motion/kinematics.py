"""Posture, speeds and velocity products of every node: one pass, root to tips.

A node is an elementary hinge with the rigid link behind it.  With parent P,
inboard hinge frame F (constant in P) and the node's own frame M:

    R_WM = R_WP R_PF R_FM(q),   p_M = p_P + r,   w = w_P + (columns) q',
    v = v_P + w_P x r (+ n s' for a sliding hinge),

and what remains of the accelerations when all second derivatives vanish

    c_a = w_P x (w_P x r) (+ 2 w_P x n s'),   c_alpha = w_P x n q'.

The hinge turns about, or slides along, the third axis of F.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vbg.tmm_bridge.kernels.rows import (
    LINK_COM,
    LINK_J,
    LINK_MASS,
    W_A,
    W_ARM,
    W_B,
    W_C,
    W_CA,
    W_CB,
    W_EM,
    W_EQ,
    W_N,
    W_P,
    W_R,
    W_V,
    W_W,
)
from vbg.tmm_bridge.kernels.sources import compiled

Array = np.ndarray[Any, Any]


@compiled
def clear(x):
    """Zeros."""
    for j in range(x.shape[0]):
        x[j] = 0.0


@compiled
def cross(ax, ay, az, bx, by, bz):
    """a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def to_world(work, i, x, y, z):
    """World components of a vector given in the frame of node i (-1: the ground)."""
    if i < 0:
        return x, y, z
    return (
        work[i, W_R] * x + work[i, W_R + 1] * y + work[i, W_R + 2] * z,
        work[i, W_R + 3] * x + work[i, W_R + 4] * y + work[i, W_R + 5] * z,
        work[i, W_R + 6] * x + work[i, W_R + 7] * y + work[i, W_R + 8] * z,
    )


@compiled
def triple(work, i, column):
    """Three neighbours of the work table; zeros for the ground."""
    if i < 0:
        return 0.0, 0.0, 0.0
    return work[i, column], work[i, column + 1], work[i, column + 2]


@compiled
def put(work, i, column, x, y, z):
    """Store a triple."""
    work[i, column] = x
    work[i, column + 1] = y
    work[i, column + 2] = z


@compiled
def hinge_frame(work, link, i, p):
    """Columns of R_WF, the inboard frame of hinge i, row by row."""
    f = link[i]
    if p < 0:
        return f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]
    x0, x1, x2 = to_world(work, p, f[0], f[3], f[6])
    y0, y1, y2 = to_world(work, p, f[1], f[4], f[7])
    z0, z1, z2 = to_world(work, p, f[2], f[5], f[8])
    return x0, y0, z0, x1, y1, z1, x2, y2, z2


@compiled
def turn_about_third(work, i, frame, angle):
    """Store R_WF Rz(angle)."""
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = frame
    c = math.cos(angle)
    s = math.sin(angle)
    put(work, i, W_R, c * x0 + s * y0, c * y0 - s * x0, z0)
    put(work, i, W_R + 3, c * x1 + s * y1, c * y1 - s * x1, z1)
    put(work, i, W_R + 6, c * x2 + s * y2, c * y2 - s * x2, z2)


@compiled
def turn_by_quaternion(work, i, frame, w, x, y, z):
    """Store R_WF R(quaternion); the quaternion is normalised here, never in the state."""
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = frame
    k = 2.0 / (w * w + x * x + y * y + z * z)
    a, b, c = 1.0 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)
    d, e, f = k * (x * y + w * z), 1.0 - k * (x * x + z * z), k * (y * z - w * x)
    g, h, o = k * (x * z - w * y), k * (y * z + w * x), 1.0 - k * (x * x + y * y)
    put(work, i, W_R, x0 * a + y0 * d + z0 * g, x0 * b + y0 * e + z0 * h, x0 * c + y0 * f + z0 * o)
    put(
        work,
        i,
        W_R + 3,
        x1 * a + y1 * d + z1 * g,
        x1 * b + y1 * e + z1 * h,
        x1 * c + y1 * f + z1 * o,
    )
    put(
        work,
        i,
        W_R + 6,
        x2 * a + y2 * d + z2 * g,
        x2 * b + y2 * e + z2 * h,
        x2 * c + y2 * f + z2 * o,
    )


@compiled
def revolute_node(work, i, p, frame, arm, q, speed):
    """Motion across a revolute hinge."""
    turn_about_third(work, i, frame, q)
    n = (frame[2], frame[5], frame[8])
    w = triple(work, p, W_W)
    v = triple(work, p, W_V)
    o = triple(work, p, W_P)
    u = cross(w[0], w[1], w[2], arm[0], arm[1], arm[2])
    ca = cross(w[0], w[1], w[2], u[0], u[1], u[2])
    cb = cross(w[0], w[1], w[2], n[0], n[1], n[2])
    put(work, i, W_N, n[0], n[1], n[2])
    put(work, i, W_ARM, arm[0], arm[1], arm[2])
    put(work, i, W_P, o[0] + arm[0], o[1] + arm[1], o[2] + arm[2])
    put(work, i, W_V, v[0] + u[0], v[1] + u[1], v[2] + u[2])
    put(work, i, W_W, w[0] + n[0] * speed, w[1] + n[1] * speed, w[2] + n[2] * speed)
    put(work, i, W_CA, ca[0], ca[1], ca[2])
    put(work, i, W_CB, cb[0] * speed, cb[1] * speed, cb[2] * speed)


@compiled
def screw_node(work, i, p, frame, arm, angle, turn, slide, slip):
    """Motion across a hinge that turns (`angle`, rate `turn`) and slides (`slide`, rate `slip`)."""
    turn_about_third(work, i, frame, angle)
    n = (frame[2], frame[5], frame[8])
    w = triple(work, p, W_W)
    v = triple(work, p, W_V)
    o = triple(work, p, W_P)
    rx, ry, rz = arm[0] + slide * n[0], arm[1] + slide * n[1], arm[2] + slide * n[2]
    u = cross(w[0], w[1], w[2], rx, ry, rz)
    ca = cross(w[0], w[1], w[2], u[0], u[1], u[2])
    cb = cross(w[0], w[1], w[2], n[0], n[1], n[2])
    k = 2.0 * slip
    put(work, i, W_N, n[0], n[1], n[2])
    put(work, i, W_ARM, rx, ry, rz)
    put(work, i, W_P, o[0] + rx, o[1] + ry, o[2] + rz)
    put(
        work,
        i,
        W_V,
        v[0] + u[0] + n[0] * slip,
        v[1] + u[1] + n[1] * slip,
        v[2] + u[2] + n[2] * slip,
    )
    put(work, i, W_W, w[0] + n[0] * turn, w[1] + n[1] * turn, w[2] + n[2] * turn)
    put(work, i, W_CA, ca[0] + k * cb[0], ca[1] + k * cb[1], ca[2] + k * cb[2])
    put(work, i, W_CB, cb[0] * turn, cb[1] * turn, cb[2] * turn)


@compiled
def ball_node(work, i, p, frame, arm, quaternion, speeds):
    """Motion across a ball: quaternion of the node in F, relative angular velocity in the node."""
    turn_by_quaternion(work, i, frame, quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    w = triple(work, p, W_W)
    v = triple(work, p, W_V)
    o = triple(work, p, W_P)
    s = to_world(work, i, speeds[0], speeds[1], speeds[2])
    u = cross(w[0], w[1], w[2], arm[0], arm[1], arm[2])
    ca = cross(w[0], w[1], w[2], u[0], u[1], u[2])
    cb = cross(w[0], w[1], w[2], s[0], s[1], s[2])
    put(work, i, W_ARM, arm[0], arm[1], arm[2])
    put(work, i, W_P, o[0] + arm[0], o[1] + arm[1], o[2] + arm[2])
    put(work, i, W_V, v[0] + u[0], v[1] + u[1], v[2] + u[2])
    put(work, i, W_W, w[0] + s[0], w[1] + s[1], w[2] + s[2])
    put(work, i, W_CA, ca[0], ca[1], ca[2])
    put(work, i, W_CB, cb[0], cb[1], cb[2])


@compiled
def elastic_node(work, i, p, frame, arm, place, quaternion, speeds):
    """Motion across an elastic hinge: displacement of the node's origin in F, quaternion of the
    node in F; velocity and angular velocity seen from F, in the node's axes.

    c_a = w_P x (w_P x r) + 2 w_P x s + w_rel x s,  s = R_WM (relative velocity).
    """
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = frame
    a, b, c = place
    rx = arm[0] + x0 * a + y0 * b + z0 * c
    ry = arm[1] + x1 * a + y1 * b + z1 * c
    rz = arm[2] + x2 * a + y2 * b + z2 * c
    ball_node(work, i, p, frame, (rx, ry, rz), quaternion, (speeds[3], speeds[4], speeds[5]))
    s = to_world(work, i, speeds[0], speeds[1], speeds[2])
    w = triple(work, p, W_W)
    both = triple(work, i, W_W)
    x = cross(w[0] + both[0], w[1] + both[1], w[2] + both[2], s[0], s[1], s[2])
    ca, v = triple(work, i, W_CA), triple(work, i, W_V)
    put(work, i, W_CA, ca[0] + x[0], ca[1] + x[1], ca[2] + x[2])
    put(work, i, W_V, v[0] + s[0], v[1] + s[1], v[2] + s[2])


@compiled
def world_inertia(work, link, i):
    """R J R^T of node i as (xx, yy, zz, xy, yz, zx)."""
    r = work[i]
    xx, yy, zz = link[i, LINK_J], link[i, LINK_J + 1], link[i, LINK_J + 2]
    xy, yz, zx = link[i, LINK_J + 3], link[i, LINK_J + 4], link[i, LINK_J + 5]
    a0, a1, a2 = (
        r[0] * xx + r[1] * xy + r[2] * zx,
        r[0] * xy + r[1] * yy + r[2] * yz,
        (r[0] * zx + r[1] * yz + r[2] * zz),
    )
    b0, b1, b2 = (
        r[3] * xx + r[4] * xy + r[5] * zx,
        r[3] * xy + r[4] * yy + r[5] * yz,
        (r[3] * zx + r[4] * yz + r[5] * zz),
    )
    c0, c1, c2 = (
        r[6] * xx + r[7] * xy + r[8] * zx,
        r[6] * xy + r[7] * yy + r[8] * yz,
        (r[6] * zx + r[7] * yz + r[8] * zz),
    )
    return (
        a0 * r[0] + a1 * r[1] + a2 * r[2],
        b0 * r[3] + b1 * r[4] + b2 * r[5],
        c0 * r[6] + c1 * r[7] + c2 * r[8],
        a0 * r[3] + a1 * r[4] + a2 * r[5],
        b0 * r[6] + b1 * r[7] + b2 * r[8],
        c0 * r[0] + c1 * r[1] + c2 * r[2],
    )


@compiled
def body_balance(work, link, i, gravity):
    """The body's own part of [q; m] = S [a; alpha] + e at the node's origin.

    q = m (a + alpha x c + w x (w x c) - g),
    m = c x q + J alpha + w x J w.
    """
    mass = link[i, LINK_MASS]
    if mass == 0.0:
        for k in range(W_A, W_EM + 3):
            work[i, k] = 0.0
        return
    cx, cy, cz = to_world(work, i, link[i, LINK_COM], link[i, LINK_COM + 1], link[i, LINK_COM + 2])
    jxx, jyy, jzz, jxy, jyz, jzx = world_inertia(work, link, i)
    w = triple(work, i, W_W)
    hx = jxx * w[0] + jxy * w[1] + jzx * w[2]
    hy = jxy * w[0] + jyy * w[1] + jyz * w[2]
    hz = jzx * w[0] + jyz * w[1] + jzz * w[2]
    gyro = cross(w[0], w[1], w[2], hx, hy, hz)
    u = cross(w[0], w[1], w[2], cx, cy, cz)
    k = cross(w[0], w[1], w[2], u[0], u[1], u[2])
    fx, fy, fz = (
        mass * (k[0] - gravity[0]),
        mass * (k[1] - gravity[1]),
        mass * (k[2] - gravity[2]),
    )
    t = cross(cx, cy, cz, fx, fy, fz)
    mx, my, mz = mass * cx, mass * cy, mass * cz
    put(work, i, W_A, mass, mass, mass)
    put(work, i, W_A + 3, 0.0, 0.0, 0.0)
    put(work, i, W_B, 0.0, mz, -my)
    put(work, i, W_B + 3, -mz, 0.0, mx)
    put(work, i, W_B + 6, my, -mx, 0.0)
    put(work, i, W_C, jxx + my * cy + mz * cz, jyy + mx * cx + mz * cz, jzz + mx * cx + my * cy)
    put(work, i, W_C + 3, jxy - mx * cy, jyz - my * cz, jzx - mz * cx)
    put(work, i, W_EQ, fx, fy, fz)
    put(work, i, W_EM, t[0] + gyro[0], t[1] + gyro[1], t[2] + gyro[2])
