"""Trim: closed forms of what is found, and both ways of naming it."""

import json
import math

import pytest

import vbg
from vbg.analysis.begin.trim import trim
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io import toml

ARM = """
vbg = 1
[parameters]
k = "30 N*m/rad"
[bodies.arm]
mass = 2
inertia = { xx = 1e-3, yy = 0.05, zz = 0.05 }
points = { A = [-0.3, 0, 0] }
[joints.A]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
initial = { angle = "5 deg" }
[forces.spring]
kind = "torsion_spring"
on = "joints.A"
k = "k"
[forces.damper]
kind = "damper"
on = "joints.A"
c = 1.0
"""
MOMENT = 2 * 9.81 * 0.3 * math.cos(math.radians(10))  # of the weight at 10 deg, about A


@pytest.fixture(scope="module")
def arm():
    return toml.parse(ARM, "")


@pytest.mark.slow
def test_the_free_angle_of_a_spring_that_holds_an_arm_at_ten_degrees(tmp_path, capsys):
    """k (angle - free) = m g l cos(angle), angles growing downwards about y."""
    file, out = tmp_path / "arm.toml", tmp_path / "out.toml"
    file.write_text(ARM)
    command = ["trim", str(file), "--free", "spring.rest", "--hold", "A.angle=10 deg"]
    assert main([*command, "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = math.radians(10) - MOMENT / 30
    assert told["values"]["forces.spring.rest"] == pytest.approx(expected, rel=1e-7)
    assert told["conditions"]["A.angle"] == pytest.approx(math.radians(10), rel=1e-7)
    assert vbg.read(out).forces["spring"].rest == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("free", "hold", "said"),
    [
        (["k"], {}, "as many"),
        (["q"], {"A.angle": 0.1}, "nothing to free"),
        (["forces.spring.stiff"], {"A.angle": 0.1}, "no key 'stiff'"),
        (["forces.spring.on"], {"A.angle": 0.1}, "no number"),
        (["k"], {"A.angel": 0.1}, "no signal"),
        (["k"], {"arm.position": 0.1}, "is a vector"),
        (["k"], {"A.angle": "10 mm"}, r"\[mm\] is a length, expected an angle"),
        (["k"], {"A.angle": "10 dge"}, "'dge' is not a unit"),
        (["K"], {"A.angle": 0.1}, "Did you mean 'k'.*TABLE.PART.KEY"),
        (["forces.sprng.rest"], {"A.angle": 0.1}, "Did you mean 'spring'"),
    ],
)
def test_what_is_wrong_is_said(arm, free, hold, said):
    with pytest.raises(UsageError, match=said):
        trim(arm, free, hold)


@pytest.mark.slow
def test_a_leap_out_of_what_is_possible_is_taken_in_smaller_steps(arm):
    """k angle = m g l cos(angle): from 11 to 60 deg Newton's first step goes to k < 0."""
    expected = 2 * 9.81 * 0.3 * 0.5 / math.radians(60)
    assert trim(arm, ["k"], {"A.angle": "60 deg"}).values["k"] == pytest.approx(expected, rel=1e-6)


def test_values_are_told_in_the_unit_of_the_file(tmp_path, capsys):
    file = tmp_path / "arm.toml"
    file.write_text(ARM.replace('"30 N*m/rad"', '"0.03 kN*m/rad"'))
    assert main(["trim", str(file), "--free", "k", "--hold", "A.angle=20 deg"]) == 0
    said = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("k "))
    _, value, unit = said.split()
    expected = 2 * 9.81 * 0.3 * math.cos(math.radians(20)) / math.radians(20) / 1000
    assert unit == "kN*m/rad" and float(value) == pytest.approx(expected, rel=1e-6)
