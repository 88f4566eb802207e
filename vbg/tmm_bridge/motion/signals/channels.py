"""Signals of a run: what was evaluated at the output states, under the names of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vbg.elements.beam_element import BeamElement
from vbg.errors import UsageError
from vbg.junctions.helical import Helical
from vbg.model.forms.parts import coordinates_of
from vbg.tmm_bridge.formulas.written import function_of
from vbg.tmm_bridge.kernels.motion.rotation import Array, matrix_of, quaternions_of
from vbg.tmm_bridge.kernels.rows import (
    LINK_PARENT,
    W_ACC,
    W_ALPHA,
    W_FORCE,
    W_MOMENT,
    W_N,
    W_P,
    W_R,
    W_V,
    W_W,
)
from vbg.tmm_bridge.kernels.tables import (
    COORDINATE_SLIDE,
    COORDINATE_TREE,
    LOAD_FORCE,
    PAIR_SPRING,
    ROW_DISTANCE,
    ROW_DOT,
    ROW_ROLL,
    ROW_SCREW,
    ROW_SLIDE,
    ROW_TOUCH,
)
from vbg.tmm_bridge.mechanism.mechanism import CutJoint, Mechanism, TreeJoint
from vbg.tmm_bridge.motion.rate.instants import behind_stops, stops_among
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.trajectory import Trajectory
from vbg.tmm_bridge.onedim.network import Network
from vbg.tmm_bridge.tree.places import GROUND_PLACE

Signal = tuple[str, Array, str]
_SPEEDS = {"angle": "speed", "slide": "speed", "angle2": "speed2"}


@dataclass(frozen=True)
class Record:
    """Workspaces at every output time, first axis time; `inside` as in `Trajectory`, `grips` (n, f,
    3) as `Plant.grips`, `held` (n, g) as `Dependence.held`."""

    time: Array
    inside: Array
    states: Array
    work: Array
    cut: Array
    effort: Array
    gaps: Array
    coordinate: Array
    law: Array
    pair: Array
    load: Array
    bush: Array
    elastic: Array
    strain: Array
    inputs: Array
    drives: Array
    speed_gain: Array
    stiffness: Array
    network: Array
    grips: Array
    held: Array


def replay(mechanism: Mechanism, trajectory: Trajectory) -> Record:
    """Evaluate the mechanism at every output state."""
    plant = Plant(mechanism)
    s, p = plant.scratch, plant.program
    # one is there from the start of a run and written anew at every instant
    workspaces = {
        "work": s.work,
        "cut": s.cut,
        "effort": s.effort,
        "gaps": s.row_state,
        "coordinate": s.coordinate,
        "law": s.law,
        "pair": s.pair,
        "load": s.load,
        "bush": s.bush,
        "elastic": s.elastic,
        "strain": s.strain,
        "inputs": plant.inputs,
        "drives": plant.drive,
        "speed_gain": s.row_gain,
    }
    n = len(trajectory.time)
    taken = {name: np.empty((n, *space.shape)) for name, space in workspaces.items()}
    states = np.empty_like(trajectory.states)
    stiffness = np.empty((n, len(s.K)))
    network, grips = np.empty((n, len(p.outputs))), np.empty((n, *p.grip.shape))
    ties = np.zeros(0, dtype=np.int64) if plant.dependence is None else plant.dependence.held
    held = np.empty((n, len(ties)))
    for k in range(n):
        states[k] = plant.evaluate(trajectory.inside[k], trajectory.states[k])
        held[k] = p.memory[ties]
        _take_rotors_out(mechanism, plant)
        for name, space in workspaces.items():
            taken[name][k] = space
        stiffness[k] = plant.mobilities(of_loops=True)
        network[k] = plant.outputs()
        grips[k] = p.memory[p.grip]
    seen = trajectory.time, trajectory.inside
    taken |= {"stiffness": stiffness, "network": network, "grips": grips, "held": held}
    return Record(*seen, states, **taken)


def _take_rotors_out(mechanism: Mechanism, plant: Plant) -> None:
    """Of the effort on a coordinate a rotor there takes its share: the rest is on the hinge."""
    if mechanism.network is None:
        return
    for k, mass in mechanism.network.masses.items():
        v = mechanism.tables.coordinates[k, 3]
        plant.scratch.coordinate[k, 2] -= mass * plant.scratch.acceleration[v]


def signals(mechanism: Mechanism, record: Record) -> Iterator[Signal]:
    """(name, values, unit) of everything that this solver knows."""
    for body in mechanism.model.bodies:
        yield from body_signals(mechanism, record, body)
        yield from bending_signals(mechanism, record, body)
    for name in mechanism.model.frames:
        yield from frame_signals(mechanism, record, name)
    for name, joint in mechanism.model.joints.items():
        if name in mechanism.couplings:
            row = mechanism.couplings[name]
            yield f"{name}.effort", record.effort[:, row], _unit_on(mechanism, joint.between[1])
            continue
        yield from coordinate_signals(mechanism, record, name)
        force, torque = joint_wrench(mechanism, record, name)
        yield f"{name}.force", force, "N"
        yield f"{name}.torque", torque, "N*m"
        if name in mechanism.driven:
            unit = _unit_on(mechanism, f"joints.{name}")
            yield f"{name}.drive", drive_effort(mechanism, record, name), unit
        for effect in ("friction", "stop"):
            place = mechanism.parts.get(f"{name}.{effect}")
            if place is not None:
                unit = _unit_on(mechanism, f"joints.{name}")
                yield f"{name}.{effect}", record.law[:, place[1], 0], unit
    for name in mechanism.model.forces:
        yield from force_signals(mechanism, record, name)
    if mechanism.network is not None:
        yield from _network_signals(mechanism.network, record)
    else:
        yield from _signals_of_time(mechanism, record)


def _signals_of_time(mechanism: Mechanism, record: Record) -> Iterator[Signal]:
    """Signals that nothing but drives and forces read, behind their own jumps."""
    begin, end = float(record.time[0]), float(record.time[-1])
    for name in mechanism.model.signals:
        try:
            function = function_of(mechanism.model, name)
        except UsageError:  # it reads what is replayed
            continue
        times = behind_stops(stops_among([function], begin, end), record.inside)
        yield name, np.array([function.value(float(t)) for t in times]), "1"


def _network_signals(network: Network, record: Record) -> Iterator[Signal]:
    """What the parts of a network tell; NAME[0], NAME[1], ... are the columns of NAME."""
    columns: dict[str, list[int]] = {}
    for n, (name, _, _) in enumerate(network.outputs):
        columns.setdefault(name.partition("[")[0], []).append(n)
    for name, places in columns.items():
        values = record.network[:, places]
        whole = network.outputs[places[0]][0] == name
        yield name, values[:, 0] if whole else values, network.outputs[places[0]][1]


def rotation_of(record: Record, node: int) -> Array:
    """R of a node over time, (n, 3, 3)."""
    if node < 0:
        return np.broadcast_to(np.eye(3), (len(record.time), 3, 3))
    return record.work[:, node, W_R : W_R + 9].reshape(-1, 3, 3)


def column(record: Record, node: int, at: int) -> Array:
    """A triple of a node over time, (n, 3)."""
    if node < 0:
        return np.zeros((len(record.time), 3))
    values: Array = record.work[:, node, at : at + 3]
    return values


def in_world(R: Array, v: Array) -> Array:
    """R v for every instant."""
    return np.einsum("nij,j->ni", R, v)


def point_of(record: Record, node: int, p: Array) -> tuple[Array, Array]:
    """Position and velocity of a point fixed in a node."""
    arm = in_world(rotation_of(record, node), p)
    w = column(record, node, W_W)
    return column(record, node, W_P) + arm, column(record, node, W_V) + np.cross(w, arm)


def body_signals(mechanism: Mechanism, record: Record, body: str) -> Iterator[Signal]:
    """Position, velocity, acceleration (W), quaternion, angular velocity (body axes)."""
    place = mechanism.bodies[body]
    R_WN = rotation_of(record, place.node)
    R_WB = R_WN @ place.R_NB
    p, v = point_of(record, place.node, place.p_NB)
    arm = in_world(R_WN, place.p_NB)
    w, alpha = column(record, place.node, W_W), column(record, place.node, W_ALPHA)
    a = column(record, place.node, W_ACC) + np.cross(alpha, arm)
    a = a + np.cross(w, np.cross(w, arm))
    yield f"{body}.position", p, "m"
    yield f"{body}.velocity", v, "m/s"
    if mechanism.model.bodies[body].kind == "body":
        yield f"{body}.acceleration", a, "m/s^2"
    yield f"{body}.rotation", quaternions_of(R_WB), "1"
    yield f"{body}.angular_velocity", np.einsum("nji,nj->ni", R_WB, w), "rad/s"
    for point, at in mechanism.model.bodies[body].points.items():
        p, v = point_of(record, place.node, place.p_NB + place.R_NB @ np.array(at))
        yield f"{body}.{point}.position", p, "m"
        yield f"{body}.{point}.velocity", v, "m/s"


def bending_signals(mechanism: Mechanism, record: Record, body: str) -> Iterator[Signal]:
    """Modal coordinates of a flexible body; how far its points are displaced in its axes, and what
    it exerts there, W."""
    part, t = mechanism.model.bodies[body], mechanism.tables
    if body in mechanism.bends:
        _, q, v, n = t.flexes[mechanism.bends[body]]
        yield f"{body}.modal", record.states[:, q : q + n], "1"
        yield f"{body}.modal_speed", record.states[:, t.sizes[0] + v :][:, :n], "1/s"
    elif part.kind == "flexible_point":
        node = mechanism.bodies[body].node
        _, q, _, n = t.flexes[mechanism.bends[part.on.body]]
        yield f"{body}.displacement", record.states[:, q : q + n] @ np.array(part.shapes[:3]).T, "m"
        yield f"{body}.force", column(record, node, W_FORCE), "N"
        yield f"{body}.torque", column(record, node, W_MOMENT), "N*m"


def frame_signals(mechanism: Mechanism, record: Record, name: str) -> Iterator[Signal]:
    """Position and velocity (W), quaternion and angular velocity (frame's axes) of a frame."""
    end = mechanism.model.frames[name].end(name)
    place = mechanism.bodies[end.body]
    R_NF = place.R_NB @ matrix_of(np.array(end.rotation))
    p, v = point_of(record, place.node, place.p_NB + place.R_NB @ np.array(end.at))
    R_WF = rotation_of(record, place.node) @ R_NF
    yield f"{name}.position", p, "m"
    yield f"{name}.rotation", quaternions_of(R_WF), "1"
    if place is not GROUND_PLACE:
        w = column(record, place.node, W_W)
        yield f"{name}.velocity", v, "m/s"
        yield f"{name}.angular_velocity", np.einsum("nji,nj->ni", R_WF, w), "rad/s"


def coordinate_signals(mechanism: Mechanism, record: Record, name: str) -> Iterator[Signal]:
    """Values and speeds of a joint's coordinates."""
    joint = mechanism.model.joints[name]
    for key in ("angle", "slide", "angle2"):
        k = mechanism.coordinates.get((name, key))
        if k is None:
            continue
        both = key == "slide" and (name, "angle") in mechanism.coordinates
        speed = "slide_speed" if both else _SPEEDS[key]
        sliding = key == "slide"
        yield f"{name}.{key}", record.coordinate[:, k, 0], "m" if sliding else "rad"
        yield f"{name}.{speed}", record.coordinate[:, k, 1], "m/s" if sliding else "rad/s"
    if isinstance(joint, Helical):
        k = mechanism.coordinates[name, "angle"]
        yield f"{name}.slide", joint.lead * record.coordinate[:, k, 0], "m"


def joint_wrench(mechanism: Mechanism, record: Record, name: str) -> tuple[Array, Array]:
    """Force and torque that the first body exerts on the second at its joint point M.

    Constraint efforts and the drive's; efforts of parts and couplings on the
    free coordinates, which the hinge transmits too, are taken out.
    """
    if name in mechanism.cut:
        return cut_wrench(mechanism, record, mechanism.cut[name])
    carried = mechanism.tree[name]
    force, torque = transmitted(mechanism, record, carried)
    for axis, sliding, effort in efforts_of_parts(mechanism, record, name):
        if sliding:
            force = force - effort[:, None] * axis
        else:
            torque = torque - effort[:, None] * axis
    return force, torque


def transmitted(mechanism: Mechanism, record: Record, carried: TreeJoint) -> tuple[Array, Array]:
    """All that crosses a joint of the tree, on the second body at M."""
    tip = carried.nodes[-1]
    force, moment = column(record, tip, W_FORCE), column(record, tip, W_MOMENT)
    if not carried.backward:
        return force, moment
    p_M, _ = point_of(record, carried.parent_node, carried.p_inboard)
    arm = column(record, tip, W_P) - p_M
    return -force, -(moment + np.cross(arm, force))


def efforts_of_parts(
    mechanism: Mechanism, record: Record, name: str
) -> Iterator[tuple[Array, bool, Array]]:
    """(axis in W as the coordinate counts, whether it slides, effort on the second body)
    of the parts and couplings on each coordinate of a joint of the tree."""
    carried = mechanism.tree[name]
    t = mechanism.tables
    for key in ("angle", "slide", "angle2"):
        k = mechanism.coordinates.get((name, key))
        if k is None:
            continue
        v = t.coordinates[k, 3]
        node = next(n for n in carried.nodes if t.links[n, 3] == v)
        axis = column(record, node, W_N) * (-1.0 if carried.backward else 1.0)
        effort = record.coordinate[:, k, 2].copy()
        network = mechanism.network
        for row in (*mechanism.couplings.values(), *(network.row_places if network else ())):
            for place, other in enumerate(t.rows[row, 2:4]):
                if other == k:
                    effort += record.effort[:, row] * record.speed_gain[:, row, place]
        yield axis, key == "slide", effort


def cut_axis(record: Record, cut: int, frame: int, axis: int) -> Array:
    """Axis of F (frame 0) or M (frame 1) of a cut joint, W, (n, 3)."""
    at = 9 * frame + 3 * axis
    values: Array = record.cut[:, cut, at : at + 3]
    return values


def cut_wrench(mechanism: Mechanism, record: Record, joint: CutJoint) -> tuple[Array, Array]:
    """Efforts of a cut joint's rows as force and torque on the second body at M."""
    t = mechanism.tables
    force = np.zeros((len(record.time), 3))
    torque = np.zeros_like(force)
    for row in joint.rows:
        primitive, cut, i, j, _ = t.rows[row]
        effort = record.effort[:, row, None]
        axis = cut_axis(record, cut, 0, i)
        if primitive == ROW_SLIDE:
            force += effort * axis
        elif primitive == ROW_DOT:
            torque += effort * np.cross(cut_axis(record, cut, 1, j), axis)
        elif primitive == ROW_DISTANCE:
            d = record.cut[:, cut, 21:24] - record.cut[:, cut, 18:21]
            force += effort * d / np.linalg.norm(d, axis=1, keepdims=True)
        elif primitive == ROW_SCREW:
            force += effort * axis
            torque -= t.row[row, 0] * effort * axis
        elif primitive in (ROW_TOUCH, ROW_ROLL):
            force += effort * axis
            torque += np.cross(rim_arm(record, cut, t.row[row, 0]), effort * axis)
        else:
            torque += effort * axis
    return force, torque


def rim_arm(record: Record, cut: int, radius: float) -> Array:
    """From the disc's centre to the touching point."""
    n, e = cut_axis(record, cut, 0, 2), cut_axis(record, cut, 1, 2)
    g = n - np.sum(n * e, axis=1, keepdims=True) * e
    return -radius * g / np.linalg.norm(g, axis=1, keepdims=True)


def drive_effort(mechanism: Mechanism, record: Record, name: str) -> Array:
    """Effort of a drive on the second body along the free coordinate."""
    if name in mechanism.cut:
        drive = mechanism.driven[name]
        row = next(r for r in mechanism.cut[name].rows if mechanism.tables.rows[r, 4] == drive)
        return record.effort[:, row]
    force, torque = joint_wrench(mechanism, record, name)
    axis, sliding, _ = next(iter(efforts_of_parts(mechanism, record, name)))
    along: Array = np.sum(axis * (force if sliding else torque), axis=1)
    joint = mechanism.model.joints[name]
    if isinstance(joint, Helical):
        along = along + joint.lead * np.sum(axis * force, axis=1)
    return along


def force_signals(mechanism: Mechanism, record: Record, name: str) -> Iterator[Signal]:
    """Efforts of the parts in [forces]."""
    part = mechanism.model.forces[name]
    table, row = mechanism.parts[name]
    t = mechanism.tables
    if table == "law":
        k = t.laws[row, 1]
        sliding = _slides(mechanism, k)
        if part.kind == "torque":
            effort = record.law[:, row, 0]
            yield f"{name}.torque", effort, "N" if sliding else "N*m"
            yield f"{name}.power", effort * record.coordinate[:, k, 1], "W"
            return
        if sliding:
            yield f"{name}.length", record.coordinate[:, k, 0], "m"
        what, unit = ("force", "N") if sliding else ("torque", "N*m")
        yield f"{name}.{what}", record.law[:, row, 0], unit
    elif table == "pair":
        effort = -record.pair[:, row, 0]
        yield f"{name}.force", effort, "N"
        stretch = record.pair[:, row, 3]
        if t.pairs[row, 0] == PAIR_SPRING:
            yield f"{name}.length", stretch + t.pair[row, 7], "m"
        else:
            yield f"{name}.gap", stretch, "m"
    elif table == "load":
        values = record.inputs[:, t.loads[row, 2:5]]
        if t.load[row, 12] == 1.0:
            R = rotation_of(record, t.loads[row, 1]) @ t.load[row, 3:12].reshape(3, 3)
            values = np.einsum("nij,nj->ni", R, values)
        what = "force" if t.loads[row, 0] == LOAD_FORCE else "torque"
        yield f"{name}.{what}", values, "N" if what == "force" else "N*m"
        yield f"{name}.power", record.load[:, row, 1], "W"
    else:
        R, six = six_axes(mechanism, record, table, row)
        yield f"{name}.force", np.einsum("nij,nj->ni", R, six[:, 0:3]), "N"
        yield f"{name}.torque", np.einsum("nij,nj->ni", R, six[:, 3:6]), "N*m"
        if isinstance(part, BeamElement):
            strain, curvature = element_strains(record, table, row)
            yield f"{name}.strain", strain / part.length, "1"
            yield f"{name}.curvature", curvature / part.length, "1/m"


def element_strains(record: Record, table: str, row: int) -> tuple[Array, Array]:
    """Displacement of a beam element's ends seen from half way between them, and their rotation
    vector; element axes, both (n, 3)."""
    x = record.bush[:, row, 8:14] if table == "bush" else record.strain[:, row, :6]
    d, theta = x[:, :3], x[:, 3:]
    angle = np.linalg.norm(theta, axis=1, keepdims=True)
    n = theta / np.where(angle > 0.0, angle, 1.0)
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)  # turned back by half the angle
    across = np.cross(n, d)
    along = np.sum(n * d, axis=1, keepdims=True) * n
    return c * (d - along) + along - s * across, theta


def six_axes(mechanism: Mechanism, record: Record, table: str, row: int) -> tuple[Array, Array]:
    """R_WF (n, 3, 3) of a law of six dimensions and its effort on the second body, F axes."""
    t = mechanism.tables
    if table == "bush":
        R = rotation_of(record, t.bushes[row, 0]) @ t.bush[row, :9].reshape(3, 3)
        return R, record.bush[:, row, :6]
    node, _, backward = t.elastics[row]
    if backward:
        return rotation_of(record, node), record.elastic[:, row, :6]
    R_PF = t.link[node, :9].reshape(3, 3)
    return rotation_of(record, t.links[node, LINK_PARENT]) @ R_PF, record.elastic[:, row, :6]


def _unit_on(mechanism: Mechanism, coordinate: str) -> str:
    """Unit of an effort on a coordinate: ``joints.NAME``, or the node of a table."""
    table, _, name = coordinate.partition(".")
    if table == "joints":
        kind: type = type(mechanism.model.joints[name])
        return "N" if coordinates_of(kind)[0] == "slide" else "N*m"
    return "N" if table == "translational" else "N*m"


def _slides(mechanism: Mechanism, k: int) -> bool:
    kind = mechanism.tables.coordinates[k, 0]
    if kind != COORDINATE_TREE:
        return bool(kind == COORDINATE_SLIDE)
    return next(key for (_, key), other in mechanism.coordinates.items() if other == k) == "slide"
