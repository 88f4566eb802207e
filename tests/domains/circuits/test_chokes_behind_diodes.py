"""Chokes whose current diodes end: behind the end it goes on in what the diodes leak, for L times
1e-12 S, which the time of the run can hardly tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import vbg
from tests.domains.circuits.test_floating_rectifiers import IS, VT, loaded, model, parts, source
from tests.tail import tail
from vbg import tmm_bridge
from vbg.simulate.steppers.implicit.collocation import radau
from vbg.simulate.steppers.implicit.forgetting import is_forgotten
from vbg.tmm_bridge.motion.steps.radau import decayed
from vbg.validate import validate
from vbg.validate.both import ATOL

PERIODS = 3
SHUT = 1e8


def drawn(seed: int) -> tuple[float, float, float, float, float]:
    """U, f, L, C, R: 3 to 600 V, 10 Hz to 100 kHz, 10 mA to 30 A; currents that end in each half
    wave, and some that never do."""
    rng = np.random.default_rng(seed)
    U, f = 10.0 ** rng.uniform(0.5, 2.8), 10.0 ** rng.uniform(1, 5)
    R = U / 10.0 ** rng.uniform(-2, 1.5)
    return U, f, 10.0 ** rng.uniform(-2.5, -0.5) * R / f, 10.0 ** rng.uniform(-0.5, 1) / (f * R), R


def choked(U: float, f: float, L: float, C: float, R: float) -> dict:
    diodes = parts("diode", D1="a p", D2="gnd p", D3="m a", D4="m gnd")
    choke = {"kind": "inductor", "nodes": ["p", "q"], "L": L}
    return {"S": source("a gnd", U, f), **diodes, "choke": choke, **loaded("q m", C, R)}


def by_hand(times: np.ndarray, U: float, f: float, L: float, C: float, R: float) -> np.ndarray:
    """The choke's current i and the capacitor's voltage u, (2, n).

    Two pairs of equal diodes: i = Is (exp((s - w) / 2 Vt) + exp((-s - w) / 2 Vt) - 2) of the
    voltage w that they leave; a current below zero meets SHUT times the load.
    """

    def rate(t: float, y: np.ndarray) -> list[float]:
        i, u = y
        s = abs(U * math.sin(2.0 * math.pi * f * t))
        w = s + 2.0 * VT * (math.log1p(math.exp(-s / VT)) - math.log(max(i, 0.0) / IS + 2.0))
        return [(w - min(i, 0.0) * SHUT * R - u) / L, (i - u / R) / C]

    settings = {"rtol": 1e-10, "atol": np.array([1e-12 * U / R, 1e-11 * U]), "max_step": 0.01 / f}
    return solve_ivp(rate, (0.0, times[-1]), [0.0, 0.0], "Radau", times, **settings).y


@pytest.mark.parametrize("seed", tail(range(8), first=1))
def test_current_and_voltage_are_those_by_hand(seed):
    values = drawn(seed)
    circuit = choked(*values)
    asked = model(values[1], circuit, t_end=PERIODS / values[1])
    first = vbg.simulate(asked)
    second = tmm_bridge.simulate(asked, rtol=1e-9, atol=1e-11)
    expected = by_hand(first.time, *values)
    for run in (first, second):
        assert run.status.code == "finished", run.status
        for got, told in zip((run["choke.current"], run["C.voltage"]), expected, strict=True):
            assert_allclose(got, told, rtol=0.0, atol=2e-6 * np.abs(told).max())


@pytest.mark.parametrize("rtol", tail([1e-6, 1e-4, 1e-11], first=1))
def test_tolerances_do_not_decide_whether_it_goes_on(rtol):
    values = drawn(1)
    asked = model(values[1], choked(*values), t_end=PERIODS / values[1])
    for run in (
        vbg.simulate(asked, rtol=rtol, atol=1e-2 * rtol),
        tmm_bridge.simulate(asked, rtol=rtol, atol=1e-2 * rtol),
    ):
        assert run.status.code == "finished", run.status
        assert run.made_by.n_rates < 1e5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_on_a_choke_behind_a_bridge(seed):
    """All pass but, some of the time, voltages between shut diodes: these are VT log(1 + i/IS) of a
    current i near IS, of which the run's atol leaves that much open."""
    values = drawn(seed)
    report = validate(model(values[1], choked(*values)), in_children=False)
    assert report.result != "FAIL", report.verdict
    assert all(c.result != "INCONCLUSIVE" or c.unit == "V" for c in report.channels)
    assert all(c.max_error < 2.0 * VT * ATOL / IS for c in report.channels if c.unit == "V")
    stored = {c.name: c.result for c in report.channels}
    assert stored["choke.current"] == stored["C.voltage"] == stored["energy.supplied"] == "PASS"


@pytest.mark.parametrize(
    ("slope", "gone"), [(-1e14, True), (-1e10, False), (0.0, False), (1e14, False)]
)
def test_what_a_short_step_leaves_out_is_let_go_where_it_dies_out(slope, gone):
    """x' = slope x, 1e-11 s on: exp(-1000), exp(-0.1), 1, exp(1000)."""
    method, J, soon = radau(3), np.array([[slope]]), 1e-11
    y, h, scale = 1.0, 1e-13, np.array([1e-3])
    Z = np.full((3, 1), 0.5)
    assert is_forgotten(method, h, J @ [y], Z, J, J, soon, scale) == gone
    assert (abs(decayed(J, soon, np.ones(1))[0]) < 1e-3) == gone


def test_what_grows_as_fast_as_the_step_is_short_is_not_let_go():
    """There the step's own matrix is singular."""
    method, h = radau(3), 1e-13
    J, Z = np.array([[method.shifts[0].real / h]]), np.full((3, 1), 0.5)
    assert not is_forgotten(method, h, J @ [1.0], Z, J, J, 1e-11, np.ones(1))


def test_errors_decay_as_the_exponential_of_the_slopes():
    rng = np.random.default_rng(4)
    V = rng.normal(size=(4, 4))
    for rates in ([-1e3, -5.0, 0.0, 0.3], [-2e5, -1.0, -0.5, 0.0]):
        J = V @ np.diag(rates) @ np.linalg.inv(V)
        w = rng.normal(size=4)
        exact = V @ (np.exp(rates) * np.linalg.solve(V, w))
        assert_allclose(decayed(J, 1.0, w), exact, atol=0.3 * np.abs(exact).max())
