"""Poles and operating points of electric and one-dimensional machines, published figures."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import linearise, operating_point

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_dc_motor_runs_steadily_and_has_the_published_poles():
    """U 5 V, R 4, L 15e-6, K 9.54e-3, J 1e-6, B 1e-6."""
    model = vbg.Model(
        name="motor",
        electric={
            "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": 5.0},
            "M": {
                "kind": "dc_motor",
                "nodes": ["a", "gnd"],
                "on": "rotational.shaft",
                "R": 4.0,
                "L": 15e-6,
                "K": 9.54e-3,
                "J": 1e-6,
            },
        },
        rotational={"B": {"kind": "damper", "nodes": ["shaft"], "c": 1e-6}},
    )
    system = vbg.assemble(model)
    point = operating_point(system, "steady")
    assert point.kind == "steady motion"
    signals = vbg.start(system).outputs(0.0, point.x)
    assert float(signals["M.current"][0]) == pytest.approx(0.0526251531, rel=1e-8)
    assert float(signals["rotational.shaft.speed"][0]) == pytest.approx(502.043961, rel=1e-8)
    poles = np.sort(linearise(system, point, inputs=[]).eigenvalues.real)
    assert_allclose(poles, [-266643.912, -23.7549270, 0.0], rtol=1e-7, atol=1e-6)


def test_half_car_has_the_published_poles_and_two_conserved_quantities():
    """Medina, Carpenter, J. Dyn. Syst. Meas. Control 145(3) 031003: third damper 1964."""
    found = linearise(vbg.assemble(vbg.read(EXAMPLES / "half-car.toml")), inputs=[])
    poles = found.eigenvalues
    assert np.count_nonzero(np.abs(poles) < 1e-6) == 2
    upper = sorted((p for p in poles if p.imag > 1e-6), key=abs)
    expected = [-2.26968 + 8.87851j, -25.16856 + 73.71712j, -73.65 + 108.91821j]
    assert_allclose(upper, expected, atol=1e-5)
