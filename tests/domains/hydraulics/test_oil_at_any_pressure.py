"""Oil with air at any size of its pressure: micropascals are told beside half an atmosphere, from
which on air comes out, and absolute pressures of a cavity, too."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import leaf
from vbg.physics.hydraulics import ATMOSPHERE, RELEASE, Oil


@pytest.mark.parametrize("air", (1e-6, 2e-5, 0.005, 0.2))
def test_pressure_and_energy_of_a_strain(air: float) -> None:
    """e is that of a pressure p in 40 digits; below p_s the energy is that there and, with
    q = P / P_s, the integral of p de = p_s e + (P_s / K - air) P_s (q - 1)^2 / 2
    + air P_s (log q + 1 / q - 1)."""
    getcontext().prec = 40
    draw = np.random.default_rng(int(1e6 * air))
    bulk = float(10.0 ** draw.uniform(7.0, 10.0))
    oil, strain = Oil(bulk, air=air), leaf("e", 1)
    found = {"p": oil.pressure(strain), "E": oil.energy(strain)}
    evaluate = Evaluator(lower(found, {"e": strain, "t": leaf("t", 1)}))
    K, a, s, P_s = Decimal(bulk), Decimal(air), Decimal(RELEASE), Decimal(RELEASE + ATMOSPHERE)
    above = (-1.0) ** np.arange(40) * 10.0 ** draw.uniform(-25.0, 4.0, 40)
    below = RELEASE - (RELEASE + ATMOSPHERE) * draw.uniform(0.0, 0.999, 20)
    for pressure in (0.0, *above.tolist(), *below.tolist()):
        p = Decimal(pressure)
        e, energy = p / K, p * p / (2 * K)
        if p < s:
            d, q = (p - s) / P_s, (p - s) / P_s + 1
            lack = P_s * d / K - a * d * d / q
            e, energy = s / K + lack, s * s / (2 * K) + s * lack
            energy += P_s * ((P_s / K - a) * d * d / 2 + a * (q.ln() + 1 / q - 1))
        values = evaluate(0.0, np.array([float(e)]))
        assert_allclose(values, [pressure, float(energy)], rtol=1e-9)


@pytest.mark.parametrize("size", tail((-9, -12, -6, -3, 0), 1))
def test_a_linear_net_has_its_pressures_in_any_unit(size: int) -> None:
    """A source, two nodes without volume between laminar resistances, and a volume behind them:
    V / K p' = conductance (p_1 - p), all of the source's size."""
    draw = np.random.default_rng(size + 20)
    unit, T = 10.0 ** np.array([size + draw.uniform(0.0, 1.0), draw.uniform(-2.0, 2.0)])
    V, K = 10.0 ** draw.uniform((-5.0, 8.0), (-1.0, 10.0))
    a, b, c, d = (V / K / T * 10.0 ** draw.uniform(-1.0, 1.0, 4)).tolist()
    hydraulic: dict[str, object] = {
        name: {"kind": "laminar_resistance", "nodes": nodes.split(), "conductance": size_}
        for name, nodes, size_ in (("a", "s n", a), ("b", "n tank", b), ("c", "n v", c))
    }
    hydraulic["d"] = {"kind": "laminar_resistance", "nodes": ["v", "tank"], "conductance": d}
    hydraulic["S"] = {"kind": "pressure_source", "nodes": ["s", "tank"], "pressure": float(unit)}
    hydraulic["V"] = {"kind": "volume", "nodes": ["v"], "volume": float(V), "bulk": float(K)}
    settings = {"t_end": float(T), "output_step": 0.1 * float(T), "rtol": 1e-9}
    settings["atol"] = 1e-14 * float(unit)
    run = vbg.simulate(vbg.Model(name="net", hydraulic=hydraulic, simulate=settings))
    through = a * c / (a + b + c)
    rate = (through + d + c * b / (a + b + c)) * K / V
    p = unit * through / (rate * V / K) * -np.expm1(-rate * run.time)
    assert run.status.code == "finished" and not run.audit.failures
    assert_allclose(run["V.pressure"], p, rtol=0, atol=1e-6 * unit)
    assert_allclose(run["b.pressure"], (a * unit + c * p) / (a + b + c), rtol=0, atol=1e-6 * unit)
