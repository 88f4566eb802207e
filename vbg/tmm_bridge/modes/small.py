"""A mechanism linear about a posture at rest, in transfer-matrix form.

State vectors in small displacements, z = [dx, dtheta, m, q, 1], at the complex
frequency s.  On every node

    [dq; dm] = S [dx; dtheta] + e,   S = s^2 M + s C + K + what hangs on it,

with M of its body and K, C of the loads on it: weight and forces whose lever arm
turns, springs and dampers to the ground.  Across a hinge with column h

    [dx; dtheta] = X [dx; dtheta]_P + h dx_h,
    h . [dq; dm] + g . [dx; dtheta]_P + (k + s c) dx_h = u,

where g comes from the turn of the hinge's axis under the static force (q, m) that
crosses it; its turn of the lever arm r adds (dtheta_P x r) x q to the parent's
moment.  Eliminating the hinges from the tips to the root leaves the pivots

    d = h^T S h + k + s c,

whose product is the determinant of the overall transfer equation, and whose
negative ones at s = i w count the natural frequencies below w (Sturm).  Springs
between two moving bodies are taken as further right-hand sides.

Rui et al., mstmmsim.txt; W. H. Wittrick, F. W. Williams, Q. J. Mech. Appl. Math.
24 (1971) 263 on the count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.rotation import Array, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import (
    LINK_COM,
    LINK_DRIVEN,
    LINK_J,
    LINK_MASS,
    LINK_PARENT,
    LINK_V,
    W_ARM,
    W_N,
    W_P,
    W_R,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_TREE,
    LAW_SPRING,
    LAW_STOP,
    LOAD_FORCE,
    PAIR_SPRING,
    Scratch,
    Tables,
)
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.overall.transfer import cross_matrix, hinge_column, loads_of_bodies


@dataclass(frozen=True)
class Hinge:
    """What the elimination of one hinge needs: its column h (6, f), its place in the speeds,
    X (6, 6), the terms g (f, 6), v (6, f) and G (6, 6) of the static force across it, k, c."""

    node: int
    parent: int
    place: int
    h: Array
    X: Array
    g: Array
    v: Array
    G: Array
    k: float
    c: float


@dataclass(frozen=True)
class Coupling:
    """A spring between points of two moving nodes: force on the second
    -(K + s C) (W_b d_b - W_a d_a), W (3, 6)."""

    a: int
    b: int
    W_a: Array
    W_b: Array
    K: Array
    C: Array


@dataclass(frozen=True)
class Small:
    """The mechanism about a posture at rest.  M, C, K (n, 6, 6) of the nodes' own;
    unbalanced (n_v,) : efforts that drive the hinges away from there."""

    mechanism: Mechanism
    scratch: Scratch
    M: Array
    C: Array
    K: Array
    hinges: tuple[Hinge, ...]
    couplings: tuple[Coupling, ...]
    unbalanced: Array

    @property
    def n_v(self) -> int:
        """Number of hinge speeds, driven ones included."""
        return int(self.mechanism.tables.sizes[1])

    @property
    def free(self) -> Array:
        """Places of the hinges that can move."""
        places = [h.place + np.arange(h.h.shape[1]) for h in self.hinges]
        return np.sort(np.concatenate(places)) if places else np.zeros(0, dtype=np.int64)


def refused(mechanism: Mechanism) -> str:
    """What of the mechanism is no part of a linear chain or tree; empty if nothing."""
    t = mechanism.tables
    if mechanism.network is not None:
        return "a one-dimensional part or a controller"
    if len(t.rows):
        names = [*mechanism.cut, *mechanism.couplings]
        return f"a loop or coupling at joints.{', joints.'.join(names)}"
    for name, (table, row) in mechanism.parts.items():
        if table == "bush":
            return f"the bushing forces.{name}"
        if table == "load" and t.load[row, 12] == 1.0 and t.loads[row, 2:5].max() >= 0:
            return f"a load in body axes, forces.{name}"
    return ""


def small_motion(mechanism: Mechanism, y: Array) -> Small:
    """The mechanism linear about the posture y at rest, inputs and drives as at t = 0.

    Raises UsageError for what is no chain or tree of bodies, springs and dampers.
    """
    if reason := refused(mechanism):
        raise UsageError(
            f"{mechanism.model.name}: vibration by transfer matrices is that of chains and trees"
            f" of bodies, springs and dampers; here is {reason}. Use `vbg show modes`."
        )
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
    _add_loads(mechanism, s, K)
    couplings = _add_pairs(t, s, C, K)
    static = _carried(t, s, loads)
    k, c_h = _on_hinges(t, s)
    hinges, unbalanced = [], np.zeros(int(t.sizes[1]))
    for i in range(n):
        column = hinge_column(t, s, i)
        if column.shape[1] == 0 or t.links[i, LINK_DRIVEN] == 1:
            column = np.zeros((6, 0))
        v = int(t.links[i, LINK_V])
        f = column.shape[1]
        unbalanced[v : v + f] = s.tau[v : v + f] - column.T @ static[i]
        hinges.append(_hinge(t, s, i, column, static[i], (k[v], c_h[v]) if f == 1 else (0.0, 0.0)))
    return Small(mechanism, s, M, C, K, tuple(hinges), couplings, unbalanced)


def mass_block(t: Tables, s: Scratch, i: int) -> Array:
    """[q; m] = s^2 M [dx; dtheta] of the body on node i, about the node's origin."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    com = np.hstack([np.eye(3), -cross_matrix(R @ t.link[i, LINK_COM : LINK_COM + 3])])
    M: Array = t.link[i, LINK_MASS] * com.T @ com
    M[3:, 3:] += R @ symmetric_matrix(t.link[i, LINK_J : LINK_J + 6]) @ R.T
    return M


def turning_arm(force: Array, arm: Array) -> Array:
    """K of a constant force at an arm that turns: its moment grows by (dtheta x arm) x force."""
    K = np.zeros((6, 6))
    K[3:, 3:] = -cross_matrix(force) @ cross_matrix(arm)
    return K


def _arm(s: Scratch, node: int, point: Array) -> Array:
    return np.asarray(s.work[node, W_R : W_R + 9].reshape(3, 3) @ point)


def _add_loads(mechanism: Mechanism, s: Scratch, K: Array) -> None:
    """Forces in world axes, constant as at t = 0."""
    t = mechanism.tables
    for (kind, node, *places), row in zip(t.loads, t.load, strict=True):
        if kind == LOAD_FORCE and node >= 0:
            force = [mechanism.inputs[p].value(0.0) if p >= 0 else 0.0 for p in places]
            K[node] += turning_arm(np.array(force), _arm(s, node, row[:3]))


def _add_pairs(t: Tables, s: Scratch, C: Array, K: Array) -> tuple[Coupling, ...]:
    """Springs and dampers between points: to the ground they belong to their node, between
    nodes they couple.

    With the pull f over the length l along u:  K = k u u^T + f/l (1 - u u^T).
    Raises UsageError for a stop that touches.
    """
    couplings = []
    for n, (law, a, b) in enumerate(t.pairs[:, :3]):
        row, pull = t.pair[n], s.pair[n, 0]
        if law != PAIR_SPRING:
            if pull != 0.0:
                raise UsageError("A stop touches at rest: that is no linear vibration.")
            continue
        ends = []
        for node, point in ((a, row[:3]), (b, row[3:6])):
            arm = _arm(s, node, point) if node >= 0 else np.asarray(point)
            origin = s.work[node, W_P : W_P + 3] if node >= 0 else np.zeros(3)
            ends.append((arm, origin + arm))
        across = ends[1][1] - ends[0][1]
        size = float(np.linalg.norm(across))
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
    t: Tables, s: Scratch, i: int, h: Array, static: Array, law: tuple[float, float]
) -> Hinge:
    """The hinge of node i under the static force and moment that cross it."""
    r, n = s.work[i, W_ARM : W_ARM + 3], s.work[i, W_N : W_N + 3]
    q, m = static[:3], static[3:]
    X = np.eye(6)
    X[:3, 3:] = -cross_matrix(r)
    G = np.zeros((6, 6))
    G[3:, 3:] = cross_matrix(q) @ cross_matrix(r)
    f = h.shape[1]
    g, v = np.zeros((f, 6)), np.zeros((6, f))
    if f == 1:
        on_a, on_alpha = float(h[:3, 0] @ n), float(h[3:, 0] @ n)
        g[0, 3:] = on_a * np.cross(n, q) + on_alpha * np.cross(n, m)
        v[3:, 0] = on_a * np.cross(n, q)
    return Hinge(i, int(t.links[i, LINK_PARENT]), int(t.links[i, LINK_V]), h, X, g, v, G, *law)


@dataclass(frozen=True)
class Passed:
    """The elimination at one s: what remains of each hinge's pivot, (f, f), and the gains
    to go back to the tips; compliance (3k, 3k) of the couplings' points and its factor."""

    s: complex
    S: Array
    pivots: tuple[Array, ...]
    couple: Array


def eliminate(small: Small, s: complex) -> Passed:
    """Pivots of all hinges at s, tips to root, and the compliance between couplings."""
    S: Array = (s * s) * small.M + s * small.C + small.K
    if not np.any(np.imag(S)):
        S = np.real(S).copy()
    pivots = []
    for hinge in reversed(small.hinges):
        T = S[hinge.node]
        d = hinge.h.T @ T @ hinge.h + _spring(hinge, s) * np.eye(hinge.h.shape[1])
        pivots.append(d)
        if hinge.parent >= 0:
            left = hinge.X.T @ T @ hinge.h + hinge.v
            right = hinge.h.T @ T @ hinge.X + hinge.g
            through = hinge.X.T @ T @ hinge.X + hinge.G
            if len(d):
                through = through - left @ np.linalg.solve(d, right)
            S = _added(S, hinge.parent, through)
    passed = Passed(s, S, tuple(reversed(pivots)), np.zeros((0, 0)))
    if not small.couplings:
        return passed
    count = 3 * len(small.couplings)
    e = np.zeros((len(small.M), 6, count), dtype=S.dtype)
    for r, one in enumerate(small.couplings):
        e[one.b, :, 3 * r : 3 * r + 3] -= one.W_b.T
        e[one.a, :, 3 * r : 3 * r + 3] += one.W_a.T
    _, nodes, _ = _swept(small, passed, np.zeros((small.n_v, count)), e)
    return Passed(s, S, passed.pivots, apart(small, nodes))


def _added(S: Array, node: int, block: Array) -> Array:
    if np.iscomplexobj(block) and not np.iscomplexobj(S):
        S = S.astype(complex)
    S[node] += block
    return S


def _spring(hinge: Hinge, s: complex) -> complex:
    if hinge.c == 0.0:
        return hinge.k
    value = hinge.k + s * hinge.c
    return value.real if np.imag(value) == 0.0 else value


def apart(small: Small, nodes: Array) -> Array:
    """Relative displacements (3k, m) of the couplings' points for (n, 6, m) of the nodes."""
    rows = [one.W_b @ nodes[one.b] - one.W_a @ nodes[one.a] for one in small.couplings]
    return np.concatenate(rows)


def _swept(small: Small, passed: Passed, u: Array, e: Array) -> tuple[Array, Array, Array]:
    """Tips to root with the loads, back with the displacements: hinges (n_v, m), nodes
    (n, 6, m) and forces across the hinges (n, 6, m), without the couplings."""
    kind = np.result_type(passed.S, u, e, *passed.pivots)
    e = e.astype(kind)
    offsets: list[Array] = [np.zeros((0, u.shape[1]))] * len(small.hinges)
    for hinge, d in zip(reversed(small.hinges), reversed(passed.pivots), strict=True):
        own, f = e[hinge.node], hinge.h.shape[1]
        left = u[hinge.place : hinge.place + f] - hinge.h.T @ own
        offsets[hinge.node] = np.linalg.solve(d, left) if f else left
        if hinge.parent >= 0:
            T = passed.S[hinge.node]
            through = hinge.X.T @ T @ hinge.h + hinge.v
            e[hinge.parent] += hinge.X.T @ own + through @ offsets[hinge.node]
    hinges = np.zeros(u.shape, dtype=kind)
    nodes, force = np.zeros(e.shape, dtype=kind), np.zeros(e.shape, dtype=kind)
    for hinge, d in zip(small.hinges, passed.pivots, strict=True):
        i, f, T = hinge.node, hinge.h.shape[1], passed.S[hinge.node]
        before = nodes[hinge.parent] if hinge.parent >= 0 else np.zeros(e.shape[1:], dtype=kind)
        nodes[i] = hinge.X @ before
        if f:
            dq = offsets[i] - np.linalg.solve(d, (hinge.h.T @ T @ hinge.X + hinge.g) @ before)
            hinges[hinge.place : hinge.place + f] = dq
            nodes[i] = nodes[i] + hinge.h @ dq
        force[i] = T @ nodes[i] + e[i]
    return hinges, nodes, force


@dataclass(frozen=True)
class Response:
    """Displacements of hinges (n_v, m) and of nodes (n, 6, m), forces that cross hinges
    (n, 6, m), in world axes."""

    hinges: Array
    nodes: Array
    force: Array


def respond(small: Small, passed: Passed, u: Array, e: Array) -> Response:
    """Displacements under efforts u (n_v, m) on the hinges and loads -e (n, 6, m) on the nodes."""
    free = Response(*_swept(small, passed, u, e))
    if not small.couplings:
        return free
    K = _block_diagonal([one.K + passed.s * one.C for one in small.couplings])
    pull = np.linalg.solve(np.eye(len(K)) + K @ passed.couple, -K @ apart(small, free.nodes))
    e = e.astype(np.result_type(e, pull))
    for r, one in enumerate(small.couplings):
        e[one.b] -= one.W_b.T @ pull[3 * r : 3 * r + 3]
        e[one.a] += one.W_a.T @ pull[3 * r : 3 * r + 3]
    return Response(*_swept(small, passed, u, e))


def _block_diagonal(blocks: list[Array]) -> Array:
    from scipy.linalg import block_diag

    whole: Array = block_diag(*blocks)
    return whole


def count_below(small: Small, square: float) -> int:
    """Number of natural frequencies w with w^2 < `square`, dampers left out: negative pivots.

    `square` may be negative: growing motions of an unstable posture are below zero.
    """
    undamped = without_dampers(small)
    passed = eliminate_beside(undamped, square)
    found = 0
    for d in passed.pivots:
        if len(d):
            found += int(np.count_nonzero(np.linalg.eigvalsh(0.5 * (d + d.T)) < 0.0))
    if small.couplings:
        found += _changed_by_couplings(undamped, passed)
    return found


def eliminate_beside(small: Small, square: float) -> Passed:
    """Pivots at s^2 = -`square`, or next to it where a pivot is exactly zero."""
    for nudge in (0.0, 1e-13, 1e-12, 1e-11):
        at = square + nudge * max(abs(square), 1e-30)
        s = 1j * np.sqrt(at) if at >= 0.0 else complex(np.sqrt(-at))
        try:
            return eliminate(small, s)
        except np.linalg.LinAlgError:
            continue
    raise UsageError(
        f"{small.mechanism.model.name}: a hinge resists neither by inertia nor by a spring at"
        f" w^2 = {square:.6g}. Give the body behind it a moment of inertia."
    )


def _changed_by_couplings(small: Small, passed: Passed) -> int:
    """neg(-1/kappa - H) - neg(-1/kappa) over the stiff directions of the couplings
    (Sylvester's law for the bordered matrix)."""
    values, directions = np.linalg.eigh(_block_diagonal([one.K for one in small.couplings]))
    stiff = np.abs(values) > 1e-12 * max(float(np.abs(values).max()), 1e-300)
    kappa, V = values[stiff], directions[:, stiff]
    H = V.T @ np.real(passed.couple) @ V
    border = -np.diag(1.0 / kappa) - 0.5 * (H + H.T)
    return int(np.count_nonzero(np.linalg.eigvalsh(border) < 0.0) - np.count_nonzero(kappa > 0.0))


def without_dampers(small: Small) -> Small:
    """The same mechanism, its dampers left out."""
    from dataclasses import replace

    return replace(
        small,
        C=np.zeros_like(small.C),
        hinges=tuple(replace(h, c=0.0) for h in small.hinges),
        couplings=tuple(replace(one, C=np.zeros((3, 3))) for one in small.couplings),
    )


def needed(small: Small, s: complex, hinges: Array) -> Array:
    """Efforts u (n_v, m) that the displacements `hinges` (n_v, m) need at s: the transfer
    equation read the other way."""
    blocks = (s * s) * small.M + s * small.C + small.K
    kind = np.result_type(blocks, hinges)
    nodes = np.zeros((len(small.M), 6, hinges.shape[1]), dtype=kind)
    for hinge in small.hinges:
        before = nodes[hinge.parent] if hinge.parent >= 0 else np.zeros_like(nodes[0])
        f = hinge.h.shape[1]
        nodes[hinge.node] = hinge.X @ before + hinge.h @ hinges[hinge.place : hinge.place + f]
    force = np.einsum("nij,njm->nim", blocks, nodes)
    if small.couplings:
        K = _block_diagonal([one.K + s * one.C for one in small.couplings])
        pull = -K @ apart(small, nodes)
        for r, one in enumerate(small.couplings):
            force[one.b] -= one.W_b.T @ pull[3 * r : 3 * r + 3]
            force[one.a] += one.W_a.T @ pull[3 * r : 3 * r + 3]
    efforts = np.zeros(hinges.shape, dtype=kind)
    for hinge in reversed(small.hinges):
        f = hinge.h.shape[1]
        before = nodes[hinge.parent] if hinge.parent >= 0 else np.zeros_like(nodes[0])
        own = hinges[hinge.place : hinge.place + f]
        efforts[hinge.place : hinge.place + f] = (
            hinge.h.T @ force[hinge.node] + hinge.g @ before + (hinge.k + s * hinge.c) * own
        )
        if hinge.parent >= 0:
            force[hinge.parent] += hinge.X.T @ force[hinge.node] + hinge.G @ before + hinge.v @ own
    return efforts
