"""The rigid body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbg.blocks import const, inverse, mul, skew, transpose
from vbg.builder import BodyNode, Builder
from vbg.elements.flexible import Elastic, Flexible, write_elastic
from vbg.errors import ModelError, Problem
from vbg.fields import Shape, declare, quantity

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: mass, inertia about the mass centre, start, named points.

    States: linear momentum m v (W) and angular momentum h = J w (body axes), both
    in integral causality, and the pose p_WB, quat_WB.
      (m v)' = efforts,   h' = torques - w x h,   p' = v,   quat' = 1/2 quat o (0, w)
    as a 1-junction of v with I(m) and Se(m g), and one of w with I(J) and the
    Eulerian junction structure (vector-bond-graph.txt, section II and ref. 4).

    Either `mass` and `inertia` are written or they follow from `shape` and
    its density.  `com` is the mass centre in the axes in which `points` and
    `shape` are written; after reading, all points count from the mass centre.
    """

    table: ClassVar[str] = "bodies"
    kind: ClassVar[str] = "body"

    mass: float | None = quantity("kg", "mass; default: from shape", above=0.0, default=None)
    inertia: tuple[float, float, float, float, float, float] | None = declare(
        "inertia",
        "xx, yy, zz, xy, yz, zx about the mass centre, body axes; default: from shape",
        unit="kg*m^2",
        default=None,
    )
    shape: tuple[Shape, ...] = declare(
        "shape", "solids it is made of, drawn and weighed", default=()
    )
    allow_unphysical_inertia: bool = declare(
        "flag",
        "keep moments that no body has (published data sometimes break the triangle inequality)",
        default=False,
    )
    com: Vector | None = declare(
        "vector", "mass centre from the body's origin", unit="m", size=3, default=None
    )
    position: Vector | None = declare(
        "vector", "of the mass centre in W at the start; a guess", unit="m", size=3, default=None
    )
    rotation: tuple[float, float, float, float] | None = declare(
        "rotation", "of the body's axes in W at the start; a guess", default=None
    )
    velocity: Vector | None = declare(
        "vector", "of the mass centre at the start, W", unit="m/s", size=3, default=None
    )
    angular_velocity: Vector | None = declare(
        "vector", "at the start, body axes", unit="rad/s", size=3, default=None
    )
    flexible: Elastic | None = declare(
        "group",
        "matrices of a finite-element program, in the place of inertia; M, K, nodes, points",
        of=Flexible,
        default=None,
    )
    points: Mapping[str, Vector] = declare(
        "points", "named points in body axes, from the mass centre", unit="m", default={}
    )

    def expand(self, name: str, builder: Builder) -> None:
        if self.mass is None or self.inertia is None:
            what = "the body has no mass or no inertia."
            problem = Problem(
                "error", f"bodies.{name}", what, "Give both, or a shape and a density."
            )
            raise ModelError.of([problem])
        start = builder.start(name)
        xx, yy, zz, xy, yz, zx = self.inertia
        J_B = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        linear = builder.one(f"{name}.v", 3, "W", "translation")
        angular = builder.one(f"{name}.w", 3, name, "rotation")
        momentum = builder.inertia(
            name,
            linear,
            inverse=const(np.eye(3) / self.mass),
            initial=const(self.mass * start.v_WB),
            written=self.velocity is not None,
        )
        if self.flexible is not None:
            turning = self.angular_velocity is not None
            h_B = write_elastic(
                self.flexible, name, angular, builder, start.w_WB_B, written=turning
            )
        else:
            h_B = builder.inertia(
                name,
                angular,
                inverse=inverse(const(J_B)),
                initial=const(J_B @ start.w_WB_B),
                written=self.angular_velocity is not None,
                state="angular_momentum",
            )
        p_WB, R_WB, quaternion = builder.pose(name, linear, angular, start)
        builder.euler(name, angular, h_B)
        builder.register_body(BodyNode(name, linear, angular, p_WB, R_WB, quaternion))
        weight = self.mass * builder.gravity
        builder.effort_source(
            f"{name}.gravity", linear, weight, energy=-1.0 * mul(transpose(weight), p_WB)
        )
        v, w = builder.flow(linear), builder.flow(angular)
        builder.output(f"{name}.position", p_WB, "m")
        builder.output(f"{name}.velocity", v, "m/s")
        builder.output(
            f"{name}.acceleration", (1.0 / self.mass) * builder.rate_of(momentum), "m/s^2"
        )
        builder.output(f"{name}.rotation", quaternion, "1")
        builder.output(f"{name}.angular_velocity", w, "rad/s")
        for point, p_BP_B in self.points.items():
            arm = const(p_BP_B)
            builder.output(f"{name}.{point}.position", p_WB + mul(R_WB, arm), "m")
            builder.output(f"{name}.{point}.velocity", v + mul(R_WB, mul(-skew(arm), w)), "m/s")
