"""Joints, couplings, drives and stops against closed forms."""

from __future__ import annotations

from math import atan, pi, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import random_tree
from tests.laws.parts import at_rest, coupled, rolling_disc
from vbg.solution import Solution

G = 9.7
CUBE = {"mass": 1.4, "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04}}
OPTIONS = {"t_end": 0.8, "output_step": 0.02, "rtol": 1e-10, "atol": 1e-12}


def solve(model: vbg.Model, **options: Any) -> Solution:
    solution = vbg.simulate(vbg.assemble(model), **(OPTIONS | options))
    assert solution.status.code == "finished", solution.status
    return solution


# -- rolling -----------------------------------------------------------------------


def test_a_disc_rolls_straight_down_an_incline():
    """s'' = g sin(b) / (1 + J/(m r^2)) without slip; normal force m g cos(b), along the incline
    m g sin(b) J / (J + m r^2), uphill."""
    b, r, m, J, speed = 0.37, 0.31, 1.4, 0.05, 0.6
    n, down = np.array([np.sin(b), 0, np.cos(b)]), np.array([np.cos(b), 0, -np.sin(b)])
    disc = {
        "mass": m,
        "inertia": {"xx": 0.03, "yy": J, "zz": 0.03},
        "position": list(r * n),
        "velocity": list(speed * down),
        "angular_velocity": [0, speed / r, 0],
    }
    wheel = {
        "kind": "rolling",
        "between": ["ground", "disc"],
        "axis": list(n),
        "axis2": [0, 1, 0],
        "radius": r,
    }
    model = vbg.Model(
        name="roller", gravity=[0, 0, -G], bodies={"disc": disc}, joints={"wheel": wheel}
    )
    solution = solve(model)
    t, share = solution.time, J / (J + m * r * r)
    s = speed * t + 0.5 * G * np.sin(b) * (1 - share) * t**2
    assert_allclose(solution["disc.position"], r * n + s[:, None] * down, atol=1e-9)
    turned = solution["disc.angular_velocity"][:, 1] * r
    assert_allclose(turned, speed + G * np.sin(b) * (1 - share) * t, rtol=1e-9)
    force = m * G * (np.cos(b) * n - np.sin(b) * share * down)
    assert_allclose(solution["wheel.force"], np.tile(force, (len(t), 1)), atol=1e-8)
    assert solution.audit.energy_residual < 1e-9


@pytest.mark.parametrize("seed", [3, 4])
def test_a_wobbling_disc_keeps_energy_and_does_not_slip(seed):
    solution = solve(rolling_disc(seed).model(), t_end=0.4)
    assert solution.audit.energy_residual < 1e-9
    assert solution.audit.velocity_residual < 1e-10
    assert solution.audit.position_residual < 1e-10
    assert abs(solution["disc.angular_velocity"]).max() > 0.5


# -- couplings and screws ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["gear", "belt", "rack_pinion"])
def test_coupled_coordinates_keep_their_ratio(kind):
    machine = coupled(12, kind)
    solution = solve(machine.model())
    ratio = machine.joints["coupling"]["ratio"]
    second = "slide" if kind == "rack_pinion" else "angle"
    gone = [solution["first.angle"], solution[f"second.{second}"]]
    gone = [values - values[0] for values in gone]
    assert abs(gone[0]).max() > 0.1
    assert_allclose(gone[1], ratio * gone[0], atol=1e-10)
    assert_allclose(solution["second.speed"], ratio * solution["first.speed"], atol=1e-9)
    assert solution.audit.energy_residual < 1e-9


def test_a_screw_falls_with_its_nut_turning():
    """m s'' + (J / lead^2) s'' = m g along the axis; slide = lead * angle from a written angle on,
    and the assembly has nothing to move."""
    lead, angle, speed = 0.07, 0.45, 1.2
    screw = {
        "kind": "helical",
        "between": ["ground", "nut"],
        "axis": [0, 0, -1],
        "lead": lead,
        "initial": {"angle": angle, "speed": speed},
    }
    model = vbg.Model(
        name="screw", gravity=[0, 0, -G], bodies={"nut": dict(CUBE)}, joints={"screw": screw}
    )
    solution = solve(model)
    m, J, t = CUBE["mass"], CUBE["inertia"]["zz"], solution.time
    expected = angle + speed * t + 0.5 * m * G * lead / (J + m * lead**2) * t**2
    assert_allclose(solution["screw.angle"], expected, atol=1e-9)
    assert_allclose(solution["screw.slide"], lead * expected, atol=1e-10)
    assert_allclose(solution["nut.position"][:, 2], -lead * expected, atol=1e-10)
    assert not [note for note in solution.notes if "moved" in note.what]


# -- drives ------------------------------------------------------------------------

F = "0.4*sin(3.1*t) + 0.3*t**2 + 0.2*t + 0.15"


def f(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The drive, its rate and its second derivative."""
    return (
        0.4 * np.sin(3.1 * t) + 0.3 * t**2 + 0.2 * t + 0.15,
        1.24 * np.cos(3.1 * t) + 0.6 * t + 0.2,
        -3.844 * np.sin(3.1 * t) + 0.6,
    )


def driven(kind: str, **more: Any) -> vbg.Model:
    """One cube on ground, its mass centre at (0.3, 0, 0.2) from the joint, axis y."""
    joint = {
        "kind": kind,
        "between": ["ground", {"body": "cube", "at": [-0.3, 0, -0.2]}],
        "axis": [0, 1, 0],
        "drive": F,
        **more,
    }
    return vbg.Model(
        name="driven", gravity=[0.7, 1.9, -G], bodies={"cube": dict(CUBE)}, joints={"J": joint}
    )


def work_of_drive(solution: Solution, speed: np.ndarray) -> float:
    """Integral of drive * f' over the run, by Simpson on the output grid."""
    from scipy.integrate import simpson

    return float(simpson(solution["J.drive"] * speed, x=solution.time))


def test_a_driven_hinge_follows_and_its_torque_is_known():
    """angle = f, speed = f', J_A f'' = drive + moment of the weight about the axis."""
    solution = solve(driven("revolute"), output_step=0.005)
    angle, speed, rate = f(solution.time)
    assert_allclose(solution["J.angle"], angle, atol=1e-11)
    assert_allclose(solution["J.speed"], speed, atol=1e-10)
    m, c, s = CUBE["mass"], np.cos(angle), np.sin(angle)
    x, z = 0.3 * c + 0.2 * s, -0.3 * s + 0.2 * c
    weight_moment = m * (z * 0.7 - x * -G)
    J_A = CUBE["inertia"]["yy"] + m * (0.3**2 + 0.2**2)
    assert_allclose(solution["J.drive"], J_A * rate - weight_moment, atol=1e-9)
    assert_allclose(solution["J.torque"][:, 1], solution["J.drive"], atol=1e-9)
    assert_allclose(solution["energy.supplied"][-1], work_of_drive(solution, speed), rtol=1e-7)
    assert solution.audit.energy_residual < 1e-9


def test_a_driven_slider_follows_and_its_force_is_known():
    """m f'' = drive + m g_y; the joint's force along the axis is the drive."""
    solution = solve(driven("prismatic"), output_step=0.005)
    slide, speed, rate = f(solution.time)
    assert_allclose(solution["J.slide"], slide, atol=1e-11)
    assert_allclose(solution["J.speed"], speed, atol=1e-10)
    assert_allclose(solution["J.drive"], CUBE["mass"] * (rate - 1.9), atol=1e-10)
    assert_allclose(solution["J.force"][:, 1], solution["J.drive"], atol=1e-10)
    assert_allclose(solution["energy.supplied"][-1], work_of_drive(solution, speed), rtol=1e-7)
    assert solution.audit.energy_residual < 1e-9


def test_a_driven_screw_follows_in_both():
    """(J + m lead^2) f'' = drive + lead m g_y for a screw through the mass centre."""
    lead = 0.09
    model = driven("helical", lead=lead, between=["ground", "cube"])
    solution = solve(model, output_step=0.005)
    angle, speed, rate = f(solution.time)
    m, J = CUBE["mass"], CUBE["inertia"]["yy"]
    assert_allclose(solution["J.angle"], angle, atol=1e-11)
    assert_allclose(solution["J.slide"], lead * angle, atol=1e-11)
    assert_allclose(solution["cube.position"][:, 1], lead * angle, atol=1e-11)
    expected = (J + m * lead**2) * rate - lead * m * 1.9
    assert_allclose(solution["J.drive"], expected, atol=1e-9)
    assert_allclose(solution["energy.supplied"][-1], work_of_drive(solution, speed), rtol=1e-7)
    assert solution.audit.energy_residual < 1e-9


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_a_drive_in_a_tree_supplies_what_the_audit_counts(kind):
    """The drive of the last joint of a random tree, with friction beside it: the audit balances
    drive power against all motion."""
    machine = at_rest(random_tree(41, n=3, kinds=(kind,)))
    machine.joints["joint2"].pop("initial", None)
    machine.joints["joint2"]["drive"] = "0.3*sin(2.3*t)"
    machine.joints["joint1"]["friction"] = {"viscous": 0.4}
    solution = solve(machine.model())
    value = solution[f"joint2.{'slide' if kind == 'prismatic' else 'angle'}"]
    assert_allclose(value, 0.3 * np.sin(2.3 * solution.time), atol=1e-10)
    assert solution.audit.energy_residual < 1e-9
    assert solution["energy.dissipated"][-1] > 0.0
    assert abs(solution["energy.supplied"][-1]) > 1e-3


# -- stops -------------------------------------------------------------------------


def dropped(height: float, stop: dict[str, Any], *, on_joint: bool) -> vbg.Model:
    """A cube falls by `height` on a prismatic joint until it meets its stop, by the joint's own
    stop or by one between two points (0.2 m is their gap)."""
    joint = {"kind": "prismatic", "between": ["ground", "cube"], "axis": [0, 0, 1]}
    forces = {}
    if on_joint:
        joint["stop"] = {"lower": -height, **stop}
    else:
        floor = {"body": "ground", "at": [0, 0, -height - 0.2]}
        forces["stop"] = {"kind": "stop", "between": [floor, "cube"], "gap": 0.2, **stop}
    return vbg.Model(
        name="drop",
        gravity=[0, 0, -G],
        bodies={"cube": dict(CUBE)},
        joints={"J": joint},
        forces=forces,
    )


# Rows inside a step and the state at an event come from the dense output, whose order is 7:
# a digit and a half less than the steps, hence two digits more than elsewhere.
FINE = {"t_end": 1.0, "output_step": 1e-3, "rtol": 1e-12}
ROUNDING = 1e-12  # [N]


def pushed(solution: Solution, on_joint: bool) -> np.ndarray:
    return solution["J.stop" if on_joint else "stop.force"]


@pytest.mark.parametrize("on_joint", [True, False])
def test_a_dropped_body_touches_and_leaves_its_stop_on_time(on_joint):
    """Falls for sqrt(2 h / g); in contact depth = (v/w) sin(w t) + (g/w^2)(1 - cos(w t)), which
    is zero again at w t = 2 (pi - atan(v w / g)); then flies for 2 v / g."""
    height, k = 0.23, 3.1e3
    solution = solve(dropped(height, {"k": k}, on_joint=on_joint), **FINE)
    w, v = sqrt(k / CUBE["mass"]), sqrt(2 * G * height)
    fall, contact, flight = v / G, 2 * (pi - atan(v * w / G)) / w, 2 * v / G
    expected = [fall, fall + contact, fall + contact + flight, fall + 2 * contact + flight]
    times = [event.time for event in solution.audit.events]
    assert_allclose(times, expected, atol=1e-10)
    force = pushed(solution, on_joint)
    assert force.min() >= -ROUNDING
    t = solution.time
    depth = np.zeros(len(t))
    inside = (t > fall) & (t < fall + contact)
    wt = w * (t[inside] - fall)
    depth[inside] = v / w * np.sin(wt) + G / w**2 * (1 - np.cos(wt))
    before = t < expected[2]
    assert_allclose(force[before], k * depth[before], atol=1e-5)
    assert solution.audit.energy_residual < 1e-9


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_no_contact_is_missed_by_large_steps(rtol):
    """Free fall is a polynomial: the error control would step through the stop and beyond."""
    solution = solve(dropped(0.23, {"k": 3.1e3}, on_joint=False), t_end=1.0, rtol=rtol)
    assert len(solution.audit.events) == 4


@pytest.mark.parametrize("on_joint", [True, False])
def test_a_damped_stop_never_pulls(on_joint):
    """So much damping that k depth + c depth' would pull before the body leaves."""
    stop = {"k": 2.2e3, "c": 60.0}
    solution = solve(dropped(0.23, stop, on_joint=on_joint), **FINE)
    force = pushed(solution, on_joint)
    assert force.min() >= -ROUNDING
    assert force.max() > 100.0
    assert np.diff(solution["energy.dissipated"]).min() >= -1e-12
    assert solution.audit.energy_residual < 1e-8


def test_an_upper_stop_pushes_down():
    """Thrown upward against `upper`: the stop's effort on the body is negative."""
    joint = {
        "kind": "prismatic",
        "between": ["ground", "cube"],
        "axis": [0, 0, 1],
        "initial": {"slide": 0.0, "speed": 3.0},
        "stop": {"upper": 0.25, "k": 4e3},
    }
    model = vbg.Model(
        name="thrown", gravity=[0, 0, -G], bodies={"cube": dict(CUBE)}, joints={"J": joint}
    )
    solution = solve(model, **(FINE | {"t_end": 0.3}))
    touch = (3.0 - sqrt(9.0 - 2 * G * 0.25)) / G
    assert solution.audit.events[0].time == pytest.approx(touch, abs=1e-10)
    assert solution["J.stop"].max() <= ROUNDING
    assert solution["J.stop"].min() < -10.0
    assert solution.audit.energy_residual < 1e-9
