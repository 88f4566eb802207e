"""Where and how fast the mechanism starts: assembly in joint coordinates.

The written poses give every joint of the tree its coordinates; Newton's method
with steps of least kinetic energy closes the loops, holding driven coordinates
and those that the engineer gave, the modes of flexible bodies heavier than they are;
then the speeds are made consistent alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vbg.errors import AssemblyError
from vbg.tmm_bridge.kernels.entries import closure, correction
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of, quaternion_of, quaternion_step
from vbg.tmm_bridge.kernels.rows import (
    BALL,
    ELASTIC,
    LINK_DRIVEN,
    LINK_KIND,
    LINK_PARENT,
    LINK_POSITION,
    LINK_Q,
    LINK_V,
    PRISMATIC,
    REVOLUTE,
    RIGID,
    SCREW,
    W_N,
    W_P,
    W_R,
    W_V,
    W_W,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_TREE,
    ROW_COUPLE,
    Scratch,
    Tables,
    scratch_for,
)
from vbg.tmm_bridge.mechanism.bending import read_modes
from vbg.tmm_bridge.mechanism.contradictions import (
    contradicting,
    no_inertia,
    not_closed,
    row_name,
    without_rate,
)
from vbg.tmm_bridge.mechanism.facing import facing_rows
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import hinge_units, row_units
from vbg.tmm_bridge.mechanism.speeds import has_speeds, keep_written
from vbg.tmm_bridge.mechanism.turns import count_angles, expected_angles, nearest_turn, unwind
from vbg.tmm_bridge.tree.forest import GROUND
from vbg.tmm_bridge.tree.pairs import named_coordinates, unnamed_coordinates
from vbg.tmm_bridge.tree.places import BodyPlace

STIFF = 1e6  # mass of the modes here: bodies bend, or bend on, where no joint can move instead
CLOSED = 1e-12  # gap at which a loop counts as closed, in lengths of the mechanism or rad
NEARLY, LEFT = 1e-9, 1e-8  # the same where steps no longer help, and after all of them
CONSISTENT = 1e-7  # part of the fastest motion at which speeds count as consistent
AGREEING = 1e-9  # the same for those that are held: the last digits written may not agree
LONGEST = 0.5  # step of a hinge [rad, lengths of the mechanism]
GIVEN_UP = 60
_SPEED_OF = {"angle": "speed", "slide": "speed", "angle2": "speed2"}


class Pose(Protocol):
    """Mass centre p_WB and its velocity (W), R_WB, angular velocity (body axes)."""

    @property
    def p_WB(self) -> Array: ...
    @property
    def R_WB(self) -> Array: ...
    @property
    def v_WB(self) -> Array: ...
    @property
    def w_WB_B(self) -> Array: ...


@dataclass(frozen=True)
class Start:
    """A consistent state and what is left of the residuals; `moved` is the farthest
    that a mass centre went from where it was written [m], `turned` the most that a body turned
    from there [rad]; `let_go`: whether speeds in `initial` contradict joints or each other, so
    that none of them is held."""

    y: Array
    position_residual: float
    velocity_residual: float
    moved: float
    turned: float
    let_go: bool = False


def drive_rates(mechanism: Mechanism, t: float) -> Array:
    """f, f', f'' of every drive at t, (d, 3)."""
    rates = np.array([function.rates(t) for function in mechanism.drives], dtype=float)
    return rates.reshape(-1, 3)


def start(
    mechanism: Mechanism,
    poses: Mapping[str, Pose] | None = None,
    *,
    speeds_as_written: bool = False,
    angles: Mapping[str, float] | None = None,
) -> Start:
    """A consistent start from `poses`, by default the written ones.

    Angles that no row counts begin within half a turn of what is written, or of those in
    `angles`, "JOINT.angle" [rad], which poses that are handed in do not tell but for whole turns.

    Poses that are handed in come from somewhere that assembled them: then no
    coordinate is held but the driven ones, and no speed unless their speeds are still those of
    the file (`speeds_as_written`).  Raises AssemblyError if the loops do not close.
    """
    held = poses is None
    if poses is None:
        poses = mechanism.placed.poses
    y = np.zeros(mechanism.size)
    near = expected_angles(mechanism, angles or {})
    _read_positions(mechanism, poses, y, near)
    read_modes(mechanism, y)
    drive = drive_rates(mechanism, 0.0)
    if lost := without_rate(mechanism, drive):
        raise AssemblyError.of(lost)
    given = given_coordinates(mechanism) if held else {}
    for k, value in given.items():
        if mechanism.tables.coordinates[k, 0] == COORDINATE_TREE:
            y[mechanism.tables.coordinates[k, 2]] = value
    position = _close_positions(mechanism, y, drive, given, near)
    unwind(mechanism, y, near)
    _read_speeds(mechanism, poses, y, drive)
    keeps = held or speeds_as_written
    speeds = given_speeds(mechanism) if keeps else {}
    velocity, let_go = _close_speeds(mechanism, y, drive, speeds, poses if keeps else None)
    return Start(y, position, velocity, *_farthest(mechanism, poses, y, drive), let_go)


def given_coordinates(mechanism: Mechanism) -> dict[int, float]:
    """Coordinates whose value the engineer wrote in `initial`."""
    return _given(mechanism, lambda key: key)


def given_speeds(mechanism: Mechanism) -> dict[int, float]:
    """Coordinates whose speed the engineer wrote in `initial`."""
    return _given(mechanism, _SPEED_OF.__getitem__)


def _given(mechanism: Mechanism, entry_of: Callable[[str], str]) -> dict[int, float]:
    given = {}
    for (name, key), k in mechanism.coordinates.items():
        joint = mechanism.model.joints[name]
        initial = getattr(joint, "initial", None)
        if initial is None or getattr(joint, "drive", None) is not None:
            continue
        entry = entry_of(key)
        if key == "slide" and hasattr(initial, "slide_speed") and entry == "speed":
            entry = "slide_speed"
        value = getattr(initial, entry)
        if value is not None:
            given[k] = float(value)
    return given


def _relative(mechanism: Mechanism, poses: Mapping[str, Pose], name: str) -> tuple[Array, Array]:
    """R_FM and p_FM (F axes) of a joint at the poses."""
    f = mechanism.frames[name]

    def pose(body: str) -> tuple[Array, Array]:
        if body == GROUND:
            return np.zeros(3), np.eye(3)
        return np.asarray(poses[body].p_WB), np.asarray(poses[body].R_WB)

    (pa, Ra), (pb, Rb) = pose(f.first), pose(f.second)
    R_WF = Ra @ f.R_AF
    return R_WF.T @ Rb @ f.R_BM, R_WF.T @ (pb + Rb @ f.p_BM - pa - Ra @ f.p_AF)


def _read_positions(
    mechanism: Mechanism, poses: Mapping[str, Pose], y: Array, near: Mapping[int, float]
) -> None:
    """Coordinates of the tree's joints and of floating bodies at the poses."""
    for name, carried in mechanism.tree.items():
        joint = mechanism.model.joints[name]
        R, d = _relative(mechanism, poses, name)
        values = named_coordinates(joint, R, d)
        for key, value in values.items():
            k = mechanism.coordinates[name, key]
            if k in near:
                value = nearest_turn(value, near[k])
            y[mechanism.tables.coordinates[k, 2]] = value
        rest = unnamed_coordinates(joint, R, d, backward=carried.backward)
        named = {
            int(mechanism.tables.coordinates[mechanism.coordinates[name, key], 2]) for key in values
        }
        _fill(mechanism.tables, carried.nodes, named, rest, y)
    for body, nodes in mechanism.floating.items():
        values6 = [*poses[body].p_WB, *quaternion_of(np.asarray(poses[body].R_WB))]
        _fill(mechanism.tables, nodes, set(), values6, y)
    _read_elastic(mechanism, poses, y)


def _read_elastic(mechanism: Mechanism, poses: Mapping[str, Pose], y: Array) -> None:
    """Displacement and quaternion of the tree's elastic hinges at the poses."""
    t = mechanism.tables
    owner = {place.node: body for body, place in mechanism.bodies.items()}

    def node_pose(node: int) -> tuple[Array, Array]:
        if node < 0:
            return np.zeros(3), np.eye(3)
        place, pose = mechanism.bodies[owner[node]], poses[owner[node]]
        R_WN = np.asarray(pose.R_WB) @ place.R_NB.T
        return np.asarray(pose.p_WB) - R_WN @ place.p_NB, R_WN

    for carried in mechanism.elastic.values():
        node = carried.nodes[0]
        (p_P, R_P), (p_N, R_N) = node_pose(t.links[node, LINK_PARENT]), node_pose(node)
        R_WF = R_P @ t.link[node, :9].reshape(3, 3)
        p_F = p_P + R_P @ t.link[node, LINK_POSITION : LINK_POSITION + 3]
        q = t.links[node, LINK_Q]
        y[q : q + 3] = R_WF.T @ (p_N - p_F)
        y[q + 3 : q + 7] = quaternion_of(R_WF.T @ R_N)


def _fill(
    t: Tables, nodes: tuple[int, ...], named: set[int], values: list[float], y: Array
) -> None:
    """Distribute `values` over the coordinates of the nodes that have no name."""
    taken = 0
    for node in nodes:
        kind, q = t.links[node, LINK_KIND], t.links[node, LINK_Q]
        if kind == RIGID or q in named:
            continue
        width = 4 if kind == BALL else 1
        y[q : q + width] = values[taken : taken + width]
        taken += width


def held_tables(mechanism: Mechanism, given: Mapping[int, float]) -> tuple[Tables, Array]:
    """Tables in which the given coordinates cannot move, and their drives' values.

    Flexible bodies keep their shape where joints can move instead: their modes are STIFF times as
    heavy.  A coordinate of the tree is held like a driven hinge, one that is measured
    across a cut joint by a row of its own.
    """
    t = mechanism.tables
    links, rows, row, drives = t.links.copy(), list(t.rows), list(t.row), list(t.drives)
    values = []
    for k, value in given.items():
        kind, _, _, v = t.coordinates[k]
        if kind == COORDINATE_TREE:
            for link in links:
                if link[LINK_V] == v and link[LINK_KIND] != RIGID:
                    link[LINK_DRIVEN] = 1
            continue
        # A coupling of ratio 0: the coordinate equals its drive.
        rows.append(np.array([ROW_COUPLE, -1, k, k, len(drives)]))
        row.append(np.zeros(2))
        drives.append(np.array([-1, -1]))
        values.append(value)
    held = t._replace(
        links=links,
        rows=np.array(rows, dtype=np.int64).reshape(-1, 5),
        row=np.array(row, dtype=float).reshape(-1, 2),
        drives=np.array(drives, dtype=np.int64).reshape(-1, 2),
        flex_M=STIFF * t.flex_M,
    )
    return held, np.array(values)


def displace(t: Tables, y: Array, step: Array) -> Array:
    """The state after a displacement of all hinges; quaternions stay of unit length."""
    moved = y.copy()
    for _, q, v, n in t.flexes:
        moved[q : q + n] += step[v : v + n]
    for kind, q, v in t.links[:, [LINK_KIND, LINK_Q, LINK_V]]:
        if kind == BALL:
            moved[q : q + 4] = quaternion_step(y[q : q + 4], step[v : v + 3])
            moved[q : q + 4] /= np.linalg.norm(moved[q : q + 4])
        elif kind == ELASTIC:
            turn = y[q + 3 : q + 7]
            moved[q : q + 3] = y[q : q + 3] + matrix_of(turn) @ step[v : v + 3]
            moved[q + 3 : q + 7] = quaternion_step(turn, step[v + 3 : v + 6])
            moved[q + 3 : q + 7] /= np.linalg.norm(moved[q + 3 : q + 7])
        elif kind != RIGID:
            moved[q] = y[q] + step[v]
    return moved


def _close_positions(
    mechanism: Mechanism,
    y: Array,
    drive: Array,
    given: Mapping[int, float],
    near: Mapping[int, float],
) -> float:
    """Close the loops at y, in place; returns the residual that is left.  Angles across cut joints
    begin `near` what is expected and turn on from there, as those of the tree do."""
    t, values = held_tables(mechanism, given)
    t, facing = facing_rows(t)
    s = scratch_for(t)
    targets = np.column_stack([values, np.zeros((len(values), 2))]) if len(values) else None
    drive = drive if targets is None else np.vstack([drive, targets])
    rates = drive.copy()
    rates[:, 1:] = 0.0
    of_row, size = row_units(t), model_size(mechanism)
    best = math.inf
    step = np.zeros(int(t.sizes[1]))
    counted: Array | Mapping[int, float] = near
    for _ in range(GIVEN_UP):
        _posture_or_fail(mechanism, t, s, y, rates)
        count_angles(mechanism, s, y, counted)
        _posture_or_fail(mechanism, t, s, y, rates)
        facing.measure(s)
        counted = s.coordinate[:, 0].copy()
        gap = float(np.abs(s.row_state[:, 0] / of_row).max(initial=0.0))
        if gap <= CLOSED or (gap < NEARLY and gap >= 0.5 * best):
            break
        best = min(best, gap)
        correction(t, s, -s.row_state[:, 0].copy(), step)
        # A turn of more than half a radian leaves the range of the linear model, and a slide of
        # half the mechanism, unless the gap is wider than that.
        longest = LONGEST * hinge_units(t, size * max(1.0, 2.0 * gap))
        step /= max(1.0, float((np.abs(step) / longest).max(initial=0.0)))
        y[:] = displace(t, y, step)
    else:
        if best > LEFT:
            worst = int(np.argmax(np.abs(s.row_state[:, 0] / of_row)))
            left = abs(float(s.row_state[worst, 0]))
            raise not_closed(row_name(mechanism, worst), left, GIVEN_UP)
    return float(np.abs(s.row_state[:, 0]).max(initial=0.0))


def _posture_or_fail(mechanism: Mechanism, t: Tables, s: Scratch, y: Array, drive: Array) -> None:
    faulty = closure(t, s, y, drive)
    if faulty >= 0:
        raise AssemblyError.of([no_inertia(mechanism, faulty)])


def model_size(mechanism: Mechanism) -> float:
    """A length of the model [m]."""
    return float(mechanism.tables.length[0])


def hinge_columns(t: Tables, s: Scratch, node: int) -> list[tuple[Array, Array]]:
    """(velocity of the node's origin, angular velocity) per unit speed of its hinge."""
    work = s.work[node]
    kind, n, zero = t.links[node, LINK_KIND], work[W_N : W_N + 3].copy(), np.zeros(3)
    if kind == REVOLUTE:
        return [(zero, n)]
    if kind == PRISMATIC:
        return [(n, zero)]
    if kind == SCREW:
        return [(t.link[node, 22] * n, n)]
    if kind == BALL:
        R = work[W_R : W_R + 9].reshape(3, 3)
        return [(zero, R[:, j].copy()) for j in range(3)]
    if kind == ELASTIC:
        R = work[W_R : W_R + 9].reshape(3, 3)
        return [
            *((R[:, j].copy(), zero) for j in range(3)),
            *((zero, R[:, j].copy()) for j in range(3)),
        ]
    return []


def node_motion(place: BodyPlace, pose: Pose) -> tuple[Array, Array]:
    """Velocity of a node's origin and its angular velocity, W, as the body's pose has them."""
    R_WB = np.asarray(pose.R_WB)
    w = R_WB @ np.asarray(pose.w_WB_B)
    arm = R_WB @ place.R_NB.T @ place.p_NB
    return np.asarray(pose.v_WB) - np.cross(w, arm), w


def _read_speeds(mechanism: Mechanism, poses: Mapping[str, Pose], y: Array, drive: Array) -> None:
    """Speeds of the tree's hinges, each joint the nearest to the poses' relative motion."""
    t = mechanism.tables
    n_q = int(t.sizes[0])
    s = scratch_for(t)
    owner = {place.node: body for body, place in mechanism.bodies.items() if body != GROUND}
    joined = (*mechanism.tree.values(), *mechanism.elastic.values())
    chains = [c.nodes for c in joined] + list(mechanism.floating.values())
    for nodes in sorted(chains, key=lambda chain: chain[0]):
        closure(t, s, y, drive)
        tip = nodes[-1]
        body = owner[tip]
        v, w = node_motion(mechanism.bodies[body], poses[body])
        # What the node has with its own chain at rest, the carriers before it already moving.
        v0, w0 = s.work[tip, W_V : W_V + 3], s.work[tip, W_W : W_W + 3]
        columns, places = [], []
        for node in nodes:
            arm = s.work[tip, W_P : W_P + 3] - s.work[node, W_P : W_P + 3]
            for j, (linear, angular) in enumerate(hinge_columns(t, s, node)):
                columns.append(np.concatenate([linear + np.cross(angular, arm), angular]))
                places.append(n_q + t.links[node, LINK_V] + j)
        if columns:
            wanted = np.concatenate([v - v0, w - w0])
            y[places] = np.linalg.lstsq(np.array(columns).T, wanted, rcond=None)[0]


def _close_speeds(
    mechanism: Mechanism,
    y: Array,
    drive: Array,
    given: Mapping[int, float],
    written: Mapping[str, Pose] | None,
) -> tuple[float, bool]:
    """Make the speeds consistent, in place; returns the residual, and whether the given ones had
    to be let go.

    Those in `initial` are held, all or, where they contradict joints or each other, none: they
    still count in the `written` poses, whose motion is kept as far as joints allow."""
    read = y.copy()
    if given:
        residual, left, _ = _held_speeds(mechanism, y, drive, given, written)
        if left <= AGREEING:
            return residual, False
        y[:] = read
    residual, left, worst = _held_speeds(mechanism, y, drive, {}, written)
    if not left <= CONSISTENT:
        raise contradicting(row_name(mechanism, worst), residual)
    return residual, bool(given)


def _held_speeds(
    mechanism: Mechanism,
    y: Array,
    drive: Array,
    given: Mapping[int, float],
    written: Mapping[str, Pose] | None,
) -> tuple[float, float, int]:
    """Consistent speeds with the given ones held, in place; returns the residual, its part of the
    fastest motion and its row."""
    t, values = held_tables(mechanism, given)
    s = scratch_for(t)
    n_q, n_v = int(t.sizes[0]), int(t.sizes[1])
    held = []
    for k, value in given.items():
        if t.coordinates[k, 0] == COORDINATE_TREE:
            held.append(int(t.coordinates[k, 3]))
            y[n_q + held[-1]] = value
    if len(values):
        rows = np.column_stack([np.zeros(len(values)), values, np.zeros(len(values))])
        drive = np.vstack([drive, rows])
    nearest = written is not None and has_speeds(mechanism, t, written, y, drive)
    step = np.zeros(n_v)
    for _ in range(3):
        _posture_or_fail(mechanism, t, s, y, drive)
        if not s.row_state[:, 1].any():
            break
        correction(t, s, -s.row_state[:, 1].copy(), step)
        y[n_q : n_q + n_v] += step
    if written is not None:
        keep_written(mechanism, t, written, y, drive, held=tuple(held), nearest=nearest)
    _posture_or_fail(mechanism, t, s, y, drive)
    missed = np.abs(s.row_state[:, 1] / row_units(t))
    settings = mechanism.model.simulate  # one radian in a run is no fast motion
    slowest = 1.0 / (settings.t_end or settings.output_step)
    units = hinge_units(t, model_size(mechanism))
    rate = float(np.abs(y[n_q : n_q + n_v] / units).max(initial=slowest))
    worst = int(np.argmax(missed)) if len(missed) else 0
    residual = float(np.abs(s.row_state[:, 1]).max(initial=0.0))
    return residual, float(missed.max(initial=0.0)) / rate, worst


def _farthest(
    mechanism: Mechanism, poses: Mapping[str, Pose], y: Array, drive: Array
) -> tuple[float, float]:
    """How far [m] a mass centre is from where it was written, and by how much [rad] a body is
    turned from there, at most."""
    s = scratch_for(mechanism.tables)
    closure(mechanism.tables, s, y, drive)
    farthest = most = 0.0
    for body, place in mechanism.bodies.items():
        if body != GROUND:
            R = s.work[place.node, W_R : W_R + 9].reshape(3, 3)
            p = s.work[place.node, W_P : W_P + 3] + R @ place.p_NB
            farthest = max(farthest, float(np.linalg.norm(p - np.asarray(poses[body].p_WB))))
            w, *xyz = quaternion_of((R @ place.R_NB).T @ np.asarray(poses[body].R_WB))
            most = max(most, 2.0 * math.atan2(float(np.linalg.norm(xyz)), w))
    return farthest, most
