"""What the steps of MS-DT-TMM share: their result, and postures beside a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.discrete.linearised import Motion
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import (
    LINK_COM,
    LINK_PARENT,
    LINK_V,
    W_ARM,
    W_CA,
    W_CB,
    W_R,
    W_W,
)
from vbg.tmm_bridge.kernels.tables import Scratch, Tables
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.turns import count_angles
from vbg.tmm_bridge.overall.transfer import hinge_column, loads_of_bodies


@dataclass(frozen=True)
class Found:
    """What one step found: the state, accelerations of every node [a; alpha] (n, 6), forces
    and moments that cross its hinge (n, 6), cut efforts (m,)."""

    y: Array
    acceleration: Array
    force: Array
    effort: Array


def counted(mechanism: Mechanism, y: Array, time: float) -> Array:
    """The state with the turns of angles across cut joints counted on."""
    if not len(mechanism.tables.cuts):
        return y
    s, _ = loads_of_bodies(mechanism, y, time)
    y = y.copy()
    count_angles(mechanism, s, y, near=s.coordinate[:, 0].copy())
    return y


def turn_between(a: Array, b: Array) -> Array:
    """Rotation vector of quaternion b seen from quaternion a, in a's axes."""
    w = a @ b
    xyz = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0.0:
        w, xyz = -w, -xyz
    sine = float(np.linalg.norm(xyz))
    turn: Array = xyz * (2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, w) / sine)
    return turn


def node_accelerations(t: Tables, s: Scratch, hinges: Array) -> Array:
    """[a; alpha] (n, 6) of every node's origin for hinge accelerations (n_v,):
    a = a_P + alpha_P x r + c_a + h_a q'', alpha = alpha_P + c_alpha + h_alpha q''."""
    found = np.zeros((len(t.links), 6))
    for i in range(len(t.links)):
        p, v = t.links[i, LINK_PARENT], t.links[i, LINK_V]
        if p >= 0:
            found[i] = found[p]
            found[i, :3] += np.cross(found[p, 3:], s.work[i, W_ARM : W_ARM + 3])
        found[i, :3] += s.work[i, W_CA : W_CA + 3]
        found[i, 3:] += s.work[i, W_CB : W_CB + 3]
        h = hinge_column(t, s, i)
        found[i] += h @ hinges[v : v + h.shape[1]]
    return found


def body_motion(t: Tables, s: Scratch, i: int, acceleration: Array) -> Motion:
    """Motion of the body on node i whose origin has [a; alpha]."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    c, w = R @ t.link[i, LINK_COM : LINK_COM + 3], s.work[i, W_W : W_W + 3]
    a = acceleration[:3] + np.cross(acceleration[3:], c) + np.cross(w, np.cross(w, c))
    return Motion(a, R.T @ acceleration[3:], R.T @ w)
