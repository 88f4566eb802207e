"""Random machines for the law tests: general positions, axes, inertias and speeds.

A machine is plain data, as a model file says it, so that tests can rename,
reorder, flip and move it and build the Model again.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import vbg
from vbg.spatial import quaternion_from_matrix, rotation_matrix

Table = dict[str, dict[str, Any]]

KINDS = (
    "revolute",
    "prismatic",
    "cylindrical",
    "helical",
    "universal",
    "spherical",
    "planar",
    "point_on_line",
    "point_on_plane",
    "distance",
    "fixed",
)
# Directions that each kind constrains, for counting freedoms.
CONSTRAINED = {
    "revolute": 5,
    "prismatic": 5,
    "cylindrical": 4,
    "helical": 5,
    "universal": 4,
    "spherical": 3,
    "planar": 3,
    "point_on_line": 2,
    "point_on_plane": 1,
    "distance": 1,
    "fixed": 6,
}


@dataclass
class Machine:
    """Tables of a model; poses of the bodies at the start, in the world."""

    gravity: np.ndarray
    bodies: Table = field(default_factory=dict)
    joints: Table = field(default_factory=dict)
    forces: Table = field(default_factory=dict)

    def model(self) -> vbg.Model:
        tables = copy.deepcopy(
            {"bodies": self.bodies, "joints": self.joints, "forces": self.forces}
        )
        return vbg.Model(name="random machine", gravity=list(self.gravity), **tables)

    def pose(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        """Position and rotation matrix of a body, or of ground."""
        if body == "ground":
            return np.zeros(3), np.eye(3)
        entry = self.bodies[body]
        return np.array(entry["position"]), rotation_matrix(entry["rotation"]["quaternion"])

    def at(self, body: str, point: np.ndarray) -> dict[str, Any]:
        """The attachment on `body` of a point of the world."""
        p, R = self.pose(body)
        return {"body": body, "at": list(R.T @ (point - p))}


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_body(rng: np.random.Generator) -> dict[str, Any]:
    """Inertia of a cloud of points, so that every inequality of real bodies holds."""
    mass = rng.uniform(0.5, 2.0)
    cloud = rng.normal(scale=0.2, size=(8, 3))
    cloud -= cloud.mean(axis=0)
    J = mass / 8 * (np.sum(cloud**2) * np.eye(3) - cloud.T @ cloud)
    quat = rng.normal(size=4)
    return {
        "mass": mass,
        "inertia": {
            "xx": J[0, 0],
            "yy": J[1, 1],
            "zz": J[2, 2],
            "xy": J[0, 1],
            "yz": J[1, 2],
            "zx": J[2, 0],
        },
        "position": list(rng.uniform(-1.0, 1.0, size=3)),
        "rotation": {"quaternion": list(quat / np.linalg.norm(quat))},
        "velocity": list(rng.uniform(-1.0, 1.0, size=3)),
        "angular_velocity": list(rng.uniform(-2.0, 2.0, size=3)),
    }


def join(
    machine: Machine, rng: np.random.Generator, name: str, kind: str, first: str, second: str
) -> None:
    """A joint of `kind` between two bodies, as the poses stand, at a random place; joints
    that slide have slid already."""
    place = machine.pose(second)[0] + rng.uniform(-0.5, 0.5, size=3)
    axis, gone = unit(rng), rng.uniform(0.1, 0.4)
    entry: dict[str, Any] = {"kind": kind}
    slid = np.zeros(3)
    if kind in ("prismatic", "cylindrical", "point_on_line"):
        entry["initial"] = {"slide": gone}
        slid = gone * axis
    elif kind == "helical":
        entry["lead"] = rng.uniform(0.05, 0.2)
        entry["initial"] = {"angle": gone}
        slid = entry["lead"] * gone * axis
        slid = entry["lead"] * gone * axis
    elif kind in ("planar", "point_on_plane"):
        slid = gone * np.cross(axis, unit(rng))
    elif kind == "distance":
        slid = gone * axis
    entry["between"] = [machine.at(first, place - slid), machine.at(second, place)]
    if kind not in ("spherical", "distance", "fixed"):
        entry["axis"] = list(machine.pose(first)[1].T @ axis)
    if kind == "universal":
        across = np.cross(axis, unit(rng))
        entry["axis2"] = list(machine.pose(second)[1].T @ (across / np.linalg.norm(across)))
    machine.joints[name] = entry


def random_tree(seed: int, n: int = 3, kinds: tuple[str, ...] = KINDS) -> Machine:
    """n bodies, each joined to ground or to one before it, with a spring or two."""
    rng = np.random.default_rng(seed)
    machine = Machine(gravity=rng.uniform(-10.0, 10.0, size=3))
    names = ["ground"]
    for k in range(n):
        name = f"body{k}"
        machine.bodies[name] = random_body(rng)
        kind = kinds[int(rng.integers(len(kinds)))]
        join(machine, rng, f"joint{k}", kind, names[int(rng.integers(len(names)))], name)
        names.append(name)
    ends = [machine.at("ground", rng.normal(size=3)), machine.at(names[-1], rng.normal(size=3))]
    machine.forces["spring"] = {
        "kind": "spring",
        "between": ends,
        "k": rng.uniform(5.0, 20.0),
        "length": rng.uniform(0.1, 0.5),
    }
    return machine


def random_loop(seed: int, n: int = 3) -> Machine:
    """A tree whose last body is joined once more, to ground, leaving freedoms."""
    rng = np.random.default_rng(seed + 10_000)
    while True:
        machine = random_tree(int(rng.integers(1 << 30)), n)
        kind = ("point_on_plane", "distance", "point_on_line", "spherical")[int(rng.integers(4))]
        constrained = sum(CONSTRAINED[joint["kind"]] for joint in machine.joints.values())
        if 6 * n - constrained - CONSTRAINED[kind] >= 2:
            join(machine, rng, "closing", kind, "ground", f"body{n - 1}")
            return machine


def moved(machine: Machine, Q: np.ndarray, d: np.ndarray) -> Machine:
    """The same machine seen from another world frame: p -> Q p + d."""
    other = copy.deepcopy(machine)
    other.gravity = Q @ machine.gravity
    for body in other.bodies.values():
        R = rotation_matrix(body["rotation"]["quaternion"])
        body["position"] = list(Q @ np.array(body["position"]) + d)
        body["velocity"] = list(Q @ np.array(body["velocity"]))
        body["rotation"] = {"quaternion": list(quaternion_from_matrix(Q @ R))}
    for part in (*other.joints.values(), *other.forces.values()):
        ends = [end for end in part.get("between", ()) if isinstance(end, dict)]
        for end in ends:
            if end["body"] == "ground":
                end["at"] = list(Q @ np.array(end["at"]) + d)
        if not ends or ends[0]["body"] != "ground":
            continue
        if "axis" in part:
            part["axis"] = list(Q @ np.array(part["axis"]))
        for matrix in {"stiffness", "damping"} & part.keys():
            both = np.kron(np.eye(2), Q)  # translation and rotation, in the ground's axes
            part[matrix] = (both @ np.array(part[matrix]) @ both.T).tolist()
    for part in other.forces.values():
        if part.get("axes") == "world":
            old = part[part["kind"]]
            part[part["kind"]] = [
                " + ".join(f"({q:.17g})*({entry})" for q, entry in zip(row, old, strict=True))
                for row in Q
            ]
    return other


def renamed(machine: Machine, rng: np.random.Generator) -> tuple[Machine, dict[str, str]]:
    """Other names, tables in another order; old name -> new name."""
    old = [*machine.bodies, *machine.joints, *machine.forces]
    names = {name: f"n{k}" for name, k in zip(old, rng.permutation(len(old)), strict=True)}
    names["ground"] = "ground"

    def table(entries: Table) -> Table:
        shuffled = [list(entries)[k] for k in rng.permutation(len(entries))]
        return {names[name]: copy.deepcopy(entries[name]) for name in shuffled}

    other = Machine(
        machine.gravity, table(machine.bodies), table(machine.joints), table(machine.forces)
    )
    for part in (*other.joints.values(), *other.forces.values()):
        between = part.get("between", [])
        for k, end in enumerate(between):
            between[k] = _renamed_end(end, names)
        if "on" in part:
            part["on"] = _renamed_end(part["on"], names)
    return other, names


def _renamed_end(end: Any, names: dict[str, str]) -> Any:
    if isinstance(end, str):
        return "joints." + names[end.removeprefix("joints.")]
    return {**end, "body": names[end["body"]]}


def flipped(machine: Machine, joint: str) -> Machine:
    """First and second body of one joint exchanged."""
    other = copy.deepcopy(machine)
    entry = other.joints[joint]
    first, second = (end["body"] for end in entry["between"])
    entry["between"].reverse()
    if "axis2" in entry:
        entry["axis"], entry["axis2"] = entry["axis2"], entry["axis"]
    elif "axis" in entry:
        world = machine.pose(first)[1] @ np.array(entry["axis"])
        entry["axis"] = list(machine.pose(second)[1].T @ world)
        if entry["kind"] != "planar":
            # Seen from the other side along the reversed axis, coordinates keep their values.
            entry["axis"] = [-component for component in entry["axis"]]
    return other
