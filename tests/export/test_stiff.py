"""Stiff machines in C: Radau IIA beside closed forms, beside vbg's runs, at events."""

import subprocess

import numpy as np
import pytest

import vbg
from tests.domains.circuits.test_floating_rectifiers import bridge
from tests.export.comparing import compiled, family, family_peaks, table
from tests.tail import tail
from vbg.export import write_code
from vbg.io.toml import parse
from vbg.model import Model
from vbg.solution import components

LADDER = """
vbg = 1
name = "two time constants"
[electric.U]
kind = "voltage_source"
nodes = ["in", "gnd"]
voltage = 1
[electric.R1]
kind = "resistor"
nodes = ["in", "a"]
R = 1
[electric.C1]
kind = "capacitor"
nodes = ["a", "gnd"]
C = {fast}
[electric.R2]
kind = "resistor"
nodes = ["a", "b"]
R = 1
[electric.C2]
kind = "capacitor"
nodes = ["b", "gnd"]
C = {slow}
[simulate]
t_end = {slow}
output_step = {step}
method = "radau"
rtol = 1e-9
atol = 1e-9
"""


@pytest.mark.parametrize(
    ("fast", "slow"), tail([(1e-9, 1.0), (1e-18, 1e-9), (1e-3, 1e3), (0.5, 1.0)], 1)
)
def test_capacitors_of_any_size_are_charged_to_the_closed_form(tmp_path, fast, slow):
    text = LADDER.format(fast=fast, slow=slow, step=slow / 10)
    program = compiled(vbg.start(vbg.assemble(parse(text, "ladder.toml"))), tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    found = table(program)
    # a' = (1 - 2 a + b) / R1 C1, b' = (a - b) / R2 C2; what is left to (1, 1) dies out in two times
    trace, det = -(2 / fast + 1 / slow), 1 / (fast * slow)
    quick = (trace - np.sqrt(trace * trace - 4 * det)) / 2
    lazy = det / quick
    t = found["time"]
    b = (quick * np.exp(lazy * t) - lazy * np.exp(quick * t)) / (quick - lazy)
    a = b + slow * det * (np.exp(lazy * t) - np.exp(quick * t)) / (quick - lazy)
    assert found["C1.voltage"] == pytest.approx(1 - a, abs=1e-8)
    assert found["C2.voltage"] == pytest.approx(1 - b, abs=1e-8)
    steps = int(done.stderr.split(" steps")[0].rpartition(" ")[2])
    assert steps < 500  # an explicit method needs a step for each time constant of the fast one


@pytest.mark.parametrize(("fast", "stiff"), tail([(1e-6, True), (0.5, False)], 1))
def test_the_choice_of_the_file_is_that_of_the_run_and_told(tmp_path, fast, stiff):
    """method = "auto": as vbg.simulate changes to Radau IIA, or does not."""
    text = LADDER.format(fast=fast, slow=1.0, step=0.1).replace('method = "radau"', "")
    told = []
    start = vbg.start(vbg.assemble(parse(text, "ladder.toml")))
    write_code(start, tmp_path, tell=told.append)
    assert bool(told) == stiff == (vbg.simulate(start).made_by.method == "radau")
    program = compiled(start, tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert int(done.stderr.split(" steps")[0].rpartition(" ")[2]) < 500


def beside_vbg(start, folder, t_end, step, close, **settings):
    """The largest difference of each signal from vbg's run, of the peaks of its kind."""
    found = table(compiled(start, folder), t_end, step)
    solution = vbg.simulate(start, t_end=t_end, output_step=step, **settings)
    columns = dict(components(solution))
    peaks = family_peaks(columns)
    for name, values in found.items():
        if name != "time":
            assert np.abs(values - columns[name]).max() <= close * peaks[family(name)], name


@pytest.mark.slow
def test_loops_of_nonlinear_circuits_run_alike(tmp_path):
    start = vbg.start(vbg.assemble(vbg.read("examples/transistor-amplifier.toml")))
    beside_vbg(start, tmp_path, 0.02, 1e-4, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slider-crank", "excavator-arm", "hydraulic-arm"])
def test_closed_loops_and_stops_run_as_by_the_explicit_method(tmp_path, name):
    document = dict(vbg.read(f"examples/{name}.toml").document)
    document["simulate"] = {**document["simulate"], "method": "radau", "rtol": 1e-9, "atol": 1e-9}
    start = vbg.start(vbg.assemble(Model.from_document(document)))
    settings = {"method": "dop853", "rtol": 1e-11, "atol": 1e-11}
    beside_vbg(start, tmp_path, 0.3, 0.01, 1e-6, **settings)


@pytest.mark.slow
def test_a_rectifier_without_a_ground_at_its_output_runs_alike(tmp_path):
    electric = bridge(12.0, 50.0, 1e-3, 500.0)
    found = Model(
        electric=electric, simulate={"t_end": 0.04, "output_step": 2e-4, "method": "dop853"}
    )
    beside_vbg(vbg.start(vbg.assemble(found)), tmp_path, 0.04, 2e-4, 1e-6)


BALL = """
vbg = 1
name = "ball"
gravity = [0, -9.81, 0]
[bodies.ball]
mass = 1
inertia = { xx = 1, yy = 1, zz = 1 }
position = [0, 1, 0]
[joints.guide]
kind = "prismatic"
between = ["ground", "ball"]
axis = [0, 1, 0]
stop = { lower = -0.5, k = 1e7, c = 1e5 }
[simulate]
t_end = 1
output_step = 0.01
method = "radau"
rtol = 1e-9
"""


@pytest.mark.slow
def test_a_stiff_stop_is_met_and_left(tmp_path):
    start = vbg.start(vbg.assemble(parse(BALL, "ball.toml")))
    beside_vbg(start, tmp_path, 1.0, 0.01, 1e-6, method="dop853", rtol=1e-12, atol=1e-12)
