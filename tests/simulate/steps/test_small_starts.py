"""What is closed moves alike however small its start is: linear laws know no size."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.io import toml

SHAFT = """
[rotational.rotor]
kind = "inertia"
nodes = ["motor"]
J = {first}
speed = {start}
[rotational.drum]
kind = "inertia"
nodes = ["drum"]
J = {second}
[rotational.coupling]
kind = "spring"
nodes = ["motor", "drum"]
k = {stiffness}
"""
DAMPED = (
    SHAFT
    + """
[rotational.loss]
kind = "damper"
nodes = ["motor", "drum"]
c = "0.1*sqrt({stiffness}*{first})"
"""
)
SLIDE = """
[translational.load]
kind = "mass"
nodes = ["a"]
m = {first}
speed = {start}
[translational.rest]
kind = "spring"
nodes = ["a"]
k = {stiffness}
"""
CIRCUIT = """
[electric.store]
kind = "capacitor"
nodes = ["a", "gnd"]
C = "1/{stiffness}"
voltage = {start}
[electric.coil]
kind = "inductor"
nodes = ["a", "gnd"]
L = {first}
"""
MACHINES = {
    "shaft": (SHAFT, "rotor.speed"),
    "damped": (DAMPED, "rotor.speed"),
    "slide": (SLIDE, "load.speed"),
    "circuit": (CIRCUIT, "store.voltage"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_what_is_closed_moves_alike_from_any_start(name):
    """From 1e-40 of a unit to 1: the same course in units of its start, and all energy kept."""
    text, signal = MACHINES[name]
    random = np.random.default_rng(17)
    for _ in range(4):
        first, second = 10 ** random.uniform(-2, 1, 2)
        stiffness = 10 ** random.uniform(1, 3)
        span = random.uniform(0.5, 12.0) * (first / stiffness) ** 0.5
        courses = []
        for start in (1.0, *(10 ** random.uniform(-40, -3, 4))):
            numbers = {"first": first, "second": second, "stiffness": stiffness, "start": start}
            written = {key: repr(float(value)) for key, value in numbers.items()}
            model = toml.parse("vbg = 1\n" + text.format(**written), "small.toml")
            run = vbg.simulate(model, t_end=span, output_step=span / 9)
            assert run.status.code == "finished" and not run.audit.failures, numbers
            courses.append(run.signals[signal] / start)
        for other in courses[1:]:
            np.testing.assert_allclose(other, courses[0], atol=1e-5 * np.abs(courses[0]).max())


def test_what_is_closed_keeps_its_energy_for_many_turns():
    """Each step loses rtol of what moves, not a part of `atol`: it adds up."""
    written = {"first": "1.3", "stiffness": "7", "start": "1e-6"}
    run = vbg.simulate(toml.parse("vbg = 1\n" + SLIDE.format(**written), "small.toml"), t_end=270.0)
    assert run.status.code == "finished" and not run.audit.failures
    assert run.audit.energy_residual < 3e-7
