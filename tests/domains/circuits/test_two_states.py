"""Switches and ideal diodes: a resistance that is closed is Ron, however much more it is opened."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg import tmm_bridge

SWITCH = {"kind": "switch", "closed": "cos(1e3*t)"}
DIODE = {"kind": "diode", "law": "ideal"}


def circuit(part: dict, Ron: float, Goff: float, R: float) -> vbg.Model:
    """1 V through the part, a resistor and a coil: u = (Ron + R) i + L i'."""
    electric = {
        "U": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "cos(1e3*t)"},
        "S": part | {"nodes": ["a", "b"], "Ron": Ron, "Goff": Goff},
        "R": {"kind": "resistor", "nodes": ["b", "c"], "R": R},
        "L": {"kind": "inductor", "nodes": ["c", "gnd"], "L": 1e-3 * (Ron + R)},
    }
    settings = {"t_end": 1.5e-3, "output_step": 5e-5}
    return vbg.Model(name="two-states", electric=electric, simulate=settings)


@pytest.mark.parametrize("part", [SWITCH, DIODE], ids=["switch", "diode"])
@pytest.mark.parametrize(("Ron", "Goff"), [(1e-5, 1e-5), (1e-3, 1e-12), (1e-8, 1e-12), (2.0, 1e-9)])
@pytest.mark.parametrize("solver", [vbg.simulate, tmm_bridge.simulate], ids=["first", "second"])
def test_what_is_closed_is_ron_to_rounding(part, Ron, Goff, solver):
    """i = (sin w t + cos w t - exp(-w t)) / 2 (Ron + R) with L = (Ron + R) / w: half of the
    resistance is that of the part."""
    run = solver(circuit(part, Ron, Goff, Ron), rtol=1e-10, atol=1e-14)
    x = 1e3 * run.time
    told = (np.sin(x) + np.cos(x) - np.exp(-x)) / (4.0 * Ron)
    closed = (x > 0.0) & (x < 1.5)
    assert_allclose(run["S.current"][closed], told[closed], rtol=1e-7)
    assert_allclose(run["S.current"], run["L.current"], rtol=1e-9, atol=1e-9 * told.max())
    assert_allclose(run["S.voltage"][closed], Ron * run["S.current"][closed], rtol=1e-9)
