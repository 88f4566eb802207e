"""Switches that open and close at given times, in a circuit that is stiff while one is closed."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import only
from vbg import tmm_bridge

# by the tolerance, what each solver may be off by: a step of Radau's of the second by 0.1 rtol^0.6
SOLVERS = {
    "first": (vbg.simulate, lambda rtol: 100.0 * rtol),
    "second": (tmm_bridge.simulate, lambda rtol: 0.5 * rtol**0.6),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", only([48], range(60)))
def test_a_capacitor_is_charged_between_the_times(seed, solver):
    """i = C v' + v / R, with R that of the switch, closed or open; rows are far apart, so that
    steps are as long as the method finds them."""
    random = np.random.default_rng(seed)
    unit, C, i = 10.0 ** random.uniform([-4, -9, -6], [2, 0, 2])
    on = unit / C * 10.0 ** random.uniform(-5, -2)
    off = unit / C * 10.0 ** random.uniform(0, 3)
    w, phase = float(random.uniform(2.0, 4.0) / unit), float(random.uniform(0.2, 3.0))
    times = (np.pi * np.arange(1, 6) - phase) / w
    parts = {
        "I": {"kind": "current_source", "nodes": ["gnd", "n"], "current": float(i)},
        "C": {"kind": "capacitor", "nodes": ["n", "gnd"], "C": float(C)},
        "S": {
            "kind": "switch",
            "nodes": ["n", "gnd"],
            "closed": f"sin({w!r}*t + {phase!r})",
            "Ron": float(on),
            "Goff": float(1.0 / off),
        },
    }
    rtol = float(10.0 ** random.uniform(-11, -6))
    rows = {"t_end": float(times[-1]), "output_step": float(unit / random.uniform(1, 6))}
    rows |= {"rtol": rtol, "atol": float(1e-3 * rtol * i * unit / C)}
    model = vbg.Model(name="switched", electric=parts, simulate=rows)
    simulate, allowed = SOLVERS[solver]
    run = simulate(model)
    v, exact, began, R = 0.0, np.zeros(len(run.time)), 0.0, on
    for end, following in zip(times, (off, on, off, on, off), strict=True):
        here = (run.time >= began) & (run.time < end)
        exact[here] = i * R + (v - i * R) * np.exp(-(run.time[here] - began) / (R * C))
        v = i * R + (v - i * R) * np.exp(-(end - began) / (R * C))
        began, R = end, following
    wrong = np.abs(run["C.voltage"] - exact)[run.time < began].max() / np.abs(exact).max()
    assert run.status.code == "finished"
    assert wrong < allowed(rtol), rtol
