"""A thin disc rolls without slip on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import call, const, cross, dot, mul, norm, stack, times, transpose, zeros
from vbg.builder import Builder
from vbg.fields import Attachment, declare, quantity
from vbg.physics.relative import relative_motion


@dataclass(frozen=True, slots=True)
class Rolling:
    """The second body is a disc of `radius` with its centre at its joint point and
    its axis `axis2`; the first carries the plane through its joint point with normal
    `axis`, on the side the normal points to.  One holonomic row (the rim touches)
    and two non-holonomic rows (the touching point does not slip).
    """

    table: ClassVar[str] = "joints"
    kind: ClassVar[str] = "rolling"

    between: tuple[Attachment, Attachment] = declare("ends", "first and second body, with points")
    axis: tuple[float, float, float] = declare(
        "direction", "normal of the plane, in the first one's axes", size=3
    )
    axis2: tuple[float, float, float] = declare(
        "direction", "axis of the disc, in the second one's axes", size=3, end=1
    )
    radius: float = quantity("m", "radius of the disc", above=0.0)

    def expand(self, name: str, builder: Builder) -> None:
        first, second = (builder.body(end.body) for end in self.between)
        frames = builder.frames(name)
        n_W = mul(first.R_WB, const(frames.R_AF.data[:, 2]))
        a_W = mul(second.R_WB, const(frames.R_BM.data[:, 2]))
        # the rim's lowest point: from the centre against the in-plane part of the normal
        in_disc = n_W - times(dot(n_W, a_W), a_W)
        steepness = norm(in_disc)
        touching_W = times(-self.radius * call("reciprocal", steepness), in_disc)
        p_WC = second.p_WB + mul(second.R_WB, frames.p_BM_B)
        arm_B = frames.p_BM_B + mul(transpose(second.R_WB), touching_W)
        height = dot(n_W, p_WC - first.p_WB - mul(first.R_WB, frames.p_AF_A))
        motion = relative_motion(
            name, builder, first, second, frames.p_AF_A, arm_B, points_coincide=False
        )
        node = builder.zero(f"{name}.constrained", 3, motion.translation.frame, "mechanical")
        axes = const(frames.R_AF.data.T)  # rows x_F, y_F, z_F: two slips, then the touch
        builder.transformer(f"{name}.rows", motion.translation, node, axes, toward="flow_side")
        effort = builder.constraint(
            name,
            node,
            labels=("slip.x", "slip.y", "touch"),
            position=stack(zeros(2), height - self.radius * steepness),
        )
        force_W = mul(first.R_WB, mul(transpose(axes), effort))
        builder.output(f"{name}.force", force_W, "N")
        builder.output(f"{name}.torque", cross(touching_W, force_W), "N*m")
