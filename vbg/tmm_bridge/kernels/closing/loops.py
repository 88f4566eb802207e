"""Loops: cut efforts as further right-hand sides of the Riccati transform.

The tree's inverse inertia factors as H^T D^-1 H (the pass of `lean`), so a unit
effort on row r leaves at every hinge an unbalanced effort W_r, the mobility
between rows is K = W D^-1 W^T, and the loops close when

    K lambda = -(G V' + products of the tree alone).

Which rows are independent says geometry (`independence`): K is solved for those, whatever
the masses make of its condition, and the caller names the forces that are not unique.
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import (
    block_times,
    dot,
    plus,
    sum_of,
    symmetric_times,
    transposed_times,
)
from vbg.tmm_bridge.kernels.closing.independence import choose_rows, least_norm
from vbg.tmm_bridge.kernels.laws.bending import (
    load_point,
    modes_move,
    move_point,
    pass_modes,
    solve_modes,
)
from vbg.tmm_bridge.kernels.motion.kinematics import clear, triple
from vbg.tmm_bridge.kernels.riccati import elastic_acceleration, elastic_solve, hinge_weights
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_BENDS,
    LINK_DRIVEN,
    LINK_KIND,
    LINK_LEAD,
    LINK_PARENT,
    LINK_SHAPE,
    LINK_V,
    RIGID,
    W_ACC,
    W_ALPHA,
    W_ARM,
    W_D,
    W_EQ,
    W_F,
    W_FM,
    W_N,
    W_U,
)
from vbg.tmm_bridge.kernels.sources import compiled

ROUNDING = 1e-15  # a pivot of the mobility with unit diagonal that rounding leaves


@compiled
def spread_load(t, s, hinge_effort, e, out):
    """Pass the loads e (n, 6) to the root; `out`, zeros before, gets what they leave at the hinges.

    f = tau - h . e,   e <- e + u f / d,   e_m <- e_m + r x e_q.
    """
    links, link, work = t.links, t.link, s.work
    for i in range(links.shape[0] - 1, -1, -1):
        p = links[i, LINK_PARENT]
        kind = links[i, LINK_KIND]
        v = links[i, LINK_V]
        b = links[i, LINK_BENDS]
        if b >= 0:
            first = t.flexes[b, 2]
            for m in range(t.flexes[b, 3]):
                out[first + m] += hinge_effort[first + m]
            pass_modes(t, s, i, out, first, e, 0)
        eq = triple(e, i, 0)
        em = triple(e, i, 3)
        if links[i, LINK_SHAPE] >= 0:
            first = t.flexes[t.points[links[i, LINK_SHAPE]], 2]
            load_point(t, s, i, eq, em, -1.0, out, first)
        if kind == BALL:
            f = (-em[0], -em[1], -em[2])
            out[v], out[v + 1], out[v + 2] = f
            eq = sum_of(eq, block_times(work, i, symmetric_times(work, i, W_U, f)))
            em = (0.0, 0.0, 0.0)
        elif kind == ELASTIC:
            for j in range(3):
                out[v + j], out[v + 3 + j] = -eq[j], -em[j]
            eq, em = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        elif kind != RIGID and links[i, LINK_DRIVEN] == 0:
            on_a, on_alpha = hinge_weights(kind, link[i, LINK_LEAD])
            n = triple(work, i, W_N)
            f1 = hinge_effort[v] - on_a * dot(n, eq) - on_alpha * dot(n, em)
            out[v] = f1
            eq = plus(eq, f1 * work[i, W_D], triple(work, i, W_U))
            em = plus(em, f1 * work[i, W_D], triple(work, i, W_U + 3))
        if p >= 0:
            r = triple(work, i, W_ARM)
            e[p, 0] += eq[0]
            e[p, 1] += eq[1]
            e[p, 2] += eq[2]
            e[p, 3] += em[0] + r[1] * eq[2] - r[2] * eq[1]
            e[p, 4] += em[1] + r[2] * eq[0] - r[0] * eq[2]
            e[p, 5] += em[2] + r[0] * eq[1] - r[1] * eq[0]


@compiled
def unload(s, out):
    """Room for loads of nodes and hinges and for what they leave: zeros."""
    for i in range(s.spread.shape[0]):
        clear(s.spread[i])
    clear(s.efforts)
    clear(out)


@compiled
def add_row_load(s, r, gain, e, hinge_effort):
    """Add `gain` times the loads of row r."""
    for place in range(4):
        node = s.row_nodes[r, place]
        if node >= 0:
            for j in range(6):
                e[node, j] -= gain * s.row_wrench[r, place, j]
    for place in range(2):
        v = s.row_v[r, place]
        if v >= 0:
            hinge_effort[v] += gain * s.row_gain[r, place]


@compiled
def hinge_compliance(t, s):
    """Y = D^-1 W."""
    links, work, W, Y = t.links, s.work, s.W, s.Y
    for f in range(t.flexes.shape[0]):
        v, n = t.flexes[f, 2], t.flexes[f, 3]
        for r in range(W.shape[0]):
            for m in range(v, v + n):
                Y[r, m] = W[r, m]
            solve_modes(s.bend_M, f, n, Y[r], v)
    for i in range(links.shape[0]):
        kind = links[i, LINK_KIND]
        v = links[i, LINK_V]
        if kind == BALL:
            for r in range(W.shape[0]):
                y = symmetric_times(work, i, W_U, (W[r, v], W[r, v + 1], W[r, v + 2]))
                Y[r, v], Y[r, v + 1], Y[r, v + 2] = y
        elif kind == ELASTIC:
            for r in range(W.shape[0]):
                x, z = elastic_solve(work, i, triple(W, r, v), triple(W, r, v + 3))
                for j in range(3):
                    Y[r, v + j], Y[r, v + 3 + j] = x[j], z[j]
        elif kind != RIGID:
            k = 0.0 if links[i, LINK_DRIVEN] == 1 else work[i, W_D]
            for r in range(W.shape[0]):
                Y[r, v] = k * W[r, v]


@compiled
def mobility(t, s):
    """K of all rows at the posture in `s`; `lean` and `all_rows` have run."""
    m = t.rows.shape[0]
    for r in range(m):
        unload(s, s.W[r])
        add_row_load(s, r, 1.0, s.spread, s.efforts)
        spread_load(t, s, s.efforts, s.spread, s.W[r])
    hinge_compliance(t, s)
    for r in range(m):
        for k in range(r + 1):
            total = 0.0
            for v in range(s.W.shape[1]):
                total += s.W[r, v] * s.Y[k, v]
            s.K[r, k] = total
            s.K[k, r] = total


@compiled
def regular_solve(s, rank, b, x):
    """LDL^T with diagonal pivoting of K over the rows order[:rank], scaled to a unit diagonal;
    x is 0 for the others and for what rounding leaves no pivot."""
    n = rank
    K, order, scale, L, place, z = s.K, s.order, s.scale, s.L, s.place, s.z
    for r in range(n):
        place[r] = r
        scale[r] = 1.0 / math.sqrt(K[order[r], order[r]])
    for r in range(n):
        for k in range(n):
            L[r, k] = K[order[r], order[k]] * scale[r] * scale[k]
    solved = n
    for j in range(n):
        best = j
        for r in range(j + 1, n):
            if L[place[r], place[r]] > L[place[best], place[best]]:
                best = r
        place[j], place[best] = place[best], place[j]
        p = place[j]
        if not L[p, p] > ROUNDING:
            solved = j
            break
        for r in range(j + 1, n):
            o = place[r]
            k = L[o, p] / L[p, p]
            for c in range(j + 1, r + 1):
                L[o, place[c]] -= k * L[place[c], p]
                L[place[c], o] = L[o, place[c]]
        for r in range(j + 1, n):
            L[p, place[r]] = L[place[r], p] / L[p, p]
    clear(x)
    for j in range(solved):
        total = b[order[place[j]]] * scale[place[j]]
        for k in range(j):
            total -= L[place[k], place[j]] * z[k]
        z[j] = total
    for j in range(solved - 1, -1, -1):
        z[j] /= L[place[j], place[j]]
        for k in range(j + 1, solved):
            z[j] -= L[place[j], place[k]] * z[k]
    for j in range(solved):
        x[order[place[j]]] = z[j] * scale[place[j]]


@compiled
def solve_rows(t, s, b, x):
    """K x = b over independent rows, x of least norm where there are others.  Returns the rank.

    The rows that were chosen at the last closed posture (`s.limit`, -1: choose here) serve
    within a step, where an overconstrained linkage opens a little and all rows would count.
    They alone bear the efforts there: how efforts spread over the others follows from the
    posture, and shares of another posture would push the linkage off its path.
    """
    rank = s.limit[0]
    if rank >= 0:
        regular_solve(s, rank, b, x)
        return rank
    rank = choose_rows(t, s)
    regular_solve(s, rank, b, x)
    if rank < s.order.shape[0]:
        least_norm(s, rank, x)
    return rank


@compiled
def row_acceleration(s, r):
    """G V' + products of row r at the accelerations in `s`."""
    total = s.row_state[r, 2]
    for place in range(4):
        node = s.row_nodes[r, place]
        if node >= 0:
            for j in range(3):
                total += s.row_wrench[r, place, j] * s.work[node, W_ACC + j]
                total += s.row_wrench[r, place, 3 + j] * s.work[node, W_ALPHA + j]
    for place in range(2):
        v = s.row_v[r, place]
        if v >= 0:
            total += s.row_gain[r, place] * s.acceleration[v]
    return total


@compiled
def load_cut_efforts(t, s):
    """Add the cut efforts in `s` to the e and to the unbalanced efforts of every hinge."""
    left = s.left
    unload(s, left)
    for r in range(t.rows.shape[0]):
        add_row_load(s, r, s.effort[r], s.spread, s.efforts)
    spread_load(t, s, s.efforts, s.spread, left)
    for i in range(t.links.shape[0]):
        for j in range(6):
            s.work[i, W_EQ + j] += s.spread[i, j]
        kind = t.links[i, LINK_KIND]
        v = t.links[i, LINK_V]
        b = t.links[i, LINK_BENDS]
        if b >= 0:
            for m in range(t.flexes[b, 3]):
                s.bend_f[b, m] += left[t.flexes[b, 2] + m]
        if kind == BALL:
            for j in range(3):
                s.work[i, W_F + j] += left[v + j]
        elif kind == ELASTIC:
            for j in range(3):
                s.work[i, W_F + j] += left[v + j]
                s.work[i, W_FM + j] += left[v + 3 + j]
        elif kind != RIGID and t.links[i, LINK_DRIVEN] == 0:
            s.work[i, W_F] += left[v]


@compiled
def hinge_motion(t, s, left, out):
    """Hinge speeds that impulses leave behind: `left` as made by `spread_load`, from rest.

    Uses the columns W_ACC, W_ALPHA of the work table.
    """
    for i in range(t.links.shape[0]):
        p = t.links[i, LINK_PARENT]
        kind = t.links[i, LINK_KIND]
        v = t.links[i, LINK_V]
        arm = triple(s.work, i, W_ARM)
        w = triple(s.work, p, W_ALPHA)
        a = triple(s.work, p, W_ACC)
        a = (
            a[0] + w[1] * arm[2] - w[2] * arm[1],
            a[1] + w[2] * arm[0] - w[0] * arm[2],
            a[2] + w[0] * arm[1] - w[1] * arm[0],
        )
        if kind == BALL:
            hinge_motion_ball(s.work, i, a, w, left, out, v)
            b = t.links[i, LINK_BENDS]
            if b >= 0:
                modes_move(t, s, i, left, t.flexes[b, 2], out)
            continue
        if kind == ELASTIC:
            force = (left[v], left[v + 1], left[v + 2])
            moment = (left[v + 3], left[v + 4], left[v + 5])
            x, z = elastic_acceleration(s.work, i, force, moment, a, w, out, v)
            for j in range(3):
                s.work[i, W_ACC + j] = a[j] + x[j]
                s.work[i, W_ALPHA + j] = w[j] + z[j]
            continue
        x = 0.0
        n = triple(s.work, i, W_N)
        on_a, on_alpha = hinge_weights(kind, t.link[i, LINK_LEAD])
        if kind != RIGID and t.links[i, LINK_DRIVEN] == 0:
            x = s.work[i, W_D] * (
                left[v] - dot(triple(s.work, i, W_U), a) - dot(triple(s.work, i, W_U + 3), w)
            )
        if kind != RIGID:
            out[v] = x
        a = plus(a, on_a * x, n)
        w = plus(w, on_alpha * x, n)
        for j in range(3):
            s.work[i, W_ACC + j] = a[j]
            s.work[i, W_ALPHA + j] = w[j]
        if t.links[i, LINK_SHAPE] >= 0:
            move_point(t, s, i, out)


@compiled
def hinge_motion_ball(work, i, a, w, left, out, v):
    """As `hinge_motion`, behind a ball; speeds in the node's own frame."""
    b = transposed_times(work, i, a)
    x = symmetric_times(work, i, W_U, (left[v] - b[0], left[v + 1] - b[1], left[v + 2] - b[2]))
    d = plus(x, -1.0, w)
    for j in range(3):
        out[v + j] = work[i, j] * d[0] + work[i, 3 + j] * d[1] + work[i, 6 + j] * d[2]
        work[i, W_ACC + j] = a[j]
        work[i, W_ALPHA + j] = x[j]


@compiled
def correction(t, s, b, out):
    """Hinge motion of least kinetic energy that changes the rows' speeds by b.

    Returns the rank of K.  `lean`, `all_rows` and `mobility` have run.
    """
    lam, left = s.impulses, s.left
    rank = solve_rows(t, s, b, lam)
    clear(left)
    for r in range(t.rows.shape[0]):
        for v in range(left.shape[0]):
            left[v] += lam[r] * s.W[r, v]
    hinge_motion(t, s, left, out)
    return rank


@compiled
def row_impulses(t, s, b, out):
    """Impulses of the rows that change their speeds by b.  As for `correction`."""
    return solve_rows(t, s, b, out)
