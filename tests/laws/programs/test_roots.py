"""Rates are a function of time and state: algebraic loops have one root from wherever Newton's
method begins, that of the last instant or one far away."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

import vbg
from tests.laws.circuits import Circuit, unknowns
from tests.tail import tail
from vbg.assemble.program.evaluator import Evaluator

NEAR, FAR = 6, 3  # starts
DIGITS = 4.0 * np.finfo(float).eps  # what is known of an instant


def assert_same_from_afar(circuit: Circuit, instants: int = 3) -> None:
    """To 1e-9, or to what rounding leaves of them: roots from near starts (what a diode of 1e-6 A
    carries the other way is known to 1e-22 A), rates at instants that differ in their last digits
    (a power near zero is a difference of voltages)."""
    random, run = np.random.default_rng([circuit.seed, 2]), Evaluator(circuit.system.programs.rate)
    places = unknowns(run)
    for _ in range(instants):
        t, x = circuit.instant(random)
        run.work[places] = 0.0
        run(t, x)
        root, rates = run.work[places].copy(), run(t, x).copy()
        assert np.isfinite(root).all()
        spread = np.full(len(root), 3e-24 * max(1.0, circuit.sizes[0]))
        seen = last_digits(run, random, t, x, rates)
        for begin, count in ((circuit.near, NEAR), (circuit.far, FAR)):
            for _ in range(count):
                run.work[places] = begin(random, root)
                off = np.abs(run(t, x) - rates)
                away = np.abs(run.work[places] - root)
                if begin == circuit.near:
                    spread, seen = np.maximum(spread, away), np.maximum(seen, off)
                else:
                    assert (away <= 1e-9 * np.abs(root) + 30.0 * spread).all(), (away, root, spread)
                    assert (off <= 1e-9 * np.abs(rates) + 30.0 * seen).all(), (off, rates, seen)


def last_digits(
    run: Evaluator, random: np.random.Generator, t: float, x: np.ndarray, rates: np.ndarray
) -> np.ndarray:
    """By how much rates differ at instants that cannot be told from (t, x), beside powers that no
    digit of a volt or an ampere makes."""
    seen = np.full(len(rates), 1e-48)
    for _ in range(NEAR):
        shaken = 1.0 + DIGITS * random.uniform(-1.0, 1.0, len(x) + 1)
        seen = np.maximum(seen, np.abs(run(t * shaken[-1], x * shaken[:-1]) - rates))
    return seen


@pytest.mark.parametrize("first", tail(range(0, 400, 25), 1))
def test_rates_are_the_same_from_near_and_far(first: int) -> None:
    for seed in range(first, first + 25):
        assert_same_from_afar(Circuit(seed))


U, L, R, DUTY, PERIOD = 18.0, 6e-6, 250.0, 0.2, 1.0 / 75e3
IS, VT, LEAK = 1e-12, 0.026, 3e-7


def boost(V: float) -> vbg.Model:
    """A converter whose current ends before the next pulse; its open switch leaks 0.3 uS beside the
    8 A of the diode, so that a billionth of these is the voltage between them."""
    switch = {"kind": "switch", "nodes": ["x", "gnd"], "Ron": 1e-6, "Goff": LEAK}
    return vbg.Model(
        signals={"pwm": {"kind": "pulse", "frequency": "75 kHz", "duty": DUTY}},
        electric={
            "supply": {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": U},
            "L": {"kind": "inductor", "nodes": ["in", "x"], "L": L},
            "S": switch | {"closed": "pwm > 0.5"},
            "D": {"kind": "diode", "nodes": ["x", "out"], "Is": IS, "Vt": VT},
            "C": {"kind": "capacitor", "nodes": ["out", "gnd"], "C": 1e-2, "voltage": V},
            "load": {"kind": "resistor", "nodes": ["out", "gnd"], "R": R},
        },
    )


def charge(V: float) -> float:
    """What a pulse brings through the diode [C]: from I = U DUTY PERIOD / L on L i' = U - V - v(i),
    so that Q = int_0^I L i / (V + v(i) - U) di with v(i) = VT ln(1 + i / IS)."""
    return quad(lambda i: L * i / (V + VT * np.log1p(i / IS) - U), 0.0, U * DUTY * PERIOD / L)[0]


def test_a_boost_converter_in_discontinuous_mode_brings_its_charge() -> None:
    V = brentq(lambda v: charge(v) - v / R * PERIOD, 1.1 * U, 20.0 * U)
    ideal = U * (1 + np.sqrt(1 + 2 * DUTY**2 * R * PERIOD / L)) / 2
    assert_allclose(V, ideal, rtol=0.02)  # but for the diode's 0.75 V
    run = vbg.simulate(boost(V), t_end=3 * PERIOD, output_step=PERIOD / 20)
    assert run.status.code == "finished" and not run.audit.failures
    assert_allclose(run["L.current"][[15, 35, 55]], U * LEAK, rtol=1e-4)  # between the pulses
    assert_allclose(run["C.voltage"][[20, 40, 60]], V, rtol=5e-10)  # 1e-4 of a charge: 1e-10 V
