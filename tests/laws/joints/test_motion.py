"""Laws of mechanics on random machines of every joint, through the public interface only.

What is checked knows nothing of bond graphs: Newton and Euler for every body with
the reported joint forces, power, energy, and invariances.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import vbg
from tests.laws.machines import (
    KINDS,
    Machine,
    flipped,
    moved,
    random_body,
    random_loop,
    random_tree,
    renamed,
    unit,
)
from tests.laws.newton import assert_balance
from tests.laws.parts import loaded
from vbg.solution import Solution
from vbg.spatial import axis_angle, rotation_matrix

SEEDS = st.integers(0, 10_000)
MANY = settings(max_examples=20, deadline=None, derandomize=True)
FEW = settings(max_examples=6, deadline=None, derandomize=True)
T_END, STEP = 0.2, 0.01


def solve(machine: Machine, rtol: float = 1e-10) -> Solution:
    solution = vbg.simulate(
        vbg.assemble(machine.model()), t_end=T_END, output_step=STEP, rtol=rtol, atol=1e-12
    )
    assert solution.status.code == "finished", solution.status
    return solution


def assert_newton_euler_and_no_work(machine: Machine) -> None:
    """m a = sum of forces and h' = sum of moments for every body; no joint gives power."""
    system = vbg.assemble(machine.model())
    loads = assert_balance(machine, system, 0.0, vbg.start(system).state)
    for name, joint in machine.joints.items():
        first, second, _, where = loads.pair(joint)
        slip = second.velocity_at(where) - first.velocity_at(where)
        force, torque = loads.values[f"{name}.force"], loads.values[f"{name}.torque"]
        power = force @ slip + torque @ (second.w - first.w)
        assert abs(power) < 1e-9 * (1.0 + np.linalg.norm(force) + np.linalg.norm(torque)), name


@MANY
@given(seed=SEEDS)
def test_joint_forces_balance_every_body_of_a_tree_and_do_no_work(seed):
    assert_newton_euler_and_no_work(random_tree(seed))


@MANY
@given(seed=SEEDS)
def test_joint_forces_balance_every_body_of_a_loop_and_do_no_work(seed):
    assert_newton_euler_and_no_work(random_loop(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_joint_forces_balance_and_do_no_work_for_each_kind(kind):
    assert_newton_euler_and_no_work(random_tree(31, n=2, kinds=(kind,)))


@FEW
@given(seed=SEEDS)
def test_energy_of_conservative_machines_is_kept(seed):
    for machine in (random_tree(seed), random_loop(seed)):
        assert solve(machine).audit.energy_residual < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_what_hangs_still_loses_no_energy(seed):
    """A rod on a hinge along gravity stays where it is, at any scale: nothing to audit."""
    generator = np.random.default_rng(seed)
    mass, length = 10 ** generator.uniform(-3, 3), 10 ** generator.uniform(-3, 2)
    rod = {
        "mass": mass,
        "inertia": dict.fromkeys(("xx", "yy", "zz"), mass * length**2 / 12),
        "points": {"A": generator.uniform(-length, length, 3).tolist()},
    }
    hinge = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 0, 1]}
    solution = vbg.simulate(vbg.Model(bodies={"rod": rod}, joints={"hinge": hinge}))
    assert not solution.audit.failures
    assert np.abs(solution["hinge.speed"]).max() < 1e-9


@FEW
@given(seed=SEEDS)
def test_names_and_order_of_tables_do_not_matter(seed):
    machine = loaded(random_loop(seed), seed)
    other, names = renamed(machine, np.random.default_rng(seed))
    first, second = solve(machine), solve(other)
    for name in machine.bodies:
        for what in ("position", "rotation", "angular_velocity"):
            assert_allclose(
                second[f"{names[name]}.{what}"], first[f"{name}.{what}"], rtol=1e-7, atol=1e-8
            )
    for name in machine.joints:
        force = first[f"{name}.force"]
        assert_allclose(second[f"{names[name]}.force"], force, atol=1e-6 * (1 + abs(force).max()))


@FEW
@given(seed=SEEDS)
def test_the_world_frame_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    Q = rotation_matrix(axis_angle(tuple(unit(rng)), rng.uniform(0.0, 3.0)))
    d = rng.normal(size=3)
    machine = loaded(random_loop(seed), seed)
    first, second = solve(machine), solve(moved(machine, Q, d))
    for name in machine.bodies:
        p = first[f"{name}.position"] @ Q.T + d
        assert_allclose(second[f"{name}.position"], p, rtol=1e-7, atol=1e-8)
    redundant = vbg.start(machine.model()).redundant
    shared = {name.partition(".")[0] for name in redundant}  # not unique: motion only
    for name in machine.joints.keys() - shared:
        force = first[f"{name}.force"] @ Q.T
        assert_allclose(second[f"{name}.force"], force, atol=1e-6 * (1 + abs(force).max()))


def redundant_four_bar(seed: int) -> Machine:
    """A planar four-bar with revolutes only, in a plane of any direction: three rows too many."""
    rng = np.random.default_rng(seed)
    R = rotation_matrix(axis_angle(tuple(unit(rng)), rng.uniform(0.0, 3.0)))
    corners = np.array([[0, 0, 0], [0.3, 0.9, 0], [1.4, 1.1, 0], [1.6, 0, 0]]) @ R.T
    machine = Machine(gravity=np.array([0.0, 0.0, -9.81]))
    names = ("ground", "crank", "coupler", "rocker", "ground")
    for i, name in enumerate(names[1:4]):
        body = random_body(rng)
        body |= {"position": list(0.5 * (corners[i] + corners[i + 1])), "velocity": [0, 0, 0]}
        machine.bodies[name] = body | {"angular_velocity": [0, 0, 0]}
    for i, corner in enumerate(corners):
        first, second = names[i], names[i + 1]
        machine.joints[f"J{i}"] = {
            "kind": "revolute",
            "between": [machine.at(first, corner), machine.at(second, corner)],
            "axis": list(machine.pose(first)[1].T @ R[:, 2]),
        }
    return machine


@pytest.mark.slow
@FEW
@given(seed=SEEDS)
def test_forces_of_redundant_joints_do_not_depend_on_the_world_frame(seed):
    rng = np.random.default_rng(seed)
    Q = rotation_matrix(axis_angle(tuple(unit(rng)), rng.uniform(0.0, 3.0)))
    machine = redundant_four_bar(seed)
    values = []
    for seen in (machine, moved(machine, Q, rng.normal(size=3))):
        system = vbg.assemble(seen.model())
        assert len(vbg.start(system).redundant) > 0
        values.append(vbg.start(system).outputs(0.0, vbg.start(system).state))
    first, second = values
    for name in machine.joints:
        for what in ("force", "torque"):
            here = Q @ first[f"{name}.{what}"]
            assert_allclose(second[f"{name}.{what}"], here, atol=1e-9 * (1 + abs(here).max()))


def bennett(R: np.ndarray, d: np.ndarray) -> Machine:
    """Bennett's linkage, turned by R and moved by d: moves although 18 < 20; 3 rows too many."""
    (a, alpha), (b, theta) = (0.2, np.radians(30.0)), (0.3, np.radians(70.0))
    beta = np.arcsin(b * np.sin(alpha) / a)
    ratio = np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0)
    other = 2.0 * np.arctan(ratio / np.tan(theta / 2.0))
    corners, axes, p, frame = [], [], np.zeros(3), np.eye(3)
    bars = ((theta, a, alpha), (other, b, beta), (-theta, a, alpha), (-other, b, beta))
    for angle, length, twist in bars:
        corners.append(R @ p + d)
        axes.append(R @ frame[:, 2])
        frame = frame @ rotation_matrix(axis_angle((0.0, 0.0, 1.0), angle))
        p = p + length * frame[:, 0]
        frame = frame @ rotation_matrix(axis_angle((1.0, 0.0, 0.0), twist))
    assert_allclose(p, 0.0, atol=1e-15)
    machine = Machine(gravity=R @ np.array([0.0, 0.0, -9.81]))
    names = ("ground", "A", "B", "C", "ground")
    for i, name in enumerate(names[1:4]):
        machine.bodies[name] = random_body(np.random.default_rng(i)) | {
            "position": list(0.5 * (corners[i] + corners[i + 1])),
            "velocity": [0, 0, 0],
            "angular_velocity": [0, 0, 0],
        }
    for i, (corner, axis) in enumerate(zip(corners, axes, strict=True)):
        first, second = names[i], names[i + 1]
        machine.joints[f"J{i}"] = {
            "kind": "revolute",
            "between": [machine.at(first, corner), machine.at(second, corner)],
            "axis": list(machine.pose(first)[1].T @ axis),
            "axis_on_second": list(machine.pose(second)[1].T @ axis),
        }
    return machine


@pytest.mark.parametrize("seed", range(8))
def test_redundant_rows_are_counted_alike_in_every_world_frame(seed):
    rng = np.random.default_rng(seed)
    Q = rotation_matrix(axis_angle(tuple(unit(rng)), rng.uniform(0.0, 3.0)))
    start = vbg.start(bennett(Q, rng.uniform(-2.0, 2.0, 3)).model())
    assert (start.dependent, start.freedoms) == (3, 1)


FLIPPABLE = tuple(kind for kind in KINDS if kind not in ("point_on_line", "point_on_plane"))


@pytest.mark.parametrize("kind", FLIPPABLE)
def test_the_order_of_a_joints_bodies_does_not_matter(kind):
    """The motion stays; the force changes its sign."""
    machine = random_tree(57, n=2, kinds=(kind,))
    first, second = solve(machine), solve(flipped(machine, "joint1"))
    for name in machine.bodies:
        for what in ("position", "angular_velocity"):
            assert_allclose(second[f"{name}.{what}"], first[f"{name}.{what}"], atol=1e-8)
    force = first["joint1.force"]
    assert_allclose(second["joint1.force"], -force, atol=1e-7 * (1 + abs(force).max()))
