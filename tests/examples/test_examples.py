"""Every shipped example runs, keeps its audit, and obeys a law that is known in closed form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.model import Model
from vbg.solution import Solution

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
CONSERVATIVE = ("pendulum", "triple-pendulum", "free-body", "heavy-top", "bennett")
RTOL = 1e-10
ELASTIC = (
    "elastic-robot",
    "wind-rotor",
)  # stability asks for steps far below their tolerance


@cache
def solved(name: str, t_end: float | None = None) -> tuple[Model, Solution]:
    model = vbg.read(FOLDER / f"{name}.toml")
    chosen = model.simulate.t_end if t_end is None else t_end
    step = model.simulate.output_step
    system = vbg.assemble(model)
    atol = min(1e-12, model.simulate.atol)  # small circuits say so themselves
    rtol = model.simulate.rtol if name in ELASTIC else RTOL
    return model, vbg.simulate(system, t_end=chosen, output_step=step, rtol=rtol, atol=atol)


LONG = ("geared-robot",)  # its answers are tested each time


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in NAMES]
)
def test_an_example_reaches_its_end_with_a_clean_audit(name):
    model, solution = solved(name)
    assert solution.status.code == "finished", solution.status
    assert solution.time[-1] == pytest.approx(model.simulate.t_end, abs=1e-12)
    assert solution.audit.position_residual < 1e-10
    assert solution.audit.velocity_residual < 1e-8
    assert solution.audit.energy_residual < (1e-9 if name in CONSERVATIVE else 1e-8)
    for signal, values in solution.signals.items():
        assert np.all(np.isfinite(values)), signal


def test_pendulum_hinge_force():
    """From rest, horizontal, h = L/2: J_A w^2 = 2 m g h sin(angle), J_A w' = m g h cos(angle);
    along the rod m g sin(angle) + m h w^2, across it m g cos(angle) - m h w'."""
    model, solution = solved("pendulum")
    rod, h = model.bodies["rod"], model.parameters["L"] / 2
    weight, angle = rod.mass * 9.81, solution["hinge.angle"]
    share = rod.mass * h**2 / (rod.inertia[1] + rod.mass * h**2)
    along = weight * np.sin(angle) * (1.0 + 2.0 * share)
    across = weight * np.cos(angle) * (1.0 - share)
    force = np.linalg.norm(solution["hinge.force"], axis=1)
    assert_allclose(force, np.hypot(along, across), rtol=1e-7)


def test_double_pendulum_only_loses_energy():
    _, solution = solved("double-pendulum")
    assert np.all(np.diff(solution["energy.dissipated"]) >= 0.0)
    assert np.all(np.abs(solution["energy.supplied"]) == 0.0)


def test_triple_pendulum_hangs_on_its_first_joint():
    """Newton for all three rods: force of the ground = sum of m (a - g)."""
    model, solution = solved("triple-pendulum")
    total = sum(
        model.bodies[name].mass * (solution[f"{name}.acceleration"] - np.array(model.gravity))
        for name in ("first", "second", "third")
    )
    assert_allclose(solution["S1.force"], total, atol=1e-7)


def test_shaft_collects_the_angular_momentum_that_the_motor_gives():
    """Only the motor has a moment about the shaft: L_z = M t (the cubes' inertia is isotropic)."""
    model, solution = solved("shaft-arm-slider")
    momentum = 1e-4 * solution["shaft.angular_velocity"][:, 2]
    for name in ("arm", "slider"):
        body = model.bodies[name]
        p, v = solution[f"{name}.position"], solution[f"{name}.velocity"]
        spin = solution[f"{name}.angular_velocity"]
        axis = rotated_z(solution[f"{name}.rotation"])
        momentum = momentum + body.mass * (p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0])
        momentum = momentum + body.inertia[2] * np.sum(axis * spin, axis=1)
    assert_allclose(momentum, model.parameters["M"] * solution.time, atol=1e-8)


def rotated_z(quat):
    """World z in body axes, (n, 3): the third row of R(quat)."""
    w, x, y, z = quat.T
    return np.column_stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])


def test_slider_crank_follows_its_geometry_and_the_work_of_its_motor():
    model, solution = solved("slider-crank")
    r, l = model.parameters["r"], model.parameters["l"]
    angle = solution["A.angle"]
    x = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
    assert_allclose(solution["slide.slide"], x, rtol=1e-9)
    work = model.parameters["M"] * (angle - model.parameters["phi"])
    assert_allclose(solution["energy.supplied"], work, atol=1e-8)
    assert solution["A.speed"][0] == pytest.approx(model.parameters["speed"], rel=1e-12)


def test_spatial_four_bar_keeps_its_coupler_length():
    model, solution = solved("spatial-four-bar")
    span = solution["rocker.D.position"] - solution["crank.B.position"]
    assert_allclose(np.linalg.norm(span, axis=1), model.parameters["l"], rtol=1e-10)


def test_bennett_keeps_the_relation_of_its_angles():
    """tan(theta1/2) tan(theta2/2) is constant, and opposite angles are opposite."""
    model, solution = solved("bennett")
    half1, half2 = solution["J1.angle"] / 2, solution["J2.angle"] / 2
    left = np.sin(half1) * np.sin(half2)
    assert_allclose(left, model.parameters["ratio"] * np.cos(half1) * np.cos(half2), atol=1e-9)
    assert_allclose(solution["J3.angle"], -solution["J1.angle"], atol=1e-9)


def test_bennett_names_its_redundant_directions_and_only_it():
    for name in ("bennett", "slider-crank", "spatial-four-bar", "stewart-platform"):
        _, solution = solved(name)
        said = " ".join(note.what for note in solution.notes)
        assert ("3 constraint direction" in said and "not unique" in said) == (name == "bennett")


def test_free_body_keeps_its_angular_momentum():
    model, solution = solved("free-body")
    J = np.array(model.bodies["box"].inertia[:3])
    momentum = J * solution["box.angular_velocity"]
    size = np.linalg.norm(momentum, axis=1)
    assert_allclose(size, size[0], rtol=1e-8)
    # It does turn over: the spin about the middle axis changes its sign.
    assert solution["box.angular_velocity"][:, 1].min() < -0.9 * 2 * np.pi


def test_robot_drive_holds_the_arm_at_the_start():
    """At rest and without acceleration the motors carry the weights' moments."""
    model, solution = solved("two-link-robot")
    L1, L2 = model.parameters["L1"], model.parameters["L2"]
    mass = {name: body.mass for name, body in model.bodies.items()}
    elbow = 9.81 * (mass["forearm"] * L2 / 2 + mass["load"] * L2)
    shoulder = elbow + 9.81 * L1 * (mass["upper"] / 2 + mass["forearm"] + mass["load"])
    assert solution["elbow.drive"][0] == pytest.approx(elbow, rel=1e-9)
    assert solution["shoulder.drive"][0] == pytest.approx(shoulder, rel=1e-9)
    s = solution.time - np.sin(2 * np.pi * solution.time) / (2 * np.pi)
    assert_allclose(solution["shoulder.angle"], model.parameters["up"] * s, atol=1e-10)


def newton(model, solution, names):
    """Sum of m (a - g) of bodies."""
    return sum(
        model.bodies[name].mass * (solution[f"{name}.acceleration"] - np.array(model.gravity))
        for name in names
    )


def test_elastic_robot_swings_on():
    """Newton for all that the shoulder carries; the load moves on when the joints have stopped."""
    model, solution = solved("elastic-robot")
    total = newton(model, solution, model.bodies)
    assert_allclose(solution["shoulder.force"], total, atol=1e-6 * np.abs(total).max())
    stopped = solution.time > model.parameters["T"]
    assert np.ptp(solution["elbow.angle"][stopped]) < 1e-12
    assert np.ptp(solution["load.position"][stopped, 1]) > 5e-3


def test_wind_rotor_is_held_by_the_ground():
    """Newton for everything above the ground; a gust bends the tower."""
    model, solution = solved("wind-rotor")
    total = newton(model, solution, model.bodies)
    for k in (1, 2, 3):
        total = total - solution[f"wind{k}.force"]
    assert_allclose(solution["tower_A.force"], total, atol=1e-6 * np.abs(total).max())
    moment = np.abs(solution["tower_A.torque"][:, 1])
    assert moment.max() > 10.0 * moment[0]


def test_gear_pair_speeds_up_as_one_inertia():
    """J w' = M - c n^2 w with the inertia and the load seen from the pinion, n = z1/z2."""
    model, solution = solved("gear-pair")
    n = model.parameters["z1"] / model.parameters["z2"]
    J = model.bodies["pinion"].inertia[2] + n**2 * model.bodies["wheel"].inertia[2]
    rate = 0.01 * n**2 / J
    speed = 0.2 / (J * rate) * (1.0 - np.exp(-rate * solution.time))
    assert_allclose(solution["shaft1.speed"], speed, rtol=1e-8, atol=1e-8)
    assert_allclose(solution["shaft2.speed"], -n * speed, rtol=1e-8, atol=1e-8)


def test_bushing_comes_to_rest_where_it_carries_the_weight():
    model, solution = solved("bushing-mount", t_end=6.0)
    sag = -model.bodies["block"].mass * 9.81 / 8e4
    assert solution["block.foot.position"][-1, 2] == pytest.approx(sag, rel=1e-5)


@pytest.mark.parametrize("leg", range(1, 7))
def test_stewart_legs_have_the_lengths_that_their_drives_ask_for(leg):
    model, solution = solved("stewart-platform")
    p = model.parameters
    base = np.array([p["R"] * np.cos(p[f"a{leg}"]), p["R"] * np.sin(p[f"a{leg}"]), 0.0])
    stroke = (0.05, 0.07, 0.03, 0.06, 0.04, 0.02)[leg - 1]
    length = p["length"] + stroke * (1 - np.cos(p["w"] * solution.time)) / 2
    span = np.linalg.norm(solution[f"plate.P{leg}.position"] - base, axis=1)
    assert_allclose(span, length, rtol=1e-9)
