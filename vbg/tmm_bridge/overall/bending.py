"""Flexible bodies in the overall transfer equation at an instant, written from their energy.

The angular momentum about the mass centre is J(q) w + G(q) q' in the axes of the body, so its
balance has beside that of the body as it is written

    m += J_q alpha + G q'' + J' w + G' q' + w x (J_q w + G q'),    J_q = J(q) - J(0),

and each mode of unit mass, with H^T of what crosses the points (`kernels.laws.bending`),

    q'' + G^T alpha + sum H^T [q; m] = tau - e_q,
    e_q = -1/2 w^T dJ/dq w + G'^T w - w . (dG/dq q').

A point moves with the frame and with H q''.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import LINK_BENDS, LINK_SHAPE, W_R, W_W
from vbg.tmm_bridge.kernels.tables import Scratch, Tables


@dataclass(frozen=True)
class Bent:
    """A flexible body at an instant, in world axes: places of its modes among the speeds, what
    bending adds to its inertia (3, 3), G (3, n), its moment e_m (3,) and efforts e_q (n,)."""

    modes: slice
    J: Array
    G: Array
    e_m: Array
    e_q: Array


def bent_at(t: Tables, s: Scratch, y: Array, i: int) -> Bent | None:
    """Of the body whose frame is node i, None if it is rigid."""
    row = int(t.links[i, LINK_BENDS])
    if row < 0:
        return None
    _, q_at, v, n = (int(k) for k in t.flexes[row])
    u_at = int(t.sizes[0]) + v
    q, u = y[q_at : q_at + n], y[u_at : u_at + n]
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    w = R.T @ s.work[i, W_W : W_W + 3]
    first, second, third = t.flex_J[row, :, :n], t.flex_JJ[row, :, :n, :n], t.flex_G[row, :, :n, :n]
    slopes = first + 2.0 * second @ q  # dJ/dq, (6, n)
    J_q = symmetric_matrix((first + second @ q) @ q)
    G, G_rate = np.einsum("jlm,l->jm", third, q), np.einsum("jlm,l->jm", third, u)
    h = J_q @ w + G @ u
    e_m = symmetric_matrix(slopes @ u) @ w + G_rate @ u + np.cross(w, h)
    carried = np.array([w @ symmetric_matrix(column) @ w for column in slopes.T]).reshape(n)
    e_q = -0.5 * carried + G_rate.T @ w - np.einsum("j,jml,l->m", w, third, u)
    return Bent(slice(v, v + n), R @ J_q @ R.T, R @ G, R @ e_m, e_q)


def column_of(t: Tables, s: Scratch, i: int) -> tuple[slice, Array] | None:
    """Of a point that a flexible body carries: places of the modes, H (6, n); None of others."""
    k = int(t.links[i, LINK_SHAPE])
    if k < 0:
        return None
    _, _, v, n = (int(one) for one in t.flexes[t.points[k]])
    return slice(v, v + n), s.column[k, :, :n]


def points_on(t: Tables, i: int) -> list[int]:
    """Nodes of the points that the flexible body with the frame i carries."""
    row = int(t.links[i, LINK_BENDS])
    shapes = t.links[:, LINK_SHAPE]
    return [int(k) for k in np.flatnonzero(shapes >= 0) if t.points[shapes[k]] == row]
