"""The families of machines that speed is measured on, for vbg and for Pinocchio."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

import vbg

LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81
# A thin rod; its moment about its own axis is not felt in plane motion.
ALONG, ACROSS = 1e-4, MASS * LENGTH**2 / 12.0


def chain(n: int, across: float = 0.0) -> vbg.Model:
    """n uniform rods, each on the end of the one before, revolutes about y, horizontal;
    `across`: what pulls along y [m/s^2]."""
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    end: Any = "ground"
    for k in range(n):
        bodies[f"rod{k}"] = {
            "mass": MASS,
            "inertia": {"xx": ALONG, "yy": ACROSS, "zz": ACROSS},
            "position": [(k + 0.5) * LENGTH, 0.0, 0.0],
            "points": {"A": [-LENGTH / 2, 0.0, 0.0], "B": [LENGTH / 2, 0.0, 0.0]},
        }
        joints[f"hinge{k}"] = {
            "kind": "revolute",
            "between": [end, f"rod{k}.A"],
            "axis": [0.0, 1.0, 0.0],
        }
        end = f"rod{k}.B"
    return vbg.Model(
        name=f"chain of {n}", gravity=[0.0, across, -GRAVITY], bodies=bodies, joints=joints
    )


def windows(n: int, *, redundant: bool, tilt: float = 0.3) -> vbg.Model:
    """n parallelogram windows of equal rods in the plane xy (IFToMM A02, generalised).

    Verticals V0 ... Vn stand on revolutes, couplers C1 ... Cn join their tops; `tilt` is
    their angle from upright, clockwise.  Not `redundant`: a universal joint at the left end
    of each coupler and a ball joint at the right, so that every reaction is determined.
    `redundant`: revolutes everywhere, three reactions too many in every window.
    """
    s, c = np.sin(tilt), np.cos(tilt)
    turn = {"axis": [0.0, 0.0, 1.0], "angle": -tilt}
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {}
    for k in range(n + 1):
        bodies[f"V{k}"] = {
            "mass": MASS,
            "inertia": {"xx": ACROSS, "yy": ALONG, "zz": ACROSS},
            "position": [k * LENGTH + s / 2, c / 2, 0.0],
            "rotation": turn,
            "velocity": [c / 2, -s / 2, 0.0],
            "angular_velocity": [0.0, 0.0, -1.0],
            "points": {"foot": [0.0, -LENGTH / 2, 0.0], "top": [0.0, LENGTH / 2, 0.0]},
        }
        joints[f"foot{k}"] = {
            "kind": "revolute",
            "between": [{"body": "ground", "at": [k * LENGTH, 0.0, 0.0]}, f"V{k}.foot"],
            "axis": [0.0, 0.0, 1.0],
        }
    for k in range(1, n + 1):
        bodies[f"C{k}"] = {
            "mass": MASS,
            "inertia": {"xx": ALONG, "yy": ACROSS, "zz": ACROSS},
            "position": [(k - 0.5) * LENGTH + s, c, 0.0],
            "velocity": [c, -s, 0.0],
            "points": {"left": [-LENGTH / 2, 0.0, 0.0], "right": [LENGTH / 2, 0.0, 0.0]},
        }
        axis = [0.0, 0.0, 1.0]
        plain = {"kind": "revolute", "axis": axis}
        left = plain if redundant else {"kind": "universal", "axis": axis, "axis2": [0.0, 1.0, 0.0]}
        right = plain if redundant else {"kind": "spherical"}
        joints[f"left{k}"] = {"between": [f"V{k - 1}.top", f"C{k}.left"], **left}
        joints[f"right{k}"] = {"between": [f"C{k}.right", f"V{k}.top"], **right}
    return vbg.Model(
        name=f"{n} windows", gravity=[0.0, -GRAVITY, 0.0], bodies=bodies, joints=joints
    )


def scissor_lift(n: int, angle: float = 0.6) -> vbg.Model:
    """n crossed pairs of equal bars in the plane xz, one on top of the other, revolutes about y
    in space: one freedom, and three rows too many in each of the n - 1 closed diamonds.

    Bars a rise to the right, b to the left, both at `angle` from the horizontal.  a0 stands
    on a revolute, b0 on a point that slides on the ground.
    """
    c, s = np.cos(angle), np.sin(angle)
    pin = {"kind": "revolute", "axis": [0.0, 1.0, 0.0]}
    bodies: dict[str, Any] = {}
    joints: dict[str, Any] = {"foot": {**pin, "between": ["ground", "a0.left"]}}
    for k in range(n):
        for name, slope in ((f"a{k}", angle), (f"b{k}", -angle)):
            bodies[name] = {
                "mass": MASS,
                "inertia": {"xx": ALONG, "yy": ACROSS, "zz": ACROSS},
                "position": [c * LENGTH / 2, 0.0, (k + 0.5) * s * LENGTH],
                "rotation": {"axis": [0.0, 1.0, 0.0], "angle": -slope},
                "points": {"left": [-LENGTH / 2, 0.0, 0.0], "right": [LENGTH / 2, 0.0, 0.0]},
            }
        joints[f"middle{k}"] = {**pin, "between": [f"a{k}", f"b{k}"]}
        if k > 0:
            joints[f"left{k}"] = {**pin, "between": [f"b{k - 1}.left", f"a{k}.left"]}
            joints[f"right{k}"] = {**pin, "between": [f"a{k - 1}.right", f"b{k}.right"]}
    sliding = {"kind": "point_on_plane", "axis": [0.0, 0.0, 1.0]}
    joints["slide"] = {**sliding, "between": ["ground", "b0.right"]}
    return vbg.Model(
        name=f"scissor lift of {n}", gravity=[0.0, 0.0, -GRAVITY], bodies=bodies, joints=joints
    )


def has_pinocchio() -> bool:
    """Whether Pinocchio is installed: pip install 'vbg[bench]'."""
    return find_spec("pinocchio") is not None


def pin_chain(n: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Pinocchio's model of `chain(n)`, its coordinates and speeds there."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    inertia = pin.Inertia(MASS, np.array([LENGTH / 2, 0.0, 0.0]), np.diag([ALONG, ACROSS, ACROSS]))
    parent = 0
    for k in range(n):
        at = np.array([LENGTH if k else 0.0, 0.0, 0.0])
        parent = model.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), at), f"hinge{k}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model, np.zeros(n), np.zeros(n)


def pin_windows(n: int, tilt: float = 0.3) -> tuple[Any, np.ndarray, np.ndarray, list[Any]]:
    """Pinocchio's model of `windows(n)`: a comb of hinges about z with the feet of
    V1 ... Vn closed by three-dimensional point constraints.

    Tree: V0 on ground, C1 on V0, V1 hanging from C1, C2 on V1's top, ...
    """
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, -GRAVITY, 0.0])
    upright = pin.Inertia(MASS, np.array([0.0, LENGTH / 2, 0.0]), np.diag([ACROSS, ALONG, ACROSS]))
    hanging = pin.Inertia(MASS, np.array([0.0, -LENGTH / 2, 0.0]), np.diag([ACROSS, ALONG, ACROSS]))
    coupler = pin.Inertia(MASS, np.array([LENGTH / 2, 0.0, 0.0]), np.diag([ALONG, ACROSS, ACROSS]))

    def hinge(parent: int, at: list[float], inertia: Any, name: str) -> int:
        placement = pin.SE3(np.eye(3), np.array(at))
        joint = model.addJoint(parent, pin.JointModelRZ(), placement, name)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        return joint

    left = hinge(0, [0.0, 0.0, 0.0], upright, "V0")
    top = [0.0, LENGTH, 0.0]
    angles, speeds, loops = [-tilt], [-1.0], []
    for k in range(1, n + 1):
        bar = hinge(left, top, coupler, f"C{k}")
        left = hinge(bar, [LENGTH, 0.0, 0.0], hanging, f"V{k}")
        top = [0.0, 0.0, 0.0]
        angles += [tilt, -tilt]
        speeds += [1.0, -1.0]
        foot = pin.SE3(np.eye(3), np.array([0.0, -LENGTH, 0.0]))
        ground = pin.SE3(np.eye(3), np.array([k * LENGTH, 0.0, 0.0]))
        loops.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, left, foot, 0, ground)
        )
    return model, np.array(angles), np.array(speeds), loops
