"""FMUs as parts: a machine and a unit together are the whole that they were made from."""

import re

import numpy as np
import pytest

import vbg
from tests.fmi.conftest import ARM
from tests.tail import tail
from vbg.io import toml

LAW = "5*sin(3*t) - 8*ANGLE - 2*SPEED"
WHOLE = f"""
[signals.u]
kind = "expression"
expression = "{LAW.replace("ANGLE", "hinge.angle").replace("SPEED", "hinge.speed")}"
""" + ARM.replace("TORQUE", "u")
SAMPLED = """
[signals.angle]
kind = "sample_and_hold"
input = "hinge.angle"
period = "2 ms"
[signals.speed]
kind = "sample_and_hold"
input = "hinge.speed"
period = "2 ms"
[signals.clock]
kind = "sample_and_hold"
input = "t"
period = "2 ms"
[signals.u]
kind = "expression"
expression = "5*sin(3*clock) - 8*angle - 2*speed"
""" + ARM.replace("TORQUE", "u")
CONTROLLED = """
[fmu.controller]
file = "controller.fmu"
step = "2 ms"
inputs = { angle = "hinge.angle", speed = "hinge.speed" }
outputs = ["u"]
""" + ARM.replace("TORQUE", "controller.u")
PLANT = f"""
[fmu.plant]
file = "plant.fmu"
step = STEP
order = ORDER
interface = "KIND"
inputs = {{ u = "drive" }}
[signals.drive]
kind = "expression"
expression = "{LAW.replace("ANGLE", "plant.hinge.angle").replace("SPEED", "plant.hinge.speed")}"
"""


def run(text, folder, **settings):
    model = toml.parse(text, str(folder / "machine.toml"))
    settings = {"t_end": 0.2, "output_step": 0.01, "rtol": 1e-11} | settings
    solution = vbg.simulate(model, **settings)
    assert solution.status.code == "finished", solution.status
    return solution


SIGNALS = ("hinge.angle", "hinge.speed", "hinge.force")


def miss(found, whole, prefix="", names=SIGNALS):
    """The largest difference of the joint's signals, of each one's peak."""
    return max(np.abs(found[prefix + n] - whole[n]).max() / np.abs(whole[n]).max() for n in names)


@pytest.mark.parametrize(
    "settings",
    tail([{}, {"formulation": "minimal"}, {"rtol": 1e-8}], 1),
    ids=["constraint", "minimal", "8"],
)
def test_a_sampled_controller_is_the_same_machine_wherever_it_runs(allowed, settings):
    whole = run(SAMPLED, allowed, **settings)
    assert miss(run(CONTROLLED, allowed, **settings), whole) < 1e-6


def test_by_small_explicit_steps_it_is_sampled_at_the_same_instants(allowed):
    settings = {"t_end": 0.02, "output_step": 1e-3, "method": "discrete-time", "rtol": 1e-8}
    whole, found = run(SAMPLED, allowed, **settings), run(CONTROLLED, allowed, **settings)
    assert miss(found, whole) < 1e-6


@pytest.mark.parametrize(
    ("kind", "order", "falls"),
    tail(
        [
            ("co-simulation", 1, 2),
            ("co-simulation", 0, 1),
            ("model-exchange", 1, 2),
            ("model-exchange", 2, 2),  # held in the first step, which keeps it at the square
        ],
        2,
    ),
)
def test_the_error_of_a_coupling_falls_with_its_order(allowed, kind, order, falls):
    settings = {"t_end": 0.1, "rtol": 1e-10}
    whole = run(WHOLE, allowed, **settings)
    text = PLANT.replace("ORDER", str(order)).replace("KIND", kind)
    errors = [
        miss(run(text.replace("STEP", h), allowed, **settings), whole, "plant.", SIGNALS[:1])
        for h in ("2e-3", "1e-3")
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0**falls, rel=0.25)


def test_a_plant_and_its_controller_are_the_whole_to_a_millionth(allowed):
    whole = run(WHOLE, allowed, t_end=0.1)
    text = PLANT.replace("ORDER", "2").replace("KIND", "model-exchange").replace("STEP", "5e-4")
    assert miss(run(text, allowed, t_end=0.1), whole, "plant.") < 1e-6


def test_two_units_that_read_each_other_at_once_agree_at_once(allowed):
    """The chain arm -> first -> second without a step of delay, whatever the order in the file."""
    first = CONTROLLED.partition("[bodies")[0]
    second = first.replace("fmu.controller", "fmu.second").replace("hinge.angle", "controller.u")
    found = run(second + CONTROLLED, allowed)
    t, u = found.time, found["controller.u"]
    law = 5.0 * np.sin(3.0 * t) - 8.0 * u - 2.0 * found["hinge.speed"]
    assert np.abs(found["second.u"] - law).max() < 1e-9 * np.abs(law).max()


def test_a_loop_without_end_is_told(allowed):
    """u = 5 sin(3 t) - 8 u - ...: what it tells follows what it reads eightfold, from u = 0 on."""
    text = CONTROLLED.replace('angle = "hinge.angle"', 'angle = "controller.u"')
    model = toml.parse(text, str(allowed / "machine.toml"))
    status = vbg.simulate(model, t_end=0.02).status
    assert status.code == "failed"
    assert re.search(r"fmu\.controller: at t = 0.002 s.*without end.*sample_and_", status.sentence)


def test_it_keeps_its_place_in_a_sub_model(allowed, tmp_path, monkeypatch):
    monkeypatch.setenv("VBG_ALLOW_INCLUDE", str(allowed))
    (allowed / "arm.toml").write_text(CONTROLLED)
    text = f'[include.left]\nfile = "{allowed / "arm.toml"}"\n'
    model = toml.parse(text, str(tmp_path / "machine.toml"))
    assert dict(model.fmu["left_controller"].inputs)["angle"] == "left_hinge.angle"
    found, alone = vbg.simulate(model, t_end=0.02), run(CONTROLLED, allowed, t_end=0.02, rtol=1e-8)
    assert found["left_hinge.angle"][-1] == pytest.approx(alone["hinge.angle"][-1], rel=1e-12)


def test_the_verdict_replays_what_it_told_and_says_so(allowed):
    model = toml.parse(CONTROLLED, str(allowed / "machine.toml"))
    report = vbg.validate(model, t_end=0.05, output_step=1e-3, in_children=False)
    assert report.result == "PASS"
    assert any("what the FMUs told (controller)" in note for note in report.verdict.notes)
    compared = {c.name for c in report.channels if c.result == "PASS"}
    assert any(name.startswith("hinge.force") for name in compared)
