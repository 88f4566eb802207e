"""World frames of the cut joints and the coordinates measured across them."""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import dot, plus, sum_of
from vbg.tmm_bridge.kernels.motion.kinematics import cross, to_world, triple
from vbg.tmm_bridge.kernels.rows import W_P, W_V, W_W
from vbg.tmm_bridge.kernels.sources import compiled
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_FIRST,
    COORDINATE_SECOND,
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    COORDINATE_TURN,
)

# Columns of the work table of a cut joint; axes are stored one after the other.
C_F = 0  # x, y, z of F
C_M = 9  # x, y, z of M
C_PF = 18
C_PM = 21
C_U = 24  # velocity of M less that of A's material point there
C_WA = 27
C_WB = 30
C_RATE = 33  # time derivative of p_M - p_F


@compiled
def put_axes(out, at, work, node, R, start):
    """Store the three axes of a frame fixed in `node`, in world components."""
    for j in range(3):
        x = to_world(work, node, R[start + j], R[start + 3 + j], R[start + 6 + j])
        out[at + 3 * j] = x[0]
        out[at + 3 * j + 1] = x[1]
        out[at + 3 * j + 2] = x[2]


@compiled
def point_motion(work, node, x, y, z):
    """Position and velocity of a point fixed in `node`."""
    r = to_world(work, node, x, y, z)
    w = triple(work, node, W_W)
    return sum_of(triple(work, node, W_P), r), sum_of(
        triple(work, node, W_V), cross(w[0], w[1], w[2], r[0], r[1], r[2])
    )


@compiled
def at(out, column):
    """Three neighbours of a row."""
    return out[column], out[column + 1], out[column + 2]


@compiled
def store(out, column, x):
    """Three neighbours of a row."""
    out[column] = x[0]
    out[column + 1] = x[1]
    out[column + 2] = x[2]


@compiled
def frame_pair(work, a, b, constant, out):
    """Frames and relative speeds of F on node a and M on node b.

    u = v_M - v_F - w_A x d is the velocity of M seen from A, d = p_M - p_F.
    """
    put_axes(out, C_F, work, a, constant, 0)
    put_axes(out, C_M, work, b, constant, 12)
    pf, vf = point_motion(work, a, constant[9], constant[10], constant[11])
    pm, vm = point_motion(work, b, constant[21], constant[22], constant[23])
    wa = triple(work, a, W_W)
    d = plus(pm, -1.0, pf)
    rate = plus(vm, -1.0, vf)
    store(out, C_PF, pf)
    store(out, C_PM, pm)
    store(out, C_WA, wa)
    store(out, C_WB, triple(work, b, W_W))
    store(out, C_RATE, rate)
    store(out, C_U, plus(rate, -1.0, cross(wa[0], wa[1], wa[2], d[0], d[1], d[2])))


@compiled
def cut_frames(cuts, cut, work, out):
    """Frames and relative speeds of all cut joints."""
    for c in range(cuts.shape[0]):
        frame_pair(work, cuts[c, 0], cuts[c, 1], cut[c], out[c])


@compiled
def axis_of(kind, c):
    """Unit vector of a measured coordinate."""
    return at(c, C_M + 6) if kind == COORDINATE_SECOND else at(c, C_F + 6)


@compiled
def measured_value(kind, c):
    """Value of a coordinate across a cut joint; angles in (-pi, pi].

    Turn: R_FM = Rz(x).  Universal: R_FM = Rz(x) Rx(-90 deg) Rz(x2).
    """
    if kind == COORDINATE_SLIDE:
        return dot(at(c, C_F + 6), plus(at(c, C_PM), -1.0, at(c, C_PF)))
    if kind == COORDINATE_TURN:
        return math.atan2(dot(at(c, C_F + 3), at(c, C_M)), dot(at(c, C_F), at(c, C_M)))
    if kind == COORDINATE_FIRST:
        return math.atan2(-dot(at(c, C_F), at(c, C_M + 6)), dot(at(c, C_F + 3), at(c, C_M + 6)))
    return math.atan2(-dot(at(c, C_F + 6), at(c, C_M)), -dot(at(c, C_F + 6), at(c, C_M + 3)))


@compiled
def measured(kind, c, out):
    """The same, for Python."""
    out[0] = measured_value(kind, c)


@compiled
def coordinate_values(coordinates, cut_work, y, n_q, out):
    """Value and rate of every coordinate, efforts zeroed.

    The state's tail counts the turns of an angle across a cut joint, the
    posture gives the angle itself.
    """
    turn = 2.0 * math.pi
    for k in range(coordinates.shape[0]):
        kind = coordinates[k, 0]
        out[k, 2] = 0.0
        if kind == COORDINATE_TREE:
            out[k, 0] = y[coordinates[k, 2]]
            out[k, 1] = y[n_q + coordinates[k, 3]]
            continue
        c = cut_work[coordinates[k, 1]]
        x = measured_value(kind, c)
        if kind == COORDINATE_SLIDE:
            out[k, 0] = x
            out[k, 1] = dot(at(c, C_F + 6), at(c, C_U))
        else:
            counted = y[coordinates[k, 2]]
            out[k, 0] = x + turn * math.floor((counted - x) / turn + 0.5)
            out[k, 1] = dot(axis_of(kind, c), plus(at(c, C_WB), -1.0, at(c, C_WA)))
