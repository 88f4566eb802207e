"""FMUs connected by power variables, beside machines that have them inside or wired by hand."""

import numpy as np
import pytest

import vbg
from tests.fmi.conftest import ARM, LOADS
from vbg.errors import ModelError
from vbg.fmi.permission import ALLOWED
from vbg.io import toml

FEED = """
[electric.main]
kind = "voltage_source"
nodes = ["s", "gnd"]
voltage = "24*sin(60*t)"
[electric.first]
kind = "resistor"
nodes = ["s", "a"]
R = 1.5
[electric.store]
kind = "capacitor"
nodes = ["a", "gnd"]
C = 4e-3
[electric.second]
kind = "resistor"
nodes = ["a", "c"]
R = 4.0
"""
PORTS = (
    """
[fmu.device]
file = "device.fmu"
step = STEP
order = 2
[fmu.device.ports.load]
on = "electric.a"
effort = "v"
flow = "L.current"
[fmu.device.ports.cell]
on = ["electric.c", "electric.gnd"]
effort = "C.voltage"
flow = "i"
"""
    + FEED
)
BY_HAND = """
[fmu.controller]
file = "controller.fmu"
step = "2 ms"
inputs = { angle = "hinge.angle", speed = "hinge.speed" }
""" + ARM.replace("TORQUE", "controller.u")
MOTOR = """
[fmu.controller]
file = "controller.fmu"
step = "2 ms"
inputs = { angle = "hinge.angle" }
ports = { axis = { on = "joints.hinge", effort = "u", flow = "speed", toward = "machine" } }
""" + ARM.partition("[forces")[0]
SHAFT = """
[fmu.controller]
file = "controller.fmu"
step = "2 ms"
inputs = { angle = "rotational.b.angle" }
ports = { axis = { on = PLACE, effort = "u", flow = "speed" } }
[rotational.first]
kind = "inertia"
nodes = ["a"]
J = 0.2
[rotational.second]
kind = "inertia"
nodes = ["b"]
J = 0.3
[rotational.between]
kind = "spring"
nodes = ["a", "b"]
k = 7.0
"""


def run(text, folder, **settings):
    model = toml.parse(text, str(folder / "machine.toml"))
    solution = vbg.simulate(model, **({"t_end": 0.04, "output_step": 1e-3} | settings))
    assert solution.status.code == "finished", solution.status
    return solution


@pytest.fixture
def wired(device, monkeypatch):
    monkeypatch.setenv(ALLOWED, str(device))
    return device


def test_circuits_through_ports_are_the_whole_circuit(wired):
    """A unit that tells a current and one that tells a voltage; the error falls with the square of
    the step, and the ports' powers are those of what is inside."""
    whole = run(FEED + LOADS, wired, rtol=1e-10)
    errors = []
    for h in ("1e-3", "5e-4"):
        found = run(PORTS.replace("STEP", h), wired, rtol=1e-10)
        names = ("electric.a.voltage", "electric.c.voltage", "main.current")
        pairs = [(found[n], whole[n]) for n in names]
        pairs += [(found["device_load.current"], whole["L.current"])]
        pairs += [(found["device_cell.current"], whole["C.current"] + whole["leak.current"])]
        pairs += [(found["device_load.power"], whole["L.power"] + whole["R.power"])]
        errors.append(max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] > 3.0, errors


def test_a_port_on_a_joint_is_its_torque_and_its_speed(allowed):
    by_hand, found = run(BY_HAND, allowed), run(MOTOR, allowed)
    assert np.array_equal(found["hinge.angle"], by_hand["hinge.angle"])
    assert found["controller_axis.torque"] == pytest.approx(by_hand["controller.u"], rel=1e-12)


@pytest.mark.parametrize(
    ("place", "torques"),
    [
        ('"rotational.b"', {"b": -1.0}),
        ('["rotational.a", "rotational.b"]', {"a": 1.0, "b": -1.0}),
        ('["rotational.b", "rotational.frame"]', {"b": 1.0}),
    ],
)
def test_what_goes_into_the_unit_is_lost_to_the_shafts(allowed, place, torques):
    """Power into the unit is torque times speed; the torques on the two shafts are opposite."""
    found = run(SHAFT.replace("PLACE", place), allowed, rtol=1e-10)
    u = found["controller.u"]
    speeds = {n: found[f"rotational.{n}.speed"] for n in "ab"}
    across = sum(-sign * speeds[n] for n, sign in torques.items())
    law = 5.0 * np.sin(3.0 * found.time) - 8.0 * found["rotational.b.angle"] - 2.0 * across
    ticks = slice(2, None, 2)
    assert u[ticks] == pytest.approx(law[ticks], rel=1e-7, abs=1e-9)
    assert found["controller_axis.power"] == pytest.approx(-u * across, abs=1e-12)
    push = 7.0 * (found["rotational.a.angle"] - found["rotational.b.angle"])
    moment = push[1:] + push[:-1] + 2.0 * torques.get("b", 0.0) * u[:-1]  # u is held in between
    assert 0.3 * np.diff(speeds["b"]) == pytest.approx(0.5e-3 * moment, rel=1e-4, abs=1e-9)


def test_the_verdict_solves_the_circuit_twice_and_replays_the_unit(wired):
    model = toml.parse(PORTS.replace("STEP", "1e-3"), str(wired / "machine.toml"))
    report = vbg.validate(model, t_end=0.02, output_step=1e-3, in_children=False)
    assert report.result == "PASS"
    assert any("what the FMUs told (device)" in note for note in report.verdict.notes)
    assert any(c.name == "device_load.current" and c.result == "PASS" for c in report.channels)


def test_it_keeps_its_place_in_a_sub_model(wired, tmp_path, monkeypatch):
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(wired))
    (wired / "part.toml").write_text(PORTS.replace("STEP", "1e-3"))
    text = f'[include.left]\nfile = "{wired / "part.toml"}"\n'
    model = toml.parse(text, str(tmp_path / "machine.toml"))
    assert dict(model.fmu["left_device"].inputs) == {
        "v": "left_device_load.voltage",
        "i": "left_device_cell.current",
    }
    assert model.electric["left_device_load"].nodes == ("left_a", "gnd")
    file, line, _ = model.where(("electric", "left_device_load"))
    assert file.endswith("part.toml") and line == 6


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('on = "electric.a"', 'on = "electric.a.b"', "device_load.*a.b"),
        ('on = "electric.a"', "", "a port needs on"),
        (
            'on = "electric.a"',
            'on = "signals.a"',
            "one coordinate or two nodes of electric",
        ),
        ('on = "electric.a"', 'on = ["electric.a"]', "expected a node, a coordinate or two nodes"),
        ('effort = "v"', 'effort = "w"', "of w and L.current one is an input.*neither is an input"),
        ('flow = "L.current"', 'flow = "i"', "both are inputs"),
        ('effort = "v"', 'effort = "v"\ntoward = "me"', "expected unit or machine"),
        ('effort = "v"', 'effort = "v"\nsign = 1', "unknown key 'sign' of a port"),
        ("order = 2", 'order = 2\ninputs = { v = "t" }', "the input v has a wire already"),
        (
            "[electric.first]",
            '[electric.device_load]\nkind = "resistor"\nnodes = ["a", "gnd"]\nR = 1\n'
            "[electric.first]",
            "a part called 'device_load', and electric has one",
        ),
    ],
)
def test_what_is_wrong_with_a_port_is_told_where_it_stands(device, old, new, words):
    text = PORTS.replace("STEP", "1e-3").replace(old, new, 1)
    with pytest.raises(ModelError, match=f"(?s){words}") as told:
        vbg.expand(toml.parse(text, str(device / "machine.toml")))
    assert all(problem.line for problem in told.value.problems)


def test_a_speed_that_a_unit_tells_is_refused(units):
    text = SHAFT.replace("PLACE", '"rotational.b"')
    text = text.replace('effort = "u", flow = "speed"', 'effort = "speed", flow = "u"')
    with pytest.raises(ModelError, match=r"the FMU tells the speed u.*must have a rate"):
        toml.parse(text, str(units / "machine.toml"))
