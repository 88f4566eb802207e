"""Gravity is written as every number is: with parameters, functions and units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import tmm_bridge
from vbg.errors import ModelError
from vbg.io import toml

FALL = """\
vbg = 1
name = "fall"
gravity = ["g*sin(tilt)", "0.1 cm/s^2", "-upright(tilt)*g"]
[parameters]
g = { value = 5.3, unit = "ft/s^2" }
tilt = { value = 20, unit = "deg" }
[functions]
upright = { arguments = ["a"], value = "cos(a)" }
[bodies.stone]
mass = 2.7
inertia = { xx = 1, yy = 1, zz = 1 }
[simulate]
t_end = 0.5
output_step = 0.1
"""


def falls(g, tilt):
    return np.array([g * np.sin(tilt), 1e-3, -g * np.cos(tilt)])


@pytest.mark.parametrize("solve", [vbg.simulate, tmm_bridge.simulate])
def test_a_stone_falls_by_parameters(solve):
    written = toml.parse(FALL)
    moved = {"g": 11.2, "tilt": -0.7}
    for model, g in (
        (written, falls(5.3 * 0.3048, np.radians(20))),
        (written.with_parameters(**moved), falls(**moved)),
    ):
        assert_allclose(model.gravity, g, rtol=1e-14)
        run = solve(model)
        assert_allclose(run["stone.position"], 0.5 * run.time[:, None] ** 2 * g, rtol=1e-9)


def test_a_parameter_of_gravity_is_used():
    assert not [p for p in vbg.check(toml.parse(FALL)) if p.where.startswith("parameters")]


def test_what_gravity_cannot_be_is_told():
    for wrong, words in (
        ('"-G"', "G"),
        ('"-tilt kg"', "kg"),
        ('"-9.81 m/s"', "expected an acceleration"),
    ):
        text = FALL.replace('"-upright(tilt)*g"', wrong)
        with pytest.raises(ModelError, match=r"gravity\[2\]|gravity") as refused:
            toml.parse(text)
        (problem,) = refused.value.problems
        assert problem.where.startswith("gravity") and words in problem.what and problem.line == 3
