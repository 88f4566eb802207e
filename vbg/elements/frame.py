"""Frame: a place on a body with axes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const, mul, skew, transpose
from vbg.builder import Builder
from vbg.fields import Attachment, declare
from vbg.spatial import Array, axes_of_frame, quaternion_product

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame F of a body B (or of the ground), fixed in it: written wherever a point is, its axes
    as FRAME.x, -FRAME.z where a direction is, frame:z in a part that stands on it.  Without states
    and forces.

      p_WF = p_WB + R_WB p_BF,   R_WF = R_WB R_BF,   v_WF = v_WB + w_WB x (R_WB p_BF)

    `position` and `rotation` count from the place it is on, in the axes there: those of the body,
    or of the frame.  A joint between two frames that names no axis takes their z axes, and its
    angle is 0 where their x axes agree; a fixed one lays frame on frame (the class frame of
    neweul-newsim-cad.txt, section 2: where joints and forces are defined).
    """

    table: ClassVar[str] = "frames"
    kind: ClassVar[str] = "frame"

    on: Attachment = declare("end", "a body, point, beam's node or another frame, or ground")
    position: Vector = declare(
        "vector",
        "of its origin from there, in the axes there",
        unit="m",
        size=3,
        default=(0.0,) * 3,
    )
    rotation: Quaternion = declare(
        "rotation", "of its axes against those there", default=(1.0, 0.0, 0.0, 0.0)
    )

    def end(self, name: str) -> Attachment:
        """The frame called `name` as an end of a part: its origin and axes on its body."""
        base = (1.0, 0.0, 0.0, 0.0) if self.on.rotation is None else self.on.rotation
        x, y, z = (np.array(self.on.at) + axes_of_frame(base) @ self.position).tolist()
        turned = quaternion_product(base, self.rotation)
        qw, qx, qy, qz = (turned / np.sqrt(turned @ turned)).tolist()
        return Attachment(self.on.body, (x, y, z), frame=name, rotation=(qw, qx, qy, qz))

    def expand(self, name: str, builder: Builder) -> None:
        end = self.end(name)
        quat_BF = end.rotation or (1.0, 0.0, 0.0, 0.0)
        body, arm, R_BF = builder.body(end.body), const(end.at), const(axes_of_frame(quat_BF))
        builder.output(f"{name}.position", body.p_WB + mul(body.R_WB, arm), "m")
        builder.output(f"{name}.rotation", mul(const(_after(quat_BF)), body.quat_WB), "1")
        if body.linear is None or body.angular is None:
            return  # the ground does not move
        v, w = builder.flow(body.linear), builder.flow(body.angular)
        builder.output(f"{name}.velocity", v + mul(body.R_WB, mul(-skew(arm), w)), "m/s")
        builder.output(f"{name}.angular_velocity", mul(transpose(R_BF), w), "rad/s")


def _after(quat_BF: Quaternion) -> Array:
    """(4, 4) Q with Q quat_WB = quat_WB o quat_BF: its columns are the products of the units."""
    return np.column_stack([quaternion_product(unit, quat_BF) for unit in np.eye(4)])
