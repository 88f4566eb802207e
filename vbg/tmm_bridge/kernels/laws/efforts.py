"""Efforts of springs, dampers, stops and applied loads.

Efforts on a node enter e of its Riccati relation with the opposite sign: e is
what the parent must exert.  Every law leaves (effort, dissipated power, stored
energy); applied loads leave (., supplied power, .).
"""

from __future__ import annotations

import math

from vbg.tmm_bridge.kernels.algebra import dot, plus
from vbg.tmm_bridge.kernels.closing.constraints import vector_cross
from vbg.tmm_bridge.kernels.motion.cuts import C_PM, at, axis_of, point_motion
from vbg.tmm_bridge.kernels.motion.kinematics import to_world, triple
from vbg.tmm_bridge.kernels.rows import W_EM, W_EQ, W_P, W_W
from vbg.tmm_bridge.kernels.sources import compiled
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    LAW_INPUT,
    LAW_SPRING,
    LOAD_FORCE,
    PAIR_INPUT,
    PAIR_SPRING,
)


@compiled
def apply(work, node, gain, point, force, torque):
    """Load `node` with gain * (force at `point`, torque)."""
    if node < 0:
        return
    arm = plus(point, -1.0, triple(work, node, W_P))
    m = plus(torque, 1.0, vector_cross(arm, force))
    for j in range(3):
        work[node, W_EQ + j] -= gain * force[j]
        work[node, W_EM + j] -= gain * m[j]


@compiled
def apply_across_cut(t, s, k, effort):
    """Effort on a coordinate that is measured across a cut joint."""
    zero = (0.0, 0.0, 0.0)
    kind, cut = t.coordinates[k, 0], t.coordinates[k, 1]
    c = s.cut[cut]
    axis = axis_of(kind, c)
    point = at(c, C_PM)
    if kind == COORDINATE_SLIDE:
        apply(s.work, t.cuts[cut, 1], effort, point, axis, zero)
        apply(s.work, t.cuts[cut, 0], -effort, point, axis, zero)
    else:
        apply(s.work, t.cuts[cut, 1], effort, point, zero, axis)
        apply(s.work, t.cuts[cut, 0], -effort, point, zero, axis)


@compiled
def spring_law(law, x, rate):
    """-k (x - rest) - c x'."""
    k, rest, c = law[0], law[1], law[2]
    return -k * (x - rest) - c * rate, c * rate * rate, 0.5 * k * (x - rest) ** 2


@compiled
def stop_law(law, x, rate):
    """Beyond `lower` or `upper`: spring and damper that never pull."""
    k, c, lower, upper = law[0], law[2], law[3], law[4]
    depth = max(lower - x, 0.0) - max(x - upper, 0.0)
    if depth == 0.0:
        return 0.0, 0.0, 0.0
    effort = k * depth - c * rate
    effort = max(effort, 0.0) if depth > 0.0 else min(effort, 0.0)
    return effort, (k * depth - effort) * rate, 0.5 * k * depth * depth


@compiled
def coordinate_laws(t, s, inputs):
    """Efforts on coordinates: joint springs, friction, stops, torques."""
    for n in range(t.laws.shape[0]):
        kind, k = t.laws[n, 0], t.laws[n, 1]
        x, rate = s.coordinate[k, 0], s.coordinate[k, 1]
        if kind == LAW_INPUT:
            effort = inputs[t.laws[n, 2]]
            lost, stored = -effort * rate, 0.0  # supplied: dissipation with its sign
        elif kind == LAW_SPRING:
            effort, lost, stored = spring_law(t.law[n], x, rate)
        else:
            effort, lost, stored = stop_law(t.law[n], x, rate)
        s.law[n, 0] = effort
        s.law[n, 1] = lost
        s.law[n, 2] = stored
        s.coordinate[k, 2] += effort
    for k in range(t.coordinates.shape[0]):
        effort = s.coordinate[k, 2]
        if t.coordinates[k, 0] == COORDINATE_TREE:
            s.tau[t.coordinates[k, 3]] += effort
        elif effort != 0.0:
            apply_across_cut(t, s, k, effort)


@compiled
def pair_laws(t, s, inputs):
    """Springs, dampers, stops and inputs between two points; the effort pulls them together."""
    zero = (0.0, 0.0, 0.0)
    for n in range(t.pairs.shape[0]):
        a, b = t.pairs[n, 1], t.pairs[n, 2]
        pa, va = point_motion(s.work, a, t.pair[n, 0], t.pair[n, 1], t.pair[n, 2])
        pb, vb = point_motion(s.work, b, t.pair[n, 3], t.pair[n, 4], t.pair[n, 5])
        k, rest, c = t.pair[n, 6], t.pair[n, 7], t.pair[n, 8]
        d = plus(pb, -1.0, pa)
        size = math.sqrt(dot(d, d))
        along = (d[0] / size, d[1] / size, d[2] / size)
        rate = dot(along, plus(vb, -1.0, va))
        stretch = size - rest
        s.pair[n, 3], s.pair[n, 4] = stretch, rate
        effort = k * stretch + c * rate
        if t.pairs[n, 0] == PAIR_INPUT:
            effort, stretch = inputs[t.pairs[n, 3]], 0.0
        elif t.pairs[n, 0] != PAIR_SPRING:
            if stretch >= 0.0:
                effort, stretch = 0.0, 0.0
            effort = min(effort, 0.0)
        s.pair[n, 0] = effort
        s.pair[n, 1] = (effort - k * stretch) * rate
        s.pair[n, 2] = 0.5 * k * stretch * stretch
        apply(s.work, a, effort, pa, along, zero)
        apply(s.work, b, -effort, pb, along, zero)


@compiled
def input_or_zero(inputs, place):
    """Value of an input; 0 if the component has none."""
    return inputs[place] if place >= 0 else 0.0


@compiled
def applied_loads(t, s, inputs):
    """Forces and torques on bodies, in world axes or in axes that turn with the body."""
    zero = (0.0, 0.0, 0.0)
    for n in range(t.loads.shape[0]):
        node = t.loads[n, 1]
        x = input_or_zero(inputs, t.loads[n, 2])
        y = input_or_zero(inputs, t.loads[n, 3])
        z = input_or_zero(inputs, t.loads[n, 4])
        if t.load[n, 12] == 1.0:
            r = t.load[n]
            x, y, z = to_world(
                s.work,
                node,
                r[3] * x + r[4] * y + r[5] * z,
                r[6] * x + r[7] * y + r[8] * z,
                r[9] * x + r[10] * y + r[11] * z,
            )
        point, speed = point_motion(s.work, node, t.load[n, 0], t.load[n, 1], t.load[n, 2])
        if t.loads[n, 0] == LOAD_FORCE:
            apply(s.work, node, 1.0, point, (x, y, z), zero)
            s.load[n, 1] = x * speed[0] + y * speed[1] + z * speed[2]
        else:
            apply(s.work, node, 1.0, point, zero, (x, y, z))
            s.load[n, 1] = dot((x, y, z), triple(s.work, node, W_W))
