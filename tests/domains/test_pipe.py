"""Pipes with rough walls: one friction factor for all flows, in both solvers."""

from math import log10, pi

import numpy as np
import pytest

import vbg
from vbg.errors import ModelError
from vbg.io import toml

LINE = """vbg = 1
[hydraulic.pump]
kind = "flow_source"
nodes = ["tank", "a"]
flow = FLOW
[hydraulic.chamber]
kind = "volume"
nodes = ["a"]
volume = 1e-4
[hydraulic.line]
kind = "pipe"
nodes = ["a", "tank"]
length = 20
diameter = 0.02
density = 1000
viscosity = 1e-3
roughness = ROUGH
segments = 2
[simulate]
start = "equilibrium"
t_end = 0.01
output_step = 0.01
"""


def line(flow, rough):
    return LINE.replace("FLOW", str(flow)).replace("ROUGH", str(rough))


def factor(reynolds, e):
    """Darcy's friction factor of the pipe at rest, from the pressure it takes."""
    v = reynolds * 1e-3 / 1000 / 0.02
    model = toml.parse(line(v * pi * 0.01**2, e * 0.02))
    pressure = vbg.simulate(vbg.assemble(model))["chamber.pressure"][0]
    return pressure / (20 / 0.02 * 1000 * v * abs(v) / 2)


def colebrook(reynolds, e):
    x = 7.0
    for _ in range(60):
        x = -2 * log10(e / 3.7 + 2.51 * x / reynolds)
    return 1 / x**2


@pytest.mark.parametrize("e", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("reynolds", [0.01, 1.0, 1000.0])
def test_slow_flow_is_laminar(reynolds, e):
    assert factor(reynolds, e) == pytest.approx(64 / reynolds, rel=1e-5)


@pytest.mark.parametrize("e", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("reynolds", [4e3, -1e5, 1e8])
def test_fast_flow_is_that_of_colebrook_within_the_accuracy_of_the_formula(reynolds, e):
    expected = colebrook(abs(reynolds), e)
    assert factor(reynolds, e) == pytest.approx(expected, rel=0.035)


def test_both_solvers_agree_on_a_surge_through_all_regimes():
    model = toml.parse(line('"4e-4*sin(15*t)"', 1e-4).replace('start = "equilibrium"\n', ""))
    model = model.edited(("simulate", "t_end"), 0.2)
    report = vbg.validate.validate(model)
    assert report.result == "PASS", report.verdict
    first, second = report.solutions["vbg"], report.solutions["mstmm"]
    speed = first["line.flow"] / (pi * 0.01**2)
    assert np.abs(speed).max() * 0.02 * 1e6 > 2e4  # turbulent
    np.testing.assert_allclose(
        first["chamber.pressure"], second["chamber.pressure"], atol=1e-6 * 1e5
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("viscosity = 1e-3", "viscosity = 0"), "need a viscosity"),
        (("roughness = 0", "roughness = 0.01"), "of the diameter"),
        (("roughness = 0", 'roughness = "1 um/s"'), "a length"),
    ],
)
def test_walls_that_cannot_be_are_refused(change, words):
    with pytest.raises(ModelError, match=words):
        toml.parse(line(1e-4, 0).replace(*change))
