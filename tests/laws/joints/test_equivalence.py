"""A joint equals the simpler joints it is made of, and two bodies held together equal one."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import Machine, random_body, unit
from vbg.solution import Solution
from vbg.spatial import rotation_matrix

# A link between two joints that is too light to be felt at the tolerance of the comparison.
LIGHT = {"mass": 1e-7, "inertia": {"xx": 1e-9, "yy": 1e-9, "zz": 1e-9}}
T_END, STEP = 0.5, 0.05


def solve(machine: Machine) -> Solution:
    system = vbg.assemble(machine.model())
    solution = vbg.simulate(system, t_end=T_END, output_step=STEP, rtol=1e-9, atol=1e-11)
    assert solution.status.code == "finished", solution.status
    return solution


def hung(seed: int) -> tuple[Machine, np.random.Generator, np.ndarray]:
    """One body at rest, and a place for its joint to ground."""
    rng = np.random.default_rng(seed)
    machine = Machine(gravity=rng.uniform(-10.0, 10.0, size=3))
    body = random_body(rng)
    body["velocity"] = body["angular_velocity"] = [0.0, 0.0, 0.0]
    machine.bodies["body"] = body
    return machine, rng, machine.pose("body")[0] + rng.uniform(-0.5, 0.5, size=3)


def in_two(machine: Machine, place: np.ndarray, kinds: list[tuple[str, np.ndarray]]) -> Machine:
    """The same body on two joints with a light link, its axes parallel to the world's."""
    link = {**LIGHT, "position": list(place), "rotation": {"quaternion": [1.0, 0.0, 0.0, 0.0]}}
    link["velocity"] = link["angular_velocity"] = [0.0, 0.0, 0.0]
    other = Machine(machine.gravity, {**machine.bodies, "link": link})
    (first, axis), (second, axis2) = kinds
    other.joints["first"] = {
        "kind": first,
        "between": [other.at("ground", place), other.at("link", place)],
        "axis": list(axis),
    }
    other.joints["second"] = {
        "kind": second,
        "between": [other.at("link", place), other.at("body", place)],
        "axis": list(axis2),
    }
    return other


def assert_same_motion_and_force(one: Solution, two: Solution) -> None:
    for what in ("position", "angular_velocity"):
        assert_allclose(two[f"body.{what}"], one[f"body.{what}"], atol=2e-5)
    for what in ("force", "torque"):
        expected = one[f"joint.{what}"]
        assert_allclose(two[f"second.{what}"], expected, atol=2e-4 * (1 + abs(expected).max()))


def test_a_universal_joint_is_two_revolutes():
    machine, rng, place = hung(1)
    axis = unit(rng)
    across = np.cross(axis, unit(rng))
    across /= np.linalg.norm(across)
    two = in_two(machine, place, [("revolute", axis), ("revolute", across)])
    machine.joints["joint"] = {
        "kind": "universal",
        "between": [machine.at("ground", place), machine.at("body", place)],
        "axis": list(axis),
        "axis2": list(machine.pose("body")[1].T @ across),
    }
    one, two = solve(machine), solve(two)
    assert_same_motion_and_force(one, two)
    assert_allclose(one["joint.angle"], two["first.angle"], atol=2e-5)
    assert_allclose(one["joint.angle2"], two["second.angle"], atol=2e-5)


def test_a_cylindrical_joint_is_a_revolute_and_a_prismatic():
    machine, rng, place = hung(2)
    axis = unit(rng)
    two = in_two(machine, place, [("prismatic", axis), ("revolute", axis)])
    machine.joints["joint"] = {
        "kind": "cylindrical",
        "between": [machine.at("ground", place), machine.at("body", place)],
        "axis": list(axis),
    }
    one, two = solve(machine), solve(two)
    assert_same_motion_and_force(one, two)
    assert_allclose(one["joint.slide"], two["first.slide"], atol=2e-5)
    assert_allclose(one["joint.angle"], two["second.angle"], atol=2e-5)


def test_a_screw_is_a_slider_and_a_hinge_with_a_rack():
    """slide = lead * angle as a coupling of two joints."""
    machine, rng, place = hung(4)
    axis, lead = unit(rng), 0.13
    two = in_two(machine, place, [("prismatic", axis), ("revolute", axis)])
    two.joints["thread"] = {
        "kind": "rack_pinion",
        "between": ["joints.second", "joints.first"],
        "ratio": lead,
    }
    machine.joints["joint"] = {
        "kind": "helical",
        "between": [machine.at("ground", place), machine.at("body", place)],
        "axis": list(axis),
        "lead": lead,
    }
    one, two = solve(machine), solve(two)
    assert abs(one["joint.angle"][-1]) > 0.5
    for what in ("position", "angular_velocity"):
        assert_allclose(two[f"body.{what}"], one[f"body.{what}"], atol=2e-5)
    assert_allclose(one["joint.slide"], two["first.slide"], atol=2e-5)
    assert_allclose(one["joint.angle"], two["second.angle"], atol=2e-5)
    # The hinge carries all but the thread's share: its effort on the slide goes to the link,
    # its opposite, times the lead, is a torque of the hinge.
    thread, along = two["thread.effort"][:, None], axis[None, :]
    assert_allclose(two["second.torque"] - lead * thread * along, one["joint.torque"], atol=1e-3)
    assert_allclose(two["second.force"], one["joint.force"], atol=1e-3)


def test_a_rod_of_given_length_is_a_light_link_on_two_balls():
    machine, _, place = hung(5)
    anchor = place + np.array([0.4, -0.3, 0.5])
    length = float(np.linalg.norm(place - anchor))
    two = Machine(machine.gravity, {**machine.bodies})
    two.bodies["link"] = {
        "mass": 1e-7,
        "inertia": {"xx": 1e-8, "yy": 1e-8, "zz": 1e-8},
        "position": list((place + anchor) / 2),
        "rotation": {"quaternion": [1.0, 0.0, 0.0, 0.0]},
        "velocity": [0.0, 0.0, 0.0],
        "angular_velocity": [0.0, 0.0, 0.0],
    }
    for name, first, second, where in (
        ("foot", "ground", "link", anchor),
        ("second", "link", "body", place),
    ):
        two.joints[name] = {
            "kind": "spherical",
            "between": [two.at(first, where), two.at(second, where)],
        }
    machine.joints["joint"] = {
        "kind": "distance",
        "between": [machine.at("ground", anchor), machine.at("body", place)],
        "length": length,
    }
    assert_same_motion_and_force(solve(machine), solve(two))


def matrix(J: dict[str, float]) -> np.ndarray:
    return np.array(
        [[J["xx"], J["xy"], J["zx"]], [J["xy"], J["yy"], J["yz"]], [J["zx"], J["yz"], J["zz"]]]
    )


def merged(machine: Machine) -> Machine:
    """The two bodies of `machine` as one, with axes parallel to the world's (Steiner)."""
    a, b = machine.bodies["body"], machine.bodies["rider"]
    mass = a["mass"] + b["mass"]
    centre = (a["mass"] * np.array(a["position"]) + b["mass"] * np.array(b["position"])) / mass
    J = np.zeros((3, 3))
    for body in (a, b):
        R = rotation_matrix(body["rotation"]["quaternion"])
        d = np.array(body["position"]) - centre
        J += R @ matrix(body["inertia"]) @ R.T
        J += body["mass"] * (d @ d * np.eye(3) - np.outer(d, d))
    names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}
    one = Machine(machine.gravity)
    one.bodies["body"] = {
        "mass": mass,
        "inertia": {name: J[k] for name, k in names.items()},
        "position": list(centre),
        "rotation": {"quaternion": [1.0, 0.0, 0.0, 0.0]},
    }
    return one


def test_two_bodies_fixed_to_each_other_are_one():
    """Motion of the common mass centre and force and torque of the joint that carries both."""
    machine, rng, place = hung(3)
    rider = random_body(rng)
    rider["velocity"] = rider["angular_velocity"] = [0.0, 0.0, 0.0]
    machine.bodies["rider"] = rider
    axis = list(unit(rng))
    one = merged(machine)
    for m in (machine, one):
        m.joints["joint"] = {
            "kind": "revolute",
            "between": [m.at("ground", place), m.at("body", place)],
            "axis": axis,
        }
    there = machine.pose("rider")[0]
    machine.joints["weld"] = {
        "kind": "fixed",
        "between": [machine.at("body", there), machine.at("rider", there)],
    }
    two, one = solve(machine), solve(one)
    masses = [machine.bodies[name]["mass"] for name in ("body", "rider")]
    centre = (masses[0] * two["body.position"] + masses[1] * two["rider.position"]) / sum(masses)
    assert_allclose(centre, one["body.position"], atol=1e-8)
    for what in ("joint.angle", "joint.speed", "joint.force", "joint.torque"):
        assert_allclose(two[what], one[what], atol=1e-6 * (1 + abs(one[what]).max()))
