"""Short smooth pulses are not stepped over."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.blocks import leaf
from vbg.expressions import parse
from vbg.physics.laws import block_of
from vbg.simulate.instants.bounds import bounds
from vbg.simulate.instants.pace import fast_places, longest_step

T = leaf("t", 1)
EXPRESSIONS = (
    "sin(3*t) + t**2 - 2*t",
    "exp(-((t - 0.4)/0.1)**2)",
    "abs(sin(7*t))*cos(2*t)",
    "max(t - 0.3, 0)**3 - min(t, 0.2)",
    "sqrt(1 + t**4)/(2 + cos(9*t))",
    "log(2 + t)*atan(5*t - 2)",
    "sign(t - 0.5)*t**-2",
    "exp(t)**1.5 - t**5",
)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_bounds_hold_what_is_sampled(text: str) -> None:
    """1000 random intervals of 40 samples each, none outside; and they close in on a point."""
    function = block_of(parse(text), lambda _: T)
    random = np.random.default_rng(3)
    low = random.uniform(-2.0, 2.0, 1000)
    high = low + random.uniform(0.0, 1.0, 1000) ** 4
    ((least, most),) = bounds([function], low, high)
    for part in np.linspace(0.0, 1.0, 40):
        at = low + part * (high - low)
        ((value, _),) = bounds([function], at, at)
        room = 1e-12 * (1.0 + np.abs(value))
        assert np.all((value >= least - room) & (value <= most + room))


def pulsed(force: str, mass: float = 1.0) -> vbg.Model:
    parts = {
        "m": {"kind": "mass", "nodes": ["x"], "m": mass},
        "F": {"kind": "force", "nodes": ["x"], "force": force},
    }
    return vbg.Model(vbg=1, translational=parts)


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("t_end", [1.0, 100.0])
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_short_pulse_gives_its_impulse(width: float, t_end: float, method: str) -> None:
    """A force of Gauss's form with the impulse sqrt(pi), behind a third of the run."""
    at = 0.3456789 * t_end
    model = pulsed(f"exp(-((t - {at})/{width})**2)/{width}")
    solution = vbg.simulate(vbg.assemble(model), t_end=t_end, output_step=t_end / 7, method=method)
    assert_allclose(solution["m.speed"][-1], np.sqrt(np.pi), rtol=1e-6)
    assert solution.status.code == "finished" and solution.audit.failures == ()


def test_two_pulses_on_a_slow_wave_are_seen() -> None:
    text = "sin(t) + 5*exp(-((t - 2.2)/1e-5)**2) - 3/(1 + ((t - 7.1)/1e-6)**2)"
    model = pulsed(text)
    places = fast_places(vbg.assemble(model), 10.0)
    for at, width in ((2.2, 1e-5), (7.1, 1e-6)):
        assert np.sum(np.abs(places - at) < 3 * width) >= 3


@pytest.mark.parametrize("text", ["2", "3*t", "t**2 - t", "sin(2*t)", "sin(1e6*t)", "1/(t + 1)"])
def test_slow_and_endless_functions_ask_for_no_step(text: str) -> None:
    assert len(fast_places(vbg.assemble(pulsed(text)), 10.0)) == 0


SHORTEST = (  # voltage, end [s] of the run, time [s] between its fastest change and the one back
    ("sin(2*pi*50*t)", 0.1, 1e-2),
    ("sin(2*pi*50*t)", 2000.0, 1e-2),
    ("sin(2*pi*1e6*t)", 1.0, 5e-7),
    ("sin(2*pi*(0.01*t + 5*t^2))", 100.0, 5e-4),
    ("min(1, max(0, t - 90))*sin(2*pi*50*t)", 100.0, 1e-2),
    ("if(t > 99, sin(2*pi*50*t), 0)", 100.0, 1e-2),
    ("max(0, sin(2*pi*50*t) - 0.99)", 100.0, 6.36e-4),
    ("max(-1, min(1, 1e4*sin(2*pi*50*t)))", 100.0, 1e-2),
    ("if(t > 0.03, 1, 0)", 1.0, np.inf),
    ("1 - exp(-t)", 1.0, np.inf),
)


@pytest.mark.parametrize(("voltage", "t_end", "shortest"), SHORTEST)
def test_a_diode_is_looked_at_in_each_pulse_of_its_source(voltage, t_end, shortest) -> None:
    """However many there are, and wherever in the run; of what does not come back there is none."""
    longest = longest_step(vbg.assemble(rectifier(voltage)), t_end)
    assert longest == shortest or shortest / 12.0 < longest < shortest / 7.0


@pytest.mark.parametrize("method", ["auto", "radau", "dop853"])
def test_dry_friction_beside_diodes_lets_no_charge_pass(method: str) -> None:
    """Steps end at output rows where something sticks: which may be far apart."""
    alone = rectifier("10*sin(2*pi*50*t)")
    stuck = {
        "m": {"kind": "mass", "nodes": ["x"], "m": 1.0},
        "dry": {"kind": "friction", "nodes": ["x"], "coulomb": 5.0},
        "F": {"kind": "force", "nodes": ["x"], "force": "2*t"},
    }
    beside = vbg.Model(electric=alone.document["electric"], translational=stuck)
    voltages = [
        vbg.simulate(model, t_end=0.5, output_step=0.25, method=method)["electric.b.voltage"]
        for model in (alone, beside)
    ]
    assert_allclose(voltages[1], voltages[0], atol=1e-5)


def rectifier(voltage: str) -> vbg.Model:
    source = {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": voltage}
    return vbg.Model(
        electric={
            "S": source,
            "D": {"kind": "diode", "nodes": ["a", "b"]},
            "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3},
            "R": {"kind": "resistor", "nodes": ["b", "gnd"], "R": 1e3},
        }
    )
