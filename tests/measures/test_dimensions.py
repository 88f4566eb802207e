"""Of which quantity a measure is, and what does not go together."""

import math

import numpy as np
import pytest

from vbg.errors import UsageError
from vbg.measures import Measure, faults, measured, parse
from vbg.measures.dimensions import unit_told
from vbg.solution import Solution

UNITS = {
    "A.force": "N",
    "A.speed": "rad/s",
    "A.drive": "N*m",
    "s.slide": "m",
    "s.speed": "m/s",
    "cyl.pressure": "Pa",
    "any": "1",
    "residual.position": "m or rad",
}
PARAMETERS = {"K": "N*m/A", "F": "kN", "f": "Hz", "n": ""}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("max(norm(A.force))", "N"),
        ("rms(A.force.x - 2 kN)", "N"),
        ("integral(abs(A.drive*A.speed))", "J"),
        ("integral(A.force.x*s.speed)", "J"),
        ("max(A.drive*A.speed)", "W"),
        ("max(cyl.pressure)*2 cm^2", "N"),
        ("sqrt(mean(s.speed^2))", "m/s"),
        ("max(s.speed)**2/range(s.slide)", "m/s^2"),
        ("max(A.force.x)/F", ""),
        ("F", "N"),
        ("f", "1/s"),
        ("frequency(A.speed) - 3 Hz", "1/s"),
        ("settle(s.slide, 2 %)", "s"),
        ("bearing_life(norm(A.force), A.speed, 35.5 kN, 10/3)", "s"),
        ("damage(A.force.x, 10 kN, 1e6, 5)", ""),
        # what only their writer knows
        ("max(A.force.x - 100*s.slide)", "N"),
        ("100*max(s.slide)", ""),
        ("n*max(s.slide)", ""),
        ("max(any) + max(s.slide)", "m"),
        ("final(residual.position)", ""),
        ("own(A.speed)", ""),
        ("log(max(A.force.x))", ""),
    ],
)
def test_a_measure_has_the_unit_that_follows(text, unit):
    functions = {"own": type("Own", (), {"arguments": ("x",)})()}
    assert unit_told(parse(text, functions), UNITS, PARAMETERS) == unit


@pytest.mark.parametrize(
    ("text", "wanted", "said"),
    [
        ("max(s.slide) + 1 kN", "", "max(s.slide) is a length [m], but 1 kN is [kN]"),
        ("final(A.force.x) - F*K", "", "F * K is [kg^2*m^3/s^4/A]"),
        ("max(s.slide)", "kN", "its value is a length [m], but it cannot be told in kN"),
        ("mean(over(s.slide, 1 kg, 2 s))", "", "t1 of over() is a time [s], but 1 kg is [kg]"),
        ("settle(s.slide, 2 mm)", "", "band of settle() is a plain number, but 2 mm is [mm]"),
        ("count(s.slide, 1 N)", "", "level of count() is a length [m]"),
        ("damage(A.force.x, 1 m, 1e6, 5)", "", "range of damage() is a force [N]"),
        ("bearing_life(A.force.x, s.speed, 35 kN)", "", "speed of bearing_life()"),
        ("bearing_life(A.force.x, A.speed, 35 bar)", "", "rating of bearing_life() is a force"),
        ("frequency(A.speed)", "rpm", "cannot be told in rpm"),  # by 2 pi
        ("max(any*2) - (max(s.slide) - 1 s)", "", "1 s is [s]"),
    ],
)
def test_what_does_not_go_together_is_told(text, wanted, said):
    with pytest.raises(UsageError) as told:
        unit_told(parse(text), UNITS, PARAMETERS, wanted)
    assert said in str(told.value)
    assert said in faults(Measure(text, wanted), UNITS, PARAMETERS)


def test_names_are_looked_up_before_the_run():
    assert not faults(Measure("n*max(A.force[0]) + max(abs(s.slide))*pi"), UNITS, PARAMETERS)
    said = faults(Measure("max(abs(s.slid)) + n"), UNITS, PARAMETERS)
    assert "no signal 's.slid'" in said and "s.slide" in said


def test_a_run_tells_the_unit_and_converts_it():
    t = np.linspace(0.0, 1.0, 11)
    solution = Solution(t, {"s.slide": 2.0 * t}, units={"s.slide": "m"})
    found = measured("a", Measure("max(s.slide)^2"), solution, {})
    assert (found.value, found.unit) == (4.0, "m^2")
    found = measured("a", Measure("max(s.slide)", "mm"), solution, {})
    assert (found.value, found.unit) == (2000.0, "mm")
    found = measured("a", Measure("max(s.slide)", "deg"), solution, {})
    assert found.value is None and "cannot be told in deg" in found.why
    assert measured("a", Measure("at(s.slide, 9 ms) - 1 kN"), solution, {}).why.count("9 ms")


@pytest.mark.parametrize("rest", [-3.0, 0.0, 0.02, 7.0])
@pytest.mark.parametrize("zeta", [0.0, 0.01, 0.05, 0.1])
def test_the_frequency_of_a_decay_is_that_of_its_swings(zeta, rest):
    """Damped frequency sqrt(1 - zeta^2), whatever the decay and where it comes to rest."""
    t = np.linspace(0.0, 40.0, 40001)
    w = math.sqrt(1.0 - zeta**2)
    solution = Solution(t, {"x": rest + np.exp(-zeta * t) * np.cos(w * t + 0.4)})
    found = measured("f", Measure("frequency(x)"), solution, {}).value
    assert found == pytest.approx(w / (2 * math.pi), rel=1e-6)
