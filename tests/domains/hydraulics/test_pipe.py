"""Pipes with rough walls: one friction factor for all flows, in both solvers."""

from math import log10, pi

import numpy as np
import pytest

import vbg
from vbg.errors import AssemblyError, ModelError
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
nodes = ["a", "far"]
length = 20
diameter = 0.02
density = 1000
viscosity = 1e-3
roughness = ROUGH
segments = 2
[hydraulic.reservoir]
kind = "pressure_source"
nodes = ["far", "tank"]
pressure = FAR
[simulate]
start = "equilibrium"
t_end = 0.01
output_step = 0.01
"""


def line(flow, rough, far=0.0):
    text = LINE.replace("FLOW", str(flow)).replace("ROUGH", str(rough))
    return text.replace("FAR", str(far))


def factor(reynolds, e, far=0.0):
    """Darcy's friction factor of the pipe at rest, from the pressure it takes beyond that at its
    far end [Pa]."""
    v = reynolds * 1e-3 / 1000 / 0.02
    model = toml.parse(line(v * pi * 0.01**2, e * 0.02, far))
    pressure = vbg.simulate(vbg.assemble(model))["chamber.pressure"][0] - far
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
    """Either way: what is sucked through takes up to 5 bar, which the far end has to give."""
    expected = colebrook(abs(reynolds), e)
    assert factor(reynolds, e, far=1e6) == pytest.approx(expected, rel=0.035)


def test_nothing_is_at_rest_that_would_need_oil_below_vacuum():
    """4.75 bar are lost on the way from a tank of 1 bar: a cavity grows as long as it is sucked."""
    with pytest.raises(AssemblyError, match="no rest is found"):
        factor(-1e5, 1e-2)


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
