"""Units: values by definition, dimensions refused, and the meaning of radians."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbg import units
from vbg.errors import ModelError
from vbg.fields import declared
from vbg.model import Outputs, Simulate, catalogue

TURN = 2 * math.pi


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("45 deg", "rad", math.pi / 4),
        ("45°", "rad", math.pi / 4),
        ("-12.5 bar", "Pa", -1.25e6),
        ("3mm", "m", 3e-3),
        ("3 µm", "m", 3e-6),
        ("1500 rpm", "rad/s", 50 * math.pi),
        ("2 L/min", "m^3/s", 2e-3 / 60),
        ("5 cm^3", "m^3", 5e-6),
        ("5 cm³", "m^3", 5e-6),
        ("210 GPa", "Pa", 2.1e11),
        ("1 inch", "m", 0.0254),
        ("4 kN*m/rad", "N*m/rad", 4e3),
        ("4 N·m", "N*m/rad", 4.0),
        ("7 mm/rev", "m/rad", 7e-3 / TURN),
        ("3 N/mm", "N/m or N*m/rad", 3e3),
        ("3 N*m/deg", "N/m or N*m/rad", 3 * 180 / math.pi),
        ("22 uF", "F", 22e-6),
        ("4.7 kohm", "V/A", 4.7e3),
        ("3 mH", "H", 3e-3),
        ("20 degC", "K", 293.15),
        ("2 h", "s", 7200.0),
        ("10 g/cm^3", "kg/m^3", 1e4),
        ("2 %", "1", 0.02),
        ("10 gpm", "m^3/s", 6.30901964e-4),
        ("1 gal", "m^3", 3.785411784e-3),
        ("1 slug*ft/s^2", "N", 4.4482216152605),
        ("100 ozf*in", "N*m", 0.706155181422604),
        ("46 cSt", "m^2/s", 46e-6),
        ("2 kgf", "N", 19.6133),
        ("60 mph", "m/s", 26.8224),
        ("3 ksi", "Pa", 20684271.879505083),
        ("5 1/s", "rad/s", 5.0),
        ("50 Hz", "Hz", 50.0),
        ("50 Hz", "rad/s", 50 * TURN),
        ("50 Hz", "1/s", 50.0),
        ("50 1/s", "Hz", 50.0),
        ("3.5", "N", 3.5),
    ],
)
def test_values(text, unit, value):
    assert units.convert(text, unit) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("3 kg", "m", r"\[kg\] is a mass, expected a length \[m\]"),
        ("3 N", "N/m or N*m/rad", r"\[N\] is a force, expected a stiffness or"),
        ("1500 rpm", "1/s", "is an angular velocity"),
        ("3 furlong", "m", "'furlong' is not a unit"),
        ("3 m//s", "m/s", "is not a unit"),
        ("3 m kg", "m", "is not a unit"),
        ("much", "m", "not a number"),
        ("nan", "m", "not a number"),
        ("3 degC/s", "degC", "expected"),
    ],
)
def test_refusals(text, unit, message):
    with pytest.raises(ModelError, match=message):
        units.convert(text, unit)


def test_every_declared_unit_is_known():
    settings_of_runs = [Simulate, Outputs]
    for part in [p for kinds in catalogue().values() for p in kinds.values()] + settings_of_runs:
        waiting = [part]
        while waiting:
            for field in declared(waiting.pop()).values():
                for alternative in field.unit.split(" or "):
                    units.parse(alternative)
                if field.of is not None:
                    waiting.append(field.of)


UNITS = st.sampled_from(
    ["mm", "km", "inch", "kg", "g", "min", "kN", "bar", "deg", "rpm", "mA", "L"]
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(UNITS, st.sampled_from("*/"), st.integers(1, 3)), min_size=1, max_size=4))
def test_a_product_of_units_is_the_product_of_their_factors(terms):
    text, factor = "1", 1.0
    for unit, operator, power in terms:
        text += f"{operator}{unit}^{power}"
        factor *= units.parse(unit).factor ** (power if operator == "*" else -power)
    parsed = units.parse(text)
    assert parsed.factor == pytest.approx(factor, rel=1e-12)
    inverse = text.translate(str.maketrans("*/", "/*"))
    assert units.parse(inverse).factor == pytest.approx(1 / factor, rel=1e-12)
    assert units.conversion(text + inverse[1:], "1") == pytest.approx((1.0, 0.0), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "remedy"),
    [
        ("5 mm", "m/rad", "mm/rev"),
        ("16 cc", "m^3/rad", "cc/rev"),
        ("1500 1/min", "rad/s", "rpm"),
    ],
)
def test_what_catalogues_count_by_the_turn_says_so(text, unit, remedy):
    """Left out, rad would count as 1 and the value be wrong by 2 pi (or 60/2 pi)."""
    with pytest.raises(ModelError, match=remedy):
        units.convert(text, unit)
    assert units.convert("5 mm/rad", "m/rad") == 0.005
    assert units.convert("5 mm/rev", "m/rad") == pytest.approx(0.005 / (2 * math.pi), rel=1e-15)
    assert units.convert("3 1/s", "rad/s") == 3.0
