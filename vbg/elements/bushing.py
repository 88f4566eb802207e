"""Bushing: a six-dimensional spring and damper between two bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import const, dot, mul, rows, stack
from vbg.builder import Builder, Node
from vbg.fields import Attachment, declare
from vbg.physics.axes import axes_in_body
from vbg.physics.relative import Relative, project, relative_motion
from vbg.physics.rotation_vector import rotation_vector

FREE = 1e-12  # of the largest stiffness: none


@dataclass(frozen=True, slots=True)
class Bushing:
    """On the relative motion of the second point in the axes of the first body, or of the frame on
    it, translation x, y, z first, then rotation x, y, z (rotation vector):
    effort on the second = -stiffness @ displacement - damping @ rate, a 6x6 C and R
    field in the place of constraint sources (elastic-damping hinge).  Zero: the points
    coincide and the bodies are turned to each other as written.  The torque is
    conjugate to w_B - w_A, so the energy 1/2 displacement^T stiffness displacement is
    exact for large rotations below half a turn, where a run ends: the rotation vector, and so the
    torque, would turn over there; about an axis without stiffness nothing does, and all may turn.
    """

    table: ClassVar[str] = "forces"
    kind: ClassVar[str] = "bushing"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    stiffness: tuple[tuple[float, ...], ...] = declare(
        "matrix",
        "6x6, or its diagonal: N/m three times, N*m/rad three times",
        unit="N/m or N*m/rad or N",
        size=6,
    )
    damping: tuple[tuple[float, ...], ...] | None = declare(
        "matrix",
        "6x6, or its diagonal; default: none",
        unit="N*s/m or N*m*s/rad or N*s",
        size=6,
        default=None,
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A stiffness without energy, or matrices that could give power without end."""
        for key, matrix in (("stiffness", self.stiffness), ("damping", self.damping)):
            if matrix is None:
                continue
            values = np.array(matrix)
            size = np.sqrt(np.maximum(np.abs(np.diag(values)), np.finfo(float).tiny))
            values = values / np.outer(size, size)  # forces and torques alike
            if np.abs(values - values.T).max() > 1e-9:
                yield key, "the matrix must be symmetric.", "Energy could be made from nothing."
            elif np.linalg.eigvalsh(values)[0] < -1e-9:
                yield key, "the matrix must not have a negative eigenvalue.", ""

    def expand(self, name: str, builder: Builder) -> None:
        first, second = (builder.body(end.body) for end in self.between)
        motion = relative_motion(
            name,
            builder,
            first,
            second,
            const(self.between[0].at),
            const(self.between[1].at),
            points_coincide=False,
        )
        R_AB_0 = builder.start(first.name).R_WB.T @ builder.start(second.name).R_WB
        E = np.kron(np.eye(2), axes_in_body(self.between[0]).data)
        stiffness = E @ self.stiffness @ E.T
        turn = rotation_vector(motion.R_AB, R_AB_0, _free(stiffness[3:, 3:]))
        twist = stack(motion.p_FM, turn.vector)
        load = mul(const(stiffness), twist)
        effort = stack(rows(load, 0, 3), mul(turn.to_torque, rows(load, 3, 6)))
        node = self._six(name, builder, motion)
        spring = builder.potential(name, node, effort=effort, energy=0.5 * dot(twist, load))
        total = builder.effort(spring)
        if self.damping is not None:
            coefficients = const(E @ self.damping @ E.T)
            damper = builder.resistor(name, node, effort=lambda flow: mul(coefficients, flow))
            total = total + builder.effort(damper)
        R_WA = first.R_WB
        builder.output(f"{name}.force", -mul(R_WA, rows(total, 0, 3)), "N")
        builder.output(f"{name}.torque", -mul(R_WA, rows(total, 3, 6)), "N*m")

    def _six(self, name: str, builder: Builder, motion: Relative) -> Node:
        """1-junction of the six relative velocities."""
        frame = motion.translation.frame
        six = builder.zero(f"{name}.dsix", 6, frame, "mechanical")
        lift = np.eye(6)
        project(f"{name}.lift", builder, motion, six, const(lift[:, :3]), const(lift[:, 3:]))
        node = builder.one(f"{name}.six", 6, frame, "mechanical")
        builder.bond(node, six)
        return node


def _free(stiffness: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The axes (3, n) about which nothing holds; None if there are none."""
    values, axes = np.linalg.eigh(stiffness)
    free = np.asarray(axes[:, values <= FREE * max(values[-1], 0.0)])
    return free if free.shape[1] else None
