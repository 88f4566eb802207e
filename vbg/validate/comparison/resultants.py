"""What a redundant mechanism does determine of its joint forces.

Two sets of joint forces that move a mechanism alike differ by a self-stress, a vector of the
null space of G^T.  The differences D of the joint wrenches of two right solutions therefore
balance on every body, and no joint bears them in a direction in which it is free::

    sum of +-D_force = 0,   sum of +-(D_torque + (p_M - p_B) x D_force) = 0,
    D_force . t + D_torque . r = 0   for every free twist (t, r) of the joint at M.

Conversely what holds all this is a self-stress: every projection of the joint forces that the
model determines (in the plane of a planar loop, summed over parallel bearings, the resultant on
any set of bodies) agrees where these do.  For the reader the components in the axes of the joint
stand beside, where they are determined: frame F is fixed in the first body, its z is the axis.
Used are both solutions' forces and motions, the joint points and frames of the Model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vbg.model import Model, place
from vbg.model.placing.frames import JointFrame
from vbg.plumbing.components import component_names
from vbg.solution import Solution
from vbg.tmm_bridge.onedim.trains import frictions_by_shaft
from vbg.validate.comparison.pairing import Pair, common_times
from vbg.validate.comparison.values import Verdict

Array = np.ndarray[Any, Any]
PASSED_POWER = ".passed_power"
_FRICTION = (".friction", ".torque", ".force")  # names of efforts along a freedom
_COMPONENTS = 3
_UNITS = (("force", "N"), ("torque", "N*m"))


def resultant_pairs(
    model: Model, first: Solution, second: Solution, i: Array, j: Array, not_unique: frozenset[str]
) -> list[Pair]:
    """For joints with forces that are not unique: resultants on every body that they touch,
    "BODY.joints.force.x", "BODY.joints.torque.x"; components in joint axes that are unique,
    "JOINT.force_F.x", "JOINT.torque_F.x"; what the joint's freedoms feel,
    "JOINT.free_effort[k]", or where these are not known, "JOINT.passed_power"."""
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
    frames, rubbing = place(model).frames, _rubbing(model, not_unique)
    a, b = (_Motion(model, s, k, frames, rubbing) for s, k in ((first, i), (second, j)))
    pairs: list[Pair] = []
    for body in sorted(touched):
        sides = zip(_resultant(a, joints, body), _resultant(b, joints, body), strict=True)
        for (what, unit), (x, y) in zip(_UNITS, sides, strict=True):
            names = component_names(f"{body}.joints.{what}", _COMPONENTS)
            pairs += [Pair(one, unit, p, q) for one, p, q in zip(names, x.T, y.T)]
    for name in sorted(owners & set(joints)):
        if {end.body for end in joints[name].between} & coupled:
            continue
        pairs += _in_joint_axes(a, b, name, frames[name], not_unique)
        if f"{name}.drive" not in not_unique:
            pairs += _free_efforts(a, b, name, joints[name], frames[name])
    pairs += _shared_frictions(model, a, b, not_unique)
    return pairs


def _rubbing(model: Model, not_unique: frozenset[str]) -> dict[str, list[tuple[str, float]]]:
    """Frictions on the first joint of each tied set, of which one is not unique."""
    if not any(name.endswith(_FRICTION) for name in not_unique):
        return {}
    return {
        joint: loads
        for joint, loads in frictions_by_shaft(model, least=1).items()
        if joint in model.joints and {channel for channel, _ in loads} & not_unique
    }


def _shared_frictions(
    model: Model, a: _Motion, b: _Motion, not_unique: frozenset[str]
) -> Iterator[Pair]:
    """Sums of dry frictions on a shaft that share what they hold, "SHAFT.frictions"."""
    if not any(name.endswith(_FRICTION) for name in not_unique):
        return
    for shaft, loads in frictions_by_shaft(model).items():
        told = {channel for channel, _ in loads}
        if f"{shaft}.frictions" in not_unique or not told & not_unique:
            continue
        x, y = (sum(c * np.ravel(m.signal(channel)) for channel, c in loads) for m in (a, b))
        turns = not shaft.startswith("translational.") and _turns(model, shaft)
        yield Pair(f"{shaft}.frictions", "N*m" if turns else "N", np.asarray(x), np.asarray(y))


def _turns(model: Model, shaft: str) -> bool:
    """Whether a joint, if the shaft is one, turns."""
    joint = model.joints.get(shaft)
    return joint is None or joint.kind not in ("prismatic", "point_on_line")


def resultant_courses(
    model: Model, first: Solution, second: Solution, verdict: Verdict
) -> tuple[Array, dict[str, tuple[Array, Array]]]:
    """The common times [s] of a verdict on two runs, and both courses of each channel that was put
    together from the forces of several components."""
    common = common_times(first, second, verdict.excluded)
    if common is None:
        return np.empty(0), {}
    not_unique = frozenset(c.name for c in verdict.channels if c.result == "NOT UNIQUE")
    pairs = resultant_pairs(model, first, second, *common, not_unique)
    return first.time[common[0]], {pair.name: (pair.first, pair.second) for pair in pairs}


def _in_joint_axes(
    a: _Motion, b: _Motion, name: str, frame: JointFrame, not_unique: frozenset[str]
) -> Iterator[Pair]:
    """Components in frame F, of vectors that are not unique, which are."""
    for what, unit in _UNITS:
        if not not_unique & {*component_names(f"{name}.{what}", _COMPONENTS)}:
            continue
        own = component_names(f"{name}.{what}_F", _COMPONENTS)
        for one, axis in zip(own, frame.R_AF.T, strict=True):
            if one not in not_unique:
                x, y = (
                    np.sum(m.signal(f"{name}.{what}") * m.turned(frame.first, axis), axis=1)
                    for m in (a, b)
                )
                yield Pair(one, unit, x, y)


def _free_efforts(
    a: _Motion, b: _Motion, name: str, joint: Any, frame: JointFrame
) -> Iterator[Pair]:
    """What the freedoms of a joint feel of its wrench: the effort of a drive, or nothing."""
    twists = _free_twists(joint, frame)
    if twists is None:
        yield Pair(f"{name}{PASSED_POWER}", "W", *(_power(m, name, joint) for m in (a, b)))
        return
    for k, (body, push, turn) in enumerate(twists):
        felt = [
            np.sum(m.signal(f"{name}.force") * m.turned(body, push), axis=1)
            + np.sum(m.signal(f"{name}.torque") * m.turned(body, turn), axis=1)
            for m in (a, b)
        ]
        yield Pair(f"{name}.free_effort[{k}]", "N*m" if turn.any() else "N", *felt)


def _free_twists(joint: Any, frame: JointFrame) -> list[tuple[str, Array, Array]] | None:
    """(body, translation, rotation) of every freedom at M, in axes of the body; None for kinds
    whose freedoms turn with neither body."""
    rest, (x, y, z) = np.zeros(3), frame.R_AF.T
    slides = {n: (frame.first, axis, rest) for n, axis in (("x", x), ("y", y), ("z", z))}
    turns = {n: (frame.first, rest, axis) for n, axis in (("x", x), ("y", y), ("z", z))}
    every = list(turns.values())
    match joint.kind:
        case "fixed":
            return []
        case "revolute":
            return [turns["z"]]
        case "prismatic":
            return [slides["z"]]
        case "cylindrical":
            return [slides["z"], turns["z"]]
        case "helical":
            return [(frame.first, joint.lead * z, z)]
        case "spherical":
            return every
        case "universal":
            return [turns["z"], (frame.second, rest, frame.R_BM[:, 2])]
        case "planar":
            return [slides["x"], slides["y"], turns["z"]]
        case "point_on_line":
            return [slides["z"], *every]
        case "point_on_plane":
            return [slides["x"], slides["y"], *every]
        case "guide":
            return [*slides.values(), *every]
    return None


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
    """Postures and speeds of one solution at the common times; `rubbing` are the dry frictions on
    turning and sliding joints that belong to what a self-stress changes."""

    def __init__(
        self,
        model: Model,
        solution: Solution,
        places: Array,
        frames: Mapping[str, JointFrame],
        rubbing: Mapping[str, list[tuple[str, float]]],
    ):
        self.model, self.solution, self.places = model, solution, places
        self.frames, self.rubbing = frames, rubbing

    def wrench(self, name: str) -> tuple[Array, Array]:
        """Force and torque of a joint (W), with what friction exerts along its freedom."""
        force, torque = self.signal(f"{name}.force"), self.signal(f"{name}.torque")
        if name not in self.rubbing:
            return force, torque
        axis = self.turned(self.frames[name].first, self.frames[name].R_AF[:, 2])
        effort = sum(c * np.ravel(self.signal(channel)) for channel, c in self.rubbing[name])
        along = np.asarray(effort)[:, None] * axis
        if self.model.joints[name].kind == "prismatic":
            return force + along, torque
        return force, torque + along

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
                (f, m), arm = motion.wrench(name), motion.point(joint) - motion.centre(body)
                force = force + sign * f
                torque = torque + sign * (m + np.cross(arm, f))
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
