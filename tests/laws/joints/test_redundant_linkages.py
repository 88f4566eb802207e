"""Overconstrained linkages: what is redundant, singular or locked, in whatever frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.machines import scissor_lift
from benchmarks.speed.loops import lift_acceleration
from tests.laws.joints.test_motion import axis_angle, bennett
from tests.laws.machines import Machine, random_body, unit
from tests.tail import tail
from vbg.errors import AssemblyError
from vbg.spatial import rotation_matrix

FRAMES = range(12)


def frame(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    turn = rotation_matrix(axis_angle(tuple(unit(rng)), rng.uniform(0.0, 3.0)))
    return turn, rng.uniform(-2.0, 2.0, 3)


def loop(corners: Any, axes: Any, R: np.ndarray, d: np.ndarray) -> Machine:
    """A closed chain of hinges at rest, from ground to ground, turned by R and moved by d."""
    corners = np.asarray(corners, dtype=float) @ R.T + d
    axes = np.asarray(axes, dtype=float) @ R.T
    machine = Machine(gravity=R @ np.array([0.3, 0.2, -9.81]))
    names = ["ground", *(f"link{i}" for i in range(1, len(corners))), "ground"]
    for i, name in enumerate(names[1:-1], start=1):
        middle = 0.5 * (corners[i - 1] + corners[i])
        rest = {"position": list(middle), "velocity": [0, 0, 0], "angular_velocity": [0, 0, 0]}
        machine.bodies[name] = random_body(np.random.default_rng(i)) | rest
    for i, (corner, axis) in enumerate(zip(corners, axes, strict=True)):
        first, second = names[i], names[i + 1]
        machine.joints[f"J{i}"] = {
            "kind": "revolute",
            "between": [machine.at(first, corner), machine.at(second, corner)],
            "axis": list(machine.pose(first)[1].T @ axis),
            "axis_on_second": list(machine.pose(second)[1].T @ axis),
        }
    return machine


def planar(corners: Any, R: np.ndarray, d: np.ndarray) -> Machine:
    return loop([(x, 0.0, z) for x, z in corners], [(0, 1, 0)] * len(corners), R, d)


def sarrus(R: np.ndarray, d: np.ndarray) -> Machine:
    """Two pairs of plates on three parallel hinges each, at right angles to one another."""
    height, out = 0.9, 0.4
    corners = [(0, -1, 0), (0, -1 - out, height / 2), (0, -1, height)]
    corners += [(-1, 0, height), (-1 - out, 0, height / 2), (-1, 0, 0)]
    return loop(corners, [(1, 0, 0)] * 3 + [(0, 1, 0)] * 3, R, d)


def bricard(R: np.ndarray, d: np.ndarray) -> Machine:
    """Threefold symmetric: links along six edges of a cube, each hinge across its two links."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], float)
    before, after = corners - np.roll(corners, 1, 0), np.roll(corners, -1, 0) - corners
    return loop(corners, np.cross(before, after), R, d)


def four_bar(R: np.ndarray, d: np.ndarray) -> Machine:
    return planar([(0, 0), (0.3, 0.9), (1.4, 1.1), (1.6, 0)], R, d)


@pytest.mark.parametrize("seed", tail(FRAMES, 3))
@pytest.mark.parametrize(
    ("linkage", "dependent"), [(bennett, 3), (sarrus, 1), (bricard, 1), (four_bar, 3)]
)
def test_a_linkage_that_moves_though_it_ought_not_is_counted_alike_in_every_frame(
    linkage, dependent, seed
):
    start = vbg.start(linkage(*frame(seed)).model())
    assert (start.dependent, start.freedoms) == (dependent, 1)
    assert {name.partition(".")[0] for name in start.redundant} >= {"J0", "J1", "J2", "J3"}


FLAT = {
    "parallelogram": [(0, 0), (0.7, 0), (1.9, 0), (1.2, 0)],
    "change point": [(0, 0), (0.7, 0), (1.9, 0), (2.5, 0)],
    "folded rhombus": [(0, 0), (1, 0), (0, 0), (1, 0)],
    "two bars stretched": [(0, 0), (0.7, 0), (1.9, 0)],
}


@pytest.mark.parametrize("seed", tail(FRAMES, 3))
@pytest.mark.parametrize("corners", FLAT.values(), ids=FLAT.keys())
def test_a_flat_posture_is_singular_in_every_frame(corners, seed):
    """The first three branch; two bars between fixed points, stretched, cannot move at all."""
    with pytest.raises(AssemblyError, match="singular posture: 1 constraint direction"):
        _ = vbg.start(planar(corners, *frame(seed)).model())


@pytest.mark.parametrize("seed", FRAMES)
def test_a_truss_is_locked_in_every_frame(seed):
    with pytest.raises(AssemblyError, match="locked: 0 degrees of freedom"):
        _ = vbg.start(planar([(0, 0), (0.7, 0.4), (1.9, 0)], *frame(seed)).model())


@pytest.mark.parametrize("seed", FRAMES[:3])
def test_what_is_determined_in_a_tilted_plane_is_told_by_quantity_and_components(seed):
    """A plane loop determines the force in its plane, J0 being on the ground, in world axes."""
    R, d = frame(seed)
    start = vbg.start(four_bar(R, d).model())
    (force,) = (p for p in start.determined if (p.part, p.quantity) == ("J0", "force"))
    assert force.axes.shape == (2, 3)
    assert_allclose(force.axes @ R[:, 1], 0.0, atol=1e-12)
    assert "J0.force (x, y, z) along (" in start.notes[0].what


@pytest.mark.parametrize("tilt", [1e-3, 0.05, 0.5])
def test_a_parallelogram_beside_its_flat_posture_is_not_singular(tilt):
    up = 0.7 * np.array([np.cos(tilt), np.sin(tilt)])
    corners = [(0, 0), up, up + np.array([1.2, 0.0]), (1.2, 0)]
    start = vbg.start(planar(corners, *frame(0)).model())
    assert (start.dependent, start.freedoms) == (3, 1)


def test_directions_that_are_redundant_out_of_the_plane_are_not_blamed_for_a_flat_posture():
    corners = FLAT["parallelogram"]
    machine = planar(corners, np.eye(3), np.zeros(3))
    for i, name in enumerate(machine.bodies):
        machine.bodies[name]["rotation"] = {"quaternion": [1.0, 0, 0, 0]}
        first, second = np.array(corners[i]), np.array(corners[i + 1])
        for joint, end, side in ((f"J{i}", first - second, 1), (f"J{i + 1}", second - first, 0)):
            machine.joints[joint]["between"][side] = {"body": name, "at": [end[0] / 2, 0, 0]}
            machine.joints[joint]["axis"] = machine.joints[joint]["axis_on_second"] = [0, 1, 0]
    with pytest.raises(AssemblyError, match="singular posture") as found:
        _ = vbg.start(machine.model())
    assert "force.x" in str(found.value)
    assert "force.y" not in str(found.value) and "torque" not in str(found.value)


def four_bars(n: int) -> vbg.Model:
    """n planar four-bars beside one another, each with three redundant directions."""
    bodies: dict = {}
    joints: dict = {}
    pin = {"kind": "revolute", "axis": [0, 1, 0]}
    wall = {"body": "ground", "at": [2.0, 0, 0]}
    for i in range(n):
        for name, half in (("a", 0.5), ("b", 1.0), ("c", 0.5)):
            bodies[f"{name}{i}"] = {
                "mass": 1.0,
                "inertia": {"xx": 0.01, "yy": 0.1, "zz": 0.1},
                "points": {"P": [-half, 0, 0], "Q": [half, 0, 0]},
            }
        joints |= {
            f"A{i}": {**pin, "between": ["ground", f"a{i}.P"], "initial": {"angle": 1.0}},
            f"B{i}": {**pin, "between": [f"a{i}.Q", f"b{i}.P"], "initial": {"angle": -1.0}},
            f"C{i}": {**pin, "between": [f"b{i}.Q", f"c{i}.Q"], "initial": {"angle": 1.2}},
            f"D{i}": {**pin, "between": [wall, f"c{i}.P"]},
        }
    return vbg.Model(name="four-bars", bodies=bodies, joints=joints)


def test_machines_side_by_side_are_examined_as_each_alone():
    one, three = (vbg.start(four_bars(n)) for n in (1, 3))
    assert (one.dependent, one.freedoms) == (3, 1)
    assert (three.dependent, three.freedoms) == (9, 3)
    assert len(three.redundant) == 3 * len(one.redundant)


@pytest.mark.slow
def test_one_singular_machine_among_many_is_found():
    """A flat parallelogram beside thirty regular four-bars."""
    model = four_bars(30)
    flat = planar(FLAT["parallelogram"], *frame(3))
    model = vbg.Model(
        name="many",
        bodies=dict(model.bodies) | flat.bodies,
        joints=dict(model.joints) | flat.joints,
    )
    with pytest.raises(AssemblyError, match="singular posture: 1 constraint direction") as found:
        _ = vbg.start(model)
    assert "combinations of" in str(found.value) and "A3" not in str(found.value)


@pytest.mark.parametrize("angle", tail([0.6, 0.1, 1.4], 1))
def test_a_long_scissor_lift_accelerates_as_its_one_freedom_says(angle):
    """40 stages: the constraint matrix has eigenvalues of 1e-9, which the raise of its diagonal
    would hide."""
    n = 40
    system = vbg.assemble(scissor_lift(n, angle))
    start = vbg.start(system)
    assert (start.dependent, start.freedoms) == (3 * (n - 1), 1)
    names = {f"{joint}{k}" for joint in ("left", "right") for k in range(1, n)}
    assert {name.partition(".")[0] for name in start.redundant} >= names
    rate = dict(zip(system.state_names, vbg.start(system).rate(0.0, start.state), strict=True))
    turning = [-12.0 * rate[f"a{k}.angular_momentum.y"] for k in range(n)]
    assert_allclose(turning, lift_acceleration(n, angle), rtol=1e-8)


def test_a_flat_scissor_lift_is_singular():
    with pytest.raises(AssemblyError, match="singular posture: 9 constraint direction"):
        _ = vbg.start(scissor_lift(10, 0.0))
