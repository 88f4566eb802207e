"""Riccati transform of the transfer equations, tips to root and back.

At the origin of every node, on its side of the hinge, the internal force q
and moment m that the parent exerts are affine in the motion of that point:

    [q; m] = S [a; alpha] + e,      S symmetric, 6 x 6 as blocks A, B, B^T, C.

Crossing the hinge with column h (a = a_F + c_a + h_a q'', alpha = alpha_P +
c_alpha + h_alpha q'') and applied effort tau along it,

    u = S h,  d = h . u,   f = tau - h . (e + S c)
    S <- S - u u^T / d,    e <- e + S c + u f / d,

and the shift by the arm r to the parent's origin is

    B <- B - A r^,   C <- C + r^ B_new + (r^ B)^T,   e_m <- e_m + r x e_q.

On the way back  q'' = (f - u . [a_F; alpha_P]) / d.  A hinge whose motion is
prescribed only passes S on, with h q'' among the velocity products.  An elastic
hinge of six freedoms transmits its own effort t and no inertia:

    S <- 0,   e <- t,   [a; alpha] = S^-1 (t - e).

This is
the Riccati form of the transfer matrix method (Horner and Pilkey 1978; Rui et
al., mstmmsim.txt): no quantity grows with the length of the chain.
"""

from __future__ import annotations

from vbg.tmm_bridge.kernels.algebra import (
    block_times,
    dot,
    plus,
    sum_of,
    symmetric_times,
    transposed_times,
)
from vbg.tmm_bridge.kernels.laws.bending import (
    condense,
    lean_point,
    load_point,
    modes_move,
    move_point,
    pass_modes,
)
from vbg.tmm_bridge.kernels.motion.kinematics import cross, put, to_world, triple
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_ARMATURE,
    LINK_BENDS,
    LINK_DRIVEN,
    LINK_KIND,
    LINK_LEAD,
    LINK_PARENT,
    LINK_SHAPE,
    LINK_V,
    PRISMATIC,
    REVOLUTE,
    RIGID,
    SCREW,
    W_A,
    W_ACC,
    W_ALPHA,
    W_ARM,
    W_B,
    W_C,
    W_CA,
    W_CB,
    W_D,
    W_EM,
    W_EQ,
    W_F,
    W_FM,
    W_FORCE,
    W_G,
    W_MOMENT,
    W_N,
    W_R,
    W_U,
)
from vbg.tmm_bridge.kernels.sources import compiled


@compiled
def hinge_weights(kind, lead):
    """(h_a, h_alpha): the hinge's column is (h_a n, h_alpha n)."""
    if kind == REVOLUTE:
        return 0.0, 1.0
    if kind == PRISMATIC:
        return 1.0, 0.0
    if kind == SCREW:
        return lead, 1.0
    return 0.0, 0.0


@compiled
def hinge_response(work, i, kind, lead, armature):
    """Store u = S h and 1/d of a hinge with one column; returns d.

    An inertia that moves with the hinge's coordinate alone (a rotor) adds to d.
    """
    n = triple(work, i, W_N)
    if kind == REVOLUTE:
        ua = block_times(work, i, n)
        ub = symmetric_times(work, i, W_C, n)
        d = dot(n, ub)
    else:
        on_a, on_alpha = hinge_weights(kind, lead)
        an = symmetric_times(work, i, W_A, n)
        bn = block_times(work, i, n)
        tn = transposed_times(work, i, n)
        cn = symmetric_times(work, i, W_C, n)
        ua = (
            on_a * an[0] + on_alpha * bn[0],
            on_a * an[1] + on_alpha * bn[1],
            on_a * an[2] + on_alpha * bn[2],
        )
        ub = (
            on_a * tn[0] + on_alpha * cn[0],
            on_a * tn[1] + on_alpha * cn[1],
            on_a * tn[2] + on_alpha * cn[2],
        )
        d = on_a * dot(n, ua) + on_alpha * dot(n, ub)
    put(work, i, W_U, ua[0], ua[1], ua[2])
    put(work, i, W_U + 3, ub[0], ub[1], ub[2])
    d += armature
    work[i, W_D] = 1.0 / d
    return d


@compiled
def ball_response(work, i):
    """Store C^-1 of a ball's node, (xx, yy, zz, xy, yz, zx); returns its determinant over the
    cube of its trace."""
    xx, yy, zz = work[i, W_C], work[i, W_C + 1], work[i, W_C + 2]
    xy, yz, zx = work[i, W_C + 3], work[i, W_C + 4], work[i, W_C + 5]
    mxx, mxy, mzx = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    det = xx * mxx + xy * mxy + zx * mzx
    put(work, i, W_U, mxx / det, (xx * zz - zx * zx) / det, (xx * yy - xy * xy) / det)
    put(work, i, W_U + 3, mxy / det, (zx * xy - xx * yz) / det, mzx / det)
    return det / (xx + yy + zz) ** 3


@compiled
def elastic_response(work, i):
    """Store C^-1 and G = (A - B C^-1 B^T)^-1 of an elastic hinge's node; returns the smaller of
    both determinants over the cubes of their traces."""
    turning = ball_response(work, i)
    x = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B)))
    y = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B + 3)))
    z = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B + 6)))
    s = work[i]
    xx, yy, zz = s[W_A] - x[0], s[W_A + 1] - y[1], s[W_A + 2] - z[2]
    xy, yz, zx = s[W_A + 3] - x[1], s[W_A + 4] - y[2], s[W_A + 5] - z[0]
    mxx, mxy, mzx = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    det = xx * mxx + xy * mxy + zx * mzx
    put(work, i, W_G, mxx / det, (xx * zz - zx * zx) / det, (xx * yy - xy * xy) / det)
    put(work, i, W_G + 3, mxy / det, (zx * xy - xx * yz) / det, mzx / det)
    return min(turning, det / (xx + yy + zz) ** 3)


@compiled
def elastic_solve(work, i, force, moment):
    """S^-1 [force; moment] behind an elastic hinge."""
    b = block_times(work, i, symmetric_times(work, i, W_U, moment))
    a = symmetric_times(work, i, W_G, (force[0] - b[0], force[1] - b[1], force[2] - b[2]))
    t = transposed_times(work, i, a)
    return a, symmetric_times(work, i, W_U, (moment[0] - t[0], moment[1] - t[1], moment[2] - t[2]))


@compiled
def pass_block(work, p, A, B, C, r):
    """Add S, shifted by the arm r, to the parent's S."""
    axx, ayy, azz, axy, ayz, azx = A
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = B
    rx, ry, rz = r
    # B - A r^
    n00, n01, n02 = b00 - axy * rz + azx * ry, b01 + axx * rz - azx * rx, b02 - axx * ry + axy * rx
    n10, n11, n12 = b10 - ayy * rz + ayz * ry, b11 + axy * rz - ayz * rx, b12 - axy * ry + ayy * rx
    n20, n21, n22 = b20 - ayz * rz + azz * ry, b21 + azx * rz - azz * rx, b22 - azx * ry + ayz * rx
    w = work[p]
    w[W_A] += axx
    w[W_A + 1] += ayy
    w[W_A + 2] += azz
    w[W_A + 3] += axy
    w[W_A + 4] += ayz
    w[W_A + 5] += azx
    w[W_B] += n00
    w[W_B + 1] += n01
    w[W_B + 2] += n02
    w[W_B + 3] += n10
    w[W_B + 4] += n11
    w[W_B + 5] += n12
    w[W_B + 6] += n20
    w[W_B + 7] += n21
    w[W_B + 8] += n22
    # C + r^ B_new + (r^ B)^T
    w[W_C] += C[0] + ry * (n20 + b20) - rz * (n10 + b10)
    w[W_C + 1] += C[1] + rz * (n01 + b01) - rx * (n21 + b21)
    w[W_C + 2] += C[2] + rx * (n12 + b12) - ry * (n02 + b02)
    w[W_C + 3] += C[3] + ry * n21 - rz * n11 + rz * b00 - rx * b20
    w[W_C + 4] += C[4] + rz * n02 - rx * n22 + rx * b11 - ry * b01
    w[W_C + 5] += C[5] + rx * n10 - ry * n00 + ry * b22 - rz * b12


@compiled
def pass_effort(work, p, r, eq, em):
    """Add e, shifted by the arm r, to the parent's e."""
    t = cross(r[0], r[1], r[2], eq[0], eq[1], eq[2])
    w = work[p]
    w[W_EQ] += eq[0]
    w[W_EQ + 1] += eq[1]
    w[W_EQ + 2] += eq[2]
    w[W_EM] += em[0] + t[0]
    w[W_EM + 1] += em[1] + t[1]
    w[W_EM + 2] += em[2] + t[2]


@compiled
def pass_stiff(work, i, p):
    """S of a hinge that does not yield goes to the parent unchanged."""
    s, b = work[i], W_B
    pass_block(
        work,
        p,
        (s[W_A], s[W_A + 1], s[W_A + 2], s[W_A + 3], s[W_A + 4], s[W_A + 5]),
        (s[b], s[b + 1], s[b + 2], s[b + 3], s[b + 4], s[b + 5], s[b + 6], s[b + 7], s[b + 8]),
        (s[W_C], s[W_C + 1], s[W_C + 2], s[W_C + 3], s[W_C + 4], s[W_C + 5]),
        triple(work, i, W_ARM),
    )


@compiled
def pass_hinged(work, i, p):
    """S - u u^T / d of a hinge with one column goes to the parent."""
    s = work[i]
    k = s[W_D]
    a0, a1, a2 = s[W_U], s[W_U + 1], s[W_U + 2]
    b0, b1, b2 = s[W_U + 3], s[W_U + 4], s[W_U + 5]
    k0, k1, k2 = k * a0, k * a1, k * a2
    l0, l1, l2 = k * b0, k * b1, k * b2
    pass_block(
        work,
        p,
        (
            s[W_A] - k0 * a0,
            s[W_A + 1] - k1 * a1,
            s[W_A + 2] - k2 * a2,
            s[W_A + 3] - k0 * a1,
            s[W_A + 4] - k1 * a2,
            s[W_A + 5] - k2 * a0,
        ),
        (
            s[W_B] - k0 * b0,
            s[W_B + 1] - k0 * b1,
            s[W_B + 2] - k0 * b2,
            s[W_B + 3] - k1 * b0,
            s[W_B + 4] - k1 * b1,
            s[W_B + 5] - k1 * b2,
            s[W_B + 6] - k2 * b0,
            s[W_B + 7] - k2 * b1,
            s[W_B + 8] - k2 * b2,
        ),
        (
            s[W_C] - l0 * b0,
            s[W_C + 1] - l1 * b1,
            s[W_C + 2] - l2 * b2,
            s[W_C + 3] - l0 * b1,
            s[W_C + 4] - l1 * b2,
            s[W_C + 5] - l2 * b0,
        ),
        triple(work, i, W_ARM),
    )


@compiled
def pass_ball(work, i, p):
    """A - B C^-1 B^T of a ball goes to the parent; no moment crosses it."""
    x = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B)))
    y = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B + 3)))
    z = block_times(work, i, symmetric_times(work, i, W_U, triple(work, i, W_B + 6)))
    s = work[i]
    pass_block(
        work,
        p,
        (
            s[W_A] - x[0],
            s[W_A + 1] - y[1],
            s[W_A + 2] - z[2],
            s[W_A + 3] - x[1],
            s[W_A + 4] - y[2],
            s[W_A + 5] - z[0],
        ),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        triple(work, i, W_ARM),
    )


@compiled
def lean(t, s):
    """S of every node, tips to root.

    Returns -1, or the node whose hinge meets no inertia (d <= 0).
    """
    links, link, work = t.links, t.link, s.work
    for i in range(links.shape[0] - 1, -1, -1):
        p = links[i, LINK_PARENT]
        kind = links[i, LINK_KIND]
        if links[i, LINK_BENDS] >= 0 and not condense(t, s, i):
            return i
        if links[i, LINK_SHAPE] >= 0:
            lean_point(t, s, i)
        if kind == RIGID or links[i, LINK_DRIVEN] == 1:
            if p >= 0:
                pass_stiff(work, i, p)
        elif kind == BALL:
            if not ball_response(work, i) > 1e-30:
                return i
            if p >= 0:
                pass_ball(work, i, p)
        elif kind == ELASTIC:
            if not elastic_response(work, i) > 1e-30:
                return i
        else:
            lead, armature = link[i, LINK_LEAD], link[i, LINK_ARMATURE]
            if not hinge_response(work, i, kind, lead, armature) > 0.0:
                return i
            if p >= 0:
                pass_hinged(work, i, p)
    return -1


@compiled
def biased(work, i, ca, cb):
    """e + S c."""
    eq = sum_of(
        triple(work, i, W_EQ), sum_of(symmetric_times(work, i, W_A, ca), block_times(work, i, cb))
    )
    em = sum_of(
        triple(work, i, W_EM),
        sum_of(transposed_times(work, i, ca), symmetric_times(work, i, W_C, cb)),
    )
    return eq, em


@compiled
def effort_across_ball(work, i, eq, em, tau, v):
    """e behind a ball; stores what is unbalanced about it."""
    f = (tau[v] - em[0], tau[v + 1] - em[1], tau[v + 2] - em[2])
    put(work, i, W_F, f[0], f[1], f[2])
    x = symmetric_times(work, i, W_U, f)
    return sum_of(eq, block_times(work, i, x)), sum_of(em, f)


@compiled
def load(t, s):
    """e of every node, tips to root, for hinge efforts `tau` and prescribed accelerations.

    Efforts about a ball are taken in world axes, those of an elastic hinge in its node's.
    """
    links, link, tau, prescribed, work = t.links, t.link, s.tau, s.prescribed, s.work
    for i in range(links.shape[0] - 1, -1, -1):
        p = links[i, LINK_PARENT]
        kind = links[i, LINK_KIND]
        v = links[i, LINK_V]
        ca = triple(work, i, W_CA)
        cb = triple(work, i, W_CB)
        f = links[i, LINK_BENDS]
        if f >= 0:
            for m in range(t.flexes[f, 3]):
                s.bend_f[f, m] = tau[t.flexes[f, 2] + m] - s.bend_e[f, m]
            pass_modes(t, s, i, s.bend_f[f], 0, work, W_EQ)
        if links[i, LINK_DRIVEN] == 1 and kind != RIGID:
            on_a, on_alpha = hinge_weights(kind, link[i, LINK_LEAD])
            n = triple(work, i, W_N)
            ca = plus(ca, on_a * prescribed[v], n)
            cb = plus(cb, on_alpha * prescribed[v], n)
            put(work, i, W_CA, ca[0], ca[1], ca[2])
            put(work, i, W_CB, cb[0], cb[1], cb[2])
        eq, em = biased(work, i, ca, cb)
        if links[i, LINK_SHAPE] >= 0:
            load_point(t, s, i, eq, em, 1.0, s.bend_e[t.points[links[i, LINK_SHAPE]]], 0)
        if kind == BALL:
            eq, em = effort_across_ball(work, i, eq, em, tau, v)
        elif kind == ELASTIC:
            force = to_world(work, i, tau[v], tau[v + 1], tau[v + 2])
            moment = to_world(work, i, tau[v + 3], tau[v + 4], tau[v + 5])
            put(work, i, W_F, force[0] - eq[0], force[1] - eq[1], force[2] - eq[2])
            put(work, i, W_FM, moment[0] - em[0], moment[1] - em[1], moment[2] - em[2])
            eq, em = force, moment
        elif kind != RIGID and links[i, LINK_DRIVEN] == 0:
            on_a, on_alpha = hinge_weights(kind, link[i, LINK_LEAD])
            n = triple(work, i, W_N)
            rest = tau[v] - on_a * dot(n, eq) - on_alpha * dot(n, em)
            work[i, W_F] = rest
            k = rest * work[i, W_D]
            eq = plus(eq, k, triple(work, i, W_U))
            em = plus(em, k, triple(work, i, W_U + 3))
        if p >= 0:
            pass_effort(work, p, triple(work, i, W_ARM), eq, em)


@compiled
def in_axes(work, i, x, out, v):
    """out[v : v + 3] = R_WM^T x."""
    r = work[i]
    out[v] = r[W_R] * x[0] + r[W_R + 3] * x[1] + r[W_R + 6] * x[2]
    out[v + 1] = r[W_R + 1] * x[0] + r[W_R + 4] * x[1] + r[W_R + 7] * x[2]
    out[v + 2] = r[W_R + 2] * x[0] + r[W_R + 5] * x[1] + r[W_R + 8] * x[2]


@compiled
def ball_acceleration(work, i, a, alpha_p, out, v):
    """Angular acceleration behind a ball: C (alpha - alpha_P - c) = f - B^T a_F - C alpha_P."""
    f = triple(work, i, W_F)
    t = transposed_times(work, i, a)
    x = symmetric_times(work, i, W_U, (f[0] - t[0], f[1] - t[1], f[2] - t[2]))
    d = (x[0] - alpha_p[0], x[1] - alpha_p[1], x[2] - alpha_p[2])
    in_axes(work, i, d, out, v)
    return d


@compiled
def elastic_acceleration(work, i, force, moment, a, alpha_p, out, v):
    """What the acceleration behind an elastic hinge has more than at F; of the hinge, `out`."""
    x, z = elastic_solve(work, i, force, moment)
    x, z = plus(x, -1.0, a), plus(z, -1.0, alpha_p)
    in_axes(work, i, x, out, v)
    in_axes(work, i, z, out, v + 3)
    return x, z


@compiled
def accelerate(t, s):
    """Accelerations of every node and of every hinge, root to tips."""
    links, link, prescribed, work = t.links, t.link, s.prescribed, s.work
    out = s.acceleration
    for i in range(links.shape[0]):
        p = links[i, LINK_PARENT]
        kind = links[i, LINK_KIND]
        v = links[i, LINK_V]
        r = triple(work, i, W_ARM)
        alpha_p = triple(work, p, W_ALPHA)
        a = sum_of(
            triple(work, p, W_ACC), cross(alpha_p[0], alpha_p[1], alpha_p[2], r[0], r[1], r[2])
        )
        acc = sum_of(a, triple(work, i, W_CA))
        alpha = sum_of(alpha_p, triple(work, i, W_CB))
        if kind == BALL:
            alpha = sum_of(alpha, ball_acceleration(work, i, a, alpha_p, out, v))
        elif kind == ELASTIC:
            force, moment = triple(work, i, W_F), triple(work, i, W_FM)
            x, z = elastic_acceleration(work, i, force, moment, a, alpha_p, out, v)
            acc, alpha = sum_of(acc, x), sum_of(alpha, z)
        elif kind != RIGID and links[i, LINK_DRIVEN] == 1:
            out[v] = prescribed[v]
        elif kind != RIGID:
            on_a, on_alpha = hinge_weights(kind, link[i, LINK_LEAD])
            n = triple(work, i, W_N)
            x = work[i, W_D] * (
                work[i, W_F] - dot(triple(work, i, W_U), a) - dot(triple(work, i, W_U + 3), alpha_p)
            )
            out[v] = x
            acc = plus(acc, on_a * x, n)
            alpha = plus(alpha, on_alpha * x, n)
        put(work, i, W_ACC, acc[0], acc[1], acc[2])
        put(work, i, W_ALPHA, alpha[0], alpha[1], alpha[2])
        if links[i, LINK_SHAPE] >= 0:
            move_point(t, s, i, out)
        f = links[i, LINK_BENDS]
        if f >= 0:
            modes_move(t, s, i, s.bend_f[f], 0, out)


@compiled
def internal_forces(links, work):
    """q and m of every hinge from S, e and the accelerations."""
    for i in range(links.shape[0]):
        q, m = biased(work, i, triple(work, i, W_ACC), triple(work, i, W_ALPHA))
        put(work, i, W_FORCE, q[0], q[1], q[2])
        put(work, i, W_MOMENT, m[0], m[1], m[2])
