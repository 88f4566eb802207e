"""Cylinders: the force is pressure times area, whatever the pressure, and the audit closes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.analysis import linearise
from vbg.blocks import const
from vbg.io import toml
from vbg.physics.hydraulics import Oil

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


@pytest.mark.parametrize("grid", [0.01, 0.01111, 0.01148])
def test_rows_lie_on_the_motion_wherever_steps_end(grid: float) -> None:
    """The decay of pressure sets the steps here: their ends are right to the tolerance, and the
    polynomials between them were wrong by 1e-5 of the pressure at single rows."""
    model = press()
    given = {"t_end": 0.5, "output_step": grid}
    exact = vbg.simulate(model, rtol=1e-13, atol=1e-14, **given)["c.pressure_a"]
    for simulate in (vbg.simulate, tmm_bridge.simulate):
        found = simulate(model, rtol=1e-8, atol=1e-10, **given)["c.pressure_a"]
        assert_allclose(found, exact, atol=2e-7 * SUPPLY)


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


PULLED_OIL = PULLED.replace('pressure_a = "5 bar"', 'pressure_a = "5 bar"\nair = 0')


def cavity(r: float, bulk: float, air: float) -> float:
    """The pressure of oil of which a volume has the part r, by the law as published: liquid
    e^(p / K); below half an atmosphere, absolute P, less what bubbles take."""
    P_s = 0.5 * 101325.0
    r_s = np.exp(-P_s / bulk)
    if r >= r_s:
        return bulk * np.log(r)

    def off(P: float) -> float:
        return r_s + (P - P_s) / bulk - air * (1 - P / P_s) ** 2 * P_s / P - r

    return brentq(off, 1e-6 * P_s, P_s, xtol=1e-9, rtol=1e-14) - 2.0 * P_s


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "radau"}, {}, {"formulation": "minimal"}])
def test_a_chamber_that_is_pulled_cavitates(settings):
    """What the walls draw apart is filled by air of the oil: the pressure is that of the law, the
    audit closes, the other solver, whose state is the pressure, finds the same."""
    text = PULLED.replace("LOAD", "20000").replace("1e-14", "1e-20")
    model = toml.parse(text, "c.toml")
    solution = vbg.simulate(model, rtol=1e-10, atol=1e-12, **settings)
    p, s = solution["cyl.pressure_a"], solution["cyl.stroke"]
    assert -101325.0 < p.min() < -0.99 * 101325.0 and s[-1] > 0.05
    m = 1e-5 * np.exp(5e5 / 1.4e9)
    law = [cavity(r, 1.4e9, 0.005) for r in m / (1e-5 + 2e-3 * s)]
    assert_allclose(p, law, atol=0.05)
    assert solution.audit.energy_residual < 1e-8
    (note,) = [note for note in solution.notes if "cavitates" in note.what]
    first = solution.time[np.argmax(p < -0.9 * 101325)]
    assert note.severity == "warning" and note.line == 13 and f"t = {first:.4g} s" in note.what
    # near vacuum a pascal of its state is much oil
    other = tmm_bridge.simulate(model, rtol=1e-12, atol=1e-14)
    assert_allclose(other["cyl.pressure_a"], p, atol=0.05)
    assert_allclose(other["cyl.stroke"], s, atol=1e-9)
    assert other.audit.energy_residual < 1e-6


@pytest.mark.parametrize("kind", ["cylinder", "constant", "volume"])
def test_oil_with_air_is_a_store(kind):
    """p dm is the rate of the energy on both sides of half an atmosphere, where p = dE/dm and
    its slope have no jump; oil is liquid above."""
    oil = Oil(1.4e9, 12.0 if kind == "volume" else 0.0, 0.005)
    first, laws = 0.0, (lambda e: oil.pressure(const(e)), lambda e: oil.energy(const(e)))
    if kind == "cylinder":
        first, laws = 1.0, tuple(lambda r, k=k: oil.of_ratio(const(r))[k] for k in (0, 1))
    pressure, energy = (lambda e, law=law: float(law(e).data.item()) for law in laws)
    for at in (-0.3, -1e-3, -3.7e-5, -3.61e-5, -1e-5, 0.01):
        h = 1e-3 * abs(at) if at < -1e-4 else 1e-8
        slope = (energy(first + at + h) - energy(first + at - h)) / (2 * h)
        assert abs(slope - pressure(first + at)) < 1e-4 * 101325
    held = oil.ratio(-0.9e5) if kind == "cylinder" else oil.strain(-0.9e5)
    assert_allclose(pressure(held), -0.9e5, rtol=1e-9)


@pytest.mark.parametrize("air", [0.0, 0.005])
@pytest.mark.parametrize("pressure", [1.0, 2.3e3, 5e5, 4e7, -3e4])
def test_what_a_chamber_stores_is_right_at_any_pressure(air, pressure):
    """bulk (d^2/2 - d^3/6 + ...) with d = r - 1: at 1 Pa it was lost in the rounding of 1."""
    oil, random = Oil(1.4e9, 0.0, air), np.random.default_rng(7)
    for _ in range(10):
        r = np.exp(pressure * random.uniform(0.5, 1.5) / oil.bulk)
        d = r - 1.0
        series = sum((-1) ** n * d**n / (n * (n - 1)) for n in range(2, 12))
        assert float(oil.of_ratio(const(r))[1].data.item()) == pytest.approx(
            oil.bulk * series, rel=1e-6
        )


def test_a_cylinder_stops_at_its_ends():
    """Without a word on stops its piston stays within the stroke, 0.1 mm deep at 100 bar."""
    model = vbg.Model(
        name="ends",
        translational={"m": {"kind": "mass", "nodes": ["x"], "m": 50.0}},
        hydraulic={
            "c": {
                "kind": "cylinder",
                "nodes": ["a", "tank"],
                "on": "translational.x",
                "area_a": 1e-3,
                "stroke": 0.2,
            },
            "supply": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 1e7},
            "inlet": {"kind": "laminar_resistance", "nodes": ["p", "a"], "conductance": 1e-10},
        },
    )
    for run in (lambda m: vbg.simulate(m, t_end=1.0), lambda m: tmm_bridge.simulate(m, t_end=1.0)):
        solution = run(model)
        assert_allclose(solution["c.stroke"][-1], 0.2001, atol=1e-7)
        assert_allclose(solution["c.pressure_a"][-1], 1e7, rtol=1e-5)
        assert solution["c.stroke"].max() < 0.2 + 1e-3


@pytest.mark.parametrize("settings", tail([{}, {"formulation": "minimal"}, {"method": "radau"}], 1))
def test_a_chamber_that_is_pulled_below_vapour_pressure_is_told(settings):
    solution = vbg.simulate(toml.parse(PULLED_OIL.replace("LOAD", "20000"), "c.toml"), **settings)
    (note,) = [note for note in solution.notes if "vapour" in note.what]
    assert note.severity == "warning" and note.where == "hydraulic.cyl" and note.line == 13
    # 5 bar hold 1 kN against the pull of 20 kN/s at first; it swings about that balance
    first = solution.time[np.argmax(solution["cyl.pressure_a"] < -101325)]
    assert f"t = {first:.4g} s" in note.what


def test_a_chamber_above_vapour_pressure_is_not():
    text = PULLED_OIL.replace("LOAD", "100").replace("5 bar", "0 bar")
    solution = vbg.simulate(toml.parse(text, "c.toml"))
    assert not [note for note in solution.notes if "vapour" in note.what]


@pytest.mark.parametrize("bore", (10e-6, 40e-6, 400e-6))
def test_a_node_from_which_more_is_drawn_than_comes_is_told(bore):
    """cd A sqrt(2 p / density) is the flow of 1 L/s: 28 and 7 bar, or 0.07."""
    flow = 1e-3
    model = vbg.Model(
        hydraulic={
            "throttle": {"kind": "orifice", "nodes": ["tank", "s"], "area": bore},
            "draw": {"kind": "flow_source", "nodes": ["s", "tank"], "flow": f"{flow}*t"},
        }
    )
    solution = vbg.simulate(model, t_end=1.0, output_step=0.01)
    told = [note for note in solution.notes if "vapour" in note.what]
    below = solution["hydraulic.s.pressure"] < -101325.0
    assert bool(told) == bool(below.any()) == (bore < 50e-6)
    for note in told:
        assert note.severity == "warning" and "at node s" in note.what
        assert f"t = {solution.time[np.argmax(below)]:.4g} s" in note.what
