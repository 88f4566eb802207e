"""Robots whose mass matrix is nearly singular: which side is right, by arithmetic of 50 digits.

    python -m benchmarks.accuracy.robots_exact FILE.urdf ... [--states 3] [--seed 1]

Accelerations of all joints from M(q) a = -h(q, v), summed over the bodies in mpmath, of two trees:
the file's own links, which is what Pinocchio solves, and the bodies that vbg made of them.  Beside
each stands what its solver finds in double precision; the last column is what the import itself has
changed (links without mass or moments that were given some).  Errors are relative to the
largest acceleration of the state.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import vbg
from benchmarks.accuracy.robots import Robot, _accelerations, _imported, _state, bare
from vbg.model import Model

DIGITS = 50
Exact = np.ndarray[Any, Any]  # of mpmath's numbers


@dataclass(frozen=True)
class Node:
    """A body on `parent` (-1: the ground) by the joint `name` of `kind` (revolute, prismatic,
    fixed) about `axis`, which sits at (R, p) in the parent; behind it `centre`, that of mass."""

    name: str
    parent: int
    kind: str
    axis: Exact
    R: Exact
    p: Exact
    mass: Any
    centre: Exact
    inertia: Exact


def exact(values: Any) -> Exact:
    """Numbers, or texts of numbers, as mpmath's."""
    flat = [mpmath.mpf(value) for value in np.ravel(np.array(values, dtype=object))]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def skew(a: Exact) -> Exact:
    o = mpmath.mpf(0)
    return np.array([[o, -a[2], a[1]], [a[2], o, -a[0]], [-a[1], a[0], o]], dtype=object)


def turn(axis: Exact, angle: Any) -> Exact:
    """Rodrigues' formula."""
    K = skew(axis)
    return exact(np.eye(3)) + mpmath.sin(angle) * K + (1 - mpmath.cos(angle)) * K.dot(K)


def accelerations(tree: list[Node], q: Mapping[str, Any], v: Mapping[str, Any]) -> dict[str, Any]:
    """Of every joint that moves a mass, by its name; none where the mass matrix is singular."""
    free = [node.name for node in tree if node.kind != "fixed"]
    n, g = len(free), exact([0, 0, "-9.81"])
    zero, M, h = exact(np.zeros(3)), exact(np.zeros((n, n))), exact(np.zeros(n))
    # of every body: pose, angular velocity, velocity, their rates at rest of the joints, Jacobian
    seen: list[tuple[Exact, ...]] = []
    ground = (exact(np.eye(3)), *[zero] * 5, exact(np.zeros((6, n))))
    for node in tree:
        R, p, w, u, alpha, a, J = seen[node.parent] if node.parent >= 0 else ground
        arm = R.dot(node.p)
        J = np.vstack([J[:3] - skew(arm).dot(J[3:]), J[3:]])
        p, u = p + arm, u + np.cross(w, arm)
        a = a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        R = R.dot(node.R)
        z = R.dot(node.axis)
        if node.kind == "revolute":
            k, rate = free.index(node.name), v[node.name]
            R = R.dot(turn(node.axis, q[node.name]))
            alpha, w = alpha + np.cross(w, z) * rate, w + z * rate
            J[3:, k] = z
        elif node.kind == "prismatic":
            k, rate, s = free.index(node.name), v[node.name], z * q[node.name]
            J = np.vstack([J[:3] - skew(s).dot(J[3:]), J[3:]])
            a = a + np.cross(alpha, s) + np.cross(w, np.cross(w, s)) + 2 * np.cross(w, z) * rate
            p, u = p + s, u + np.cross(w, s) + z * rate
            J[:3, k] = z
        seen.append((R, p, w, u, alpha, a, J))
        c = R.dot(node.centre)
        Jc = J[:3] - skew(c).dot(J[3:])
        I = R.dot(node.inertia).dot(R.T)
        ac = a + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        M = M + node.mass * Jc.T.dot(Jc) + J[3:].T.dot(I).dot(J[3:])
        h = h + node.mass * Jc.T.dot(ac - g)
        h = h + J[3:].T.dot(I.dot(alpha) + np.cross(w, I.dot(w)))
    held = [k for k in range(n) if M[k, k] != 0]  # behind the others there is no mass at all
    try:
        found = mpmath.lu_solve(
            mpmath.matrix(M[np.ix_(held, held)].tolist()), mpmath.matrix([-h[k] for k in held])
        )
    except ZeroDivisionError:
        return {}  # singular to the last digit: no accelerations
    return {free[k]: value for k, value in zip(held, found, strict=True)}


def of_file(file: Path) -> list[Node]:
    """The tree of links as written."""
    robot = xml.parse(file).getroot()
    links = {link.get("name"): link for link in robot.findall("link")}
    joints = robot.findall("joint")
    carried = {joint.find("child").get("link") for joint in joints}
    waiting, place, tree = [(name, -1) for name in links if name not in carried], {}, []
    for name, at in waiting:
        place[name] = at
        for joint in joints:
            if joint.find("parent").get("link") == name:
                child = joint.find("child").get("link")
                tree.append(_node(joint, links[child], at))
                waiting.append((child, len(tree) - 1))
    return tree


def _node(joint: Any, link: Any, parent: int) -> Node:
    kind = {"continuous": "revolute"}.get(joint.get("type"), joint.get("type"))
    axis = _three(joint.find("axis"), "xyz", "1 0 0")
    axis = axis / (mpmath.sqrt(axis.dot(axis)) or 1)  # fixed ones may write none
    R, p = _origin(joint)
    inertial = link.find("inertial")
    mass, centre, J = mpmath.mpf(0), exact(np.zeros(3)), exact(np.zeros((3, 3)))
    if inertial is not None:
        turned, centre = _origin(inertial)
        mass, i = mpmath.mpf(inertial.find("mass").get("value")), inertial.find("inertia")
        keys = (("ixx", "ixy", "ixz"), ("ixy", "iyy", "iyz"), ("ixz", "iyz", "izz"))
        J = turned.dot(exact([[i.get(key, "0") for key in row] for row in keys])).dot(turned.T)
    return Node(joint.get("name"), parent, kind, axis, R, p, mass, centre, J)


def _three(element: Any, key: str, default: str) -> Exact:
    text = default if element is None else element.get(key, default)
    return exact(text.split())


def _origin(element: Any) -> tuple[Exact, Exact]:
    """Rotation, Rz(yaw) Ry(pitch) Rx(roll), and place."""
    origin = element.find("origin")
    roll, pitch, yaw = _three(origin, "rpy", "0 0 0")
    x, y, z = exact(np.eye(3))
    return turn(z, yaw).dot(turn(y, pitch)).dot(turn(x, roll)), _three(origin, "xyz", "0 0 0")


def of_model(model: Model) -> list[Node]:
    """The bodies of an import, axes parallel where all coordinates are zero, from their mass
    centres: each joint sits at the end of the first body and carries the second."""
    tree: list[Node] = []
    at = {"ground": -1}
    left = dict(model.joints)
    while left:
        name, joint = next((n, j) for n, j in left.items() if j.between[0].body in at)
        del left[name]
        first, second = joint.between
        body = model.bodies[second.body]
        xx, yy, zz, xy, yz, zx = body.inertia
        tree.append(
            Node(
                name,
                at[first.body],
                joint.kind,
                exact(getattr(joint, "axis", (1.0, 0.0, 0.0))),
                exact(np.eye(3)),
                exact(first.at) + (tree[at[first.body]].centre if at[first.body] >= 0 else 0),
                exact(body.mass)[()],
                -exact(second.at),
                exact([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]),
            )
        )
        at[second.body] = len(tree) - 1
    return tree


def compare(file: Path, states: int, seed: int) -> tuple[float, float, float]:
    """Largest errors of Pinocchio on the file, of vbg on its import, and of the import; infinite
    where there is nothing to compare with."""
    made, free = _imported(file.read_text(), file)
    if free:
        raise SystemExit(f"{file.name}: its base floats.")
    plain = bare(made.document)
    robot, rng = Robot(file, plain, made.origins, free=False), np.random.default_rng(seed)
    model = Model.from_document(plain, str(file))
    start, own = vbg.start(model), of_model(model)
    numbers = {name: i for i, name in enumerate(robot.model.names)}
    # joints behind which there is no mass stand still here, as they do in `Robot`
    links = [n if n.name in numbers else replace(n, kind="fixed") for n in of_file(file)]
    worst = [0.0, 0.0, 0.0]
    for _ in range(states):
        q, v = robot.state(rng)
        a = robot.pin.aba(robot.model, robot.data, q, v, np.zeros(robot.model.nv)).copy()
        robot.pin.forwardKinematics(robot.model, robot.data, q, v, a)
        robot.pin.updateFramePlacements(robot.model, robot.data)
        motions = {name: robot.body_motion(name) for name in plain["bodies"]}
        rate = start.rate(0.0, _state(start, model, motions, robot, q))
        rates = _accelerations(start.system, model, motions, rate)
        by_file = {n.name: n.name for n in links if n.kind != "fixed"}
        by_own = {n.name: made.origins[n.name] for n in own if n.kind != "fixed"}
        truth = []
        for tree, names in ((links, by_file), (own, by_own)):
            at = {ours: _coordinate(robot, theirs, q) for ours, theirs in names.items()}
            speeds = {o: v[robot.model.joints[numbers[t]].idx_v] for o, t in names.items()}
            found = accelerations(tree, exact_of(at), exact_of(speeds))
            truth.append({names[joint]: float(value) for joint, value in found.items()})
        pinocchio = {name: a[robot.model.joints[numbers[name]].idx_v] for name in truth[0]}
        vbgs = {by_own[n]: value for n, value in _of_joints(model, motions, rates).items()}
        pairs = ((pinocchio, truth[0]), (vbgs, truth[1]), (truth[1], truth[0]))
        for k, (found, right) in enumerate(pairs):
            if not right:
                worst[k] = np.inf
                continue
            scale = max(1.0, *map(abs, right.values()))
            gap = max(abs(found[name] - right[name]) for name in found if name in right)
            worst[k] = max(worst[k], float(np.nan_to_num(gap / scale, nan=np.inf)))
    return worst[0], worst[1], worst[2]


def exact_of(values: Mapping[str, float]) -> dict[str, Any]:
    return {name: mpmath.mpf(value) for name, value in values.items()}


def _coordinate(robot: Robot, name: str, q: np.ndarray) -> Any:
    """The value of a joint of one freedom, of Pinocchio's name."""
    joint = robot.model.joints[robot.model.getJointId(name)]
    value = q[joint.idx_q : joint.idx_q + joint.nq]
    if joint.nq == 1:
        return float(value[0])
    return mpmath.atan2(mpmath.mpf(float(value[1])), mpmath.mpf(float(value[0])))


def _of_joints(model: Model, motions: Any, rates: Any) -> dict[str, float]:
    """Angular acceleration of every hinge: z . (alpha_B - alpha_A)."""
    found = {}
    for name, joint in model.joints.items():
        if joint.kind == "revolute":
            first, second = (end.body for end in joint.between)
            R = motions[second]["R_WB"]
            alpha = R @ rates[second]["alpha"]
            if first != "ground":
                alpha = alpha - motions[first]["R_WB"] @ rates[first]["alpha"]
            found[name] = float(R @ np.array(joint.axis) @ alpha)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    mpmath.mp.dps = DIGITS
    print(f"{'robot':24} Pinocchio on file  vbg on import  import on file")
    for file in given.files:
        one, two, three = compare(file, given.states, given.seed)
        print(f"{file.name:24} {one:17.1e}  {two:13.1e}  {three:14.1e}", flush=True)


if __name__ == "__main__":
    main()
