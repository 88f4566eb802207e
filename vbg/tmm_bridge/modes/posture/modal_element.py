"""Flexible bodies as elements of the linear transfer equation: a frame, its modes, its points.

A point i of a flexible body moves with the frame and with the modes (`kernels.laws.bending`),

    d_i = X_i d + H_i dq,   H_i = R (S_t; g (S_r + c x S_r)),   c = S_r q / 2,   g = 1 / (1 + c^2),

and transmits S_i d_i + e_i onward.  Under the static force f and moment m that cross it, H_i
turns with the frame and with dq, and so does the arm R S_t q at which f acts:

    dH^T (f; m) = g_i d + k_i dq,   g_i = (0, S_t^T R^T f^ + g (S_r + c x S_r)^T R^T m^),
    moment on the frame, less:  v_i dq = -f x (R S_t dq),
    (k_i)_jl = R^T m . [ g/2 h_l x h_j - g^2 (c . h_l) (h_j + c x h_j) ],   h the columns of S_r.

With unit modal masses, frequencies w, damping, and the inertia s = (0; R G) that modes and frame
share, what the body asks for at the frequency s is

    [F]   [S_F  left] [d ]      left  = s^2 s   + sum X^T S_i H + v_i,
    [u] = [right  D ] [dq],     right = s^2 s^T + sum H^T S_i X + g_i,
                                D = s^2 + s c + w^2 + sum H^T S_i H + k_i,

so its impedance at the frame is S_F - left D^-1 right, and D is the pivot of its modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.rows import LINK_SHAPE, W_R
from vbg.tmm_bridge.kernels.tables import Scratch, Tables
from vbg.tmm_bridge.overall.transfer import cross_matrix


@dataclass(frozen=True)
class Borne:
    """A point that a flexible body carries: its node, its columns h = H_i (6, n), and the terms
    g (n, 6), v (6, n), k (n, n) of the static force across it."""

    node: int
    h: Array
    g: Array
    v: Array
    k: Array


@dataclass(frozen=True)
class Modal:
    """The modes of a flexible body: `node` of its frame, `place` of the first among the speeds,
    inertia s (6, n) that they share with the frame, stiffness and damping (n,), its points."""

    node: int
    place: int
    s: Array
    stiffness: Array
    damping: Array
    points: tuple[Borne, ...]

    @property
    def places(self) -> slice:
        """Of the modes among the speeds."""
        return slice(self.place, self.place + len(self.stiffness))

    def impedance(self, s: complex) -> Array:
        """The modes' own (n, n), without what hangs on the points: s^2 + s c + w^2, real where
        it is."""
        value = s * s + self.stiffness
        if np.any(self.damping):
            value = value + s * self.damping
        return np.diag(value if np.any(np.imag(value)) else np.real(value))

    def shared(self, s: complex) -> Array:
        """s^2 times the inertia shared with the frame, (6, n), real where it is."""
        square = s * s
        return (square if np.imag(square) else np.real(square)) * self.s


@dataclass(frozen=True)
class Bound:
    """A body's modes at one frequency with all that hangs on its points: see the module."""

    D: Array
    left: Array
    right: Array

    @property
    def through(self) -> Array:
        """What the modes add to the impedance of the frame, (6, 6)."""
        return np.asarray(-self.left @ np.linalg.solve(self.D, self.right))


def bound(modal: Modal, S: Array, X: Mapping[int, Array], s: complex) -> Bound:
    """The modes at s, with S (n, 6, 6) of the nodes and X (6, 6) of the points' arms."""
    D, left = modal.impedance(s), modal.shared(s)
    right = left.T
    for point in modal.points:
        T, arm = S[point.node], X[point.node]
        D = D + point.h.T @ T @ point.h + point.k
        left = left + arm.T @ T @ point.h + point.v
        right = right + point.h.T @ T @ arm + point.g
    return Bound(D, left, right)


def modal_elements(t: Tables, s: Scratch, y: Array, static: Array) -> tuple[Modal, ...]:
    """Of all flexible bodies at the posture y, under the static force and moment (nodes, 6) that
    cross their points."""
    found = []
    for row, (node, q, v, n) in enumerate(t.flexes):
        R = s.work[node, W_R : W_R + 9].reshape(3, 3)
        points = []
        for i in _points_of(t, row):
            k = int(t.links[i, LINK_SHAPE])
            shape, H = t.shape[k, :, :n], s.column[k, :, :n].copy()
            points.append(_borne(i, R, shape, H, y[q : q + n], static[i]))
        law = t.flex[row, :n]
        shared = s.bend[row, :, :n].copy()
        one = Modal(int(node), int(v), shared, law[:, 0].copy(), law[:, 1].copy(), tuple(points))
        found.append(one)
    return tuple(found)


def _points_of(t: Tables, row: int) -> list[int]:
    """Nodes of the points that flexible body `row` carries."""
    shapes = t.links[:, LINK_SHAPE]
    return [int(i) for i in np.flatnonzero(shapes >= 0) if t.points[shapes[i]] == row]


def _borne(node: int, R: Array, shape: Array, H: Array, q: Array, static: Array) -> Borne:
    n, f, m = len(q), static[:3], static[3:]
    turns = shape[3:]
    c = 0.5 * turns @ q
    less = 1.0 / (1.0 + c @ c)
    g, v, k = np.zeros((n, 6)), np.zeros((6, n)), np.zeros((n, n))
    g[:, 3:] = H[:3].T @ cross_matrix(f) + H[3:].T @ cross_matrix(m)
    v[3:] = -cross_matrix(f) @ H[:3]
    m_B = R.T @ m
    swung = turns + cross_matrix(c) @ turns
    for l in range(n):
        slope = 0.5 * less * cross_matrix(turns[:, l]) @ turns - less**2 * (c @ turns[:, l]) * swung
        k[:, l] = slope.T @ m_B
    return Borne(node, H, g, v, k)


def driving_modes(t: Tables, s: Scratch, static: Array) -> Array:
    """Efforts (n_v,) that drive the modes: their own less what the points have to carry."""
    found = np.zeros(int(t.sizes[1]))
    for row, (_, _, v, n) in enumerate(t.flexes):
        found[v : v + n] = s.tau[v : v + n]
        for i in _points_of(t, row):
            found[v : v + n] -= s.column[int(t.links[i, LINK_SHAPE]), :, :n].T @ static[i]
    return found


def without_laws(modal: Modal) -> Modal:
    """Inertia alone."""
    points = (replace(p, g=0.0 * p.g, v=0.0 * p.v, k=0.0 * p.k) for p in modal.points)
    nothing = np.zeros_like(modal.stiffness)
    return replace(modal, stiffness=nothing, damping=nothing, points=tuple(points))
