"""A mechanism linear about a posture at rest, in transfer-matrix form.

State vectors in small displacements, z = [dx, dtheta, m, q, 1], at the complex
frequency s.  On every node

    [dq; dm] = S [dx; dtheta] + e,   S = s^2 M + s C + K + what hangs on it,

with M of its body and K, C of the loads on it: weight and forces whose lever arm
turns, loads that turn with their bodies, springs and dampers to the ground.  Across a
hinge with column h

    [dx; dtheta] = X [dx; dtheta]_P + h dx_h,
    h . [dq; dm] + g . [dx; dtheta]_P + (k + s c + s^2 a) dx_h = u,

where g comes from the turn of the hinge's axis under the static force (q, m) that
crosses it; its turn of the lever arm r adds (dtheta_P x r) x q to the parent's
moment.  Eliminating the hinges from the tips to the root leaves the pivots

    d = h^T S h + k + s c + s^2 a,      a what turns or slides with the hinge alone,

whose product is the determinant of the overall transfer equation, and whose
negative ones at s = i w count the natural frequencies below w (Sturm).  Springs
between two moving bodies, one-dimensional parts and controllers (`acting`) and what closes
loops are taken as further right-hand sides.

Rui et al., mstmmsim.txt; W. H. Wittrick, F. W. Williams, Q. J. Mech. Appl. Math.
24 (1971) 263 on the count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.laws.bending import GROWN
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import (
    FREEDOMS,
    LINK_ARMATURE,
    LINK_BENDS,
    LINK_COM,
    LINK_DRIVEN,
    LINK_J,
    LINK_KIND,
    LINK_MASS,
    LINK_PARENT,
    LINK_Q,
    LINK_V,
    W_ARM,
    W_P,
    W_R,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_TREE,
    LAW_SPRING,
    LAW_STOP,
    PAIR_INPUT,
    PAIR_SPRING,
    ROW_COUPLE,
    ROW_ROLL,
    Scratch,
    Tables,
)
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import drive_rates
from vbg.tmm_bridge.modes.network.acting import Acting, Rows
from vbg.tmm_bridge.modes.posture.closing import rows_of, stiffness_of_loops, under_effort
from vbg.tmm_bridge.modes.posture.loads import add_loads, arm_of, rotation_of, turning_arm
from vbg.tmm_bridge.modes.posture.modal_element import Borne, Modal, driving_modes, modal_elements
from vbg.tmm_bridge.modes.posture.six import between_nodes, damping, from_behind, stiffness
from vbg.tmm_bridge.overall.transfer import cross_matrix, hinge_column, loads_of_bodies


@dataclass(frozen=True)
class Hinge:
    """What the elimination of one hinge needs: its column h (6, f), its place in the speeds,
    X (6, 6), the terms g (f, 6), v (6, f) and G (6, 6) of the static force across it, its
    stiffness and damping k, c (f, f), the inertia `armature` that moves with it alone."""

    node: int
    parent: int
    place: int
    h: Array
    X: Array
    g: Array
    v: Array
    G: Array
    k: Array
    c: Array
    armature: float = 0.0

    def law(self, s: complex) -> Array:
        """k + s c + s^2 armature, (f, f), real where it is."""
        value: Array = self.k
        if np.any(self.c):
            value = value + s * self.c
        if self.armature:
            value = value + s * s * self.armature * np.eye(len(self.k))
        return value if np.any(np.imag(value)) else np.real(value)


@dataclass(frozen=True)
class Coupling:
    """A spring between two moving nodes: effort on the second -(K + s C) (W_b d_b - W_a d_a),
    W (3, 6) between points; of a law of six dimensions all twelve displacements, W (12, 6)."""

    a: int
    b: int
    W_a: Array
    W_b: Array
    K: Array
    C: Array


@dataclass(frozen=True)
class Small:
    """The mechanism about a posture at rest.  M, C, K (n, 6, 6) of the nodes' own;
    unbalanced (n_v,) : efforts that drive the hinges away from there;  acting : one-dimensional
    parts and controllers;  closing : motions that loops do not allow;  modal : the modes of
    flexible bodies, by the node of their frame."""

    mechanism: Mechanism
    scratch: Scratch
    M: Array
    C: Array
    K: Array
    hinges: tuple[Hinge, ...]
    couplings: tuple[Coupling, ...]
    unbalanced: Array
    acting: Acting | None = None
    closing: Rows | None = None
    modal: Mapping[int, Modal] = field(default_factory=dict)

    @cached_property
    def borne(self) -> Mapping[int, tuple[Modal, Borne]]:
        """The points that flexible bodies carry, by node, with their bodies."""
        return {p.node: (one, p) for one in self.modal.values() for p in one.points}

    def arms_of(self, modal: Modal) -> dict[int, Array]:
        """X of the hinges of a flexible body's points."""
        return {p.node: self.hinges[p.node].X for p in modal.points}

    @property
    def n_v(self) -> int:
        """Number of hinge speeds, driven ones included."""
        return int(self.mechanism.tables.sizes[1])

    @property
    def free(self) -> Array:
        """Places of the hinges and modes that can move."""
        places = [h.place + np.arange(h.h.shape[1]) for h in self.hinges]
        places += [m.place + np.arange(len(m.stiffness)) for m in self.modal.values()]
        return np.sort(np.concatenate(places)) if places else np.zeros(0, dtype=np.int64)


def refused(mechanism: Mechanism) -> str:
    """What of the mechanism is no part of a linear chain or tree; empty if nothing."""
    t = mechanism.tables
    network = mechanism.network
    if mechanism.apart:
        return f"a one-dimensional part without a twin ({mechanism.apart})"
    if network is not None and network.frictions:
        return f"dry friction, {network.frictions[0].name}"
    if network is not None and (network.samplers or network.latches):
        return "a sampled signal" if network.samplers else "a joint that opens and closes"
    if any(int(row[0]) == ROW_ROLL for row in t.rows):
        return "a rolling wheel"
    measured = {k for k, one in enumerate(t.coordinates) if one[0] != COORDINATE_TREE}
    for kind, _, i, j, _ in t.rows:
        if kind == ROW_COUPLE and measured & {int(i), int(j)}:
            return "a coupling to a joint that closes a loop"
    return ""


def check(mechanism: Mechanism) -> None:
    """Raises UsageError for what has no linear transfer equation."""
    if reason := refused(mechanism):
        raise UsageError(
            f"{mechanism.model.name}: vibration by transfer matrices is that of chains and trees"
            " of bodies, springs and dampers, with circuits, oil, shafts and controllers; here is"
            f" {reason}. Use `vbg show modes`."
        )


def small_motion(mechanism: Mechanism, y: Array) -> Small:
    """The mechanism linear about the posture y at rest, inputs and drives as at t = 0.

    Raises UsageError for what is no chain or tree of bodies, springs and dampers.
    """
    check(mechanism)
    t = mechanism.tables
    y = y.copy()
    y[int(t.sizes[0]) :] = 0.0
    s, loads = loads_of_bodies(mechanism, y, 0.0)
    n = len(t.links)
    M, C, K = (np.zeros((n, 6, 6)) for _ in range(3))
    for i in range(n):
        M[i] = mass_block(t, s, i)
        c = s.work[i, W_R : W_R + 9].reshape(3, 3) @ t.link[i, LINK_COM : LINK_COM + 3]
        K[i] += turning_arm(t.link[i, LINK_MASS] * t.gravity, c)
    add_loads(mechanism, s, K)
    couplings = (*_add_pairs(t, s, C, K), *_add_six(t, s, C, K), *_across_cuts(t, s, C, K))
    closing = rows_of(t, s) if len(t.rows) else None
    if closing is not None:
        efforts, loads, couplings = _closed(mechanism, s, closing, loads, K, couplings)
    static = _carried(t, s, loads)
    k, c_h = _on_hinges(t, s)
    elastic = _on_elastic(t, s, y)
    hinges, unbalanced = [], driving_modes(t, s, static)
    for i in range(n):
        column = hinge_column(t, s, i)
        if column.shape[1] == 0 or t.links[i, LINK_DRIVEN] == 1:
            column = np.zeros((6, 0))
        v = int(t.links[i, LINK_V])
        f = column.shape[1]
        unbalanced[v : v + f] = s.tau[v : v + f] - column.T @ static[i]
        if closing is not None:
            unbalanced[v : v + f] += closing.hinges.T[v : v + f] @ efforts
        law = elastic.get(i, (np.zeros((f, f)), np.zeros((f, f))))
        if f == 1:
            law = np.array([[k[v]]]), np.array([[c_h[v]]])
        if i in elastic:  # what the hinge carries is its own effort
            static[i] = column @ s.tau[v : v + f]
        hinges.append(_hinge(t, s, i, column, static[i], law))
    modal = {one.node: one for one in modal_elements(t, s, y, static)}
    whole = Small(mechanism, s, M, C, K, tuple(hinges), couplings, unbalanced, modal=modal)
    return replace(whole, closing=closing)


def _closed(
    mechanism: Mechanism,
    s: Scratch,
    closing: Rows,
    loads: Array,
    K: Array,
    couplings: tuple[Coupling, ...],
) -> tuple[Array, Array, tuple[Coupling, ...]]:
    """Efforts of the loops' rows at rest, the loads with them, couplings with what they stiffen:
    the least efforts that leave least unbalanced."""
    t = mechanism.tables
    balance = _unbalanced(t, s, loads)
    by_row = np.array(
        [
            _unbalanced(t, s, -wrench) - _unbalanced(t, s, 0.0 * wrench) + gains
            for wrench, gains in zip(closing.nodes, closing.hinges, strict=True)
        ]
    ).reshape(len(closing.hinges), -1)
    fixed = [v for v, free in enumerate(_moves(t)) if not free]
    by_row[:, fixed] = 0.0
    balance[fixed] = 0.0
    efforts = np.linalg.lstsq(by_row.T, -balance, rcond=1e-11)[0]
    loads = loads - np.einsum("r,rni->ni", efforts, closing.nodes)
    found = stiffness_of_loops(t, s, drive_rates(mechanism, 0.0), efforts)
    more: list[Coupling] = []
    for (a, b), K12 in found.items():
        more += _joined(a, b, K12, np.zeros((12, 12)), np.zeros_like(K), K)
    return efforts, loads, (*couplings, *more)


def _moves(t: Tables) -> Array:
    """Which of the hinges' speeds are free."""
    free = np.zeros(int(t.sizes[1]), dtype=bool)
    for link in t.links:
        v = int(link[LINK_V])
        free[v : v + FREEDOMS[link[LINK_KIND]]] = link[LINK_DRIVEN] == 0
    for _, _, v, count in t.flexes:
        free[v : v + count] = True
    return free


def _unbalanced(t: Tables, s: Scratch, loads: Array) -> Array:
    """Efforts (n_v,) that drive the hinges: the parts' own, less what they have to carry."""
    static = _carried(t, s, loads)
    found = driving_modes(t, s, static)
    for i in range(len(t.links)):
        column, v = hinge_column(t, s, i), int(t.links[i, LINK_V])
        f = column.shape[1]
        found[v : v + f] = s.tau[v : v + f] - column.T @ static[i]
    return found


def mass_block(t: Tables, s: Scratch, i: int) -> Array:
    """[q; m] = s^2 M [dx; dtheta] of the body on node i, about the node's origin."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    com = np.hstack([np.eye(3), -cross_matrix(R @ t.link[i, LINK_COM : LINK_COM + 3])])
    M: Array = t.link[i, LINK_MASS] * com.T @ com
    J = t.link[i, LINK_J : LINK_J + 6]
    if (bends := int(t.links[i, LINK_BENDS])) >= 0:
        J = J + s.room[bends, GROWN : GROWN + 6]
    M[3:, 3:] += R @ symmetric_matrix(J) @ R.T
    return M


def _add_pairs(t: Tables, s: Scratch, C: Array, K: Array) -> tuple[Coupling, ...]:
    """Springs and dampers between points: to the ground they belong to their node, between
    nodes they couple.

    With the pull f over the length l along u:  K = k u u^T + f/l (1 - u u^T).
    Raises UsageError for a stop that touches, and for ends that meet.
    """
    couplings = []
    for n, (law, a, b) in enumerate(t.pairs[:, :3]):
        row, pull = t.pair[n], s.pair[n, 0]
        if law not in (PAIR_SPRING, PAIR_INPUT):  # an input pulls with a constant force
            if pull != 0.0:
                raise UsageError("A stop touches at rest: that is no linear vibration.")
            continue
        ends = []
        for node, point in ((a, row[:3]), (b, row[3:6])):
            arm = arm_of(s, node, point) if node >= 0 else np.asarray(point)
            origin = s.work[node, W_P : W_P + 3] if node >= 0 else np.zeros(3)
            ends.append((arm, origin + arm))
        across = ends[1][1] - ends[0][1]
        size = float(np.linalg.norm(across))
        if size == 0.0:
            raise UsageError(
                "The ends of a spring meet at rest, where its pull has no direction: put them"
                " apart, or its ends on a joint between them."
            )
        along = np.outer(across, across) / size**2
        K3 = row[6] * along + pull / size * (np.eye(3) - along)
        C3 = row[8] * along
        W = [np.hstack([np.eye(3), -cross_matrix(arm)]) for arm, _ in ends]
        for node, (arm, _), sign in ((a, ends[0], 1.0), (b, ends[1], -1.0)):
            if node >= 0:
                K[node] += turning_arm(sign * pull * across / size, arm)
        if a >= 0 and b >= 0:
            couplings.append(Coupling(int(a), int(b), W[0], W[1], K3, C3))
            continue
        node, own = (int(a), W[0]) if a >= 0 else (int(b), W[1])
        if node >= 0:
            K[node] += own.T @ K3 @ own
            C[node] += own.T @ C3 @ own
    return tuple(couplings)


def _add_six(t: Tables, s: Scratch, C: Array, K: Array) -> tuple[Coupling, ...]:
    """Laws of six dimensions between bodies that the tree joins otherwise."""
    couplings: list[Coupling] = []
    for n, (a, b, law) in enumerate(t.bushes):
        R_WF = rotation_of(s, a) @ t.bush[n, :9].reshape(3, 3)
        origins = [s.work[i, W_P : W_P + 3] if i >= 0 else np.zeros(3) for i in (a, b)]
        p_M = origins[1] + rotation_of(s, b) @ t.bush[n, 21:24]
        arms = [p_M - origin for origin in origins]
        x = s.bush[n, 8:14]
        six = np.kron(np.eye(2), R_WF)
        k = six @ stiffness(law, t.bush[n, 24:60].reshape(6, 6), x) @ six.T
        c = six @ damping(law, t.bush[n, 60:96].reshape(6, 6), x) @ six.T
        K12 = between_nodes(k, six @ s.bush[n, :6], arms[0], arms[1])
        C12 = between_nodes(c, np.zeros(6), arms[0], arms[1])
        couplings += _joined(int(a), int(b), K12, C12, C, K)
    return tuple(couplings)


def _across_cuts(t: Tables, s: Scratch, C: Array, K: Array) -> tuple[Coupling, ...]:
    """Springs, dampers and constant efforts on coordinates of joints that close loops."""
    found: list[Coupling] = []
    for n, (law, k) in enumerate(t.laws[:, :2]):
        if t.coordinates[k, 0] == COORDINATE_TREE:
            continue
        w, K12 = under_effort(t, s, int(k), float(s.law[n, 0]))
        C12 = np.zeros((12, 12))
        if law == LAW_SPRING:
            K12, C12 = K12 + t.law[n, 0] * np.outer(w, w), t.law[n, 2] * np.outer(w, w)
        a, b = (int(i) for i in t.cuts[t.coordinates[k, 1]])
        found += _joined(a, b, K12, C12, C, K)
    return tuple(found)


def _joined(a: int, b: int, K12: Array, C12: Array, C: Array, K: Array) -> tuple[Coupling, ...]:
    """A law (12, 12) between two nodes; beside the ground it is the other node's own."""
    if a >= 0 and b >= 0:
        W = np.eye(12)
        return (Coupling(a, b, -W[:, :6], W[:, 6:], K12, C12),)
    node, own = (a, slice(0, 6)) if a >= 0 else (b, slice(6, 12))
    K[node] += K12[own, own]
    C[node] += C12[own, own]
    return ()


def _on_elastic(t: Tables, s: Scratch, y: Array) -> dict[int, tuple[Array, Array]]:
    """Stiffness and damping (6, 6) of the tree's elastic hinges, in the axes of their nodes."""
    found = {}
    for n, (node, law, backward) in enumerate(t.elastics):
        x = s.strain[n, :6]
        k = stiffness(law, t.elastic[n, :36].reshape(6, 6), x)
        c = damping(law, t.elastic[n, 36:].reshape(6, 6), x)
        if backward:
            pair = from_behind(k, x, s.elastic[n, :6]), from_behind(c, x, np.zeros(6))
        else:
            q = t.links[node, LINK_Q]
            six = np.kron(np.eye(2), matrix_of(y[q + 3 : q + 7]))
            pair = six.T @ k @ six, six.T @ c @ six
        found[int(node)] = pair
    return found


def _carried(t: Tables, s: Scratch, loads: Array) -> Array:
    """Static force and moment (n, 6) that cross every hinge."""
    static = loads.copy()
    for i in range(len(t.links) - 1, -1, -1):
        p = t.links[i, LINK_PARENT]
        if p >= 0:
            static[p] += static[i]
            static[p, 3:] += np.cross(s.work[i, W_ARM : W_ARM + 3], static[i, :3])
    return static


def _on_hinges(t: Tables, s: Scratch) -> tuple[Array, Array]:
    """Stiffness and damping on every hinge.  Raises UsageError for a stop that touches."""
    k, c = np.zeros(int(t.sizes[1]) + 1), np.zeros(int(t.sizes[1]) + 1)
    for n, (law, coordinate) in enumerate(t.laws[:, :2]):
        kind, _, _, v = t.coordinates[coordinate]
        if law == LAW_STOP and s.law[n, 0] != 0.0:
            raise UsageError("A stop touches at rest: that is no linear vibration.")
        if law == LAW_SPRING and kind == COORDINATE_TREE:
            k[v] += t.law[n, 0]
            c[v] += t.law[n, 2]
    return k, c


def _hinge(
    t: Tables, s: Scratch, i: int, h: Array, static: Array, law: tuple[Array, Array]
) -> Hinge:
    """The hinge of node i under the static force and moment that cross it."""
    r = s.work[i, W_ARM : W_ARM + 3]
    q, m = static[:3], static[3:]
    X = np.eye(6)
    X[:3, 3:] = -cross_matrix(r)
    G = np.zeros((6, 6))
    G[3:, 3:] = cross_matrix(q) @ cross_matrix(r)
    f = h.shape[1]
    g, v = np.zeros((f, 6)), np.zeros((6, f))
    for j in range(f if f != 3 else 0):  # no effort acts about a ball
        g[j, 3:] = np.cross(h[:3, j], q) + np.cross(h[3:, j], m)
        v[3:, j] = np.cross(h[:3, j], q)
    armature = float(t.link[i, LINK_ARMATURE])
    place = int(t.links[i, LINK_V])
    return Hinge(i, int(t.links[i, LINK_PARENT]), place, h, X, g, v, G, *law, armature)
