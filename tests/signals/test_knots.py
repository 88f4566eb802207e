"""Curves and surfaces whose knots lie next to one another: each bend is one of its own."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from vbg.tmm_bridge import simulate as second


@pytest.mark.parametrize("solve", [vbg.simulate, second])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["curve", "surface"])
def test_a_source_by_knots_that_agree_in_six_digits(kind, seed, solve):
    """A resistor under a voltage read over that of a capacitor, v = U (1 - exp(-t / R C))."""
    draw = np.random.default_rng([seed, len(kind)])
    U, level = draw.uniform(1.0, 4.0), draw.uniform(0.3, 0.6)
    close = 10.0 ** draw.uniform(-9.0, -7.0)
    knots = [0.0, level * U, (level + close) * U, 2.0 * U]
    heights = draw.uniform(1.0, 3.0, 4)
    if kind == "curve":
        rows = [[x, float(h)] for x, h in zip(knots, heights, strict=True)]
        law = {"kind": "curve", "input": "C.voltage", "rows": rows}
    else:
        rows = [[float(h), float(h)] for h in heights]
        law = {"kind": "surface", "x": "C.voltage", "y": "t", "rows": rows}
        law |= {"x_values": knots, "y_values": [0.0, 10.0]}
    model = vbg.Model(
        name="knots",
        electric={
            "U": {"kind": "voltage_source", "nodes": ["u", "gnd"], "voltage": float(U)},
            "R": {"kind": "resistor", "nodes": ["u", "c"], "R": 1.0},
            "C": {"kind": "capacitor", "nodes": ["c", "gnd"], "C": 1.0},
            "s": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "read"},
            "load": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 2.0},
        },
        signals={"read": law},
        simulate={"t_end": 2.0, "output_step": 0.1},
    )
    run = solve(model)
    assert run.status.code == "finished" and not run.audit.failures
    read = np.interp(U * -np.expm1(-run.time), knots, heights)
    np.testing.assert_allclose(run["load.current"], read / 2.0, rtol=1e-6)
