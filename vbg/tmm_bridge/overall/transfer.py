"""Transfer matrices and the overall transfer equation, as the paper has them.

State vector z = [a (3), alpha (3), m (3), q (3), 1] at a connection point, W.
m and q are what the side towards the root exerts on the side towards the tip.

Body from a point C to a point O (r = p_C - p_O, c = p_com - p_O):

    a_O = a_C + r^ alpha - w x (w x r),     alpha_O = alpha
    q_O = q_C + m (a_O - c^ alpha + w x (w x c)) + e_q
    m_O = m_C + r x q_C + c x (m a_com) + J alpha + w x J w + e_m

with e the applied loads, gravity among them.  Hinge with column h, on its way
to the root: a, alpha less (h q'' + c), m and q unchanged, and h . [q; m] = tau.

`overall_chain` multiplies these matrices from tip to root, each hinge's q''
eliminated by the condition of the next hinge, so that six unknowns are left
whatever the length (and digits go with the length); `overall_general` keeps
every q'' and works for trees, loops and drives as well.  Both are slow twins of
the Riccati transform and share its kinematics only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from vbg.errors import UsageError
from vbg.tmm_bridge.kernels.entries import all_rows, exert, posture
from vbg.tmm_bridge.kernels.motion.rotation import Array, symmetric_matrix
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    FREEDOMS,
    LINK_COM,
    LINK_DRIVEN,
    LINK_J,
    LINK_KIND,
    LINK_LEAD,
    LINK_MASS,
    LINK_PARENT,
    LINK_SHAPE,
    LINK_V,
    PRISMATIC,
    REVOLUTE,
    SCREW,
    W_ARM,
    W_CA,
    W_CB,
    W_EM,
    W_EQ,
    W_N,
    W_R,
    W_W,
)
from vbg.tmm_bridge.kernels.tables import Scratch, Tables, scratch_for
from vbg.tmm_bridge.mechanism.contradictions import node_name, row_name
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.start import drive_rates
from vbg.tmm_bridge.overall.bending import bent_at, column_of, points_on

ACC, ALPHA, MOMENT, FORCE, ONE = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12), 12
TIP = np.zeros(3)


@dataclass(frozen=True)
class Instant:
    """Accelerations of the hinges, internal force and moment of every node at its
    origin, cut efforts; `order` of the overall equation, its condition number."""

    acceleration: Array
    force: Array
    moment: Array
    effort: Array
    order: int
    condition: float


def cross_matrix(v: Array) -> Array:
    """v^ with v^ u = v x u."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def body_matrix(t: Tables, s: Scratch, e: Array, i: int, r: Array) -> Array:
    """13 x 13 matrix of the body on node i, from the point at r to the node's origin."""
    R = s.work[i, W_R : W_R + 9].reshape(3, 3)
    w = s.work[i, W_W : W_W + 3]
    mass = t.link[i, LINK_MASS]
    c = R @ t.link[i, LINK_COM : LINK_COM + 3]
    J = R @ symmetric_matrix(t.link[i, LINK_J : LINK_J + 6]) @ R.T
    rx, cx, one = cross_matrix(r), cross_matrix(c), np.eye(3)
    U = np.zeros((13, 13))
    U[ACC, ACC], U[ACC, ALPHA], U[ALPHA, ALPHA], U[ONE, ONE] = one, rx, one, 1.0
    U[ACC, ONE] = -np.cross(w, np.cross(w, r))
    # Acceleration of the mass centre in terms of z at the outer point.
    com = np.zeros((3, 13))
    com[:, ACC], com[:, ALPHA] = one, rx - cx
    com[:, ONE] = U[ACC, ONE] + np.cross(w, np.cross(w, c))
    U[FORCE, :] = mass * com
    U[FORCE, FORCE] += one
    U[FORCE, ONE] += e[:3]
    U[MOMENT, :] = mass * cx @ com
    U[MOMENT, ALPHA] += J
    U[MOMENT, MOMENT] += one
    U[MOMENT, FORCE] += rx
    U[MOMENT, ONE] += e[3:] + np.cross(w, J @ w)
    return U


def further_input_matrix(r: Array) -> Array:
    """What a further input at r adds to the output of the body: force and its moment."""
    U = np.zeros((13, 13))
    U[FORCE, FORCE] = np.eye(3)
    U[MOMENT, MOMENT] = np.eye(3)
    U[MOMENT, FORCE] = cross_matrix(r)
    return U


def hinge_column(t: Tables, s: Scratch, i: int) -> Array:
    """Columns (6, f) of the hinge of node i: acceleration, angular acceleration."""
    n, kind = s.work[i, W_N : W_N + 3], t.links[i, LINK_KIND]
    zero = np.zeros(3)
    if kind == REVOLUTE:
        return np.concatenate([zero, n])[:, None]
    if kind == PRISMATIC:
        return np.concatenate([n, zero])[:, None]
    if kind == SCREW:
        return np.concatenate([t.link[i, LINK_LEAD] * n, n])[:, None]
    if kind == BALL:
        return np.vstack([np.zeros((3, 3)), s.work[i, W_R : W_R + 9].reshape(3, 3)])
    if kind == ELASTIC:
        return np.kron(np.eye(2), s.work[i, W_R : W_R + 9].reshape(3, 3))
    return np.zeros((6, 0))


def loads_of_bodies(mechanism: Mechanism, y: Array, time: float) -> tuple[Scratch, Array]:
    """Posture with the bodies' own e (n, 6); nothing is transformed yet.

    e without the bodies' inertial terms: weight and applied loads only.
    """
    t = mechanism.tables
    s = scratch_for(t)
    inputs = np.array([f.value(time) for f in mechanism.inputs], dtype=float)
    drive = drive_rates(mechanism, time)
    y = y.copy()
    posture(t, s, y, drive)
    before = s.work[:, W_EQ : W_EM + 3].copy()
    exert(t, s, inputs)
    e = s.work[:, W_EQ : W_EM + 3] - before
    for i in range(len(t.links)):
        weight = -t.link[i, LINK_MASS] * t.gravity
        arm = s.work[i, W_R : W_R + 9].reshape(3, 3) @ t.link[i, LINK_COM : LINK_COM + 3]
        e[i, :3] += weight
        e[i, 3:] += np.cross(arm, weight)
    if len(t.rows):
        all_rows(t, s, drive)
    return s, e


def children_of(t: Tables) -> list[list[int]]:
    """Nodes that hang on each node."""
    children: list[list[int]] = [[] for _ in t.links]
    for i, link in enumerate(t.links):
        if link[LINK_PARENT] >= 0:
            children[link[LINK_PARENT]].append(i)
    return children


class _Unknowns:
    """Columns of the overall equation while it is written; the last is the constant."""

    def __init__(self, t: Tables, tips: list[int]):
        self.tip = {node: 6 * k for k, node in enumerate(tips)}
        self.hinge = 6 * len(tips)
        self.cut = self.hinge + int(t.sizes[1])
        self.count = self.cut + len(t.rows)

    def zero(self, rows: int) -> Array:
        return np.zeros((rows, self.count + 1))


def overall_general(mechanism: Mechanism, y: Array, time: float) -> Instant:
    """Solve the overall transfer equation of any mechanism at one instant.

    Unknown are the motion of every tip, every hinge's acceleration and the cut
    efforts; the equations are the hinges' conditions, the geometrical equations
    of bodies with several inputs, the roots and the closed loops.
    """
    t, written = mechanism.tables, _written(mechanism, y, time)
    return _solved(t, written.rows, written.at_origin, written.x)


@dataclass(frozen=True)
class _Written:
    """The rows of the overall equation in the unknowns, the last column constant; what each
    row says; the state at every node's origin."""

    rows: Array
    labels: tuple[str, ...]
    at_origin: dict[int, Array]
    x: _Unknowns


def _written(mechanism: Mechanism, y: Array, time: float) -> _Written:
    t = mechanism.tables
    s, e = loads_of_bodies(mechanism, y, time)
    children = children_of(t)
    x = _Unknowns(t, [i for i, c in enumerate(children) if not c])
    at_origin: dict[int, Array] = {}
    beyond: dict[int, Array] = {}
    equations: list[Array] = []
    labels: list[str] = []

    def noted(what: str) -> None:
        labels.extend([what] * (sum(map(len, equations)) - len(labels)))

    for i in range(len(t.links) - 1, -1, -1):
        name = node_name(mechanism, i)
        at_origin[i] = _body_output(t, s, e, i, children[i], x, beyond, equations)
        noted(f"geometry behind {name}")
        if (modes := _bend(t, s, y, i, at_origin, x)) is not None:
            equations.append(modes)
            noted(f"modes of {name}")
        at_origin[i][ACC.start : FORCE.stop] += _cut_loads(s, i, x)
        equations.append(_hinge_condition(t, s, i, at_origin[i], x))
        noted(f"effort along {name}")
        beyond[i] = _across_hinge(t, s, i, at_origin[i], x)
        if t.links[i, LINK_PARENT] < 0:
            equations.append(beyond[i][:6])
            noted(f"ground at {name}")
    for r in range(len(t.rows)):
        equations.append(_loop_row(s, r, at_origin, x))
        noted(f"loop at {row_name(mechanism, r)}")
    return _Written(np.vstack(equations), tuple(labels), at_origin, x)


@dataclass(frozen=True)
class Overall:
    """The overall transfer equation in numbers, matrix . unknowns = right: what each row says,
    and which unknown each column belongs to."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: Array
    right: Array


def overall_equation(mechanism: Mechanism, y: Array, time: float) -> Overall:
    """Matrix and right-hand side of the overall transfer equation at the state y."""
    written, t = _written(mechanism, y, time), mechanism.tables
    axes = ("a.x", "a.y", "a.z", "alpha.x", "alpha.y", "alpha.z")
    columns = [f"{node_name(mechanism, tip)} tip {axis}" for tip in written.x.tip for axis in axes]
    owners = [""] * int(t.sizes[1])
    for i in range(len(t.links)):
        for v in _free_columns(t, i):
            owners[v] = node_name(mechanism, i)
    for node, _, first, n in t.flexes:
        owners[first : first + n] = [f"modes of {node_name(mechanism, int(node))}"] * int(n)
    columns += numbered([f"{owner} q''" for owner in owners])  # joints may have several hinges
    columns += numbered([f"effort of {row_name(mechanism, r)}" for r in range(len(t.rows))])
    matrix, right = written.rows[:, :-1], -written.rows[:, -1]
    return Overall(written.labels, tuple(columns), matrix, right)


def numbered(names: list[str]) -> list[str]:
    """NAME[0], NAME[1], ... where there are several of a name."""
    every, counted = Counter(names), Counter[str]()
    found = []
    for name in names:
        found.append(name if every[name] == 1 else f"{name}[{counted[name]}]")
        counted[name] += 1
    return found


def _body_output(
    t: Tables,
    s: Scratch,
    e: Array,
    i: int,
    children: list[int],
    x: _Unknowns,
    beyond: dict[int, Array],
    equations: list[Array],
) -> Array:
    """z at the node's origin; appends the geometrical equations of further inputs."""
    if not children:
        z = x.zero(13)
        z[0:6, x.tip[i] : x.tip[i] + 6] = np.eye(6)
        z[ONE, -1] = 1.0
        return body_matrix(t, s, e[i], i, TIP) @ z
    arms = [s.work[child, W_ARM : W_ARM + 3] for child in children]
    z = body_matrix(t, s, e[i], i, arms[0]) @ beyond[children[0]]
    w = s.work[i, W_W : W_W + 3]
    for child, r in zip(children[1:], arms[1:], strict=True):
        z = z + further_input_matrix(r) @ beyond[child]
        a = z[ACC] - cross_matrix(r) @ z[ALPHA]
        a[:, -1] += np.cross(w, np.cross(w, r))
        equations += [a - beyond[child][ACC], z[ALPHA] - beyond[child][ALPHA]]
    return z


def _bend(
    t: Tables, s: Scratch, y: Array, i: int, at_origin: dict[int, Array], x: _Unknowns
) -> Array | None:
    """The balance of the modes of a flexible body, None of a rigid one; what they add to its
    moment goes into its state at the origin."""
    bent = bent_at(t, s, y, i)
    if bent is None:
        return None
    columns, z = np.arange(bent.modes.start, bent.modes.stop), at_origin[i]
    rows = x.zero(len(columns))
    rows[:, x.hinge + columns] = np.eye(len(columns))
    rows[:, -1] = bent.e_q - s.tau[bent.modes]
    rows += bent.G.T @ z[ALPHA]
    for point in points_on(t, i):
        H = s.column[t.links[point, LINK_SHAPE], :, : len(columns)]
        rows += H[:3].T @ at_origin[point][FORCE] + H[3:].T @ at_origin[point][MOMENT]
    z[MOMENT] += bent.J @ z[ALPHA]
    z[MOMENT, x.hinge + columns] += bent.G
    z[MOMENT, -1] += bent.e_m
    return rows


def _cut_loads(s: Scratch, i: int, x: _Unknowns) -> Array:
    """Cut efforts on node i enter its balance: rows of a, alpha, m, q."""
    rows = x.zero(12)
    for r in range(len(s.row_nodes)):
        for place in range(4):
            if s.row_nodes[r, place] == i:
                rows[MOMENT, x.cut + r] -= s.row_wrench[r, place, 3:]
                rows[FORCE, x.cut + r] -= s.row_wrench[r, place, :3]
    return rows


def _free_columns(t: Tables, i: int) -> range:
    """Places of the hinge's accelerations among the speeds."""
    kind, v = t.links[i, LINK_KIND], t.links[i, LINK_V]
    return range(v, v + FREEDOMS[kind])


def _hinge_condition(t: Tables, s: Scratch, i: int, z: Array, x: _Unknowns) -> Array:
    """h . [q; m] = tau, or q'' = f'' of a drive."""
    columns = _free_columns(t, i)
    rows = x.zero(len(columns))
    if t.links[i, LINK_DRIVEN] == 1 and len(columns):
        rows[0, x.hinge + columns[0]] = 1.0
        rows[0, -1] = -s.prescribed[columns[0]]
        return rows
    h = hinge_column(t, s, i)
    rows += h[:3].T @ z[FORCE] + h[3:].T @ z[MOMENT]
    for k, v in enumerate(columns):
        rows[k, -1] -= s.tau[v]
        for r in range(len(s.row_v)):
            for place in range(2):
                if s.row_v[r, place] == v:
                    rows[k, x.cut + r] -= s.row_gain[r, place]
    return rows


def _across_hinge(t: Tables, s: Scratch, i: int, z: Array, x: _Unknowns) -> Array:
    """z on the parent's side of the hinge, at the parent's end of the massless arm."""
    z = z.copy()
    h = hinge_column(t, s, i)
    for k, v in enumerate(_free_columns(t, i)):
        z[0:6, x.hinge + v] -= h[:, k]
    if (carried := column_of(t, s, i)) is not None:
        modes, H = carried
        z[0:6, x.hinge + modes.start : x.hinge + modes.stop] -= H
    bias = np.concatenate([s.work[i, W_CA : W_CA + 3], s.work[i, W_CB : W_CB + 3]])
    p = t.links[i, LINK_PARENT]
    if p >= 0:
        # c_a contains the parent's w x (w x r), which its body matrix takes off.
        w, r = s.work[p, W_W : W_W + 3], s.work[i, W_ARM : W_ARM + 3]
        bias[:3] -= np.cross(w, np.cross(w, r))
    z[0:6, -1] -= bias
    return z


def _loop_row(s: Scratch, r: int, at_origin: dict[int, Array], x: _Unknowns) -> Array:
    """wrench . [a; alpha] + gain q'' + products = 0."""
    row = x.zero(1)
    row[0, -1] = s.row_state[r, 2]
    for place in range(4):
        node = int(s.row_nodes[r, place])
        if node >= 0:
            row[0] += s.row_wrench[r, place] @ at_origin[node][0:6]
    for place in range(2):
        v = s.row_v[r, place]
        if v >= 0:
            row[0, x.hinge + v] += s.row_gain[r, place]
    return row


def _solved(t: Tables, system: Array, at_origin: dict[int, Array], x: _Unknowns) -> Instant:
    values = np.linalg.lstsq(system[:, :-1], -system[:, -1], rcond=1e-13)[0]
    full = np.append(values, 1.0)
    n = len(t.links)
    return Instant(
        values[x.hinge : x.cut],
        np.array([at_origin[i][FORCE] @ full for i in range(n)]).reshape(n, 3),
        np.array([at_origin[i][MOMENT] @ full for i in range(n)]).reshape(n, 3),
        values[x.cut :],
        x.count,
        float(np.linalg.cond(system[:, :-1])),
    )


def overall_chain(mechanism: Mechanism, y: Array, time: float) -> Instant:
    """Solve a chain of hinges with one freedom each, six unknowns whatever its length.

    Raises UsageError for other mechanisms, and where the next hinge's condition
    does not determine a hinge's acceleration.
    """
    t = mechanism.tables
    n = len(t.links)
    simple = all(
        t.links[i, LINK_PARENT] == i - 1
        and t.links[i, LINK_KIND] in (REVOLUTE, PRISMATIC, SCREW)
        and t.links[i, LINK_DRIVEN] == 0
        for i in range(n)
    )
    if not simple or len(t.rows):
        raise UsageError(
            "The plain product of transfer matrices is for one chain of undriven revolute,"
            " prismatic or helical joints; use the Riccati transform."
        )
    s, e = loads_of_bodies(mechanism, y, time)
    z = np.zeros((13, 7))
    z[0:6, 0:6] = np.eye(6)
    z[ONE, 6] = 1.0
    z = body_matrix(t, s, e[n - 1], n - 1, TIP) @ z
    origins, hinge = [z], []
    for i in range(n - 1, 0, -1):
        z, row = _next_body(t, s, e, i, z)
        hinge.append(row)
        origins.append(z)
    h_tip, h_root = hinge_column(t, s, n - 1)[:, 0], hinge_column(t, s, 0)[:, 0]
    condition = h_tip[:3] @ origins[0][FORCE] + h_tip[3:] @ origins[0][MOMENT]
    condition[6] -= s.tau[t.links[n - 1, LINK_V]]
    # At the root a and alpha vanish but for the root hinge's own motion.
    motion = z[0:6].copy()
    motion[:, 6] -= np.concatenate([s.work[0, W_CA : W_CA + 3], s.work[0, W_CB : W_CB + 3]])
    across = np.linalg.svd(h_root[None, :])[2][1:]
    system = np.vstack([condition[None, :], across @ motion])
    full = np.append(np.linalg.solve(system[:, :6], -system[:, 6]), 1.0)
    first = h_root @ (motion @ full) / (h_root @ h_root)
    acceleration = np.array([first, *(row @ full for row in reversed(hinge))])
    ordered = origins[::-1]
    return Instant(
        acceleration,
        np.array([z[FORCE] @ full for z in ordered]),
        np.array([z[MOMENT] @ full for z in ordered]),
        np.zeros(0),
        6,
        float(np.linalg.cond(system[:, :6])),
    )


def _next_body(t: Tables, s: Scratch, e: Array, i: int, z: Array) -> tuple[Array, Array]:
    """z at the parent's origin and the row of q'' of hinge i in the unknowns.

    q'' is what makes h_p . [q_p; m_p] = tau_p at the parent's own hinge.
    """
    p = i - 1
    h, h_p = hinge_column(t, s, i)[:, 0], hinge_column(t, s, p)[:, 0]
    w, r = s.work[p, W_W : W_W + 3], s.work[i, W_ARM : W_ARM + 3]
    still = z.copy()
    still[0:6, 6] -= np.concatenate([s.work[i, W_CA : W_CA + 3], s.work[i, W_CB : W_CB + 3]])
    still[ACC, 6] += np.cross(w, np.cross(w, r))
    U = body_matrix(t, s, e[p], p, r)
    effort = h_p[:3] @ U[FORCE] + h_p[3:] @ U[MOMENT]
    per_unit = effort[0:6] @ h
    if abs(per_unit) < 1e-14 * np.abs(effort[0:6]).max():
        raise UsageError(
            "Neighbouring hinges whose columns are conjugate: the plain product of transfer"
            " matrices has no solution here; use the Riccati transform."
        )
    row = effort @ still
    row[6] -= s.tau[t.links[p, LINK_V]]
    row = row / per_unit
    still[0:6] -= np.outer(h, row)
    return U @ still, row
