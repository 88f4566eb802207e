"""Functions of time: values against the bond-graph side, derivatives against differences."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.errors import UsageError
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.formulas.written import function_of
from vbg.validate.compare import compare

SIGNALS = {
    "step": {"kind": "step", "height": 2.0, "start": 0.21, "offset": -0.5},
    "ramp": {"kind": "ramp", "height": 3.0, "duration": 0.3, "start": 0.1},
    "sine": {"kind": "sine", "amplitude": 1.3, "frequency": 9.0, "phase": 0.4, "start": 0.15},
    "chirp": {"kind": "chirp", "first": 2.0, "last": 30.0, "duration": 0.4, "offset": 0.2},
    "pulse": {"kind": "pulse", "height": 1.5, "period": 0.2, "width": 0.07, "start": 0.05},
    "line": {"kind": "table", "rows": [[0, 0], [0.2, 1.0], [0.45, -0.6]]},
    "curve": {
        "kind": "table",
        "rows": [[0, 0], [0.2, 1.0], [0.45, -0.6], [0.6, 0.1]],
        "interpolation": "cubic",
    },
    "held": {
        "kind": "table",
        "rows": [[0, 0.3], [0.2, 1.0], [0.45, -0.6]],
        "interpolation": "previous",
    },
    "formula": {"kind": "expression", "expression": "sine**2 + 0.5*t"},
    "double": {"kind": "gain", "input": "sine", "k": 2.0},
    "both": {"kind": "sum", "inputs": ["ramp", "sine"], "weights": [1.0, -0.5]},
    "back": {"kind": "gain", "input": "hinge.angle", "k": -2.0},
}


def machine(signal: str) -> vbg.Model:
    return vbg.Model(
        name=signal,
        gravity=[0, 0, -9.81],
        bodies={
            "rod": {
                "mass": 0.6,
                "inertia": {"xx": 0.002, "yy": 0.02, "zz": 0.02},
                "points": {"A": [-0.3, 0, 0]},
            }
        },
        joints={"hinge": {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}},
        forces={"motor": {"kind": "torque", "on": "joints.hinge", "torque": [signal]}},
        signals=SIGNALS,
    )


@pytest.mark.parametrize("signal", [name for name in SIGNALS if name != "back"])
def test_both_solvers_see_the_same_signal(signal):
    settings = {"t_end": 0.6, "output_step": 0.01, "rtol": 1e-10, "atol": 1e-12}
    model = machine(signal)
    first = vbg.simulate(vbg.assemble(model), **settings)
    second = simulate(model, **settings)
    verdict = compare(first, second)
    assert verdict.result == "PASS", verdict.sentence


@pytest.mark.parametrize("signal", ["ramp", "sine", "chirp", "line", "curve", "formula", "both"])
def test_derivatives(signal):
    function = function_of(machine(signal), signal)
    h = 1e-5
    for t in (0.03, 0.17, 0.33, 0.52):
        value, slope, bend = function.rates(t)
        left, right = function.rates(t - h), function.rates(t + h)
        assert slope == pytest.approx((right[0] - left[0]) / (2 * h), abs=1e-6)
        assert bend == pytest.approx((right[1] - left[1]) / (2 * h), abs=1e-4)
        assert np.isfinite(value)


def test_feedback_is_no_function_of_time():
    with pytest.raises(UsageError):
        function_of(machine("back"), "back")
