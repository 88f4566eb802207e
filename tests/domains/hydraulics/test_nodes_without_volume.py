"""Nodes of oil and circuits that no part gives a pressure or a voltage: where parts in series tell
flows only, the flows balance there, at any size down to that of rounding."""

from __future__ import annotations

from decimal import Decimal, getcontext
from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import vbg
from tests.tail import only, tail
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import leaf
from vbg.blocks.rounding import terms_of
from vbg.errors import VbgError
from vbg.physics.hydraulics import signed_root

LAMINAR, PN = 1e4, 5e5


def valve(first: str, second: str, qn: float, opening: float | str = 1.0) -> dict:
    """A proportional valve of which one edge is open."""
    nodes = [first, "tank", second, "tank"]
    return {"kind": "proportional_valve", "nodes": nodes, "qn": qn, "opening": opening}


def drop(flow: float, qn: float) -> float:
    """Pressure at one edge: y = flow / gain = p / (p^2 + laminar^2)^(1/4), solved for p."""
    y = flow / (qn / sqrt(PN))
    return float(np.sign(y)) * sqrt((y**4 + y * y * sqrt(y**4 + 4.0 * LAMINAR**2)) / 2.0)


SCALES = [(p, seed) for p in (3.5e7, 1e4, 1.0, 1e-6, -2e6) for seed in range(6)]


@pytest.mark.parametrize(("pressure", "seed"), SCALES)
def test_valves_in_series_share_the_pressure(pressure, seed):
    """Two to four of them: one flow, of which the drops of pressure add up to the whole."""
    rng = np.random.default_rng(seed)
    qn = 10 ** (rng.uniform(-6, -2) + rng.uniform(-1.5, 1.5, rng.integers(2, 5)))
    names = ["p", *(f"m{i}" for i in range(1, len(qn))), "tank"]
    parts = {f"v{i}": valve(names[i], names[i + 1], q) for i, q in enumerate(qn)}
    source = {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": pressure}
    begin = vbg.start(vbg.assemble(vbg.Model(hydraulic={"source": source, **parts})))
    found = begin.outputs(0.0, begin.state)

    most = qn.min() * sqrt(abs(pressure) / PN) * 2.0 + qn.min() / sqrt(PN) * abs(pressure)
    flow = brentq(
        lambda q: sum(drop(q, one) for one in qn) - abs(pressure),
        0.0,
        most,
        xtol=1e-300,
        rtol=1e-14,
    )
    flow *= np.sign(pressure)
    for i, one in enumerate(qn):
        assert found[f"v{i}.PA.flow"][0] == pytest.approx(flow, rel=1e-7), i
        across = found[f"v{i}.PA.pressure"][0]
        assert across == pytest.approx(drop(flow, one), rel=1e-7, abs=1e-12 * abs(pressure)), i


PIPED = [(p, u, s) for p in (1e7, 3.5e7) for u in (1.0, 1e-3, 1e-7, 1e-11) for s in (0.0, 1e-13)]


@pytest.mark.parametrize(
    ("pressure", "opening", "shake"), only([(1e7, 1.0, 0.0), (3.5e7, 1e-11, 0.0)], PIPED)
)
def test_a_pipe_runs_straight_into_a_valve(pressure, opening, shake):
    """I q' = p - R q - drop(q) of one piece, by scipy; the pipe's flow is a state, at a flow of
    1e-14 m^3/s, too, which loses 1e-7 Pa of 350 bar on its way."""
    pressure *= 1.0 + shake
    length, diameter, qn = 2.0, 0.01, 1e-3
    pipe = {"kind": "pipe", "nodes": ["p", "a"], "length": length, "diameter": diameter}
    parts = {
        "source": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": pressure},
        "pipe": pipe,
        "v": valve("a", "tank", qn, opening),
    }
    run = {"t_end": 0.05, "output_step": 0.0005}
    system = vbg.assemble(vbg.Model(name="line", hydraulic=parts, simulate=run))
    assert not system.causal.dependent_stores
    assert "pipe.0.momentum" in system.state_names
    found = vbg.simulate(system)
    assert found.status.code == "finished"
    assert found.audit.energy_residual < 1e-6

    inertance = 860.0 * length / (pi * diameter**2 / 4.0)
    loss = 128.0 * 0.03 * length / (pi * diameter**4)

    def left(q: float) -> float:
        return pressure - loss * q - drop(q, qn * opening)

    steady = brentq(left, 0.0, 2.0 * qn * opening * sqrt(pressure / PN), xtol=1e-300, rtol=1e-14)
    options = {"rtol": 1e-10, "atol": 1e-12, "method": "Radau", "t_eval": found.time}
    twin = solve_ivp(
        lambda _, share: [left(share[0] * steady) / (inertance * steady)],
        (0.0, found.time[-1]),
        [0.0],
        **options,
    )
    np.testing.assert_allclose(found["pipe.flow"] / steady, twin.y[0], atol=1e-6)


@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_check_valves_in_series_are_resistances_in_series(seed):
    """Open ones lose cracking + flow / conductance each, closed ones flow / leakage; a sine
    opens and closes them all at once."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    open_, shut = 10 ** rng.uniform(-10, -8, count), 10 ** rng.uniform(-14, -12, count)
    names = ["p", *(f"m{i}" for i in range(1, count)), "tank"]
    parts = {
        f"c{i}": {
            "kind": "check_valve",
            "nodes": names[i : i + 2],
            "conductance": open_[i],
            "leakage": shut[i],
        }
        for i in range(count)
    }
    pressure = "100e5*sin(20*t)"
    source = {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": pressure}
    run = {"t_end": 0.6, "output_step": 0.001}
    found = vbg.simulate(vbg.Model(name="c", hydraulic={"s": source, **parts}, simulate=run))
    assert found.status.code == "finished"
    across = 1e7 * np.sin(20.0 * found.time)
    resistance = np.where(across > 0.0, (1.0 / (open_ + shut)).sum(), (1.0 / shut).sum())
    np.testing.assert_allclose(found["c0.flow"], across / resistance, rtol=1e-9, atol=1e-18)


def test_two_diodes_in_series_share_the_voltage_like_one():
    """Shockley's diodes of different Is on one current: v = Vt (log(1 + i/I1) + log(1 + i/I2))."""
    parts = {
        "u": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "0.9*sin(50*t)"},
        "D1": {"kind": "diode", "nodes": ["a", "b"], "Is": 1e-12, "Gmin": 0.0},
        "D2": {"kind": "diode", "nodes": ["b", "gnd"], "Is": 1e-9, "Gmin": 0.0},
    }
    run = {"t_end": 0.03, "output_step": 0.001}
    found = vbg.simulate(vbg.Model(name="d", electric=parts, simulate=run))
    assert found.status.code == "finished"
    i = found["D1.current"]
    voltage = 0.026 * (np.log1p(i / 1e-12) + np.log1p(i / 1e-9))
    ahead = found.time < pi / 50.0 * 0.99
    np.testing.assert_allclose(voltage[ahead], 0.9 * np.sin(50.0 * found.time[ahead]), atol=1e-6)


def test_two_parts_that_give_flows_alone_are_refused_with_the_remedy():
    pump = {"kind": "pump", "nodes": ["m", "tank"], "displacement": 1e-6, "speed": 150}
    out = {"kind": "flow_source", "nodes": ["m", "tank"], "flow": 1e-4}
    (problem,) = vbg.check(vbg.Model(hydraulic={"pump": pump, "out": out}))
    assert problem.severity == "error" and "'m'" in problem.what and "volume" in problem.remedy


def test_nodes_without_a_way_to_the_rest_are_named():
    leak = {"kind": "laminar_resistance", "nodes": ["a", "b"], "conductance": 1e-11}
    valve_ = {"kind": "check_valve", "nodes": ["a", "b"], "conductance": 1e-9}
    parts = {"leak": leak, "valve": valve_, "back": {**valve_, "nodes": ["b", "a"]}}
    with pytest.raises(VbgError, match="nodes a, b have no path to 'tank'") as told:
        vbg.assemble(vbg.Model(hydraulic=parts))
    assert "a floating island" in str(told.value)


def root_exactly(p: float, y: float, q: float) -> Decimal:
    """signed_root(p - y) - q in 50 digits."""
    getcontext().prec = 50
    difference = Decimal(p) - Decimal(y)
    square = difference * difference + Decimal(LAMINAR) ** 2
    return difference / square.sqrt().sqrt() - Decimal(q)


def test_terms_bound_what_rounding_makes_of_an_expression():
    """An orifice between two pressures, against arithmetic of 50 digits; of a sum the terms
    are its terms."""
    a, b, c = leaf("a", 1), leaf("b", 1), leaf("c", 1)
    residual = signed_root(a - b, LAMINAR) - c
    program = lower({"r": residual, "T": terms_of(residual)}, {"a": a, "b": b, "c": c})
    evaluate = Evaluator(program)
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(400):
        p = 10 ** rng.uniform(0, 8)
        y = p * (1.0 + 10 ** rng.uniform(-16, 1))
        q = float(root_exactly(p, y, 0.0))
        found, terms = evaluate(q, np.array([p, y]))
        error = abs(Decimal(float(found)) - root_exactly(p, y, q))
        shares.append(float(error) / (2.0**-52 * terms))
    assert 0.01 < max(shares) < 4.0
    plain = 3.0 * a - 2.0 * b + c
    found = Evaluator(lower({"T": terms_of(plain)}, {"a": a, "b": b, "c": c}))
    assert found(1e-9, np.array([1e7, -1e6]))[0] == 3e7 + 2e6 + 1e-9
