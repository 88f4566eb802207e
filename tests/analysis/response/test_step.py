"""Step and impulse responses: a pendulum about hanging, by the closed form of its oscillator."""

import json
import math

import numpy as np
import pytest

import vbg
from vbg.analysis import linearise, operating_point
from vbg.analysis.linear.response import final_value, impulse_response, step_response
from vbg.cli.main import main
from vbg.cli.show.step import shape_of

TEXT = """
vbg = 1
[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = 0.08333333333333333, zz = 0.08333333333333333 }
points = { A = [-0.5, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
initial = { angle = 1.2 }
friction = { viscous = 0.4 }
[forces.motor]
kind = "torque"
on = "joints.hinge"
torque = [0.0]
"""
J, STIFFNESS, DAMPING = 1 / 3, 9.81 / 2, 0.4
W = math.sqrt(STIFFNESS / J)
ZETA = DAMPING / (2 * math.sqrt(STIFFNESS * J))
WD = W * math.sqrt(1 - ZETA**2)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("step") / "pendulum.toml"
    path.write_text(TEXT)
    return path


def test_step_and_impulse_are_those_of_an_oscillator(file):
    system = vbg.assemble(vbg.read(file))
    linear = linearise(system, operating_point(system), ["motor"], ["hinge.angle"])
    t, step = step_response(linear)
    decay = np.exp(-ZETA * W * t)
    wave = np.cos(WD * t) + ZETA / math.sqrt(1 - ZETA**2) * np.sin(WD * t)
    assert step == pytest.approx((1 - decay * wave) / STIFFNESS, abs=1e-9)
    t, impulse = impulse_response(linear)
    expected = np.exp(-ZETA * W * t) * np.sin(WD * t) / (J * WD)
    assert impulse == pytest.approx(expected, abs=1e-9)
    assert final_value(linear) == pytest.approx(1 / STIFFNESS, rel=1e-9)
    shape = shape_of(*step_response(linear, count=4000), final_value(linear))
    assert shape.overshoot == pytest.approx(math.exp(-math.pi * W * ZETA / WD), rel=1e-4)
    assert shape.peak_time == pytest.approx(math.pi / WD, rel=1e-3)
    assert shape.final == pytest.approx(1 / STIFFNESS, rel=1e-9)


def test_the_view_tells_draws_and_writes(file, tmp_path, capsys):
    ends = ["--from", "motor", "--to", "hinge.angle", "--about", "rest"]
    table = tmp_path / "step.csv"
    assert main(["show", "step", str(file), *ends, "-o", str(table)]) == 0
    assert "overshoot" in capsys.readouterr().out
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    assert rows[-1, 1] == pytest.approx(1 / STIFFNESS, rel=0.05)
    assert main(["show", "step", str(file), *ends, "--impulse", "--json", "--t-end", "1 s"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["final"] is None
    assert found["time"][-1] == 1.0


def test_a_fast_circuit_beside_a_slow_pendulum_has_its_own_rise(file, capsys):
    """T = 1 us beside 0.4 s: rise T ln 9; what the input does not move has no rise."""
    path = file.with_name("beside.toml")
    path.write_text(
        TEXT
        + """
[electric.V]
kind = "voltage_source"
nodes = ["p", "gnd"]
voltage = 1
[electric.R]
kind = "resistor"
nodes = ["p", "q"]
R = 100
[electric.C]
kind = "capacitor"
nodes = ["q", "gnd"]
C = 1e-8
"""
    )
    command = ["show", "step", str(path), "--from", "V", "--to"]
    assert main([*command, "C.voltage", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)[0]
    assert shown["rise"] == pytest.approx(1e-6 * math.log(9.0), rel=1e-3)
    assert shown["settling"] == pytest.approx(1e-6 * math.log(50.0), rel=1e-3)
    assert main([*command, "hinge.angle", "--json"]) == 0
    still = json.loads(capsys.readouterr().out)[0]
    assert abs(still["peak"]) < 1e-12
    nothing = shape_of(np.linspace(0.0, 1.0, 5), np.zeros(5), 0.0)
    assert nothing.rise is None and nothing.overshoot is None and nothing.settling == 0.0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_a_controlled_speed_settles_though_the_angle_moves_on(scale):
    """PI on an inertia with friction: J s^2 + (c + kp) s + ki; both angle and speed are outputs."""
    J, c = 0.1 * scale, 0.1
    kp, ki = 2.0, 20.0 / scale
    control = {"kind": "pid", "demand": "r", "measured": "rotor.speed", "kp": kp, "ki": ki}
    model = vbg.Model(
        name="servo",
        signals={"r": {"kind": "step", "height": 1.0}, "law": control},
        rotational={
            "rotor": {"kind": "inertia", "nodes": ["s"], "J": J},
            "oil": {"kind": "damper", "nodes": ["s"], "c": c},
            "drive": {"kind": "torque", "nodes": ["s"], "torque": "law"},
        },
    )
    system = vbg.assemble(model)
    outputs = ["rotor.speed", "drive.torque", "rotational.s.angle"]
    linear = linearise(system, operating_point(system), ["r"], outputs)
    assert final_value(linear, None, "rotor.speed") == pytest.approx(1.0, rel=1e-9)
    assert final_value(linear, None, "drive.torque") == pytest.approx(c, rel=1e-9)
    assert final_value(linear, None, "rotational.s.angle") is None
    t, speed = step_response(linear, None, "rotor.speed", count=4000)
    poles = np.roots([J, c + kp, ki])
    rest = [(kp * p + ki) / (J * p * (p - poles[1 - i])) for i, p in enumerate(poles)]
    closed = 1.0 + sum(a * np.exp(p * t) for a, p in zip(rest, poles)).real
    assert speed == pytest.approx(closed, abs=1e-8)
