"""Which joint forces of a redundant mechanism are not unique.

A vector nu with G^T nu = 0 is a set of cut efforts that no motion feels: with
it the loop carries a self-stress.  Every joint force that such a self-stress
changes is not unique, however it is computed.  The null space is that of the rows that hold over
the hinges (`independence`); its stresses are passed through the tree as loads.  Rows come and go
with joints that open and frictions that stick, so that it is that of every set of them that a run
has; and what it does to a joint at the instant that closes it, it does to its impulse.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from vbg.errors import Problem
from vbg.model import Model
from vbg.plumbing.components import component
from vbg.solution import Status
from vbg.tmm_bridge.kernels.closing.independence import REDUNDANT
from vbg.tmm_bridge.kernels.entries import measure_rows, section
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.program import PLAY_OUTPUTS
from vbg.tmm_bridge.kernels.rows import W_FORCE, W_MOMENT
from vbg.tmm_bridge.kernels.tables import IDLE
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.mechanism.scales import row_units
from vbg.tmm_bridge.mechanism.start import model_size
from vbg.tmm_bridge.motion.rate.plant import Plant
from vbg.tmm_bridge.motion.signals.channels import Record, joint_wrench, replay, rotation_of
from vbg.tmm_bridge.motion.trajectory import Trajectory
from vbg.tmm_bridge.notes import NOT_UNIQUE
from vbg.tmm_bridge.onedim.laws.friction import DryFriction, motion_of
from vbg.tmm_bridge.onedim.trains import frictions_by_shaft

SAMPLES = 5
AT_REST = 1e-11  # rad, or lengths of the mechanism, in the whole run: no motion
TINY = float(np.finfo(float).tiny)
_WRENCH, _COSTS = ("force", "torque"), ("impulse", "moment")


def self_stresses(plant: Plant) -> Array:
    """Cut efforts (m, s) that leave every motion alone, at the posture last evaluated."""
    s = plant.scratch
    m = len(s.G)
    if m == 0 or plant.rank == m:
        return np.zeros((m, 0))
    measure_rows(plant.tables, s)
    holding = np.flatnonzero(plant.tables.rows[:, 4] != IDLE)
    vectors, values, _ = np.linalg.svd(s.G[holding])
    null = np.zeros((m, len(holding) - np.count_nonzero(values > REDUNDANT)))
    null[holding] = vectors[:, len(holding) - null.shape[1] :]
    # A row that nothing can move (scale 0) is its own null vector already.
    return np.where(s.scales > 0.0, s.scales, 1.0)[:, None] * null


def stressed(mechanism: Mechanism, record: Record, nu: Array) -> Record:
    """The record of one instant with only the self-stress in it: no motion, no other load.

    Rigid statics: what a load on a node leaves is carried by all hinges towards
    the root, at the node's origin about each of them.
    """
    plant = Plant(mechanism)
    y = record.states[0]
    plant.evaluate(float(record.time[0]), y)
    s = plant.scratch
    n = len(mechanism.tables.links)
    e = np.zeros((n, 6))
    for r, gain in enumerate(nu):
        for place in range(4):
            node = s.row_nodes[r, place]
            if node >= 0:
                e[node] -= gain * s.row_wrench[r, place]
    work = record.work.copy()
    for i in range(n - 1, -1, -1):
        work[0, i, W_FORCE : W_FORCE + 3] = e[i, :3]
        work[0, i, W_MOMENT : W_MOMENT + 3] = e[i, 3:]
        p = mechanism.tables.links[i, 0]
        if p >= 0:
            arm = s.work[i, 21:24]
            e[p, :3] += e[i, :3]
            e[p, 3:] += e[i, 3:] + np.cross(arm, e[i, :3])
    coordinate = record.coordinate.copy()
    coordinate[..., 2] = 0.0
    return Record(
        **{
            **{name: getattr(record, name) for name in Record.__dataclass_fields__},
            "work": work,
            "effort": nu[None, :],
            "coordinate": coordinate,
        }
    )


def one_instant(mechanism: Mechanism, t: float, y: Array, status: Status) -> Record:
    """The record of one state alone."""
    times = np.array([t])
    return replay(mechanism, Trajectory(times, y[None], times, (), 0, 0, status))


def affected_channels(mechanism: Mechanism, trajectory: Trajectory) -> frozenset[str]:
    """Components of joint forces that some self-stress changes during the motion, of the impulses
    of joints that close, and what frictions on one motion without inertia exert."""
    found = _shared_without_inertia(mechanism, trajectory)
    if not len(mechanism.tables.rows):
        return frozenset(found)
    plant = Plant(mechanism)
    for k in _samples(plant, trajectory):
        slow = AT_REST / max(float(trajectory.time[-1]), TINY)
        t, y = float(trajectory.inside[k]), trajectory.states[k]
        _evaluate_held(plant, t, y, slow)
        stresses = self_stresses(plant)
        if not stresses.shape[1]:
            continue
        found |= _changed(mechanism, one_instant(mechanism, t, y, trajectory.status), stresses)
        found |= _told_otherwise(plant, stresses)
    for closing, (t, y, _) in trajectory.between.closings.items():
        plant.evaluate(t, y)
        stresses = self_stresses(plant)
        record = one_instant(mechanism, t, y, trajectory.status)
        found |= _impulses(closing.joints, _changed(mechanism, record, stresses))
    return frozenset(found)


def _impulses(joints: Collection[str], changed: Collection[str]) -> set[str]:
    """Components of impulses and their moments, where these of forces and torques are `changed`
    as the joints close."""
    of = {f"{j}.{a}": f"{j}.{b}" for j in joints for a, b in zip(_WRENCH, _COSTS, strict=True)}
    split = (name.rpartition(".") for name in changed)
    return {f"{of[vector]}.{one}" for vector, _, one in split if vector in of}


def _shared_without_inertia(mechanism: Mechanism, trajectory: Trajectory) -> set[str]:
    """What frictions exert that share a motion without inertia, where one of them holds it."""
    groups: dict[Any, list[DryFriction]] = {}
    for friction in mechanism.network.frictions if mechanism.network is not None else ():
        if friction.has_no_inertia:
            groups.setdefault(motion_of(friction.sides), []).append(friction)
    found: set[str] = set()
    for group in groups.values():
        modes = trajectory.states[:, [mechanism.size + friction.mode for friction in group]]
        if len(group) > 1 and (modes == 0.0).any():
            found |= {next(friction.outputs())[0] for friction in group}
    return found


def _samples(plant: Plant, trajectory: Trajectory) -> Array:
    """Places of outputs: some over the run, and the first with every set of modes of frictions and
    of joints that open."""
    n, own, network = len(trajectory.time), plant.mechanism.size, plant.mechanism.network
    places = np.linspace(0, n - 1, SAMPLES).astype(int)
    opening = network.latches if network is not None else ()
    modes = [own + friction.mode for friction in plant.sticky]
    modes += [own + latch.mode for latch in opening]
    if modes:
        _, first = np.unique(trajectory.states[:, modes], axis=0, return_index=True)
        places = np.concatenate([places, first])
    return np.unique(places)


def _evaluate_held(plant: Plant, t: float, y: Array, slow: float) -> None:
    """Evaluate a state in which all frictions stick that do not move, `slow` turns or lengths of
    the mechanism in a second at most: one that slips by name may share what others hold."""
    y, own = y.copy(), plant.mechanism.size
    speeds: Array = plant.grips(t, y)[:, 0] if plant.sticky else np.zeros(0)
    for friction in plant.sticky:
        size = 1.0 if friction.turns else model_size(plant.mechanism)
        if abs(speeds[friction.index]) < slow * size:
            y[own + friction.mode] = 0.0
    plant.evaluate(t, y)


def _told_otherwise(plant: Plant, stresses: Array) -> set[str]:
    """Outputs of the network, at the instant that was evaluated, that a self-stress changes."""
    network, program = plant.mechanism.network, plant.program
    if network is None or not network.rows:
        return set()
    plain, changed = plant.outputs(), set()
    shafts = frictions_by_shaft(plant.mechanism.model)
    for nu in stresses.T:
        for friction in plant.sticky:
            program.memory[program.held[friction.index]] += nu[friction.row] / friction.lever
        program.memory[program.reactions] += nu[network.row_places]
        section(program, PLAY_OUTPUTS)
        values = program.memory[program.outputs] - plain
        moved = {o[0]: v for o, v in zip(network.outputs, values, strict=False)}
        moved |= {
            f"{shaft}.frictions": sum(c * moved.get(channel, 0.0) for channel, c in loads)
            for shaft, loads in shafts.items()
        }
        forces = {name for name, unit, _ in network.outputs if unit == "N"}
        largest = 1e-7 * float(np.abs(nu * row_units(plant.mechanism.tables)).max())
        arm = model_size(plant.mechanism)
        changed |= {
            name
            for name, value in moved.items()
            if abs(value) * (arm if name in forces else 1.0) > largest
        }
        plant.outputs()
    return changed


def _changed(mechanism: Mechanism, record: Record, stresses: Array) -> set[str]:
    """What changes by more than rounding of the largest, forces along the model's size counting as
    torques."""
    changed: set[str] = set()
    size, units = model_size(mechanism), row_units(mechanism.tables)
    for nu in stresses.T:
        only = stressed(mechanism, record, nu)
        values = {"": nu * units}
        for name in (*mechanism.tree, *mechanism.cut):
            R_WF = _axes_of(mechanism, only, name)
            force, torque = joint_wrench(mechanism, only, name)
            for what, vector in (("force", size * force), ("torque", torque)):
                values[f"{name}.{what}"] = vector[0]
                values[f"{name}.{what}_F"] = vector[0] @ R_WF
        for name, row in mechanism.couplings.items():
            values[f"{name}.effort"] = (nu * units)[row : row + 1]
        largest = max(float(np.abs(v).max()) for v in values.values())
        del values[""]
        for name, vector in values.items():
            for j in np.flatnonzero(np.abs(vector) > 1e-7 * largest):
                changed.add(component(name, int(j), len(vector)))
    return changed


def _axes_of(mechanism: Mechanism, record: Record, name: str) -> Array:
    """R_WF of a joint at the first instant of a record."""
    frames = mechanism.frames[name]
    place = mechanism.bodies[frames.first]
    R: Array = rotation_of(record, place.node)[0] @ place.R_NB @ frames.R_AF
    return R


def not_unique(mechanism: Mechanism, trajectory: Trajectory) -> tuple[Problem, ...]:
    """One note per joint with forces that the model does not determine."""
    by_joint: dict[str, list[str]] = {}
    for channel in sorted(affected_channels(mechanism, trajectory)):
        name, _, component = channel.rpartition(".")
        by_joint.setdefault(name, []).append(component)
    return tuple(
        Problem(
            "note",
            _place_of(mechanism.model, name),
            f"{NOT_UNIQUE}{', '.join(components)}.",
            "The values shown are those of least norm (_F: in the axes of the joint, z along its"
            " axis; what is not named is determined); free the redundant directions"
            " (a spherical or in-line joint instead of a revolute) to make them unique.",
        )
        for name, components in by_joint.items()
    )


def _place_of(model: Model, name: str) -> str:
    """Table and name of a joint, part or shaft."""
    tables, part = ("joints", "rotational", "translational", "electric", "hydraulic"), name
    while part:
        for table in tables:
            if part in getattr(model, table):
                return f"{table}.{name}"
        part = part.rpartition(".")[0]
    return f"shafts.{name}"
