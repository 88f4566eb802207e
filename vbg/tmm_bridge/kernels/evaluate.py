"""One evaluation: from the state to accelerations, internal forces and cut efforts."""

from __future__ import annotations

from vbg.tmm_bridge.kernels.algebra import dot
from vbg.tmm_bridge.kernels.closing.constraints import all_rows
from vbg.tmm_bridge.kernels.closing.loops import (
    load_cut_efforts,
    mobility,
    row_acceleration,
    solve_rows,
)
from vbg.tmm_bridge.kernels.laws.bending import bend_laws, bend_loss
from vbg.tmm_bridge.kernels.laws.efforts import applied_loads, coordinate_laws, pair_laws
from vbg.tmm_bridge.kernels.laws.six import bushings, elastic_hinges, strains, turned_by
from vbg.tmm_bridge.kernels.motion.cuts import coordinate_values, cut_frames
from vbg.tmm_bridge.kernels.motion.kinematics import clear
from vbg.tmm_bridge.kernels.motion.moving import move
from vbg.tmm_bridge.kernels.riccati import accelerate, internal_forces, lean, load
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_ARMATURE,
    LINK_KIND,
    LINK_LEAD,
    LINK_Q,
    LINK_V,
    PRISMATIC,
    RIGID,
    SCREW,
    W_FORCE,
    W_MOMENT,
    W_N,
)
from vbg.tmm_bridge.kernels.sources import compiled
from vbg.tmm_bridge.kernels.tables import COORDINATE_TREE, LAW_INPUT


@compiled
def posture(t, s, y, drive):
    """Kinematics of tree and cuts; driven coordinates of y are overwritten by their drives."""
    n_q = t.sizes[0]
    clear(s.tau)
    clear(s.prescribed)
    for d in range(t.drives.shape[0]):
        v = t.drives[d, 0]
        if v >= 0:
            y[t.drives[d, 1]] = drive[d, 0]
            y[n_q + v] = drive[d, 1]
            s.prescribed[v] = drive[d, 2]
    move(t, s, y)
    cut_frames(t.cuts, t.cut, s.work, s.cut)
    coordinate_values(t.coordinates, s.cut, y, n_q, s.coordinate)
    strains(t, s, y)
    elastic_hinges(t, s, y)
    bend_laws(t, s, y)


@compiled
def close_loops(t, s):
    """Cut efforts that keep the loops closed, and the accelerations with them; `s.rank`."""
    m = t.rows.shape[0]
    mobility(t, s)
    for r in range(m):
        s.rhs[r] = -row_acceleration(s, r)
    s.rank[0] = solve_rows(t, s, s.rhs, s.effort)
    load_cut_efforts(t, s)
    accelerate(t, s)


@compiled
def exert(t, s, inputs):
    """What springs, dampers, stops, inputs and loads exert at the posture."""
    coordinate_laws(t, s, inputs)
    pair_laws(t, s, inputs)
    applied_loads(t, s, inputs)
    bushings(t, s)


@compiled
def react(t, s, inputs, drive):
    """Everything behind the posture.  Returns the faulty node or -1."""
    exert(t, s, inputs)
    faulty = lean(t, s)
    if faulty >= 0:
        return faulty
    load(t, s)
    accelerate(t, s)
    if t.rows.shape[0] > 0:
        all_rows(t, s, drive)
        close_loops(t, s)
    internal_forces(t.links, s.work)
    return -1


@compiled
def evaluate(t, s, y, inputs, drive):
    """Everything at one instant.  Returns the faulty node or -1."""
    posture(t, s, y, drive)
    return react(t, s, inputs, drive)


@compiled
def impulse(t, s, y, drive):
    """Changes of the hinge speeds (`acceleration`) by ideal impulses that change the speeds of
    the drives by drive[:, 2]; y is at rest.  Returns the faulty node or -1."""
    posture(t, s, y, drive)
    clear(s.tau)
    faulty = lean(t, s)
    if faulty >= 0:
        return faulty
    load(t, s)
    accelerate(t, s)
    if t.rows.shape[0] > 0:
        all_rows(t, s, drive)
        close_loops(t, s)
    return -1


@compiled
def hinge_effort(t, s, i):
    """Effort that the parent exerts along the column of hinge i."""
    kind = t.links[i, LINK_KIND]
    n = (s.work[i, W_N], s.work[i, W_N + 1], s.work[i, W_N + 2])
    q = (s.work[i, W_FORCE], s.work[i, W_FORCE + 1], s.work[i, W_FORCE + 2])
    m = (s.work[i, W_MOMENT], s.work[i, W_MOMENT + 1], s.work[i, W_MOMENT + 2])
    if kind == PRISMATIC:
        return dot(n, q)
    if kind == SCREW:
        return dot(n, m) + t.link[i, LINK_LEAD] * dot(n, q)
    return dot(n, m)


@compiled
def powers(t, s, drive):
    """(supplied, dissipated) power at the instant that was evaluated."""
    supplied, lost = 0.0, 0.0
    for n in range(t.laws.shape[0]):
        if t.laws[n, 0] == LAW_INPUT:
            supplied -= s.law[n, 1]
        else:
            lost += s.law[n, 1]
    for n in range(t.pairs.shape[0]):
        lost += s.pair[n, 1]
    for n in range(t.bushes.shape[0]):
        lost += s.bush[n, 6]
    for n in range(t.elastics.shape[0]):
        lost += s.elastic[n, 6]
    for n in range(t.loads.shape[0]):
        supplied += s.load[n, 1]
    for i in range(t.links.shape[0]):
        v = t.links[i, LINK_V]
        for d in range(t.drives.shape[0]):
            if t.drives[d, 0] == v and v >= 0 and t.links[i, LINK_KIND] < BALL:
                turning = t.link[i, LINK_ARMATURE] * s.acceleration[v]
                supplied += (hinge_effort(t, s, i) + turning - s.tau[v]) * drive[d, 1]
    for r in range(t.rows.shape[0]):
        if t.rows[r, 4] >= 0:
            supplied += s.effort[r] * drive[t.rows[r, 4], 1]
        for place in range(2):
            # A coupling turns a driven hinge: the drive has to pay for that too.
            v = s.row_v[r, place]
            if v >= 0:
                for d in range(t.drives.shape[0]):
                    if t.drives[d, 0] == v:
                        supplied -= s.effort[r] * s.row_gain[r, place] * drive[d, 1]
    return supplied, lost


@compiled
def quaternion_rate(y, q, v, out):
    """quat' = 1/2 quat o (0, w), w in the turned frame."""
    a, b, c, d = y[q], y[q + 1], y[q + 2], y[q + 3]
    x, z, u = y[v], y[v + 1], y[v + 2]
    out[q] = -0.5 * (b * x + c * z + d * u)
    out[q + 1] = 0.5 * (a * x + c * u - d * z)
    out[q + 2] = 0.5 * (a * z + d * x - b * u)
    out[q + 3] = 0.5 * (a * u + b * z - c * x)


@compiled
def state_rate(t, s, y, drive, out):
    """Rate of the state that was evaluated: coordinates, speeds, turns across cuts, supplied
    and dissipated work.

    The displacement of an elastic hinge is in the axes of F, its speed in the node's.
    """
    n_q, n_v = t.sizes[0], t.sizes[1]
    for i in range(t.links.shape[0]):
        kind = t.links[i, LINK_KIND]
        q, v = t.links[i, LINK_Q], t.links[i, LINK_V]
        if kind == BALL:
            quaternion_rate(y, q, n_q + v, out)
        elif kind == ELASTIC:
            quaternion_rate(y, q + 3, n_q + v + 3, out)
            quat = (y[q + 3], y[q + 4], y[q + 5], y[q + 6])
            u = turned_by(quat, 1.0, (y[n_q + v], y[n_q + v + 1], y[n_q + v + 2]))
            out[q], out[q + 1], out[q + 2] = u
        elif kind != RIGID:
            out[q] = y[n_q + v]
    for f in range(t.flexes.shape[0]):
        for m in range(t.flexes[f, 3]):
            out[t.flexes[f, 1] + m] = y[n_q + t.flexes[f, 2] + m]
    for v in range(n_v):
        out[n_q + v] = s.acceleration[v]
    for k in range(t.coordinates.shape[0]):
        if t.coordinates[k, 0] != COORDINATE_TREE:
            out[t.coordinates[k, 2]] = s.coordinate[k, 1]
    supplied, lost = powers(t, s, drive)
    tail = out.shape[0]
    out[tail - 2] = supplied
    out[tail - 1] = lost + bend_loss(t, y)


@compiled
def closure(t, s, y, drive):
    """Posture, S, rows and their mobility without any acceleration: for assembly and projection.

    Returns the faulty node or -1.  Residuals of driven angles are taken to the nearest turn by
    the counted coordinate.
    """
    posture(t, s, y, drive)
    faulty = lean(t, s)
    if faulty < 0 and t.rows.shape[0] > 0:
        all_rows(t, s, drive)
        mobility(t, s)
    return faulty
