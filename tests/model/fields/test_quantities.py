"""Numbers with units as a user writes them: sums of them, and what is told where they fail."""

import math

import pytest

import vbg
from vbg import expressions
from vbg.errors import ModelError
from vbg.io import toml
from vbg.model.values.quantities import quantity

PENDULUM = """
vbg = 1
[parameters]
phi0 = "10 deg"
{parameter}
[bodies.rod]
mass = 1.0
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
[joints.hinge]
kind = "revolute"
between = ["ground", {{ body = "rod", at = [-0.5, 0, 0] }}]
axis = [0, 1, 0]
drive = {drive}
[signals.swing]
kind = "sine"
amplitude = "30 deg"
frequency = "2 Hz"
{signals}
"""


def _model(drive='"swing"', parameter="", signals=""):
    return toml.parse(PENDULUM.format(drive=drive, parameter=parameter, signals=signals))


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("24 V + 1 V", "V", 25.0),
        ("24 V + 500 mV - 0.5 V", "V", 24.0),
        ("1 m - 2 * 10 cm", "m", 0.8),
        ("-5 mm + l", "m", 1.995),
        ("l + 5 mm", "m", 2.005),
        ("2*l mm", "m", 4e-3),
        ("(1 + 2) mm", "m", 3e-3),
        ("3 m^-1 + 1 1/m", "1/m", 4.0),
        ("90 deg + 0.5 rev - pi rad", "rad", math.pi / 2),
        ("1 kV + 1 V", "", 1001.0),
        ("20 degC", "K", 293.15),
    ],
)
def test_a_sum_of_numbers_with_units(text, unit, value):
    node, _ = quantity(text, unit)
    assert expressions.evaluate(node, {"l": 2.0}) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("24 V + 1", r"1 has no unit beside one in V", r"write \(24 \+ 1\) V for the whole sum"),
        ("24 V + 1 A", r"\[A\] is a current, expected a voltage", ""),
        ("30 deg*sin(2*t)", "'sin' is not a unit", r"at the end .* '30\*sin\(2\*t\) deg'"),
        ("2 mm*k", "'k' is not a unit", r"at the end of its product: '2\*k mm'"),
        ("sin(30 deg)", r"expected '\)'", "not inside brackets"),
        ("20 degC + 1 K", "degC does not begin at zero", "write it in K"),
        ("3 degres", "'degres' is not a unit", "Did you mean 'deg'"),
        ("2k", "'k' is not a unit", r"write 2\*k"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_remedy(text, message, remedy):
    with pytest.raises(ModelError, match=f"{message}.*{remedy}"):
        _model(signals=f'offset = "{text}"', parameter="k = 2")


@pytest.mark.parametrize(
    ("drive", "angle"),
    [
        ('"30 deg"', math.pi / 6),
        ('"swing"', 0.0),
        ('"swing + 10 deg"', math.pi / 18),
        ('"phi0 - 10 deg - 0.1 rad"', -0.1),
        ('"rows"', math.pi / 4),
    ],
)
def test_units_wherever_a_signal_stands(drive, angle):
    signals = """
[signals.both]
kind = "sum"
inputs = ["swing", "30 deg", "10 deg"]
weights = [1, 1, 1]
[signals.rows]
kind = "table"
rows = [["0 ms", "45 deg"], ["1 min", 1.0]]
"""
    solution = vbg.simulate(vbg.assemble(_model(drive, signals=signals)), t_end=0.01)
    assert solution["hinge.angle"][0] == pytest.approx(angle, abs=1e-9)
    assert solution["both"][0] == pytest.approx(math.radians(40), abs=1e-12)


def test_the_time_of_a_table_is_a_time():
    with pytest.raises(ModelError, match=r"signals.rows.rows\[1\]\[0\].*expected a time \[s\]"):
        _model(
            signals='[signals.rows]\nkind = "table"\nrows = [[0, 0], ["45 deg", 1]]',
        )


def test_a_parameter_may_be_a_sum_with_units():
    model = _model(parameter='a = "1 m + 5 cm"\nb = "a - 5 cm"')
    assert model.parameters["a"] == pytest.approx(1.05)
    assert model.parameters["b"] == pytest.approx(1.0)
