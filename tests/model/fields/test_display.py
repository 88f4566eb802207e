"""Units in which results are shown: rules, tables, files; what is kept stays in SI."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import vbg
from vbg import units
from vbg.cli.main import main
from vbg.display import QUANTITIES, Scale, in_si, rules_of, same_quantity, scale
from vbg.errors import ModelError, UsageError
from vbg.io import toml
from vbg.io.runs import csv
from vbg.solution import Solution
from vbg.tui.state import results

PENDULUM = """vbg = 1
[bodies.rod]
mass = 1.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
[simulate]
t_end = 0.1
output_step = 0.05
"""
SHOWN = '[display]\nangle = "deg"\nangular_speed = "rpm"\n"hinge.force.x" = "kN"\n'


def a_solution():
    t = np.linspace(0.0, 1.0, 5)
    return Solution(
        t,
        {"oil.p": 1e5 * t, "A.force": np.outer(t, [1, 2, 3]), "A.torque": t, "A.energy": 2 * t},
        units={"oil.p": "Pa", "A.force": "N", "A.torque": "N*m", "A.energy": "J"},
    )


def test_a_unit_is_for_all_signals_of_its_quantity_and_torque_is_no_energy():
    seen = a_solution().in_units("bar", "kJ", "A.force.y=kN")
    assert seen["oil.p"] == pytest.approx(seen.time) and seen.unit("oil.p") == "bar"
    assert seen["A.energy"] == pytest.approx(seen.time / 500) and seen.unit("A.torque") == "N*m"
    assert seen["A.force.z"] == pytest.approx(seen.time * 3e-3) and seen.unit("A.force") == "kN"
    assert a_solution().in_units("N*mm")["A.torque"][-1] == pytest.approx(1000.0)


def test_rules_for_signals_go_before_those_for_quantities_and_later_ones_before_earlier():
    rules = rules_of(["A.p=mbar,bar", "psi"])
    assert scale(rules, "A.p", "Pa").unit == "mbar"
    assert scale(rules, "B.p", "Pa").unit == "psi"
    assert scale(rules, "B.residual", "m or rad") == Scale("m or rad")


def test_offsets_of_temperatures_count():
    seen = Solution(np.zeros(1), {"T": np.array([300.0])}, units={"T": "K"}).in_units("degC")
    assert seen["T"] == pytest.approx([26.85])


@pytest.mark.parametrize("wrong", ["kp", "A.forc=kN", "A.force=bar"])
def test_units_that_are_none_and_signals_that_are_none_are_refused(wrong):
    with pytest.raises(UsageError):
        a_solution().in_units(wrong)


def test_any_unit_goes_to_si_and_back():
    draw = random.Random(3)
    symbols = [s for s in units.symbols() if s not in ("degC", "°C", "degF", "°F", "Hz")]
    for _ in range(200):
        text = "*".join(draw.sample(symbols, 2)) + "/" + draw.choice(symbols)
        si = in_si(text)
        assert units.parse(si.unit).dimension == units.parse(text).dimension
        if si.factor != 1.0:
            assert units.parse(si.unit).factor == pytest.approx(1.0)
    for unit in QUANTITIES.values():
        assert in_si(unit).unit == unit and same_quantity(unit, unit)
    assert in_si("N*mm").unit == "N*m" and in_si("kWh").unit == "J"


def test_a_table_says_its_units_and_is_si_again_once_it_is_read(tmp_path):
    solution = a_solution()
    csv.write(solution.in_units("bar", "A.force=kN"), tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert "oil.p [bar]" in header and "A.force.x [kN]" in header and "A.energy [J]" in header
    again = csv.read(tmp_path / "run.csv")
    assert again.units == solution.units
    for name, values in solution.signals.items():
        np.testing.assert_allclose(again[name], values, rtol=4e-16)


def test_the_clock_of_a_strange_table_may_count_milliseconds(tmp_path):
    (tmp_path / "scope.csv").write_text("time [ms],u [mV],name [xyz]\n0,1,1\n500,2,1\n")
    found = csv.read(tmp_path / "scope.csv")
    assert found.time == pytest.approx([0.0, 0.5]) and found["u"] == pytest.approx([1e-3, 2e-3])
    assert found.units == {"u": "V", "name": "xyz"}


def test_the_table_of_a_run_follows_the_file_and_the_command_goes_before_it(tmp_path, capsys):
    file = tmp_path / "pendulum.toml"
    file.write_text(PENDULUM + SHOWN)
    model = vbg.read(file)
    assert [str(rule) for rule in model.display] == ["deg", "rpm", "hinge.force.x=kN"]
    assert main(["run", str(file), "--units", "rev", "-o", str(tmp_path / "run.csv")]) == 0
    lines = map(str.split, capsys.readouterr().out.splitlines())
    rows = {words[0]: words[-1] for words in lines if len(words) == 5}
    assert rows["hinge.angle"] == "rev" and rows["hinge.speed"] == "rpm"
    assert rows["hinge.force.z"] == "kN"
    assert "hinge.angle [rev]" in (tmp_path / "run.csv").read_text().splitlines()[0]
    assert main(["run", str(file), "-q", "-o", str(tmp_path / "run.h5")]) == 0
    assert vbg.load(tmp_path / "run.h5").unit("hinge.angle") == "rad"
    assert main(["plot", str(tmp_path / "run.h5"), "hinge.speed"]) == 0
    assert "hinge.speed [rpm]" in capsys.readouterr().out
    assert main(["run", str(file), "--json", "--units", "rev"]) == 2


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('presure = "bar"', "Did you mean 'pressure'"),
        ('pressure = "rpm"', "no unit of pressure"),
        ('speed = "rpm"', "rpm is a unit of angular_speed: angular_speed = 'rpm'"),
        ('torque = "kJ"', "no unit of torque"),
        ('angle = "dgr"', "not a unit"),
        ('"hing.angle" = "deg"', "neither a quantity nor a signal"),
        ("angle = 3", "text in quotes"),
    ],
)
def test_mistakes_are_told_where_they_stand(entry, words):
    with pytest.raises(ModelError) as caught:
        toml.parse(PENDULUM + "[display]\n" + entry, "p.toml")
    (problem,) = caught.value.problems
    assert words in f"{problem.what} {problem.remedy}" and problem.line == 14


def test_the_terminal_interface_shows_what_fits_while_the_file_is_being_written():
    work = SimpleNamespace(solutions={1: a_solution()}, shown={}, data={})
    assert results.shown(work, 1) is work.solutions[1]
    work.data = {"forces": {"A": {}}, "display": {"pressure": "bar", "A.gone": "N", "angle": "kg"}}
    seen = results.shown(work, 1)
    assert seen.unit("oil.p") == "bar" and seen.unit("A.force") == "N"
    assert results.shown(work, 1) is seen and results.shown(work, 2) is None


def test_a_bare_number_for_a_parameter_in_another_unit_than_si_is_told_as_it_is_taken(
    tmp_path, capsys
):
    file = tmp_path / "p.toml"
    text = '[parameters]\nm = "1500 g"\ns = "2 m"\n' + PENDULUM.removeprefix("vbg = 1\n")
    file.write_text(text.replace("mass = 1.0", 'mass = "m"').replace("-0.5", '"-s/4"'))
    assert main(["run", str(file), "--set", "m=2", "--set", "s=1"]) == 0
    out = capsys.readouterr().out
    assert "m = 2.0 in SI [kg] (the file has g)" in out and "s = 1" not in out
    assert main(["check", str(file), "--set", "m=2", "--set", "s=1 m"]) == 0
    assert "m = 2.0 in SI [kg] (the file has g)" in capsys.readouterr().err
    assert main(["run", str(file), "--set", "m=2 kg"]) == 0
    assert "in SI [kg]" not in capsys.readouterr().out
