"""Dry friction of machines of any size and pace: a written speed is one, however small it is.

m dv/dt = -mu from v0 stops at t = m v0 / mu, after m v0^2 / (2 mu)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
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
    for _ in range(12):
        text, v, stops = machine(kind, rng)
        found = solver(toml.parse(text))
        expected = v * np.maximum(1.0 - found.time / stops, 0.0)
        assert_allclose(found[speed], expected, rtol=0.0, atol=1e-6 * abs(v), err_msg=text)
        assert [e.time for e in found.audit.events] == [pytest.approx(stops, rel=1e-8)], text
