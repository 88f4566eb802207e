"""Stiffness of the loads on bodies: what a force or torque changes by when its body moves.

In small displacements [dx; dtheta] of the body's node, world axes, K is what the load leaves to be
borne, [dq; dm] = K [dx; dtheta]::

    a force f in world axes at the arm r        dm = -(dtheta x r) x f
    one that turns with its body                dq = -dtheta x f,   dm = -dtheta x (r x f)
    a torque m that turns with its body         dm = -dtheta x m

The last two are follower loads (V. V. Bolotin, Nonconservative Problems of the Theory of Elastic
Stability, Pergamon 1963): their K is not symmetric, they have no potential.
"""

from __future__ import annotations

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_R
from vbg.tmm_bridge.kernels.tables import LOAD_FORCE, NO_INPUT, Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.overall.transfer import cross_matrix


def turning_load(force: Array, moment: Array) -> Array:
    """K of a load that turns with its body, `moment` about the node's origin."""
    K = np.zeros((6, 6))
    K[:3, 3:], K[3:, 3:] = cross_matrix(force), cross_matrix(moment)
    return K


def turning_arm(force: Array, arm: Array) -> Array:
    """K of a constant force at an arm that turns: its moment grows by (dtheta x arm) x force."""
    K = np.zeros((6, 6))
    K[3:, 3:] = -cross_matrix(force) @ cross_matrix(arm)
    return K


def rotation_of(s: Scratch, node: int) -> Array:
    """R_WN of a node, of the ground -1."""
    return s.work[node, W_R : W_R + 9].reshape(3, 3) if node >= 0 else np.eye(3)


def arm_of(s: Scratch, node: int, point: Array) -> Array:
    """A point of a node from its origin, in world axes."""
    return np.asarray(s.work[node, W_R : W_R + 9].reshape(3, 3) @ point)


def has_followers(mechanism: Mechanism) -> bool:
    """Whether a load turns with its body."""
    t = mechanism.tables
    given = (t.loads[:, 1] >= 0) & (t.loads[:, 2:5] != NO_INPUT).any(axis=1)
    return bool(np.any(given & (t.load[:, 12] == 1.0)))


def add_loads(mechanism: Mechanism, s: Scratch, K: Array) -> None:
    """Forces in world axes, forces and torques that turn with their bodies, their components as
    at t = 0.  A torque that keeps its direction in the world has no stiffness."""
    t = mechanism.tables
    for n, (kind, node, *places) in enumerate(t.loads):
        if node < 0:
            continue
        given = [mechanism.inputs[p].value(0.0) if p >= 0 else 0.0 for p in places]
        load = load_axes(t, s, n) @ np.array(given)
        arm, turns = arm_of(s, node, t.load[n, :3]), t.load[n, 12] == 1.0
        if kind != LOAD_FORCE:
            K[node] += turning_load(np.zeros(3), load) if turns else 0.0
        elif turns:
            K[node] += turning_load(load, np.cross(arm, load))
        else:
            K[node] += turning_arm(load, arm)


def load_axes(t: Tables, s: Scratch, n: int) -> Array:
    """R (3, 3) from the axes in which the components of a load on a body are written to the
    world's."""
    if t.load[n, 12] != 1.0:
        return np.eye(3)
    return rotation_of(s, int(t.loads[n, 1])) @ t.load[n, 3:12].reshape(3, 3)
