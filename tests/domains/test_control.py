"""Controllers and filters against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import vbg

RUN = {"t_end": 2.0, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}
ONE = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "y"}
LOAD = {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0}


def response(**signals: dict) -> tuple[np.ndarray, np.ndarray]:
    """Time and the signal y."""
    model = vbg.Model(electric={"U": ONE, "R": LOAD}, signals=signals, simulate=RUN)
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "finished"
    assert solution["U.voltage"] == pytest.approx(solution["y"], abs=1e-12)
    return solution.time, solution["y"]


def test_transfer_function():
    """(2 s + 3) / (s^2 + 3 s + 2) on 1: 3/2 - e^-t - e^-2t / 2."""
    part = {"kind": "transfer_function", "input": 1, "numerator": [2, 3], "denominator": [1, 3, 2]}
    t, y = response(y=part)
    assert y == pytest.approx(1.5 - np.exp(-t) - 0.5 * np.exp(-2 * t), abs=1e-9)


def test_state_space_equals_transfer_function():
    part = {
        "kind": "state_space",
        "inputs": [1],
        "A": [[0, 1], [-2, -3]],
        "B": [[0], [1]],
        "C": [3, 2],
    }
    t, y = response(y=part)
    assert y == pytest.approx(1.5 - np.exp(-t) - 0.5 * np.exp(-2 * t), abs=1e-9)


def test_delay_of_a_smooth_signal():
    """A slow sine, after the fraction's own transient."""
    part = {"kind": "delay", "input": "1 - cos(2*t)", "time": 0.2}
    t, y = response(y=part)
    late = t > 0.6
    assert y[late] == pytest.approx((1 - np.cos(2 * (t - 0.2)))[late], abs=1e-5)


def test_pid_and_limits():
    """On a constant error 0.5: kp e + ki e t, until the bound holds it."""
    part = {
        "kind": "pid",
        "demand": 0.5,
        "measured": 0,
        "kp": 2.0,
        "ki": 1.0,
        "upper": 1.5,
        "tracking": 1e-2,
    }
    t, y = response(y=part)
    assert y == pytest.approx(np.minimum(1.0 + 0.5 * t, 1.5), abs=1e-6)


def test_gain_sum_limiter_and_their_loop():
    """y = limited(3 (1 - y)): an algebraic loop of signals, y = 3/4."""
    _, y = response(
        y={"kind": "limiter", "input": "g", "lower": -1, "upper": 1},
        g={"kind": "gain", "input": "e", "k": 3.0},
        e={"kind": "sum", "inputs": [1, "y"], "weights": [1, -1]},
    )
    assert y == pytest.approx(0.75, abs=1e-12)
