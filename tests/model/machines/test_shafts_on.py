"""Motors and pumps make the shaft they are `on`; parameters that nothing uses are told."""

import pytest

import vbg
from vbg.cli.main import main
from vbg.errors import ModelError
from vbg.io import toml

MOTOR = """vbg = 1
[parameters]
spare = 1
[electric.u]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = 12
[electric.M]
kind = "dc_motor"
nodes = ["a", "gnd"]
on = "rotational.SHAFT"
R = 1
K = 0.1
J = 1e-3
[simulate]
t_end = 0.1
output_step = 0.05
"""
LOAD = '[rotational.load]\nkind = "damper"\nnodes = ["shaft"]\nc = 1e-3\n'


def model(shaft, load=""):
    return toml.parse(MOTOR.replace("SHAFT", shaft) + load, "m.toml")


def test_a_motor_makes_its_shaft_in_both_solvers():
    # J w' = K (U - K w)/R: w = U/K (1 - exp(-K**2 t/(R J)))
    report = vbg.validate.validate(model("motor"))
    assert report.result == "PASS"
    speed = report.solutions["vbg"]["rotational.motor.speed"]
    assert speed[-1] == pytest.approx(120 * (1 - 2.718281828459045**-1), rel=1e-8)


PUMP = """[hydraulic.P]
kind = "pump"
nodes = ["tank", "p"]
on = "rotational.motor"
displacement = "2 cc/rev"
[hydraulic.line]
kind = "volume"
nodes = ["p"]
volume = "1 L"
"""


def test_a_motor_and_a_pump_make_the_shaft_between_them_beside_others():
    found = vbg.simulate(model("motor", PUMP + LOAD))
    assert found["line.pressure"][-1] > 0.0


ALONE = """vbg = 1
[rotational.rotor]
kind = "inertia"
on = "rotational.NODE"
J = 2
[rotational.drive]
kind = "torque"
on = "rotational.rotor_shaft"
torque = 3
[simulate]
t_end = 1
"""


def test_an_inertia_and_a_torque_make_the_shaft_that_both_are_on():
    found = vbg.simulate(toml.parse(ALONE.replace("NODE", "rotor_shaft"), "m.toml"))
    assert found["rotor.speed"][-1] == pytest.approx(1.5, rel=1e-8)


def test_a_shaft_that_is_misspelt_is_refused():
    with pytest.raises(ModelError, match="Did you mean 'shaft'"):
        model("shft", LOAD)
    with pytest.raises(ModelError, match="Did you mean 'shaft'"):
        toml.parse(ALONE.replace("NODE", "shft") + LOAD, "m.toml")


def test_a_replaced_parameter_that_nothing_uses_is_told(tmp_path, capsys):
    file = tmp_path / "m.toml"
    file.write_text(MOTOR.replace("SHAFT", "motor"))
    assert main(["run", str(file), "--set", "spare=2"]) == 0
    assert "parameters.spare: nothing uses this parameter." in capsys.readouterr().out
    arguments = ["sweep", str(file), "--vary", "spare=1:2:2", "--measure", "final(M.current)"]
    assert main(arguments) == 0
    assert "parameters.spare: nothing uses this parameter." in capsys.readouterr().err
