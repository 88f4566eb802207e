"""Dry friction of machines of any size and pace: a written speed is one, however small it is.

m dv/dt = -mu from v0 stops at t = m v0 / mu, after m v0^2 / (2 mu)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.io import toml

SOLVERS = (vbg.simulate, tmm_bridge.simulate)
RUN = """vbg = 1
gravity = [0, 0, 0]
[simulate]
t_end = {T}
output_step = {step}
"""
SHAFT = """
[rotational.disc]
kind = "inertia"
nodes = ["a"]
J = {m}
speed = {v}
[rotational.brake]
kind = "friction"
nodes = ["a"]
coulomb = {mu}
"""
SLIDE = """
[bodies.block]
mass = {m}
inertia = {{xx = {J}, yy = {J}, zz = {J}}}
[joints.slide]
kind = "prismatic"
between = ["ground", "block"]
axis = [1, 0, 0]
initial = {{slide = {x}, speed = {v}}}
friction = {{coulomb = {mu}}}
"""


def machine(kind: str, rng: np.random.Generator) -> tuple[str, float, float]:
    """Text, the speed that is written, when it stops; the run is twice as long."""
    stops, way, m = (10.0 ** rng.uniform(*ends) for ends in ((-6, 8), (-9, 3), (-9, 4)))
    v = float(rng.choice([-1.0, 1.0])) * 2.0 * way / stops
    numbers = {"T": 2.0 * stops, "step": stops / 8.0, "m": m, "v": v, "mu": m * abs(v) / stops}
    numbers |= {"x": way, "J": m * way**2}
    text = RUN + (SHAFT if kind == "shaft" else SLIDE)
    return text.format(**numbers), v, stops


@pytest.mark.parametrize("kind", ["shaft", "slide"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_written_speed_lasts_until_friction_has_taken_it(kind, solver):
    rng = np.random.default_rng(19)
    speed = "disc.speed" if kind == "shaft" else "slide.speed"
    for _ in range(5):
        text, v, stops = machine(kind, rng)
        found = solver(toml.parse(text))
        expected = v * np.maximum(1.0 - found.time / stops, 0.0)
        assert_allclose(found[speed], expected, rtol=0.0, atol=1e-6 * abs(v), err_msg=text)
        assert [e.time for e in found.audit.events] == [pytest.approx(stops, rel=1e-8)], text


PENDULUM = """vbg = 1
gravity = [0, 0, {g}]
[simulate]
t_end = {T}
output_step = {step}
[bodies.a]
mass = {m}
inertia = {{xx = {J}, yy = {J}, zz = {J}}}
[bodies.b]
mass = {m}
inertia = {{xx = {J}, yy = {J}, zz = {J}}}
points = {{c = [0, 0, {r}]}}
[joints.slide]
kind = "prismatic"
between = ["ground", "a"]
axis = [1, 0, 0]
initial = {{slide = {x}, speed = {v}}}
friction = {{coulomb = {mu}, static = {held}, stribeck = {vs}}}
[joints.hinge]
kind = "revolute"
between = ["a", "b.c"]
axis = [0, 1, 0]
initial = {{angle = 0.3, speed = {w}}}
friction = {{coulomb = {mt}}}
"""
SCALES = ((1e-6, 1e-3, 1e-9), (1e-9, 1e2, 1e-12), (1e3, 1e-3, 1e3), (1e-3, 1e6, 1e2))


def pendulum(u: np.ndarray, size: float, pace: float, mass: float) -> str:
    """A pendulum on a slide, dry, of these units of length [m], time [s] and mass [kg]."""
    F, v = mass * size / pace**2, size / pace
    numbers = {"g": -2.0 * u[0] * v / pace, "T": 4.0 * pace, "step": pace / 5.0, "x": size}
    numbers |= {"m": mass * u[1], "J": 0.05 * mass * size**2 * u[2], "r": 0.4 * size * u[3]}
    numbers |= {"v": -0.5 * u[4] * v, "mu": 0.15 * u[5] * F, "held": 0.2 * u[5] * F}
    numbers |= {"vs": 0.05 * v, "w": u[6] / pace, "mt": 0.05 * u[7] * F * size}
    return PENDULUM.format(**numbers)


@pytest.mark.parametrize("seed", tail(range(8), 1))
def test_what_slips_and_sticks_is_alike_at_every_scale(seed):
    """Lengths, times and masses in other units: one motion, in both solvers."""
    u, expected = np.random.default_rng(seed).uniform(0.5, 1.5, 8), None
    for size, pace, mass in ((1.0, 1.0, 1.0), *SCALES):
        for run in SOLVERS:
            s = run(toml.parse(pendulum(u, size, pace, mass)))
            rows = s["slide.slide"] / size, s["slide.speed"] * pace / size, s["hinge.angle"]
            expected = np.stack(rows) if expected is None else expected
            assert_allclose(np.stack(rows), expected, rtol=0.0, atol=2e-6, err_msg=f"{size} {pace}")


DRIVEN = """vbg = 1
gravity = [0, 0, -9.81]
[bodies.a]
mass = 2.0
inertia = {{ xx = 0.1, yy = 0.2, zz = 0.3 }}
[joints.hinge]
kind = "revolute"
between = ["ground", {{ body = "a", at = [0.3, 0, 0] }}]
axis = [1, 1, 1]
drive = "{v}*(t + max(t - 2, 0) - max(t - 1, 0))"
friction = {{ coulomb = 3, viscous = 2 }}
[rotational.motor]
kind = "speed"
nodes = ["a"]
speed = "{v}*min(1, max(0, t - 1))"
[rotational.gear]
kind = "gear"
nodes = ["a", "b"]
ratio = -7.0
[rotational.rub]
kind = "friction"
nodes = ["b", "joint:hinge"]
coulomb = 5
[simulate]
t_end = 3.0
output_step = 0.125
"""


@pytest.mark.parametrize("v", [-1e-25, 1e-15, 1e-11, -1e-3, 10.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_driven_rubs_at_any_speed_and_rests_where_its_drive_does(solver, v):
    """The hinge turns, rests from 1 s and turns again from 2 s; the shaft rests until 1 s."""
    text = DRIVEN.format(v=v)
    if solver is tmm_bridge.simulate:  # which leaves gears between driven shafts and joints
        text = text.replace('nodes = ["b", "joint:hinge"]', 'nodes = ["b", "frame"]')
    found = solver(toml.parse(text))
    assert found.status.code == "finished", found.status
    t, sign = found.time, np.sign(v)
    inside = np.abs(t % 1.0 - 0.5) < 0.4
    turns = np.where((t < 1.0) | (t > 2.0), 1.0, 0.0)
    rate = v * turns
    expected = -3.0 * sign * turns - 2.0 * rate
    assert_allclose(found["hinge.friction"][inside], expected[inside], atol=1e-9)
    shaft = -7.0 * v * np.clip(t - 1.0, 0.0, 1.0)
    if solver is tmm_bridge.simulate:
        expected = 5.0 * np.sign(shaft)
    else:
        expected = -5.0 * np.sign(rate - shaft)
    assert_allclose(found["rub.torque"][inside], expected[inside])
