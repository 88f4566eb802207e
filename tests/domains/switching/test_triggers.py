"""Comparators whose output a capacitor keeps: the hysteresis that a run follows."""

import numpy as np
import pytest

import vbg


def oscillator(size: float, gain: float, lag: float) -> dict:
    """10 V charge C through R; a trigger that has +-5 V behind a lag [of R C] and thresholds of
    2.5 V and 7.5 V closes a switch that lets C discharge over R/5 in all."""
    R, C = 1e3 * size, 1e-6

    def two(kind, first, second, **more):
        return {"kind": kind, "nodes": [first, second], **more}

    return {
        "V": two("voltage_source", "a", "gnd", voltage=10),
        "R": two("resistor", "a", "c", R=R),
        "C": two("capacitor", "c", "gnd", C=C),
        "S": two("switch", "c", "gnd", closed="-A.voltage", Ron=R / 5, Goff=1e-9 / size),
        "A": {"kind": "op_amp", "nodes": ["p", "m", "o"], "gain": gain, "lower": -5, "upper": 5},
        "m": two("voltage_source", "m", "gnd", voltage="C.voltage - 5"),
        "Ro": two("resistor", "o", "x", R=R / 100),
        "Co": two("capacitor", "x", "gnd", C=100 * lag * C, voltage=5),
        "r1": two("resistor", "x", "p", R=10 * R),
        "r2": two("resistor", "p", "gnd", R=10 * R),
    }


@pytest.mark.parametrize("size, gain, lag", ((1.0, 1e5, 1e-4), (1e-4, 1e4, 1e-3)))
def test_a_relaxation_oscillator_has_its_times_by_hand(size, gain, lag):
    """Charge from 2.5 V to 7.5 V in R C ln 3, discharge towards 10/6 V in R C/6 ln 7, whatever the
    last digits of an instant are to a comparator that passes zero at 1e13 V/s."""
    unit = 1e-3 * size
    model = vbg.Model(
        electric=oscillator(size, gain, lag),
        simulate={"t_end": 20 * unit, "output_step": unit / 10},
    )
    solution = vbg.simulate(model)
    assert solution.status.code == "finished", solution.status.sentence
    times = np.array([e.time for e in solution.audit.events if e.where == "S.closed"]) / unit
    assert len(times) == 27 and times[0] == pytest.approx(np.log(4.0), rel=30 / gain + 5 * lag)
    charge, discharge = np.diff(times)[1::2], np.diff(times)[::2]
    assert charge == pytest.approx(np.log(3.0), rel=30 / gain + 5 * lag)
    assert discharge == pytest.approx(np.log(7.0) / 6.0, rel=100 / gain + 20 * lag)
