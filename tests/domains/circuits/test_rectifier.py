"""Exponential diodes that switch hard: a bridge with a smoothing capacitor."""

import math
from itertools import cycle

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import vbg
from tests.simulate.called_steps import called
from vbg.simulate.steppers.explicit import StrayStages, between_ends

UP, RS, C, LOAD, IS, VT = 34.0, 0.1, 10e-3, 5.0, 1e-12, 0.026


def bridge(**simulate) -> vbg.Model:
    """A mains source behind RS, four diodes, a capacitor and its load."""
    diodes = {"D1": ["l", "plus"], "D2": ["n", "plus"], "D3": ["gnd", "l"], "D4": ["gnd", "n"]}
    electric = {
        "mains": {
            "kind": "voltage_source",
            "nodes": ["s", "n"],
            "voltage": f"{UP}*sin(2*pi*50*t)",
        },
        "Rs": {"kind": "resistor", "nodes": ["s", "l"], "R": RS},
        "Rn": {"kind": "resistor", "nodes": ["n", "gnd"], "R": 1e3},
        "C": {"kind": "capacitor", "nodes": ["plus", "gnd"], "C": C},
        "load": {"kind": "resistor", "nodes": ["plus", "gnd"], "R": LOAD},
    }
    for name, nodes in diodes.items():
        electric[name] = {"kind": "diode", "nodes": nodes, "Is": IS, "Vt": VT}
    settings = {"t_end": 0.06, "output_step": 1e-4} | simulate
    return vbg.Model(vbg=1, name="bridge", electric=electric, simulate=settings)


def by_hand(times: np.ndarray) -> np.ndarray:
    """Voltage of the capacitor where two diodes of a pair conduct in series and Rn hardly
    counts: 2 Vt ln(i / Is + 1) + Rs i + u = |source|."""

    def current(source: float, u: float) -> float:
        def gap(i: float) -> float:
            return 2.0 * VT * math.log1p(i / IS) + RS * i + u - source

        return brentq(gap, 0.0, 1e3, xtol=1e-14) if source > u else 0.0

    def rate(t: float, x: np.ndarray) -> list[float]:
        source = abs(UP * math.sin(100.0 * math.pi * t))
        return [(current(source, x[0]) - x[0] / LOAD) / C]

    found = solve_ivp(rate, (0.0, times[-1]), [0.0], "Radau", times, rtol=1e-8, atol=1e-9)
    return found.y[0]


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_bridge_follows_its_closed_form(method):
    solution = vbg.simulate(bridge(method=method))
    assert solution.status.code == "finished"
    assert solution.audit.energy_residual < 1e-7
    voltage = np.ravel(solution["C.voltage"])
    np.testing.assert_allclose(voltage, by_hand(solution.time), atol=0.02)


def test_rows_of_the_explicit_method_are_right_or_missing():
    """Stages of its polynomial that no error estimate sees once gave 1e29 V in single rows."""
    solution = vbg.simulate(bridge(method="dop853"))
    voltage = np.ravel(solution["C.voltage"])
    assert np.all((voltage > -1.0) & (voltage < UP))
    assert solution.status.code == "finished" or "stiff" in solution.status.sentence


def test_a_polynomial_that_leaves_the_motion_is_not_used():
    """It stands where it is right; where its own stages stray pieces take over; where these
    cannot either, StrayStages tells where the step began."""
    settings = {"rtol": 1e-6, "atol": 1e-6}
    right = called(lambda t, x: -10.0 * (x - np.cos(t)), 0.0, [1.0], 1.0, **settings)
    right.step()
    middle = 0.5 * right.t
    assert between_ends(right)(middle) == pytest.approx(right.dense_output()(middle))

    spoilt = called(lambda t, x: -x, 0.0, [1.0], 1.0, first_step=0.25, **settings)
    spoilt.step()
    strays = iter([1e9, 1e9, 1e9])
    spoilt.maker.f = lambda t, x: -x + next(strays, 0.0)
    assert between_ends(spoilt)(0.1) == pytest.approx(math.exp(-0.1), rel=1e-6)

    noise = cycle([1e9, -2e9, 3e9])
    spoilt.maker.f = lambda t, x: -x + next(noise)
    with pytest.raises(StrayStages) as stray:
        between_ends(spoilt)
    assert stray.value.t == 0.0


def test_an_energy_without_a_value_is_no_good_end():
    """A signal that becomes a root of a negative number feeds a source behind t = 0.5 s."""
    model = vbg.Model(
        vbg=1,
        electric={
            "S": {"kind": "current_source", "nodes": ["gnd", "a"], "current": "sqrt(0.5 - t)"},
            "R": {"kind": "resistor", "nodes": ["a", "gnd"], "R": 1.0},
        },
        simulate={"t_end": 1.0, "output_step": 0.1},
    )
    assert vbg.simulate(model).status.code == "failed"
