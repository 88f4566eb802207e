"""Robots from URDF files beside Pinocchio, which reads the same file by itself.

    python -m benchmarks.accuracy.robots [FOLDER] [--states 20] [--inverse 20] [--seed 1]

For every .urdf below FOLDER (default: the robots of the wheel `example-robot-data`, where it
is installed): accelerations of all bodies at random states against aba, and the drive
torques and the forces and moments in all joints of given accelerations against rnea.  Errors are
relative to the largest of each state.  Without Pinocchio nothing is compared.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import vbg
from vbg.errors import ModelError, VbgError
from vbg.io.urdf import Imported, to_document
from vbg.model import Model
from vbg.spatial import quaternion_from_matrix

DRIVEN = ("revolute", "prismatic")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=str(_robots()))
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--inverse", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{'robot':34} bodies  acceleration   torque    force   moment   notes")
    errors, others = [], []
    for file in sorted(Path(given.folder).rglob("*.urdf")):
        found = row(file, given.states, given.inverse, given.seed)
        errors.append(found.error)
        if not found.error <= 1e-9:
            others.append(f"{file.name}: {' '.join(found.text.split())}")
        print(f"{file.name:34} {found.text}", flush=True)
    close = sum(error <= 1e-9 for error in errors)
    print(f"{close} of {len(errors)} agree to 1e-9." + (" The others:" if others else ""))
    for other in others:
        print(f"  {other}")
    if others:
        print("benchmarks.accuracy.robots_exact tells, by 50 digits, who is right about each.")


def _robots() -> Path:
    for place in sys.path:
        folder = Path(place) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    return Path("robots")


@dataclass(frozen=True)
class Row:
    """What is printed of one robot, and its largest error (infinite without one)."""

    text: str
    error: float = math.inf


def row(file: Path, states: int, inverse: int, seed: int) -> Row:
    """The errors of one robot, or why there are none."""
    text = file.read_text()
    try:
        made, free = _imported(text, file)
        rng = np.random.default_rng(seed)
        forward = acceleration_error(file, made, states, rng, free=free)
        torque, force, moment = load_errors(file, made, inverse, rng, free=free)
    except VbgError as error:
        return Row(str(error).replace(str(file), file.name)[:120])
    changed = [n for n in made.notes if "raised" in n or " given " in n]
    notes = "links without mass" if changed else ""
    if math.isnan(forward):
        return Row(f"singular in Pinocchio; {notes}")
    bodies = len(made.document["bodies"])
    loads = (torque, force, moment)
    told = "  ".join("   none" if math.isnan(load) else f"{load:7.1e}" for load in loads)
    worst = forward if math.isnan(torque) else max(forward, torque)
    return Row(f"{bodies:6}  {forward:12.1e}  {told}  {notes}", worst)


def _imported(text: str, file: Path) -> tuple[Imported, bool]:
    """On the ground, or floating where nothing else of it could move; and whether it floats."""
    try:
        return to_document(text, str(file), mimic=False), False
    except ModelError:  # the root link alone has a mass
        return to_document(text, str(file), mimic=False, free=True), True


def bare(document: Mapping[str, Any]) -> dict[str, Any]:
    """Without friction and stops, which aba and rnea do not have."""
    plain = deepcopy(dict(document))
    for joint in plain["joints"].values():
        joint.pop("friction", None)
        joint.pop("stop", None)
    return plain


class Robot:
    """Pinocchio's model of a file, and vbg's document of it: what each calls what."""

    def __init__(
        self, file: Path, document: Mapping[str, Any], origins: Mapping[str, str], *, free: bool
    ):
        import pinocchio

        self.pin = pinocchio
        floating = (pinocchio.JointModelFreeFlyer(),) if free else ()
        whole = pinocchio.buildModelFromUrdf(str(file), *floating)
        # joints that move no mass are left out of the import, and have no acceleration of their own
        known = {"universe", "root_joint", *origins.values()}
        idle = [i for i, name in enumerate(whole.names) if name not in known]
        neutral = pinocchio.neutral(whole)
        self.model = pinocchio.buildReducedModel(whole, idle, neutral) if idle else whole
        self.data = self.model.createData()
        self.document, self.origins = document, origins
        neutral = pinocchio.neutral(self.model)
        pinocchio.framesForwardKinematics(self.model, self.data, neutral)
        self.R0 = {
            frame.name: self.data.oMf[i].rotation.copy()
            for i, frame in enumerate(self.model.frames)
            if frame.type == pinocchio.FrameType.BODY
        }

    def state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds of order 1; cosine and sine for joints that turn freely."""
        q = self.pin.neutral(self.model)
        v = rng.normal(size=self.model.nv)
        q = self.pin.integrate(self.model, q, rng.uniform(-1.0, 1.0, size=self.model.nv))
        return q, v

    def frame(self, body: str) -> int:
        return int(self.model.getFrameId(self.origins[body], self.pin.FrameType.BODY))

    def body_motion(self, body: str) -> dict[str, np.ndarray]:
        """Pose, velocity and acceleration of the mass centre, W, body axes as in the document."""
        at = self.frame(body)
        placement = self.data.oMf[at]
        world = self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        twist = self.pin.getFrameVelocity(self.model, self.data, at, world)
        rate = self.pin.getFrameClassicalAcceleration(self.model, self.data, at, world)
        R_WB = placement.rotation @ self.R0[self.origins[body]].T
        arm = R_WB @ np.array(self.document["bodies"][body]["com"])
        w, alpha = twist.angular, rate.angular
        turning = np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        return {
            "position": placement.translation + arm,
            "R_WB": R_WB,
            "velocity": twist.linear + np.cross(w, arm),
            "w": R_WB.T @ w,
            "acceleration": rate.linear + turning,
            "alpha": R_WB.T @ alpha,
        }

    def joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(self.origins[name])]

    def coordinate(self, name: str, q: np.ndarray) -> float:
        """The value of a joint of one freedom."""
        joint = self.joint(name)
        value = q[joint.idx_q : joint.idx_q + joint.nq]
        return float(value[0]) if joint.nq == 1 else float(np.arctan2(value[1], value[0]))


def acceleration_error(
    file: Path, made: Imported, states: int, rng: np.random.Generator, *, free: bool
) -> float:
    """Largest difference of the accelerations of mass centres [m/s^2] and of angular
    accelerations [rad/s^2], over the largest of its kind in the state, or over 1."""
    plain = bare(made.document)
    robot = Robot(file, plain, made.origins, free=free)
    model = Model.from_document(plain, str(file))
    start = vbg.start(model)
    worst = 0.0
    for _ in range(states):
        q, v = robot.state(rng)
        a = robot.pin.aba(robot.model, robot.data, q, v, np.zeros(robot.model.nv))
        robot.pin.forwardKinematics(robot.model, robot.data, q, v, a)
        robot.pin.updateFramePlacements(robot.model, robot.data)
        motions = {name: robot.body_motion(name) for name in plain["bodies"]}
        x = _state(start, model, motions, robot, q)
        rate = start.rate(0.0, x)
        found = _accelerations(start.system, model, motions, rate)
        for kind in ("acceleration", "alpha"):
            scale = max(1.0, *(float(np.abs(m[kind]).max()) for m in motions.values()))
            gap = max(float(np.abs(found[n][kind] - m[kind]).max()) for n, m in motions.items())
            worst = float(np.maximum(worst, gap / scale))
    return worst


def _inertia(model: Model, name: str) -> np.ndarray:
    xx, yy, zz, xy, yz, zx = model.bodies[name].inertia
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def _state(start: Any, model: Model, motions: Any, robot: Robot, q: np.ndarray) -> np.ndarray:
    """x of the System from poses and velocities that Pinocchio found."""
    x = np.array(start.state)
    for part in start.system.slices:
        owner, _, what = part.state.name.partition(".")
        if owner in motions:
            motion, body = motions[owner], model.bodies[owner]
            x[part.first : part.last] = {
                "momentum": body.mass * motion["velocity"],
                "angular_momentum": _inertia(model, owner) @ motion["w"],
                "position": motion["position"],
                "rotation": quaternion_from_matrix(motion["R_WB"]),
                "quaternion": quaternion_from_matrix(motion["R_WB"]),
            }[what]
        elif owner in model.joints:
            x[part.first : part.last] = robot.coordinate(owner, q)
    return x


def _accelerations(system: Any, model: Model, motions: Any, rate: np.ndarray) -> dict[str, Any]:
    found: dict[str, Any] = {name: {} for name in motions}
    for part in system.slices:
        owner, _, what = part.state.name.partition(".")
        change = rate[part.first : part.last]
        if what == "momentum" and owner in motions:
            found[owner]["acceleration"] = change / model.bodies[owner].mass
        elif what == "angular_momentum":
            found[owner]["alpha"] = np.linalg.solve(_inertia(model, owner), change)
    return found


def load_errors(
    file: Path, made: Imported, states: int, rng: np.random.Generator, *, free: bool
) -> tuple[float, float, float]:
    """Largest differences of drive loads, and of forces and moments in all joints, for given
    motions, each over the largest of its kind; NaN for a robot that has freedoms without a drive.
    (Joints of links without mass, which the import leaves out, ask for nothing, however they
    move.)"""
    plain = bare(made.document)
    robot = Robot(file, plain, made.origins, free=free)
    one = [n for n in plain["joints"] if robot.model.existJointName(made.origins[n])]
    held = {n for n in one if plain["joints"][n]["kind"] in DRIVEN}
    if free or any(j["kind"] != "fixed" and n not in held for n, j in plain["joints"].items()):
        return math.nan, math.nan, math.nan
    worst = np.zeros(3)
    for _ in range(states):
        q, v = robot.state(rng)
        a = rng.normal(size=robot.model.nv)
        robot.pin.forwardKinematics(robot.model, robot.data, q, v)
        expected = robot.pin.rnea(robot.model, robot.data, q, v, a)
        signals = _driven(file, plain, robot, one, (q, v, a))
        found: tuple[list[Any], ...] = ([], [], [])
        wanted: tuple[list[Any], ...] = ([], [], [])
        for name in one:
            at = robot.model.getJointId(robot.origins[name])
            load, R_WJ = robot.data.f[at], robot.data.oMi[at].rotation
            force, moment = (np.ravel(signals[f"{name}.{key}"]) for key in ("force", "torque"))
            along = force if plain["joints"][name]["kind"] == "prismatic" else moment
            axis = _axis(robot, name, plain["joints"][name])
            for k, pair in enumerate(
                (
                    (axis @ along, expected[robot.joint(name).idx_v]),
                    (force, R_WJ @ load.linear),
                    (moment, R_WJ @ load.angular),
                )
            ):
                found[k].append(pair[0])
                wanted[k].append(pair[1])
        for k in range(3):
            right = np.array(wanted[k])
            gap = np.abs(np.array(found[k]) - right).max()
            worst[k] = max(worst[k], gap / max(float(np.abs(right).max()), 1e-3))
    return float(worst[0]), float(worst[1]), float(worst[2])


def _driven(
    file: Path, plain: Mapping[str, Any], robot: Robot, joints: list[str], motion: Any
) -> Mapping[str, Any]:
    """Signals at the start of the machine whose `joints` have drives of this motion q, v, a."""
    q, v, a = motion
    driven = deepcopy(dict(plain))
    for name in joints:
        joint, at = driven["joints"][name], robot.joint(name)
        start, speed, rate = robot.coordinate(name, q), float(v[at.idx_v]), float(a[at.idx_v])
        joint["drive"] = f"({start!r}) + ({speed!r})*t + ({rate!r})/2*t**2"
        joint.pop("initial", None)
    start = vbg.start(Model.from_document(driven, str(file)))
    return start.outputs(0.0, start.state)


def _axis(robot: Robot, name: str, joint: Mapping[str, Any]) -> np.ndarray:
    """The joint's axis in W: it is the same in both bodies' axes."""
    body = joint["between"][1].partition(".")[0]
    placement = robot.data.oMi[robot.model.getJointId(robot.origins[name])]
    frame = robot.frame(body)
    R_WL = placement.rotation @ robot.model.frames[frame].placement.rotation
    return R_WL @ robot.R0[robot.origins[body]].T @ np.array(joint["axis"])


if __name__ == "__main__":
    main()
