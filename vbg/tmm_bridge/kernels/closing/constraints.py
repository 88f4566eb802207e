"""Rows that close the loops: loads of a unit effort, residuals, velocity products.

A row is a relative speed that must vanish (or follow its drive),

    G V = sum over bodies  wrench . [v; w]  +  sum over hinges  gain * q'  = nu,

and its derivative is  wrench . [a; alpha] + gain q'' + products = 0.  A unit
effort on the row loads the bodies with the same wrenches, force and moment
about the node's origin, and the hinges with the same gains: no power is lost.
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import dot, plus
from vbg.tmm_bridge.kernels.motion.cuts import (
    C_F,
    C_M,
    C_PF,
    C_PM,
    C_RATE,
    C_U,
    C_WA,
    C_WB,
    at,
    axis_of,
)
from vbg.tmm_bridge.kernels.motion.kinematics import clear, cross, triple
from vbg.tmm_bridge.kernels.rows import W_P
from vbg.tmm_bridge.kernels.sources import compiled
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    COORDINATE_TURN,
    IDLE,
    ROW_COUPLE,
    ROW_DISTANCE,
    ROW_DOT,
    ROW_ROLL,
    ROW_SCREW,
    ROW_SLIDE,
    ROW_TOUCH,
)


@compiled
def vector_cross(a, b):
    """a x b of triples."""
    return cross(a[0], a[1], a[2], b[0], b[1], b[2])


@compiled
def put_wrench(s, r, place, node, gain, point, force, torque):
    """Load of row r on `node`: gain * (force at `point`, torque)."""
    s.row_nodes[r, place] = node
    if node < 0:
        return
    arm = plus(point, -1.0, triple(s.work, node, W_P))
    m = plus(torque, 1.0, vector_cross(arm, force))
    for j in range(3):
        s.row_wrench[r, place, j] = gain * force[j]
        s.row_wrench[r, place, 3 + j] = gain * m[j]


@compiled
def centripetal(work, node, w, point):
    """w x (w x r), the acceleration of a body's point less that of a, alpha."""
    if node < 0:
        return 0.0, 0.0, 0.0
    return vector_cross(w, vector_cross(w, plus(point, -1.0, triple(work, node, W_P))))


@compiled
def slide_row(s, r, place, gain, nodes, c, axis):
    """Along `axis`, fixed in A; returns position, speed and velocity products.

    products = axis . (w_B x (w_B x r_M) - w_A x (w_A x r_M) - 2 w_A x u).
    """
    zero = (0.0, 0.0, 0.0)
    pm, wa, wb, u = at(c, C_PM), at(c, C_WA), at(c, C_WB), at(c, C_U)
    put_wrench(s, r, place, nodes[1], gain, pm, axis, zero)
    put_wrench(s, r, place + 1, nodes[0], -gain, pm, axis, zero)
    products = (
        dot(axis, centripetal(s.work, nodes[1], wb, pm))
        - dot(axis, centripetal(s.work, nodes[0], wa, pm))
        - 2.0 * dot(axis, vector_cross(wa, u))
    )
    return dot(axis, plus(pm, -1.0, at(c, C_PF))), dot(axis, u), products


@compiled
def turn_row(s, r, place, gain, nodes, c, axis, axis_rate):
    """About `axis`; returns speed and velocity products axis' . (w_B - w_A)."""
    zero = (0.0, 0.0, 0.0)
    put_wrench(s, r, place, nodes[1], gain, zero, zero, axis)
    put_wrench(s, r, place + 1, nodes[0], -gain, zero, zero, axis)
    w = plus(at(c, C_WB), -1.0, at(c, C_WA))
    return dot(axis, w), dot(axis_rate, w)


@compiled
def dot_row(s, r, nodes, c, i, j):
    """x_F . z_M = 0: speed (z_M x x_F) . (w_B - w_A)."""
    x, z = at(c, C_F + 3 * i), at(c, C_M + 3 * j)
    b = vector_cross(z, x)
    rate = plus(
        vector_cross(vector_cross(at(c, C_WB), z), x),
        1.0,
        vector_cross(z, vector_cross(at(c, C_WA), x)),
    )
    speed, products = turn_row(s, r, 0, 1.0, nodes, c, b, rate)
    return dot(x, z), speed, products


@compiled
def distance_row(s, r, nodes, c, length):
    """|d| = length: products n . (a_M - a_F) + (d' . d' - (n . d')^2) / |d|."""
    zero = (0.0, 0.0, 0.0)
    pf, pm, rate = at(c, C_PF), at(c, C_PM), at(c, C_RATE)
    d = plus(pm, -1.0, pf)
    size = math.sqrt(dot(d, d))
    n = (d[0] / size, d[1] / size, d[2] / size)
    put_wrench(s, r, 0, nodes[1], 1.0, pm, n, zero)
    put_wrench(s, r, 1, nodes[0], -1.0, pf, n, zero)
    along = dot(n, rate)
    products = (
        dot(n, centripetal(s.work, nodes[1], at(c, C_WB), pm))
        - dot(n, centripetal(s.work, nodes[0], at(c, C_WA), pf))
        + (dot(rate, rate) - along * along) / size
    )
    return size - length, along, products


@compiled
def rim(c, radius):
    """Lowest point of the disc's rim: its arm from the centre and that arm's rate.

    s = -g/|g|, g = n - (n.e) e with n the plane's normal and e the disc's axis.
    """
    n, e, wa, wb = at(c, C_F + 6), at(c, C_M + 6), at(c, C_WA), at(c, C_WB)
    along = dot(n, e)
    g = plus(n, -along, e)
    size = math.sqrt(dot(g, g))
    n_rate, e_rate = vector_cross(wa, n), vector_cross(wb, e)
    change = dot(n_rate, e) + dot(n, e_rate)
    g_rate = plus(plus(n_rate, -change, e), -along, e_rate)
    k = -radius / size
    across = dot(g, g_rate) / (size * size)
    tangential = plus(g_rate, -across, g)
    return (
        (k * g[0], k * g[1], k * g[2]),
        (k * tangential[0], k * tangential[1], k * tangential[2]),
        size,
    )


@compiled
def rolling_row(s, r, nodes, c, axis, radius):
    """Speed of the touching material point of B less that of A along `axis` (fixed in A).

    With the touching point at x moving at x', products = axis . (w_B x (x' - v_B)
    - w_A x (x' - v_A)) + (w_A x axis) . u, v_A and v_B of the nodes' origins.
    """
    zero = (0.0, 0.0, 0.0)
    arm, arm_rate, size = rim(c, radius)
    pm, pf, wa, wb = at(c, C_PM), at(c, C_PF), at(c, C_WA), at(c, C_WB)
    x = plus(pm, 1.0, arm)
    vm = plus(at(c, C_U), 1.0, vector_cross(wa, plus(pm, -1.0, pf)))
    # Both bodies' speeds are counted from F's, which adds the same to each.
    u = plus(plus(vm, 1.0, vector_cross(wb, arm)), -1.0, vector_cross(wa, plus(x, -1.0, pf)))
    put_wrench(s, r, 0, nodes[1], 1.0, x, axis, zero)
    put_wrench(s, r, 1, nodes[0], -1.0, x, axis, zero)
    # x' less the speed of B's own point there is arm_rate - w_B x arm, and of A's, that plus u.
    slip_b = plus(arm_rate, -1.0, vector_cross(wb, arm))
    slip_a = plus(slip_b, 1.0, u)
    products = (
        dot(axis, centripetal(s.work, nodes[1], wb, x))
        - dot(axis, centripetal(s.work, nodes[0], wa, x))
        + dot(axis, vector_cross(wb, slip_b))
        - dot(axis, vector_cross(wa, slip_a))
        + dot(vector_cross(wa, axis), u)
    )
    gap = dot(at(c, C_F + 6), plus(pm, -1.0, pf)) - radius * size
    return gap, dot(axis, u), products


@compiled
def coordinate_load(t, s, r, place, k, gain):
    """Add gain * coordinate k to a row; returns its speed and products times gain."""
    kind = t.coordinates[k, 0]
    if kind == COORDINATE_TREE:
        s.row_v[r, place] = t.coordinates[k, 3]
        s.row_gain[r, place] = gain
        return gain * s.coordinate[k, 1], 0.0
    c = t.coordinates[k, 1]
    nodes = (t.cuts[c, 0], t.cuts[c, 1])
    if kind == COORDINATE_SLIDE:
        _, speed, products = slide_row(
            s, r, 2 * place, gain, nodes, s.cut[c], at(s.cut[c], C_F + 6)
        )
    else:
        axis = axis_of(kind, s.cut[c])
        w = at(s.cut[c], C_WA) if kind <= 2 else at(s.cut[c], C_WB)
        speed, products = turn_row(
            s, r, 2 * place, gain, nodes, s.cut[c], axis, vector_cross(w, axis)
        )
    return gain * speed, gain * products


@compiled
def angle_of(t, s, c):
    """Counted angle about the axis of cut joint c."""
    for k in range(t.coordinates.shape[0]):
        if t.coordinates[k, 0] == COORDINATE_TURN and t.coordinates[k, 1] == c:
            return s.coordinate[k, 0]
    return 0.0


@compiled
def one_row(t, s, r, drive):
    """Position residual, speed residual and products of row r; stores its loads."""
    primitive, cut, i, j = t.rows[r, 0], t.rows[r, 1], t.rows[r, 2], t.rows[r, 3]
    if primitive == ROW_COUPLE:
        ratio = t.row[r, 0]
        first_speed, first_products = coordinate_load(t, s, r, 0, i, -ratio)
        speed, products = coordinate_load(t, s, r, 1, j, 1.0)
        gap = s.coordinate[j, 0] - ratio * s.coordinate[i, 0] - t.row[r, 1]
        return gap, speed + first_speed, products + first_products
    c = s.cut[cut]
    nodes = (t.cuts[cut, 0], t.cuts[cut, 1])
    axis = at(c, C_F + 3 * i)
    if primitive == ROW_SLIDE:
        return slide_row(s, r, 0, 1.0, nodes, c, axis)
    if primitive == ROW_DOT:
        return dot_row(s, r, nodes, c, i, j)
    if primitive == ROW_DISTANCE:
        return distance_row(s, r, nodes, c, t.row[r, 0])
    if primitive == ROW_SCREW:
        lead = t.row[r, 0]
        gap, speed, products = slide_row(s, r, 0, 1.0, nodes, c, axis)
        turn, more = turn_row(s, r, 2, -lead, nodes, c, axis, vector_cross(at(c, C_WA), axis))
        gap += t.row[r, 1] - lead * angle_of(t, s, cut)
        return gap, speed - lead * turn, products - lead * more
    if primitive == ROW_TOUCH:
        return rolling_row(s, r, nodes, c, axis, t.row[r, 0])
    if primitive == ROW_ROLL:
        _, speed, products = rolling_row(s, r, nodes, c, axis, t.row[r, 0])
        return 0.0, speed, products
    speed, products = turn_row(s, r, 0, 1.0, nodes, c, axis, vector_cross(at(c, C_WA), axis))
    return angle_of(t, s, cut), speed, products


@compiled
def all_rows(t, s, drive):
    """Loads and residuals of every row; `drive` (d, 3) are f, f', f'' of the drives."""
    for r in range(t.rows.shape[0]):
        if t.rows[r, 4] == IDLE:
            for place in range(4):
                s.row_nodes[r, place] = -1
            for place in range(2):
                s.row_v[r, place] = -1
            clear(s.row_state[r])
            continue
        gap, speed, products = one_row(t, s, r, drive)
        d = t.rows[r, 4]
        if d >= 0:
            gap -= drive[d, 0]
            speed -= drive[d, 1]
            products -= drive[d, 2]
        s.row_state[r, 0] = gap
        s.row_state[r, 1] = speed
        s.row_state[r, 2] = products
