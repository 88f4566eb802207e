"""A tree in Drake (https://drake.mit.edu, wheel `drake`): one MultibodyPlant in continuous time.

An element sits on a frame F of the link before it; behind each but a branch's last is a link
without mass.  A ball is a BallRpyJoint whose F turns along with the body: its angles, which lock at
a right angle, stay zero, and its speeds are the angular velocity w in axes that lie where
the body's are just then; w' has the same components in both.  A free body is a
QuaternionFloatingJoint, whose speeds are (w, v) in F, those of `vbg.engines.spans` (v in F, w in
the body's axes)::

    (w_F, v_F) = T (v_F, w_B),   w_F = R_FB w_B,   w_F' = R_FB w_B':   M = Tᵀ M_d T,   h = Tᵀ h_d

Loops are closed by the multipliers of `vbg.engines.running`, so what it witnesses is the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import BALL, FREE, GROUND, SLIDE, Branch, Element, Machine
from vbg.engines.pose import Array, Place, of_quaternion
from vbg.engines.spans import Span, begun, rate_of, values_of
from vbg.engines.trees import Seen, Start
from vbg.errors import UsageError


class DrakeTree:
    """Every branch is a chain of links; the last carries its body, whose mass centre and axes are
    where the branch's `after` says."""

    def __init__(self, machine: Machine):
        try:
            from pydrake import math
            from pydrake.multibody import plant, tree
        except ImportError:
            raise UsageError("Drake is not installed: pip install 'vbg[engines]'.") from None
        self._math, self._drake, self.version = math, tree, metadata.version("drake")
        self._plant = plant.MultibodyPlant(0.0)  # continuous time
        self._plant.mutable_gravity_field().set_gravity_vector(list(machine.model.gravity))
        self._branches = {branch.body: branch for branch in machine.branches}
        self._links: dict[str, Any] = {GROUND: self._plant.world_body()}
        self._joints: dict[tuple[str, int], Any] = {}
        self._seats: dict[tuple[str, int], tuple[Any, Place]] = {}
        for branch in machine.branches:
            self._links[branch.body] = self._laid(branch, *machine.masses[branch.body])
        self._plant.Finalize()
        self._context = self._plant.CreateDefaultContext()
        self.nv, self.nq = int(self._plant.num_velocities()), 0
        spans = []
        for (body, k), joint in self._joints.items():
            kind = self._branches[body].elements[k].kind
            spans.append(Span(body, k, kind, self.nq, int(joint.velocity_start())))
            self.nq += {BALL: 4, FREE: 7}.get(kind, 1)
        self._spans = tuple(spans)

    def _laid(self, branch: Branch, mass: float, inertia: Array) -> Any:
        """The links of a branch; the last one."""
        plant, link, seat = self._plant, self._links[branch.parent], branch.before
        if branch.parent != GROUND:
            seat = self._branches[branch.parent].after @ seat
        body = plant.AddRigidBody(f"b.{branch.body}", self._inertia(branch, mass, inertia))
        last = len(branch.elements) - 1
        for k, element in enumerate(branch.elements):
            name = f"{branch.body}.{k}"
            nothing = self._drake.SpatialInertia.Zero()
            below = body if k == last else plant.AddRigidBody(f"l.{name}", nothing)
            frame = self._frame(f"f.{name}", link, seat)
            joint = plant.AddJoint(self._joint(name, element, frame, below.body_frame()))
            self._joints[branch.body, k], self._seats[branch.body, k] = joint, (frame, seat)
            link, seat = below, Place()
        if not branch.elements:
            frame = self._frame(f"f.{branch.body}", link, seat)
            held = self._drake.WeldJoint(
                f"w.{branch.body}", frame, body.body_frame(), self._pose(Place())
            )
            plant.AddJoint(held)
        return body

    def _joint(self, name: str, element: Element, frame: Any, below: Any) -> Any:
        drake = self._drake
        if element.kind == FREE:
            return drake.QuaternionFloatingJoint(name, frame, below)
        if element.kind == BALL:
            return drake.BallRpyJoint(name, frame, below)
        kind = drake.PrismaticJoint if element.kind == SLIDE else drake.RevoluteJoint
        return kind(name, frame, below, np.array(element.axis))

    def _frame(self, name: str, link: Any, place: Place) -> Any:
        frame = self._drake.FixedOffsetFrame(name, link.body_frame(), self._pose(place))
        return self._plant.AddFrame(frame)

    def _pose(self, place: Place) -> Any:
        rotation = self._math.RotationMatrix.ProjectToRotationMatrix(place.R)
        return self._math.RigidTransform(rotation, place.p)

    def _inertia(self, branch: Branch, mass: float, inertia: Array) -> Any:
        """About the origin of the link, in its axes; also one that breaks the triangle inequality
        (`allow_unphysical_inertia`), which Drake would refuse."""
        p, R = branch.after.p, branch.after.R
        J = (R @ inertia @ R.T) / mass + p @ p * np.eye(3) - np.outer(p, p)
        six = [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        unit = self._drake.UnitInertia(*six)
        return self._drake.SpatialInertia(mass, p, unit, skip_validity_check=True)

    def place_of(self, branch: str, element: int) -> int:
        return int(self._joints[branch, element].velocity_start())

    def begin(self, starts: Mapping[str, tuple[Start, ...]]) -> tuple[Array, Array]:
        return begun(self._spans, starts, self.nq, self.nv)

    def rate(self, q: Array, v: Array) -> Array:
        return rate_of(self._spans, q, v)

    def values(self, q: Array) -> Array:
        return values_of(self._spans, q, self.nv)

    def _set(self, q: Array, v: Array) -> Array:
        """Bring the context there; T, (nv, nv)."""
        context, positions = self._context, np.zeros(self._plant.num_positions())
        T = np.eye(self.nv)
        for span in self._spans:
            joint, i, j = self._joints[span.body, span.element], span.i, span.j
            at = int(joint.position_start())
            if span.kind == FREE:
                quaternion = q[i + 3 : i + 7] / np.linalg.norm(q[i + 3 : i + 7])
                positions[at : at + 7] = *quaternion, *q[i : i + 3]
                T[j : j + 6, j : j + 6] = 0.0
                T[j : j + 3, j + 3 : j + 6] = of_quaternion(quaternion)
                T[j + 3 : j + 6, j : j + 3] = np.eye(3)
            elif span.kind == BALL:
                frame, seat = self._seats[span.body, span.element]
                turned = Place(of_quaternion(q[i : i + 4] / np.linalg.norm(q[i : i + 4])))
                frame.SetPoseInParentFrame(context, self._pose(seat @ turned))
            else:
                positions[at] = q[i]
        self._plant.SetPositions(context, positions)
        self._plant.SetVelocities(context, T @ v)
        return T

    def see(self, q: Array, v: Array) -> Seen:
        T, plant, context = self._set(q, v), self._plant, self._context
        M = T.T @ plant.CalcMassMatrix(context) @ T
        gravity = plant.CalcGravityGeneralizedForces(context)
        h = T.T @ (plant.CalcBiasTerm(context) - gravity)
        kind, world = self._drake.JacobianWrtVariable.kV, plant.world_frame()
        none, still = np.zeros(3), np.zeros((6, self.nv))
        bodies = {GROUND: Moving(none, np.eye(3), none, none, still, np.zeros(6))}
        for body, branch in self._branches.items():
            link, after = self._links[body], branch.after
            pose = plant.EvalBodyPoseInWorld(context, link)
            place = Place(pose.rotation().matrix(), pose.translation()) @ after
            point = (context, kind, link.body_frame(), after.p, world, world)
            J = plant.CalcJacobianSpatialVelocity(*point) @ T
            J = np.vstack((J[3:], J[:3]))  # Drake's are angular first
            drift, twist = plant.CalcBiasSpatialAcceleration(*point), J @ v
            rates = np.concatenate((drift.translational(), drift.rotational()))
            bodies[body] = Moving(place.p, place.R, twist[:3], twist[3:], J, rates)
        return Seen(M, h, bodies)
