"""Which joint forces of a redundant mechanism are not unique.

A vector nu with G^T nu = 0 is a set of cut efforts that no motion feels: with
it the loop carries a self-stress.  Every joint force that such a self-stress
changes is not unique, however it is computed.  The null space is that of the rows over
the hinges (`independence`); its stresses are passed through the tree as loads.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vbg.errors import Problem
from vbg.tmm_bridge.kernels.independence import REDUNDANT, measure_rows
from vbg.tmm_bridge.kernels.rotation import Array
from vbg.tmm_bridge.kernels.rows import W_FORCE, W_MOMENT
from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.motion.channels import Record, joint_wrench, replay, rotation_of
from vbg.tmm_bridge.motion.integration import Plant, Trajectory

SAMPLES = 5
MARK = "redundant constraints: not unique are "


def self_stresses(plant: Plant) -> Array:
    """Cut efforts (m, s) that leave every motion alone, at the posture last evaluated."""
    s = plant.scratch
    m = len(s.G)
    if m == 0 or plant.rank == m:
        return np.zeros((m, 0))
    measure_rows(plant.tables, s)
    vectors, values, _ = np.linalg.svd(s.G)
    null = vectors[:, np.count_nonzero(values > REDUNDANT) :]
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


def one_instant(mechanism: Mechanism, trajectory: Trajectory, k: int) -> Record:
    """The record of the k-th output time alone."""
    alone = Trajectory(
        trajectory.time[k : k + 1],
        trajectory.states[k : k + 1],
        trajectory.inside[k : k + 1],
        (),
        0,
        0,
        trajectory.status,
    )
    return replay(mechanism, alone)


def affected_channels(mechanism: Mechanism, trajectory: Trajectory) -> frozenset[str]:
    """Components of joint forces that some self-stress changes during the motion."""
    if not len(mechanism.tables.rows):
        return frozenset()
    found: set[str] = set()
    plant = Plant(mechanism)
    for k in np.unique(np.linspace(0, len(trajectory.time) - 1, SAMPLES).astype(int)):
        plant.evaluate(float(trajectory.inside[k]), trajectory.states[k])
        stresses = self_stresses(plant)
        if not stresses.shape[1]:
            continue
        record = one_instant(mechanism, trajectory, int(k))
        found |= _changed(mechanism, record, stresses)
    return frozenset(found)


def _changed(mechanism: Mechanism, record: Record, stresses: Array) -> set[str]:
    changed: set[str] = set()
    for nu in stresses.T:
        only = stressed(mechanism, record, nu)
        values = {}
        for name in (*mechanism.tree, *mechanism.cut):
            R_WF = _axes_of(mechanism, only, name)
            both = joint_wrench(mechanism, only, name)
            for what, vector in zip(("force", "torque"), both, strict=True):
                values[f"{name}.{what}"] = vector[0]
                values[f"{name}.{what}_F"] = vector[0] @ R_WF
        for name, row in mechanism.couplings.items():
            values[f"{name}.effort"] = nu[row : row + 1]
        largest = max(float(np.abs(v).max()) for v in values.values())
        for name, vector in values.items():
            for j in np.flatnonzero(np.abs(vector) > 1e-7 * largest):
                changed.add(name if len(vector) == 1 else f"{name}[{j}]")
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
            f"joints.{name}",
            f"{MARK}{', '.join(components)}.",
            "The values shown are those of least norm (_F: in the axes of the joint, z along its"
            " axis; what is not named is determined); free the redundant directions"
            " (a spherical or in-line joint instead of a revolute) to make them unique.",
        )
        for name, components in by_joint.items()
    )


def channels_in(notes: Iterable[Problem]) -> frozenset[str]:
    """The components that `not_unique` named, read back from a solution's notes."""
    found: set[str] = set()
    for note in notes:
        if note.what.startswith(MARK):
            joint = note.where.partition(".")[2]
            listed = note.what[len(MARK) :].rstrip(".")
            found |= {f"{joint}.{component}" for component in listed.split(", ")}
    return frozenset(found)
