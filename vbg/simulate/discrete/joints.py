"""Bodies and joints of a system as the flat arrays of the discrete-time kernels.

A joint of a kind below is one bushing: the constrained translations and rotations of its
rows (vbg.junctions.constrain) with the stiffness and damping of each,

    f_A = -K (p_FM) - C (velocity of M seen from A),      K = sum of k_i n_i n_i^T
    t_A = -K (sum a x R_AB b) - C (w_B - w_A)

and of a universal joint t_A = -n (k z_F . z_M + c n . (w_B - w_A)), n = z_M x z_F.  All
else (couplings, drives, rods, rolling joints) stays on the tape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import Constraint
from vbg.assemble.system import System
from vbg.blocks import Block, const, mul, quaternion_rate
from vbg.model.placing.frames import JointFrame
from vbg.simulate.discrete.tables import (
    ALIGNED,
    ANGLE,
    ANGLE_ON_B,
    FREE,
    PER_BUSH,
    PER_POSE,
    SLIDE,
    SQUARE,
    Flat,
)

Array = NDArray[np.float64]
Places = NDArray[np.int64]

STATES = ("momentum", "angular_momentum", "position", "quaternion")
SQUARED = (2,)  # the rotation that would take z_F and z_M from their right angle
# kind: axes of F whose translations are constrained, the same of rotations, and whether
# the two points coincide
KINDS: dict[str, tuple[tuple[int | None, ...], tuple[int | None, ...], bool]] = {
    "revolute": ((None, None, None), (0, 1), True),
    "spherical": ((None, None, None), (), True),
    "fixed": ((None, None, None), (None, None, None), True),
    "prismatic": ((0, 1), (None, None, None), False),
    "cylindrical": ((0, 1), (0, 1), False),
    "planar": ((2,), (0, 1), False),
    "point_on_line": ((0, 1), (), False),
    "point_on_plane": ((2,), (), False),
    "guide": ((), (), False),
    "universal": ((None, None, None), SQUARED, True),
}
# about or along z of F, the last about z of M
COORDINATES = {"angle": ANGLE, "slide": SLIDE, "angle2": ANGLE_ON_B}


@dataclass(frozen=True, slots=True)
class Machine:
    """What the kernels read, `flat` in their order; `joints`: constraints that are
    bushings here; `moved`: states that the kernels move."""

    flat: Flat
    joints: tuple[Constraint, ...]
    moved: frozenset[str]


def machine_of(system: System, stiffness: Array, damping: Array) -> Machine:
    """The arrays, with K and C of every constrained direction in the system's order."""
    first = {s.state.name: s.first for s in system.slices}
    leaves = {s.state.name: s.state.leaf for s in system.slices}
    bodies = [name for name in system.model.bodies if _plain(system, name, leaves)]
    number = {name: i for i, name in enumerate(bodies)} | {"ground": len(bodies)}
    frames = system.causal.graph.placed.frames
    joints = [c for c in system.equations.constraints if _is_bushing(system, c, number)]
    rows = [_bush(system, c, frames[c.name], stiffness, damping) for c in joints]
    ends = [_ends(system, c, frames[c.name], number) for c in joints]
    coordinates, along, moved = [], [], {f"{b}.{s}" for b in bodies for s in STATES}
    for j, c in enumerate(joints):
        for name, what in COORDINATES.items():
            if (state := f"{c.name}.{name}") in first:
                coordinates.append((first[state], j, what))
                frame = frames[c.name]
                along.append((frame.R_BM if what == ANGLE_ON_B else frame.R_AF)[:, 2])
                moved.add(state)
    pose = np.zeros((len(bodies) + 1, PER_POSE))
    pose[-1, :9] = np.eye(3).ravel()
    flat = Flat(
        _whole([[first[f"{b}.{s}"] for s in STATES] for b in bodies]),
        _real([_per_inertia(system, b) for b in bodies]),
        _whole(ends),
        _real(rows),
        _whole(coordinates),
        _real(along),
        pose.ravel(),
        np.zeros(6 * (len(bodies) + 1)),
    )
    return Machine(flat, tuple(joints), frozenset(moved))


def _whole(rows: list) -> Places:
    return np.array(rows, dtype=np.int64).ravel()


def _real(rows: list) -> Array:
    return np.array(rows, dtype=np.float64).ravel()


def _per_inertia(system: System, name: str) -> Array:
    """1/m and J^-1 of a body, ten words."""
    body = system.model.bodies[name]
    xx, yy, zz, xy, yz, zx = body.inertia
    J_B = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    return np.concatenate([[1.0 / body.mass], np.linalg.inv(J_B).ravel()])


def _plain(system: System, name: str, leaves: Mapping[str, Block]) -> bool:
    """Whether the body moves as p' = momentum / m and quat' = 1/2 quat o (0, J^-1 h): no
    other store hangs on its speeds."""
    if not all(f"{name}.{state}" in leaves for state in STATES):
        return False
    if system.model.bodies[name].flexible is not None:
        return False
    linear, angular, position, quaternion = (leaves[f"{name}.{state}"] for state in STATES)
    body = system.model.bodies[name]
    per_inertia = const(_per_inertia(system, name)[1:].reshape(3, 3))
    rates = system.equations.rates
    return rates[position] == mul(const(np.eye(3) / body.mass), linear) and rates[
        quaternion
    ] == quaternion_rate(quaternion, mul(per_inertia, angular))


def _is_bushing(system: System, constraint: Constraint, number: dict[str, int]) -> bool:
    joint = system.model.joints.get(constraint.name)
    if joint is None or joint.kind not in KINDS or constraint.active is not None:
        return False
    translations, rotations, _ = KINDS[joint.kind]
    ends = [end.body for end in joint.between]
    return len(constraint.labels) == len(translations) + len(rotations) and all(
        body in number for body in ends
    )


def _ends(
    system: System, constraint: Constraint, frame: JointFrame, number: dict[str, int]
) -> tuple[int, int, int, int]:
    _, rotations, coincide = KINDS[system.model.joints[constraint.name].kind]
    turning = SQUARE if rotations == SQUARED else ALIGNED if rotations else FREE
    return number[frame.first], number[frame.second], int(coincide), turning


def _bush(
    system: System, c: Constraint, frame: JointFrame, stiffness: Array, damping: Array
) -> Array:
    """One row of the kernels' `bushes`."""
    translations, rotations, _ = KINDS[system.model.joints[c.name].kind]
    row = np.zeros(PER_BUSH)
    row[0:3], row[3:6] = frame.p_AF_A, frame.p_BM_B
    middle, last = c.first + len(translations), c.first + len(c.labels)
    for slot, values in ((6, stiffness), (15, damping)):
        row[slot : slot + 9] = _summed(frame, translations, values[c.first : middle])
        if rotations == SQUARED:
            row[slot + 18] = values[middle]
        else:
            row[slot + 18 : slot + 27] = _summed(frame, rotations, values[middle:last])
    if rotations:
        pairs = _pairs(frame, whole=rotations[0] is None)
        row[42 : 42 + 6 * len(pairs)] = np.concatenate([np.concatenate(pair) for pair in pairs])
    return row


def _summed(frame: JointFrame, axes: tuple[int | None, ...], values: Array) -> Array:
    """Sum of k n n^T over the constrained directions, nine words."""
    normals = [np.eye(3)[i] if a is None else frame.R_AF[:, a] for i, a in enumerate(axes)]
    terms = (k * np.outer(n, n) for k, n in zip(values, normals, strict=True))
    return sum(terms, np.zeros((3, 3))).ravel()


def _pairs(frame: JointFrame, *, whole: bool) -> list[tuple[Array, Array]]:
    """Directions a (A) and b (B) whose products a x R_AB b are the constrained rotation."""
    if whole:
        return [(0.5 * frame.R_AF[:, i], frame.R_BM[:, i]) for i in range(3)]
    return [(frame.R_AF[:, 2], frame.R_BM[:, 2])]
