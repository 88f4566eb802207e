"""A switch is closed where `closed` is above zero: not where it is zero, and stays so."""

from __future__ import annotations

import math
import subprocess

import numpy as np
import pytest

import vbg
from tests.export.test_code import compiled, table
from tests.tail import only
from vbg.validate import validate

VOLTS, LOAD, RON, GOFF = 12.0, 1e3, 1e-5, 1e-5
OPEN, SHUT = VOLTS / (LOAD + 1.0 / GOFF), VOLTS / (LOAD + RON)


def switched(closed: float | str, **more: object) -> vbg.Model:
    source = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": VOLTS}
    load = {"kind": "resistor", "nodes": ["b", "gnd"], "R": LOAD}
    switch = {"kind": "switch", "nodes": ["a", "b"], "closed": closed, "Ron": RON, "Goff": GOFF}
    circuit = {"V": source, "load": load, "S": switch}
    return vbg.Model(electric=circuit, simulate={"t_end": 0.1, "output_step": 0.01}, **more)


# what is given, and whether it is above zero behind t
GIVEN = [
    (0.0, lambda t: False),
    ("0", lambda t: False),
    ("0*t", lambda t: False),
    ("1", lambda t: True),
    ("if(t < 0.05, 1, 0)", lambda t: t < 0.05 - 1e-9),
    ("if(t < 0.05, 0, 1)", lambda t: t > 0.05 - 1e-9),
    ("max(sin(100*t), 0)", lambda t: math.sin(100 * t) > 0 or t == 0.0),
    ("max(0.0631 - t, 0)", lambda t: t < 0.0631),
    ("sin(100*t)", lambda t: math.sin(100 * t) > 0 or t == 0.0),
]


@pytest.mark.parametrize(("given", "above"), only([GIVEN[1], GIVEN[4], GIVEN[6]], GIVEN))
def test_both_solvers_close_the_switch_where_its_signal_is_above_zero(given, above):
    report = validate(switched(given), rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        # the first row of a sine is at its zero
        times = [t for t in solution.time if t > 0.0]
        expected = [SHUT if above(t) else OPEN for t in times]
        assert solution["load.current"][1:] == pytest.approx(expected, rel=1e-7)


def test_a_switch_opens_where_the_speed_that_closes_it_is_cut_off():
    """An inertia that a torque of -1 N*m slows down from 0.0731 rad/s: closed while it turns
    forward.  The signal reaches zero at 73.1 ms and stays."""
    shaft = {
        "J": {"kind": "inertia", "nodes": ["m"], "J": 1.0, "speed": 0.0731},
        "M": {"kind": "torque", "nodes": ["m"], "torque": -1.0},
    }
    model = switched("max(rotational.m.speed, 0)", rotational=shaft)
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        expected = np.where(solution.time < 0.0731, SHUT, OPEN)
        assert solution["load.current"] == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["0*t", "max(0.0631 - t, 0)", "if(t < 0.05, 1, 0)"])
def test_the_exported_program_does_as_well(given, tmp_path):
    start = vbg.start(vbg.assemble(switched(given)))
    program = compiled(start, tmp_path)
    subprocess.run([program], capture_output=True, text=True, check=True)
    run = vbg.simulate(start)
    found = table(program)
    assert found["load.current"] == pytest.approx(run["load.current"], rel=1e-9)
    assert run["load.current"][-1] == pytest.approx(OPEN, rel=1e-9)


def test_a_current_passes_an_ideal_diode_behind_a_node_that_floats():
    """A source drives 10 mA into n1, on through a diode to n0, and back through what another
    diode that blocks lets by: 1000 V at n1.  Newton's steps between conductances of 1e5 S and
    1e-5 S end on the root, and not where they are small."""
    model = vbg.Model(
        electric={
            "D0": {"kind": "diode", "nodes": ["gnd", "n0"], "law": "ideal"},
            "D1": {"kind": "diode", "nodes": ["n1", "n0"], "law": "ideal"},
            "R": {"kind": "resistor", "nodes": ["n2", "gnd"], "R": 1.0},
            "I": {"kind": "current_source", "nodes": ["n2", "n1"], "current": "0.01*(1 + t)"},
        },
        simulate={"t_end": 0.1, "output_step": 0.02},
    )
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    for solution in report.solutions.values():
        expected = 0.01 * (1.0 + solution.time)
        assert solution["D1.current"] == pytest.approx(expected, rel=1e-6)
        assert solution["electric.n1.voltage"] == pytest.approx(1e5 * expected, rel=1e-6)
