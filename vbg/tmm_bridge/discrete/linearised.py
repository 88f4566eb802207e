"""One step of MS-DT-TMM: elements linear in displacements, solved by Riccati's transform.

About a predicted posture every element is linear in the displacements dx and
small rotations dtheta of its ends, z = [dx, dtheta, m, q, 1]: the balance of a
body reads

    [q; m] = S [dx; dtheta] + e,

because the step's formula makes its acceleration affine in them, x'' = A x + B.
The transform eliminates the hinges from the tips to the root; the cut efforts of
loops are further right-hand sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import (
    FREEDOMS,
    LINK_COM,
    LINK_DRIVEN,
    LINK_J,
    LINK_KIND,
    LINK_MASS,
    LINK_PARENT,
    LINK_V,
    W_ARM,
    W_R,
)
from vbg.tmm_bridge.kernels.tables import Scratch, Tables
from vbg.tmm_bridge.overall.transfer import cross_matrix, hinge_column


@dataclass(frozen=True)
class Motion:
    """Motion of a body: acceleration of its mass centre (W), angular acceleration and
    angular velocity (node's axes)."""

    acceleration: Array
    alpha: Array
    w: Array


@dataclass(frozen=True)
class Gains:
    """d x'' / d x and d x' / d x of the step's formula [1/s^2, 1/s]."""

    acceleration: float
    speed: float


@dataclass(frozen=True)
class Solved:
    """Displacements of the hinges (n_v,), forces and moments (n, 6) that cross them, cut
    efforts (m,)."""

    hinges: Array
    force: Array
    effort: Array


def body_block(t: Tables, s: Scratch, i: int, motion: Motion, gains: Gains) -> tuple[Array, Array]:
    """S (6, 6) and e (6,) of the body on node i alone, without its loads."""
    mass = t.link[i, LINK_MASS]
    if mass == 0.0:
        return np.zeros((6, 6)), np.zeros(6)
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    J = symmetric_matrix(t.link[i, LINK_J : LINK_J + 6])
    c = R @ t.link[i, LINK_COM : LINK_COM + 3]
    a, alpha, w = motion.acceleration, motion.alpha, motion.w
    torque = J @ alpha + np.cross(w, J @ w)
    gyro = cross_matrix(w) @ J - cross_matrix(J @ w)
    on_theta = R @ (gains.acceleration * J + gains.speed * gyro) @ R.T - cross_matrix(R @ torque)
    S = np.zeros((6, 6))
    S[:3] = mass * gains.acceleration * np.hstack([np.eye(3), -cross_matrix(c)])
    S[3:] = cross_matrix(c) @ S[:3]
    S[3:, 3:] += on_theta
    return S, np.concatenate([mass * a, mass * np.cross(c, a) + R @ torque])


@dataclass
class _Pass:
    """Riccati transform of one step: S (n, 6, 6), e (n, 6, 1 + m), and what every hinge
    does about them, dq = offset - gain [dx; dtheta]."""

    S: Array
    e: Array
    gain: list[Array]
    offset: list[Array]


def solve(
    t: Tables,
    s: Scratch,
    loads: Array,
    motions: Sequence[Motion],
    gains: Gains,
    rest: Array,
) -> Solved:
    """The step's displacements and forces; `loads` (n, 6) are the bodies' own, `rest` (m,)
    what the rows lack at the prediction: rest + G [dx; dtheta] = 0."""
    n, m = len(t.links), len(t.rows)
    nothing = np.zeros((0, 0))
    work = _Pass(np.zeros((n, 6, 6)), np.zeros((n, 6, 1 + m)), [nothing] * n, [nothing] * n)
    for i in range(n):
        work.S[i], work.e[i, :, 0] = body_block(t, s, i, motions[i], gains)
        work.e[i, :, 0] += loads[i]
    for r in range(m):
        for place in range(4):
            if s.row_nodes[r, place] >= 0:
                work.e[s.row_nodes[r, place], :, 1 + r] -= s.row_wrench[r, place]
    _towards_root(t, s, work)
    delta, hinges = _towards_tips(t, s, work)
    effort = _closing(t, s, delta, hinges, rest) if m else np.zeros(0)
    one = np.concatenate([[1.0], effort])
    force = np.einsum("nij,njk,k->ni", work.S, delta, one) + work.e @ one
    return Solved(hinges @ one, force, effort)


def _hinge_loads(t: Tables, s: Scratch, i: int, m: int) -> Array:
    """Efforts along the hinge's columns, (f, 1 + m): of parts, and per unit cut effort."""
    v = int(t.links[i, LINK_V])
    f = FREEDOMS[t.links[i, LINK_KIND]]
    loads = np.zeros((f, 1 + m))
    if f == 0 or t.links[i, LINK_DRIVEN] == 1:
        return loads[:0]
    loads[:, 0] = s.tau[v : v + f]
    for r in range(m):
        for place in range(2):
            if s.row_v[r, place] == v:
                loads[0, 1 + r] += s.row_gain[r, place]
    return loads


def _towards_root(t: Tables, s: Scratch, work: _Pass) -> None:
    """Eliminate every hinge; S and e accumulate, node by node, what hangs on it."""
    S, e = work.S, work.e
    m = e.shape[2] - 1
    for i in range(len(t.links) - 1, -1, -1):
        loads = _hinge_loads(t, s, i, m)
        passed_S, passed_e = S[i], e[i]
        if len(loads):
            h = hinge_column(t, s, i)
            inverse = np.linalg.inv(h.T @ S[i] @ h)
            work.gain[i] = inverse @ h.T @ S[i]
            work.offset[i] = inverse @ (loads - h.T @ e[i])
            passed_S = S[i] - S[i] @ h @ work.gain[i]
            passed_e = e[i] + S[i] @ h @ work.offset[i]
        else:
            work.gain[i], work.offset[i] = np.zeros((0, 6)), np.zeros((0, 1 + m))
        p = t.links[i, LINK_PARENT]
        if p >= 0:
            X = _shift(s.work[i, W_ARM : W_ARM + 3])
            S[p] += X.T @ passed_S @ X
            e[p] += X.T @ passed_e


def _shift(r: Array) -> Array:
    """[dx; dtheta] at the parent's origin to the same rigid motion at the arm r."""
    X = np.eye(6)
    X[:3, 3:] = -cross_matrix(r)
    return X


def _towards_tips(t: Tables, s: Scratch, work: _Pass) -> tuple[Array, Array]:
    """Displacements (n, 6, 1 + m) of the nodes and (n_v, 1 + m) of the hinges."""
    n, m = len(t.links), work.e.shape[2] - 1
    delta = np.zeros((n, 6, 1 + m))
    hinges = np.zeros((int(t.sizes[1]), 1 + m))
    for i in range(n):
        p, v = t.links[i, LINK_PARENT], int(t.links[i, LINK_V])
        if p >= 0:
            delta[i] = _shift(s.work[i, W_ARM : W_ARM + 3]) @ delta[p]
        if len(work.offset[i]):
            dq = work.offset[i] - work.gain[i] @ delta[i]
            hinges[v : v + len(dq)] = dq
            delta[i] = delta[i] + hinge_column(t, s, i) @ dq
    return delta, hinges


def on_rows(t: Tables, s: Scratch, nodes: Array, hinges: Array) -> Array:
    """G applied to motions of the nodes (n, 6, k) and of the hinges (n_v, k): (m, k)."""
    found = np.zeros((len(t.rows), nodes.shape[2]))
    for r in range(len(t.rows)):
        for place in range(4):
            if s.row_nodes[r, place] >= 0:
                found[r] += s.row_wrench[r, place] @ nodes[s.row_nodes[r, place]]
        for place in range(2):
            if s.row_v[r, place] >= 0:
                found[r] += s.row_gain[r, place] * hinges[s.row_v[r, place]]
    return found


def _closing(t: Tables, s: Scratch, delta: Array, hinges: Array, rest: Array) -> Array:
    """Cut efforts that close the loops; of least norm, scaled, where rows are redundant."""
    G = on_rows(t, s, delta, hinges)
    G[:, 0] += rest
    K = G[:, 1:]
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    scaled = scale[:, None] * K * scale[None, :]
    found: Array = scale * np.linalg.lstsq(scaled, -scale * G[:, 0], rcond=1e-10)[0]
    return found
