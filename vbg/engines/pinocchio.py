"""A tree in Pinocchio (https://github.com/stack-of-tasks/pinocchio, wheel `pin`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vbg.engines.acting.sums import Moving
from vbg.engines.machine import BALL, FREE, GROUND, SLIDE, Element, Machine
from vbg.engines.pose import Array
from vbg.engines.trees import Seen, Start
from vbg.errors import UsageError


class PinocchioTree:
    """Joints as elementary joints of Pinocchio, the bodies' mass centres as frames."""

    def __init__(self, machine: Machine):
        try:
            import pinocchio as pin
        except ImportError:
            raise UsageError("Pinocchio is not installed: pip install 'vbg[engines]'.") from None
        self._pin, self.version = pin, str(pin.__version__)
        model = pin.Model()
        model.gravity.linear = np.array(machine.model.gravity, float)
        at = {GROUND: (0, pin.SE3.Identity())}
        self._joints: dict[tuple[str, int], Any] = {}
        self._frames: dict[str, int] = {}
        for branch in machine.branches:
            joint, seat = at[branch.parent]
            seat = seat * pin.SE3(branch.before.R, branch.before.p)
            for k, element in enumerate(branch.elements):
                joint = model.addJoint(joint, self._kind(element), seat, f"{branch.body}.{k}")
                seat = pin.SE3.Identity()
                self._joints[branch.body, k] = model.joints[joint]
            seat = seat * pin.SE3(branch.after.R, branch.after.p)
            mass, inertia = machine.masses[branch.body]
            model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), inertia), seat)
            frame = pin.Frame(branch.body, joint, 0, seat, pin.FrameType.OP_FRAME)
            self._frames[branch.body] = model.addFrame(frame, False)
            at[branch.body] = (joint, seat)
        self._model, self._data, self.nv = model, model.createData(), model.nv
        self.nq = int(model.nq)
        self._kinds = {
            (branch.body, k): element.kind
            for branch in machine.branches
            for k, element in enumerate(branch.elements)
        }

    def _kind(self, element: Element) -> Any:
        pin = self._pin
        if element.kind == FREE:
            return pin.JointModelFreeFlyer()
        if element.kind == BALL:
            return pin.JointModelSpherical()
        unaligned = (
            pin.JointModelPrismaticUnaligned
            if element.kind == SLIDE
            else pin.JointModelRevoluteUnaligned
        )
        return unaligned(np.array(element.axis))

    def place_of(self, branch: str, element: int) -> int:
        return int(self._joints[branch, element].idx_v)

    def begin(self, starts: Mapping[str, tuple[Start, ...]]) -> tuple[Array, Array]:
        q, v = np.zeros(self._model.nq), np.zeros(self.nv)
        for (body, k), joint in self._joints.items():
            start, kind = starts[body][k], self._kinds[body, k]
            quaternion = self._pin.Quaternion(start.place.R).coeffs()  # x, y, z, w
            if kind == FREE:
                q[joint.idx_q : joint.idx_q + 7] = *start.place.p, *quaternion
                local = start.place.R.T @ start.velocity
                v[joint.idx_v : joint.idx_v + 6] = *local, *start.turning
            elif kind == BALL:
                q[joint.idx_q : joint.idx_q + 4] = quaternion
                v[joint.idx_v : joint.idx_v + 3] = start.turning
            else:
                q[joint.idx_q], v[joint.idx_v] = start.value, start.speed
        return q, v

    def rate(self, q: Array, v: Array) -> Array:
        change = np.zeros_like(q)
        for key, joint in self._joints.items():
            i, j, kind = joint.idx_q, joint.idx_v, self._kinds[key]
            if kind == FREE:
                turned = self._pin.Quaternion(*_scalar_first(q[i + 3 : i + 7])).matrix()
                change[i : i + 3] = turned @ v[j : j + 3]
                change[i + 3 : i + 7] = _spun(q[i + 3 : i + 7], v[j + 3 : j + 6])
            elif kind == BALL:
                change[i : i + 4] = _spun(q[i : i + 4], v[j : j + 3])
            else:
                change[i] = v[j]
        return change

    def values(self, q: Array) -> Array:
        found = np.zeros(self.nv)
        for key, joint in self._joints.items():
            if self._kinds[key] not in (FREE, BALL):
                found[joint.idx_v] = q[joint.idx_q]
        return found

    def see(self, q: Array, v: Array) -> Seen:
        pin, model, data = self._pin, self._model, self._data
        q = pin.normalize(model, q)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = np.array(pin.nonLinearEffects(model, data, q, v))
        pin.forwardKinematics(model, data, q, v, np.zeros(self.nv))
        pin.computeJointJacobians(model, data)
        pin.updateFramePlacements(model, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        none, still = np.zeros(3), np.zeros((6, self.nv))
        bodies = {GROUND: Moving(none, np.eye(3), none, none, still, np.zeros(6))}
        for body, frame in self._frames.items():
            place = data.oMf[frame]
            if model.frames[frame].parentJoint == 0:  # fixed on the ground
                at, R = np.array(place.translation), np.array(place.rotation)
                bodies[body] = Moving(at, R, none, none, still, np.zeros(6))
                continue
            twist = pin.getFrameVelocity(model, data, frame, world)
            drift = pin.getFrameClassicalAcceleration(model, data, frame, world)
            bodies[body] = Moving(
                np.array(place.translation),
                np.array(place.rotation),
                np.array(twist.linear),
                np.array(twist.angular),
                np.array(pin.getFrameJacobian(model, data, frame, world)).reshape(6, self.nv),
                np.array(drift.vector),
            )
        return Seen(M, h, bodies)


def _scalar_first(xyzw: Array) -> tuple[float, float, float, float]:
    x, y, z, w = (float(c) for c in xyzw / np.linalg.norm(xyzw))
    return w, x, y, z


def _spun(xyzw: Array, w: Array) -> Array:
    """Rate of a quaternion from the angular velocity in its own axes, q o (0, w) / 2."""
    v, s = xyzw[:3], xyzw[3]
    return 0.5 * np.concatenate((s * w + np.cross(v, w), [-(v @ w)]))
