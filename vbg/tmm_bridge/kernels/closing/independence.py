"""Which loop rows are independent: a matter of geometry, not of masses.

A row's speed is G q', G over the speeds of the tree's hinges: what a unit effort on the
row leaves along each hinge when everything behind it is rigid,

    G_r = -h . [f; m about the hinge].

Columns of turning hinges are divided by the length of the mechanism, rows by the largest
length that each has had: then entries compare.  Rows are taken greedily, the longest
remainder first (modified Gram-Schmidt with row pivoting, twice for accuracy), until none
is left above `REDUNDANT`; the others are combinations  g_d = sum_c share_cd g_c  of those.
The mobility of the chosen rows alone is solved; of all efforts that do the same to the
motion those of least norm (in the scaled rows) are reported:

    y = (1 + C^T C)^-1 C^T lambda_c,   lambda_c <- lambda_c - C y,   lambda_d = y.
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import dot
from vbg.tmm_bridge.kernels.laws.bending import factor, load_point, solve_modes
from vbg.tmm_bridge.kernels.motion.kinematics import clear, triple
from vbg.tmm_bridge.kernels.riccati import hinge_weights
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_DRIVEN,
    LINK_KIND,
    LINK_LEAD,
    LINK_MASS,
    LINK_PARENT,
    LINK_SHAPE,
    LINK_V,
    PRISMATIC,
    RIGID,
    W_ARM,
    W_N,
)
from vbg.tmm_bridge.kernels.sources import compiled

REDUNDANT = 3e-6  # length of a remainder, relative to its row, that counts as none
SERVED = 1e-9  # length of a row, relative to what it is made of, that some motion serves


@compiled
def gather_row(s, r, length, e, out):
    """Loads of a unit effort on row r into e (n, 6) and `out` (n_v,); their size, as a length
    of the scaled row if no part of it cancelled another."""
    for i in range(e.shape[0]):
        clear(e[i])
    clear(out)
    size = 0.0
    for place in range(4):
        node = s.row_nodes[r, place]
        if node >= 0:
            force, moment = 0.0, 0.0
            for j in range(6):
                load = s.row_wrench[r, place, j]
                e[node, j] -= load
                if j < 3:
                    force += load * load
                else:
                    moment += load * load
            size += math.sqrt(force) + math.sqrt(moment) / length
    for place in range(2):
        v = s.row_v[r, place]
        if v >= 0:
            out[v] += s.row_gain[r, place]
            size += abs(s.row_gain[r, place])
    return size


@compiled
def rigid_row(t, s, length, e, out):
    """Add to `out` what the loads e, which are lost, leave along the hinges of rigid links;
    columns of turning hinges over the length."""
    for i in range(t.links.shape[0] - 1, -1, -1):
        p, kind, v = t.links[i, LINK_PARENT], t.links[i, LINK_KIND], t.links[i, LINK_V]
        eq, em = triple(e, i, 0), triple(e, i, 3)
        if t.links[i, LINK_SHAPE] >= 0:
            # modal coordinates are lengths times the root of the mass
            f = t.points[t.links[i, LINK_SHAPE]]
            root = math.sqrt(t.link[t.flexes[f, 0], LINK_MASS])
            load_point(t, s, i, eq, em, -root, out, t.flexes[f, 2])
        if kind == BALL:
            for j in range(3):
                out[v + j] = (out[v + j] - em[j]) / length
        elif kind == ELASTIC:
            for j in range(3):
                out[v + j] -= eq[j]
                out[v + 3 + j] = (out[v + 3 + j] - em[j]) / length
        elif kind != RIGID:
            n = triple(s.work, i, W_N)
            on_a, on_alpha = hinge_weights(kind, t.link[i, LINK_LEAD])
            out[v] -= on_a * dot(n, eq) + on_alpha * dot(n, em)
            if kind != PRISMATIC:
                out[v] /= length
            if t.links[i, LINK_DRIVEN] == 1:
                out[v] = 0.0
        if p >= 0:
            r = triple(s.work, i, W_ARM)
            for j in range(3):
                e[p, j] += eq[j]
            e[p, 3] += em[0] + r[1] * eq[2] - r[2] * eq[1]
            e[p, 4] += em[1] + r[2] * eq[0] - r[0] * eq[2]
            e[p, 5] += em[2] + r[0] * eq[1] - r[1] * eq[0]


@compiled
def length_of(row):
    """Euclidean length."""
    total = 0.0
    for v in range(row.shape[0]):
        total += row[v] * row[v]
    return math.sqrt(total)


@compiled
def measure_rows(t, s):
    """G of all rows at the posture in `s`, scaled, into `s.G`; `s.scales` and the largest
    length that each row has had, in `s.reach`.  0 scales a row that no motion serves."""
    length = t.length[0]
    for r in range(t.rows.shape[0]):
        size = gather_row(s, r, length, s.spread, s.G[r])
        rigid_row(t, s, length, s.spread, s.G[r])
        s.reach[r] = max(s.reach[r], length_of(s.G[r]))
        s.scales[r] = 1.0 / s.reach[r] if s.reach[r] > SERVED * size else 0.0
        for v in range(s.G.shape[1]):
            s.G[r, v] *= s.scales[r]


@compiled
def without(row, basis, rank, share):
    """Take the basis' directions out of `row`, adding to `share` how much of each it had."""
    for k in range(rank):
        part = 0.0
        for v in range(row.shape[0]):
            part += basis[k, v] * row[v]
        share[k] += part
        for v in range(row.shape[0]):
            row[v] -= part * basis[k, v]


@compiled
def choose_rows(t, s):
    """Independent rows, first in `s.order`, at the posture in `s`; returns their number.

    `s.shares` (rank, m - rank) are the parts of the chosen rows in the others.
    """
    measure_rows(t, s)
    m, n = s.G.shape
    left, basis, R = s.rests, s.basis, s.parts  # row = sum_k R basis_k
    rank = 0
    for r in range(m):
        s.order[r] = r
        clear(R[r])
        for v in range(n):
            left[r, v] = s.G[r, v]
    for k in range(min(m, n)):
        best, longest = -1, REDUNDANT
        for j in range(k, m):
            size = length_of(left[s.order[j]])
            if size > longest:
                best, longest = j, size
        if best < 0:
            break
        s.order[k], s.order[best] = s.order[best], s.order[k]
        r = s.order[k]
        without(left[r], basis, k, R[r])
        R[r, k] = length_of(left[r])
        for v in range(n):
            basis[k, v] = left[r, v] / R[r, k]
        rank = k + 1
        for j in range(rank, m):
            o = s.order[j]
            part = 0.0
            for v in range(n):
                part += basis[k, v] * left[o, v]
            R[o, k] += part
            for v in range(n):
                left[o, v] -= part * basis[k, v]
    # R_d = sum_c share_cd R_c, R_c triangular in the order of the choice
    for d in range(rank, m):
        o = s.order[d]
        for c in range(rank - 1, -1, -1):
            total = R[o, c]
            for k in range(c + 1, rank):
                total -= s.shares[k, d] * R[s.order[k], c]
            s.shares[c, d] = total / R[s.order[c], c]
    return rank


@compiled
def least_norm(s, rank, x):
    """Spread the efforts x of the chosen rows over all rows; the motion stays as it was."""
    m = s.order.shape[0]
    spare = m - rank
    A, y = s.even, s.shared
    for i in range(spare):
        y[i] = 0.0
        for j in range(spare):
            A[0, i, j] = 1.0 if i == j else 0.0
        for c in range(rank):
            share, r = s.shares[c, rank + i], s.order[c]
            y[i] += share * x[r] / s.scales[r]
            for j in range(spare):
                A[0, i, j] += share * s.shares[c, rank + j]
    factor(A, 0, spare)
    solve_modes(A, 0, spare, y, 0)
    for c in range(rank):
        r = s.order[c]
        for i in range(spare):
            x[r] -= s.scales[r] * s.shares[c, rank + i] * y[i]
    for i in range(spare):
        r = s.order[rank + i]
        x[r] = s.scales[r] * y[i]
