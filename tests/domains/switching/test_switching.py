"""Events, modes, instants and sampling against closed forms."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.optimize import brentq

import vbg
from vbg.io import toml
from vbg.model.samples import machine
from vbg.simulate.events import events, sticking


def test_block_sticks_on_a_slope():
    model = vbg.Model(
        translational={
            "block": {"kind": "mass", "nodes": ["x"], "m": 2.0},
            "weight": {"kind": "force", "nodes": ["x"], "force": "2*9.81*sin(0.3)"},
            "grip": {"kind": "friction", "nodes": ["x"], "coulomb": 7.0},
        },
        simulate={"t_end": 100.0, "output_step": 1.0},
    )
    solution = vbg.simulate(vbg.assemble(model))
    assert np.abs(solution["translational.x.position"]).max() < 1e-12
    assert solution["grip.force"] == pytest.approx(-2 * 9.81 * math.sin(0.3), rel=1e-12)
    assert solution.audit.events == ()
    assert solution.audit.energy_residual < 1e-7


def test_block_slides_sticks_and_breaks_away():
    """m = 2, v(0) = 1, friction 6, load 5 (t - 1) from t = 1 on."""
    model = vbg.Model(
        translational={
            "block": {"kind": "mass", "nodes": ["x"], "m": 2.0, "speed": 1.0},
            "load": {"kind": "force", "nodes": ["x"], "force": "5*max(0, t - 1)"},
            "grip": {"kind": "friction", "nodes": ["x"], "coulomb": 6.0},
        },
        simulate={"t_end": 3.0, "output_step": 0.01},
    )
    solution = vbg.simulate(vbg.assemble(model))
    assert [event.time for event in solution.audit.events] == pytest.approx([1 / 3, 2.2], abs=1e-9)
    expected = 0.5 / 3.0 + 5.0 * 0.8**3 / 12.0
    assert solution["translational.x.position"][-1] == pytest.approx(expected, abs=1e-9)
    assert solution.audit.energy_residual < 1e-7


def test_bouncing_stop():
    k, height, g = 1e4, 1.0, 9.81
    model = vbg.Model(
        bodies={
            "ball": {
                "mass": 1.0,
                "inertia": {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3},
                "position": [0, 0, height],
            }
        },
        joints={
            "rail": {
                "kind": "prismatic",
                "between": ["ground", "ball"],
                "axis": [0, 0, 1],
                "initial": {"slide": height},
                "stop": {"lower": 0.0, "k": k},
            }
        },
        simulate={"t_end": 2.0, "output_step": 0.01, "rtol": 1e-10, "atol": 1e-12},
    )
    solution = vbg.simulate(vbg.assemble(model))
    fall, omega = math.sqrt(2 * height / g), math.sqrt(k)
    speed, sag = g * fall, g / k

    def depth(t: float) -> float:
        return -sag + sag * math.cos(omega * t) - speed / omega * math.sin(omega * t)

    contact = brentq(depth, 0.5 * math.pi / omega, 1.5 * math.pi / omega, xtol=1e-16)
    expected = [fall, fall + contact, 3 * fall + contact, 3 * fall + 2 * contact]
    assert [e.time for e in solution.audit.events] == pytest.approx(expected, abs=1e-9)
    assert solution.audit.energy_residual < 1e-7


def test_diode_bridge():
    names = {"D1": ["a", "p"], "D2": ["b", "p"], "D3": ["gnd", "a"], "D4": ["gnd", "b"]}
    parts: dict = {n: {"kind": "diode", "nodes": ends, "law": "ideal"} for n, ends in names.items()}
    parts["U"] = {
        "kind": "voltage_source",
        "nodes": ["a", "b"],
        "voltage": "10*sin(100*pi*t + 0.5)",
    }
    parts["R"] = {"kind": "resistor", "nodes": ["p", "gnd"], "R": 10.0}
    model = vbg.Model(electric=parts, simulate={"t_end": 0.05, "output_step": 1e-4})
    solution = vbg.simulate(vbg.assemble(model))
    times = sorted({round(event.time, 12) for event in solution.audit.events})
    expected = [(k * math.pi - 0.5) / (100 * math.pi) for k in range(1, 6)]
    assert times == pytest.approx(expected, abs=1e-9)
    rectified = np.abs(10.0 * np.sin(100 * math.pi * solution.time + 0.5))
    assert solution["R.voltage"] == pytest.approx(rectified, abs=2e-3)


def test_sampled_controller_and_late_step():
    model = vbg.Model(
        rotational={
            "J": {"kind": "inertia", "nodes": ["s"], "J": 1.0},
            "T": {"kind": "torque", "nodes": ["s"], "torque": "u"},
        },
        signals={
            "w": {"kind": "step", "start": 0.25},
            "e": {"kind": "sum", "inputs": ["w", "rotational.s.speed"], "weights": [1, -1]},
            "u": {"kind": "sample_and_hold", "input": "2*e", "period": 0.1},
        },
        simulate={"t_end": 2.0, "output_step": 0.05},
    )
    solution = vbg.simulate(vbg.assemble(model))
    speed = 0.0
    for k in range(20):
        speed += 0.1 * 2.0 * ((k >= 3) - speed)
    assert len(solution.time) == 41
    assert solution["rotational.s.speed"][-1] == pytest.approx(speed, abs=1e-12)


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        ({"kind": "step", "start": 0.4, "height": 2}, lambda t: 2.0 * max(0.0, t - 0.4)),
        (
            {"kind": "ramp", "start": 0.2, "duration": 0.5, "height": 3},
            lambda t: 3.0 * (t >= 0.2) * (min(t - 0.2, 0.5) ** 2 / 1.0 + max(0.0, t - 0.7)),
        ),
        (
            {"kind": "pulse", "period": 0.25, "width": 0.1, "height": 4},
            lambda t: 4.0 * (0.1 * math.floor(t / 0.25 + 1e-12) + min(0.1, t % 0.25)),
        ),
        (
            {"kind": "table", "rows": [[0, 0], [0.3, 2], [1.0, 1]]},
            lambda t: t * t / 0.3 if t < 0.3 else 0.3 + (2 * (t - 0.3) - (t - 0.3) ** 2 / 1.4),
        ),
        (
            {"kind": "table", "rows": [[0, 1], [0.3, 2], [0.6, 5]], "interpolation": "previous"},
            lambda t: min(t, 0.3) + 2 * min(max(t - 0.3, 0), 0.3) + 5 * max(t - 0.6, 0),
        ),
        (
            {"kind": "sine", "frequency": 7.0, "amplitude": 3.0},
            lambda t: 3.0 / 7.0 * (1.0 - math.cos(7.0 * t)),
        ),
    ],
)
def test_integrals_of_time_functions(signal, expected):
    """A current into 1 F: the voltage is the integral."""
    model = vbg.Model(
        electric={
            "I": {"kind": "current_source", "nodes": ["gnd", "a"], "current": "s"},
            "C": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": 1.0},
        },
        signals={"s": signal},
        simulate={"t_end": 0.95, "output_step": 0.05},
    )
    solution = vbg.simulate(vbg.assemble(model))
    assert solution.status.code == "finished"
    wanted = [expected(t) for t in solution.time]
    assert solution["C.voltage"] == pytest.approx(wanted, abs=1e-9)


def resting_on_a_stop():
    return vbg.Model(
        name="resting",
        bodies={"b": {"mass": 2.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        joints={
            "s": {
                "kind": "prismatic",
                "between": ["ground", "b"],
                "axis": [0, 0, -1],
                "initial": {"slide": 0.1},
                "stop": {"upper": 0.0999, "k": 1e5, "c": 10.0},
            }
        },
    )


@pytest.mark.parametrize("rounds", [None, 0])
def test_modes_that_do_not_come_to_agree_are_told(monkeypatch, rounds):
    """Without a round to turn it over, the stop that is pressed stays away from the body."""
    if rounds is not None:
        monkeypatch.setattr(events, "ROUNDS", rounds)
    found = vbg.simulate(resting_on_a_stop(), t_end=0.01, output_step=0.01)
    said = [str(note) for note in found.notes if "no modes were found that agree" in str(note)]
    assert len(said) == (rounds == 0)
    assert all("at t = 0 s" in text and "s.stop.upper.touching" in text for text in said)


def test_shares_of_a_load_that_are_not_found_are_told(monkeypatch):
    A, b, room = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([0.5, -0.2]), np.ones(2)
    assert sticking.held(A, b, room, room)[2]
    monkeypatch.setattr(sticking, "PIVOTS", 0)
    assert not sticking.held(A, b, room, room)[2]


def test_a_switch_closes_by_a_comparison_as_by_a_difference():
    """`closed = "a > b"`, the way it is thought of, is `closed = "a - b"`."""
    circuit = machine("electric", "switch")
    runs = []
    for closed in ("sin(400*t) > 0.1", "0.1 < sin(400*t)", "sin(400*t) - 0.1"):
        text = re.sub(r"closed = .*", f'closed = "{closed}"', circuit)
        start = vbg.start(vbg.assemble(toml.parse(text, "switch.toml")))
        runs.append(vbg.simulate(start, t_end=0.02, output_step=1e-3))
    first, *others = runs
    assert len(first.audit.events) == 3
    for other in others:
        for name, values in first.signals.items():
            assert np.array_equal(values, other[name]), name


def test_a_comparison_where_a_number_stands_is_told():
    text = re.sub(
        r"voltage = .*", 'voltage = "sin(t) > 0.1"', machine("electric", "voltage_source")
    )
    with pytest.raises(vbg.errors.ModelError, match=r"is no number. Write if\(a > b, 1, 0\)"):
        toml.parse(text, "source.toml")
