"""Ideal diodes conduct forward but for their leak, whatever Ron and Goff are beside the circuit.

A bridge of four behind a choke loads a capacitor and a resistor.  Its nodes are known in closed
form: the current f(a - u) - f(-a) into one of them, f(v) = v/Ron above zero and Goff v below, is
piecewise linear in its voltage a and rises with it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vbg
from tests.anywhere import shaken
from tests.tail import tail

PERIODS, ROWS = 1.5, 60


def draw(rng, least=-7.0):
    """V, w, L, Ron, Goff, C, R and the source's phase, over many decades; Goff R is 10**least or
    more."""
    volts, ohms, w = 10.0 ** rng.uniform([-2.0, -1.0, 0.0], [4.0, 6.0, 5.0])
    choke, charge, closed, opened = 10.0 ** rng.uniform(
        [-2.5, -1.5, -7.0, least], [0.0, 1.0, -3.0, -4.0]
    )
    sizes = (choke * ohms / w, closed * ohms, opened / ohms, charge / (w * ohms), ohms)
    return tuple(map(float, (volts, w, *sizes, rng.uniform(0.0, 6.0))))


def bridge(volts, w, L, Ron, Goff, C, R, phase):
    law = {"kind": "diode", "law": "ideal", "Ron": Ron, "Goff": Goff}
    source = f"{volts!r}*sin({w!r}*t + {phase!r})"
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["s", "q"], "voltage": source},
        "L": {"kind": "inductor", "nodes": ["s", "a"], "L": L},
        "D1": law | {"nodes": ["a", "p"]},
        "D2": law | {"nodes": ["gnd", "a"]},
        "D3": law | {"nodes": ["q", "p"]},
        "D4": law | {"nodes": ["gnd", "q"]},
        "C": {"kind": "capacitor", "nodes": ["p", "gnd"], "C": C},
        "R": {"kind": "resistor", "nodes": ["p", "gnd"], "R": R},
    }
    t_end = PERIODS * 2.0 * np.pi / w
    run = {"t_end": t_end, "output_step": t_end / ROWS, "rtol": 1e-7}
    return vbg.Model(electric=parts, simulate=run)


def by_nodes(volts, w, L, Ron, Goff, C, R, phase):
    """Current of the choke and voltage of the capacitor, in small steps of Radau's method."""

    def f(v):
        return v / Ron if v > 0.0 else v * Goff

    def node(current, u):
        """Voltage at which a node takes a current."""
        low, high = min(0.0, u), max(0.0, u)
        at_low, at_high = (f(a - u) - f(-a) for a in (low, high))
        beyond = 1.0 / Ron + Goff  # both corners: one of the two conducts, the other blocks
        if current <= at_low:
            return low + (current - at_low) / beyond
        if current >= at_high:
            return high + (current - at_high) / beyond
        return low + (current - at_low) * (high - low) / (at_high - at_low)

    def rates(t, x):
        i, u = x
        a, q = node(i, u), node(-i, u)
        loaded = f(a - u) + f(q - u) - u / R
        return [(volts * np.sin(w * t + phase) + q - a) / L, loaded / C]

    t = np.linspace(0.0, PERIODS * 2.0 * np.pi / w, ROWS + 1)
    sizes = {"rtol": 1e-8, "atol": [1e-10 * volts / R, 1e-9 * volts]}
    return solve_ivp(rates, t[[0, -1]], [0.0, 0.0], "Radau", t, max_step=t[1] / 16, **sizes).y


@pytest.mark.parametrize("seed", tail(range(8), 1))
def test_no_diode_conducts_backwards(seed):
    numbers = draw(np.random.default_rng(seed))
    for start in shaken(vbg.start(bridge(*numbers)), size=1e-13 * numbers[0] / numbers[6]):
        found = vbg.simulate(start)
        assert found.status.code == "finished" and not found.audit.failures, found.status
        assert_forward(found, numbers[4])


@pytest.mark.parametrize("seed", tail([5, 39, 40, 6, *range(100, 106)], 2))
def test_however_little_they_leak(seed):
    """Where a blocked choke forgets within 1e-15 s diodes turn over once and no run ends early."""
    draws = np.random.default_rng(seed)
    numbers = list(draw(draws))
    numbers[4] = float(10.0 ** draws.uniform(-13.0, -10.0)) / numbers[6]
    for start in shaken(vbg.start(bridge(*numbers)), size=1e-13 * numbers[0] / numbers[6]):
        found = vbg.simulate(start)
        assert found.status.code == "finished" and not found.audit.failures, found.status
        assert_forward(found, numbers[4])


def test_a_leak_of_a_picosiemens():
    numbers = (325.0, 100.0 * np.pi, 1e-3, 1e-3, 1e-12, 470e-6, 100.0, 0.3)
    found = vbg.simulate(bridge(*map(float, numbers)), rtol=1e-4)
    assert found.status.code == "finished"
    assert_forward(found, 1e-12)


def test_milliohms_behind_a_choke_of_henries():
    """Two that conduct side by side carry the choke's current, and none of their own."""
    R, w = 3.75e4, 14.23
    numbers = (5.0, w, 1.4e-3 * R / w, 4e-6 * R, 1e-9 / R, 0.32 / (w * R), R, 0.3)
    found = vbg.simulate(bridge(*numbers), rtol=1e-6)
    assert found.status.code == "finished"
    assert_forward(found, numbers[4])
    assert np.abs(found["L.current"]).max() < 7e-4


def assert_forward(found, Goff):
    diodes = ("D1", "D2", "D3", "D4")
    leak = Goff * max(np.abs(found[f"{name}.voltage"]).max() for name in diodes)
    largest = max(np.abs(found[f"{name}.current"]).max() for name in diodes)
    for name in diodes:
        assert found[f"{name}.current"].min() >= -leak * (1.0 + 1e-9) - 1e-15 * largest


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_beside_small_steps(seed):
    numbers = draw(np.random.default_rng(seed))
    found, (i, u) = vbg.simulate(bridge(*numbers)), by_nodes(*numbers)
    np.testing.assert_allclose(found["L.current"].ravel(), i, atol=1e-4 * np.abs(i).max())
    np.testing.assert_allclose(found["C.voltage"].ravel(), u, atol=1e-4 * np.abs(u).max())
