"""Sampled signals in the transfer-matrix solver: states that change at the strokes of a clock."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge import simulate
from vbg.validate import validate

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def heated(signals, voltage, t_end=1.0, step=0.02):
    """A capacitor behind a resistor, RC = 1 s."""
    return vbg.Model(
        electric={
            "U": {"kind": "voltage_source", "nodes": ["b", "gnd"], "voltage": voltage},
            "R": {"kind": "resistor", "nodes": ["b", "a"], "R": 2.0},
            "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 0.5, "voltage": 0.3},
        },
        signals=signals,
        simulate={"t_end": t_end, "output_step": step},
    )


@pytest.mark.parametrize("start", [0.0, 0.07])
def test_a_sampled_controller_is_its_difference_equation(start):
    """U held over a period T: v <- e^-T v + (1 - e^-T) U, U = 4 (1 - v) at each stroke."""
    held = {"kind": "sample_and_hold", "input": "4*(1 - C.voltage)", "period": 0.1, "start": start}
    run = simulate(heated({"u": {**held, "initial": 0.5}}, "u"), **TIGHT)
    v, u, t, exact = 0.3, 0.5, 0.0, []
    strokes = [start + 0.1 * n for n in range(11)]
    for at in run.time:
        while strokes and strokes[0] <= at + 1e-12:
            v = np.exp(-(strokes[0] - t)) * v + (1.0 - np.exp(-(strokes[0] - t))) * u
            t, u = strokes.pop(0), 4.0 * (1.0 - v)
        exact.append((np.exp(-(at - t)) * v + (1.0 - np.exp(-(at - t))) * u, u))
    np.testing.assert_allclose(run["C.voltage"], np.array(exact)[:, 0], atol=1e-10)
    np.testing.assert_allclose(run["u"], np.array(exact)[:, 1], atol=1e-9)


def test_clocks_of_different_periods_and_chains_of_samplers_are_solved_twice():
    """A slow one reads a fast one, one counts its own strokes, a source jumps on a stroke."""
    signals = {
        "fast": {"kind": "sample_and_hold", "input": "C.voltage + jump", "period": 0.03},
        "slow": {"kind": "sample_and_hold", "input": "fast", "period": 0.09, "start": 0.06},
        "count": {"kind": "sample_and_hold", "input": "count + 1", "period": 0.05},
        "jump": {"kind": "pulse", "period": 0.3, "width": 0.12, "height": 2.0},
    }
    model = heated(signals, "slow - 0.5*fast + 0.1*count")
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    second = report.solutions["mstmm"]
    assert {"fast", "slow", "count"} <= {c.name for c in report.channels if c.result == "PASS"}
    np.testing.assert_allclose(second["count"], np.floor(second.time / 0.05 + 1e-9) + 1.0)
