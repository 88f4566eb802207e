"""Small currents beside large ones: by the law of their voltage, not what the large ones leave."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.validate import validate


def bridge(U: float, ohm: float, probe: float) -> vbg.Model:
    """Four switches with ideal diodes across, a motor between the legs, and two probes."""

    def leg(name: str, ends: tuple[str, str], closed: str) -> dict:
        diode = {"kind": "diode", "law": "ideal", "nodes": [*reversed(ends)]}
        switch = {"kind": "switch", "nodes": [*ends], "closed": closed}
        return {f"S{name}": switch, f"D{name}": diode}

    motor = {"kind": "dc_motor", "nodes": ["a", "b"], "on": "rotational.shaft", "K": 0.05}
    return vbg.Model(
        name="H bridge",
        signals={"pwm": {"kind": "pulse", "frequency": "2 kHz", "duty": 0.7}},
        electric={
            "supply": {"kind": "voltage_source", "nodes": ["p", "gnd"], "voltage": U},
            **leg("1", ("p", "a"), "pwm > 0.5"),
            **leg("2", ("a", "gnd"), "pwm < 0.5"),
            **leg("3", ("p", "b"), "pwm < 0.5"),
            **leg("4", ("b", "gnd"), "pwm > 0.5"),
            "M": {**motor, "R": ohm, "L": ohm * 1.3e-3},
            "probe": {"kind": "resistor", "nodes": ["b", "gnd"], "R": probe},
            "across": {"kind": "resistor", "nodes": ["a", "b"], "R": probe},
        },
        rotational={
            "rotor": {"kind": "inertia", "nodes": ["shaft"], "J": 1e-4},
            "load": {"kind": "damper", "nodes": ["shaft"], "c": 1e-4},
        },
    )


@pytest.mark.parametrize("seed", tail(range(8), first=2))
def test_probes_and_blocking_diodes_to_rounding(seed: int) -> None:
    """U / R of a probe and Goff U of a diode, at 1 V to 1 kV, milliohms to ohms, to 100 Mohm."""
    random = np.random.default_rng(seed)
    U, ohm, R = (float(10.0 ** random.uniform(*span)) for span in ((0, 3), (-1, 1), (3, 8)))
    run = vbg.simulate(vbg.assemble(bridge(U, ohm, R)), t_end=2e-3, output_step=2e-5)
    for name in ("probe", "across"):
        assert_allclose(run[f"{name}.current"], run[f"{name}.voltage"] / R, rtol=1e-14, atol=0.0)
    for name in ("D1", "D2", "D3", "D4"):
        blocks = run[f"{name}.voltage"] < -0.5 * U
        assert blocks.any()
        leak = 1e-5 * run[f"{name}.voltage"]
        assert_allclose(run[f"{name}.current"][blocks], leak[blocks], rtol=1e-14)
    assert not run.audit.failures


@pytest.mark.parametrize("R", tail((1e7, 1e4), first=1))
def test_the_other_solver_knows_them_too(R: float) -> None:
    report = validate(bridge(24.0, 0.6, R), t_end=2e-3, output_step=4e-5)
    assert report.result == "PASS", report
