"""What a redundant mechanism does determine: resultants of its joints, and their power.

Two sets of joint forces G^T f that move a mechanism alike differ by a self-stress, a vector
of the null space of G^T.  The differences D of the joint wrenches of two right solutions
therefore balance on every body, and do no work in any joint::

    sum of +-D_force = 0,   sum of +-(D_torque + (p_M - p_B) x D_force) = 0,
    D_force . (v_B - v_A at M) + D_torque . (w_B - w_A) = 0

Conversely every projection of the joint forces that the model determines (in the plane of a
planar loop, summed over parallel bearings) agrees where these do.  Used are both solutions'
forces and motions, and the joint points of the Model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vbg.model import Model
from vbg.solution import Solution
from vbg.validate.comparison.pairing import Pair

Array = np.ndarray[Any, Any]
PASSED_POWER = ".passed_power"
_COMPONENTS = 3


def resultant_pairs(
    model: Model, first: Solution, second: Solution, i: Array, j: Array, not_unique: frozenset[str]
) -> list[Pair]:
    """Resultants on every body at a joint with forces that are not unique, and power of these
    joints: "BODY.joints.force[k]", "BODY.joints.torque[k]", "JOINT.passed_power"."""
    owners = {name.partition(".")[0] for name in not_unique}
    joints = {
        name: joint for name, joint in model.joints.items() if not isinstance(joint.between[0], str)
    }
    coupled = _bodies_at_couplings(model, owners)
    touched = {
        end.body
        for name in owners & set(joints)
        for end in joints[name].between
        if end.body != "ground" and end.body not in coupled
    }
    a, b = _Motion(model, first, i), _Motion(model, second, j)
    pairs: list[Pair] = []
    for body in sorted(touched):
        sides = zip(_resultant(a, joints, body), _resultant(b, joints, body), strict=True)
        for (what, unit), (x, y) in zip((("force", "N"), ("torque", "N*m")), sides, strict=True):
            pairs += [
                Pair(f"{body}.joints.{what}[{k}]", unit, x[:, k], y[:, k])
                for k in range(_COMPONENTS)
            ]
    for name in sorted(owners & set(joints)):
        if not {end.body for end in joints[name].between} & coupled:
            power = (_power(a, name, joints[name]), _power(b, name, joints[name]))
            pairs.append(Pair(f"{name}{PASSED_POWER}", "W", *power))
    return pairs


def _bodies_at_couplings(model: Model, owners: set[str]) -> set[str]:
    """Bodies at the joints of couplings that are not unique: what these exert is not in the
    wrenches of the joints."""
    found: set[str] = set()
    for name in owners & set(model.joints):
        for reference in model.joints[name].between:
            if isinstance(reference, str):
                joint = model.joints.get(reference.split(".")[1])
                found |= {end.body for end in joint.between} if joint is not None else set()
    return found - {"ground"}


class _Motion:
    """Postures and speeds of one solution at the common times."""

    def __init__(self, model: Model, solution: Solution, places: Array):
        self.model, self.solution, self.places = model, solution, places

    def signal(self, name: str) -> Array:
        values: Array = self.solution[name][self.places]
        return values

    def centre(self, body: str) -> Array:
        """Mass centre (W), (n, 3)."""
        if body == "ground":
            return np.zeros((len(self.places), 3))
        return self.signal(f"{body}.position")

    def turned(self, body: str, vector: Array) -> Array:
        """Components in W of a vector in body axes, (n, 3)."""
        vector = np.broadcast_to(vector, (len(self.places), 3))
        if body == "ground":
            return vector
        q = self.signal(f"{body}.rotation")
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        w, u = q[:, :1], q[:, 1:]
        twice = 2.0 * np.cross(u, vector)
        out: Array = vector + w * twice + np.cross(u, twice)
        return out

    def speeds(self, body: str) -> tuple[Array, Array]:
        """v of the mass centre and w, both in W."""
        if body == "ground":
            rest = np.zeros((len(self.places), 3))
            return rest, rest
        w = self.turned(body, self.signal(f"{body}.angular_velocity"))
        return self.signal(f"{body}.velocity"), w

    def point(self, joint: Any) -> Array:
        """M, on the second body (W)."""
        end = joint.between[1]
        return self.centre(end.body) + self.turned(end.body, np.array(end.at))


def _resultant(motion: _Motion, joints: Mapping[str, Any], body: str) -> Iterator[Array]:
    """Force and torque about the mass centre that all joints exert on the body (W)."""
    n = len(motion.places)
    force, torque = np.zeros((n, 3)), np.zeros((n, 3))
    for name, joint in joints.items():
        for end, sign in zip(joint.between, (-1.0, 1.0), strict=True):
            if end.body == body:
                f, arm = motion.signal(f"{name}.force"), motion.point(joint) - motion.centre(body)
                force = force + sign * f
                torque = torque + sign * (motion.signal(f"{name}.torque") + np.cross(arm, f))
    yield force
    yield torque


def _power(motion: _Motion, name: str, joint: Any) -> Array:
    """Power of the joint's wrench on the relative motion at M."""
    M = motion.point(joint)
    relative, turning = np.zeros_like(M), np.zeros_like(M)
    for end, sign in zip(joint.between, (-1.0, 1.0), strict=True):
        v, w = motion.speeds(end.body)
        relative = relative + sign * (v + np.cross(w, M - motion.centre(end.body)))
        turning = turning + sign * w
    force, torque = motion.signal(f"{name}.force"), motion.signal(f"{name}.torque")
    power: Array = np.sum(force * relative + torque * turning, axis=1)
    return power
