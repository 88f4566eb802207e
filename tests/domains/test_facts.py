"""Published facts of small machines: eigenvalues, steady states, trajectories."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.domains.linear import eigenvalues

SOURCE = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 5}
MOTOR = {
    "kind": "dc_motor",
    "nodes": ["a", "gnd"],
    "on": "rotational.shaft",
    "R": 4,
    "L": 15e-6,
    "K": 9.54e-3,
    "J": 1e-6,
    "B": 1e-6,
}


def close(found: np.ndarray, expected: list[complex], digits: float) -> bool:
    """Whether each expected eigenvalue is among those found, to `digits`."""
    return all(np.abs(found - value).min() <= 10.0**-digits * abs(value) for value in expected)


def test_dc_motor():
    motor = MOTOR | {"J": 0.0}
    model = vbg.Model(
        electric={"U": SOURCE, "M": motor},
        rotational={"rotor": {"kind": "inertia", "nodes": ["shaft"], "J": 1e-6}},
        simulate={"t_end": 1.0, "output_step": 0.1, "method": "radau"},
    )
    system = vbg.assemble(model)
    assert close(eigenvalues(system), [-266643.912, -23.7549270], 8)
    solution = vbg.simulate(system)
    assert solution["M.current"][-1] == pytest.approx(0.0526251531, abs=1e-9)
    assert solution["M.speed"][-1] == pytest.approx(502.043961, abs=1e-5)
    assert solution.audit.energy_residual < 1e-7


def test_hoist_with_elastic_rope():
    """Rotor inertia on the motor, drum 0.05 m, rope 1e-6 m/N, load 5e-3 kg."""
    model = vbg.Model(
        electric={"U": SOURCE, "M": MOTOR},
        rotational={"drag": {"kind": "torque", "nodes": ["shaft"], "torque": 0.0}},
        translational={
            "drum": {
                "kind": "ball_screw",
                "shaft": "rotational.shaft",
                "slide": "translational.rope",
                "lead": 0.05,
            },
            "rope": {"kind": "spring", "nodes": ["load", "rope"], "k": 1e6},
            "weight": {"kind": "mass", "nodes": ["load"], "m": 5e-3},
            "gravity": {"kind": "force", "nodes": ["load"], "force": "-5e-3*9.81"},
        },
    )
    expected = [-266644.683, -10.6122691 + 51963.5005j, -10.6122691 - 51963.5005j, -1.75948522]
    assert close(eigenvalues(vbg.assemble(model)), expected, 8)


def test_dependent_stores_in_series_and_parallel():
    inductors = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "5*sin(3*t)"},
        "L1": {"kind": "inductor", "nodes": ["a", "b"], "L": 0.3},
        "L2": {"kind": "inductor", "nodes": ["b", "c"], "L": 0.2},
        "R": {"kind": "resistor", "nodes": ["c", "gnd"], "R": 2.0},
    }
    system = vbg.assemble(vbg.Model(electric=inductors))
    assert system.causal.dependent_stores == ("L2.flux.I",)
    assert close(eigenvalues(system), [-4.0], 12)
    capacitors = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "5*sin(3*t)"},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 2.0},
        "C1": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.3},
        "C2": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 0.2},
        "C3": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.2},
    }
    system = vbg.assemble(vbg.Model(electric=capacitors, simulate={"t_end": 1.0}))
    assert system.causal.dependent_stores == ("C2.charge.C", "C3.charge.C")
    assert close(eigenvalues(system), [-1.0], 12)
    solution = vbg.simulate(system)
    time = solution.time
    assert solution["C3.current"] == pytest.approx(3.0 * np.cos(3.0 * time), abs=1e-10)
    exact = 0.5 * (np.sin(3 * time) - 3 * np.cos(3 * time) + 3 * np.exp(-time))
    assert solution["C2.voltage"] == pytest.approx(exact, abs=1e-7)


def test_mixed_case_of_constraints():
    """Two inductors behind one resistor that joins both constraints: T_LE has rank 1."""
    parts = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 2.0},
        "R0": {"kind": "resistor", "nodes": ["a", "b"], "R": 3.0},
        "L1": {"kind": "inductor", "nodes": ["b", "c"], "L": 0.3},
        "L2": {"kind": "inductor", "nodes": ["c", "d"], "L": 0.2},
        "L3": {"kind": "inductor", "nodes": ["d", "gnd"], "L": 0.5},
    }
    system = vbg.assemble(vbg.Model(electric=parts))
    assert close(eigenvalues(system), [-3.0], 12)


def test_algebraic_loops():
    amplifier = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1.0},
        "R1": {"kind": "resistor", "nodes": ["a", "m"], "R": 1e3},
        "R2": {"kind": "resistor", "nodes": ["m", "out"], "R": 1e4},
        "A": {"kind": "op_amp", "nodes": ["gnd", "m", "out"], "gain": 1e6},
        "load": {"kind": "resistor", "nodes": ["out", "gnd"], "R": 100.0},
    }
    system = vbg.assemble(vbg.Model(electric=amplifier))
    (loop,) = system.equations.loops
    assert loop.linear and loop.order == 1
    found = vbg.start(system).outputs(0.0, vbg.start(system).state)["electric.out.voltage"]
    assert found == pytest.approx(-10.0 / (1.0 + 11.0 / 1e6), rel=1e-9)
    diode = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 1.0},
        "R": {"kind": "resistor", "nodes": ["a", "m"], "R": 1e3},
        "D": {"kind": "diode", "nodes": ["m", "gnd"]},
    }
    system = vbg.assemble(vbg.Model(electric=diode))
    assert not system.equations.loops[0].linear
    values = vbg.start(system).outputs(0.0, vbg.start(system).state)
    assert values["D.current"] == pytest.approx((1.0 - values["D.voltage"]) / 1e3, rel=1e-12)
    expected = 1e-12 * np.expm1(values["D.voltage"] / 0.026)
    assert values["D.current"] == pytest.approx(expected, rel=1e-10)


def test_cylinder_has_its_start_pressures_where_assembly_puts_the_arm():
    """The arm is written 36 mm from its pin: its chambers are filled once it is in place."""
    arm = {
        "mass": 120,
        "inertia": {"xx": 1, "yy": 10, "zz": 10},
        "position": [0.5, 0, 0],
        "points": {"pin": [-0.5, 0, 0], "lug": [-0.25, 0, 0]},
    }
    at = {"body": "ground", "at": [0.03, 0.02, 0]}
    cylinder = {
        "kind": "cylinder",
        "nodes": ["A", "B"],
        "between": [{"body": "ground", "at": [0, -0.25, 0]}, "arm.lug"],
        "area_a": 0.01,
        "dead_a": 1e-3,
        "dead_b": 1e-3,
        "stroke": 1.0,
        "pressure_a": 4e6,
        "pressure_b": 5e5,
    }
    model = vbg.Model(
        bodies={"arm": arm},
        joints={"pin": {"kind": "revolute", "between": [at, "arm.pin"], "axis": [0, 0, 1]}},
        hydraulic={"cylinder": cylinder},
    )
    system = vbg.assemble(model)
    assert any("moved" in note.what for note in vbg.start(system).notes)
    start = vbg.start(system).outputs(0.0, vbg.start(system).state)
    assert start["cylinder.pressure_a"] == pytest.approx(4e6, rel=1e-9)
    assert start["cylinder.pressure_b"] == pytest.approx(5e5, rel=1e-9)
