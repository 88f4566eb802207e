"""Cylinders: the force is pressure times area, whatever the pressure, and the audit closes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg
from vbg.analysis import linearise
from vbg.io import toml

AREA_A, AREA_B, BULK, MASS, DEAD, STROKE = 1e-3, 6e-4, 7e8, 50.0, 1e-4, 0.4
SUPPLY = 350e5


def press(stroke: float = STROKE) -> vbg.Model:
    """A mass on a cylinder with a supply of 350 bar behind a gap, its rod side open through
    another."""
    return vbg.Model(
        name="press",
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": MASS},
            "k": {"kind": "spring", "nodes": ["x"], "k": 2e5},
        },
        hydraulic={
            "c": {
                "kind": "cylinder",
                "nodes": ["a", "b"],
                "on": "translational.x",
                "area_a": AREA_A,
                "area_b": AREA_B,
                "stroke": stroke,
                "bulk": BULK,
                "dead_a": DEAD,
                "dead_b": DEAD,
                "friction": 4e3,
            },
            "supply": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": SUPPLY},
            "inlet": {"kind": "laminar_resistance", "nodes": ["p", "a"], "conductance": 4e-10},
            "outlet": {"kind": "laminar_resistance", "nodes": ["b", "tank"], "conductance": 4e-10},
        },
    )


def test_force_is_pressure_times_area() -> None:
    """At rest: 350 bar on 10 cm^2 hold 35 kN against the spring, to all digits, though the oil
    is compressed by 5 % (p / K); on the way force = p_a A_a - p_b A_b - friction speed."""
    system = vbg.assemble(press())
    solution = vbg.simulate(system, t_end=3.0, output_step=0.01, rtol=1e-10, atol=1e-12)
    assert_allclose(solution["c.pressure_a"][-1], SUPPLY, rtol=1e-6)
    assert_allclose(solution["c.force"][-1], SUPPLY * AREA_A, rtol=1e-6)
    pushed = solution["c.pressure_a"] * AREA_A - solution["c.pressure_b"] * AREA_B
    expected = pushed - 4e3 * solution["m.speed"]
    assert_allclose(solution["c.force"], expected, rtol=0, atol=1e-6)
    assert solution.audit.energy_residual < 1e-10


def test_motion_is_that_of_the_written_laws() -> None:
    """m x'' = p_a A_a - p_b A_b - c x' - k x,  p' = K (flow / content - V' / V),
    content = V exp(p / K), against an integration of its own."""
    solution = vbg.simulate(
        vbg.assemble(press()), t_end=0.5, output_step=0.01, rtol=1e-10, atol=1e-12
    )

    def rate(_t: float, y: np.ndarray) -> list[float]:
        x, v, p_a, p_b = y
        V_a, V_b = DEAD + AREA_A * x, DEAD + AREA_B * (STROKE - x)
        Q_a, Q_b = 4e-10 * (SUPPLY - p_a), -4e-10 * p_b
        push = p_a * AREA_A - p_b * AREA_B
        return [
            v,
            (push - 4e3 * v - 2e5 * x) / MASS,
            BULK * (Q_a / (V_a * np.exp(p_a / BULK)) - AREA_A * v / V_a),
            BULK * (Q_b / (V_b * np.exp(p_b / BULK)) + AREA_B * v / V_b),
        ]

    own = solve_ivp(rate, (0, 0.5), np.zeros(4), "DOP853", solution.time, rtol=1e-11, atol=1e-11)
    assert_allclose(solution["translational.x.position"], own.y[0], atol=1e-8)
    assert_allclose(solution["c.pressure_a"], own.y[2], atol=1e-6 * SUPPLY)


def test_what_oil_carries_in_is_no_input() -> None:
    """The linear model of the press has one input, its supply."""
    assert linearise(vbg.assemble(press())).input_names == ("supply",)


@pytest.mark.parametrize("pressure", [0.0, SUPPLY])
def test_a_chamber_may_stand_on_its_source(pressure: float) -> None:
    """Its content is then a dependent store: the start takes the source's pressure, whatever is
    written, and rounding of 1e-7 Pa in 350 bar is no contradiction."""
    model = vbg.Model(
        name="hold",
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": MASS},
            "c": {"kind": "damper", "nodes": ["x"], "c": 1e5},
            "k": {"kind": "spring", "nodes": ["x"], "k": 1e7},
        },
        hydraulic={
            "c1": {
                "kind": "cylinder",
                "nodes": ["a", "tank"],
                "on": "translational.x",
                "area_a": AREA_A,
                "stroke": STROKE,
                "length": -0.1,
                "pressure_a": pressure,
            },
            "supply": {"kind": "pressure_source", "nodes": ["a", "tank"], "pressure": SUPPLY},
        },
    )
    solution = vbg.simulate(vbg.assemble(model), t_end=1.0, output_step=0.1)
    assert_allclose(solution["c1.pressure_a"], SUPPLY, rtol=1e-12)
    assert_allclose(solution["translational.x.position"][-1], SUPPLY * AREA_A / 1e7, rtol=1e-7)


PULLED = """vbg = 1
[bodies.load]
mass = 200
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.rail]
kind = "prismatic"
between = ["ground", "load"]
axis = [1, 0, 0]
[forces.pull]
kind = "force"
on = "load"
force = ["LOAD*t", 0, 0]
[hydraulic.cyl]
kind = "cylinder"
nodes = ["a", "tank"]
on = "joints.rail"
area_a = "20 cm^2"
stroke = "0.5 m"
pressure_a = "5 bar"
[hydraulic.seal]
kind = "laminar_resistance"
nodes = ["a", "tank"]
conductance = 1e-14
[simulate]
t_end = 0.5
output_step = 0.01
"""


@pytest.mark.parametrize("settings", [{}, {"formulation": "minimal"}, {"method": "radau"}])
def test_a_chamber_that_is_pulled_below_vapour_pressure_is_told(settings):
    solution = vbg.simulate(toml.parse(PULLED.replace("LOAD", "20000"), "c.toml"), **settings)
    (note,) = [note for note in solution.notes if "vapour" in note.what]
    assert note.severity == "warning" and note.where == "hydraulic.cyl" and note.line == 13
    # 5 bar hold 1 kN against the pull of 20 kN/s at first; it swings about that balance
    first = solution.time[np.argmax(solution["cyl.pressure_a"] < -101325)]
    assert f"t = {first:.4g} s" in note.what


def test_a_chamber_above_vapour_pressure_is_not():
    text = PULLED.replace("LOAD", "100").replace("5 bar", "0 bar")
    solution = vbg.simulate(toml.parse(text, "c.toml"))
    assert not [note for note in solution.notes if "vapour" in note.what]
