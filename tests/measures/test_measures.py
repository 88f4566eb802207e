"""Measures against closed forms, published sequences and sums by hand."""

import math

import numpy as np
import pytest

from vbg.errors import UsageError
from vbg.measures import FUNCTIONS, Measure, evaluate, measured, parse, spectrum
from vbg.measures.language import value_of
from vbg.solution import Audit, Event, Solution, Status


def solution_of(t, **signals):
    named = {name.replace("__", "."): values for name, values in signals.items()}
    events = (Event(0.25, "forces.stop", "touches"), Event(0.75, "forces.stop", "leaves"))
    return Solution(np.asarray(t, float), named, audit=Audit(events=events))


def value(text, solution, **parameters):
    return evaluate(parse(text), solution, parameters)


@pytest.fixture(scope="module")
def sine():
    """Five and a quarter swings of 3 Hz about 2, on an uneven grid, time scaled anyhow."""
    instants = np.random.default_rng(16)
    t = np.sort(np.concatenate([[0.0, 1.75], instants.uniform(0.0, 1.75, 4000)]))
    return solution_of(t, a=2.0 + 0.5 * np.sin(6 * np.pi * t), c=np.full(len(t), 3.0))


def test_integrals_do_not_depend_on_where_the_rows_are(sine):
    exact = 2.0 * 1.75 + 0.5 / (6 * np.pi) * (1 - math.cos(6 * np.pi * 1.75))
    assert value("integral(a)", sine) == pytest.approx(exact, rel=1e-6)
    assert value("mean(a)", sine) == pytest.approx(exact / 1.75, rel=1e-6)
    assert value("mean(over(a, 0, 1 s))", sine) == pytest.approx(2.0, rel=1e-6)
    longest = float(np.diff(sine.time).max())  # a chord misses (w h)^2/12 of its swing
    missed = (6 * np.pi * longest) ** 2 / 12
    assert value("rms(over(a, 0, 1) - 2)", sine) == pytest.approx(0.5 / math.sqrt(2), rel=missed)
    assert value("rms(c)", sine) == pytest.approx(3.0, rel=1e-14)
    assert value("mean(c)", sine) == pytest.approx(3.0, rel=1e-14)


def test_windows_end_between_rows(sine):
    line = solution_of([0.0, 1.0, 2.0], a=np.array([0.0, 10.0, 20.0]))
    assert value("integral(over(a, 0.3, 1.7))", line) == pytest.approx(5 * (1.7**2 - 0.3**2))
    assert value("at(a, 250 ms)", line) == 2.5
    assert value("first(after(a, 0.5 s)) + final(before(a, 0.5 s))", line) == 10.0
    assert value("final(between(a, 'touches', 'stop leaves'))", line) == 7.5
    assert value("frequency(a)", sine) == pytest.approx(3.0, rel=1e-4)
    assert value("count(a, 2)", sine) == 5.0  # the first row is on the level, not below


@pytest.mark.parametrize("scale", [1e-6, 1.0, -1e6])
@pytest.mark.parametrize("pace", [1e-3, 1.0, 1e3])
def test_step_response_of_second_order(scale, pace):
    zeta, t = 0.3, np.linspace(0.0, 40.0, 40001)
    w = math.sqrt(1 - zeta**2)
    y = 1 - np.exp(-zeta * t) * (np.cos(w * t) + zeta / w * np.sin(w * t))
    y[-1] = 1.0
    found = solution_of(t * pace, y=scale * y)
    peak = math.exp(-math.pi * zeta / w)
    assert value("overshoot(y)", found) == pytest.approx(peak, abs=2e-5)
    first = [np.interp(level, y[:2000], t[:2000]) for level in (0.1, 0.9)]
    assert value("rise(y)", found) == pytest.approx((first[1] - first[0]) * pace, rel=1e-5)
    last = t[np.flatnonzero(np.abs(y - 1) > 0.05)[-1]]
    assert value("settle(y, 5 %)", found) == pytest.approx(last * pace, abs=2e-3 * pace)


def test_a_pole_settles_where_its_exponential_says():
    t = np.linspace(0.0, 30.0, 30001)
    found = solution_of(t, y=1 - np.exp(-t))
    assert value("settle(y)", found) == pytest.approx(-math.log(0.02), abs=1e-4)
    assert value("rise(y)", found) == pytest.approx(math.log(9.0), abs=1e-4)
    assert value("overshoot(y)", found) == 0.0


def test_rainflow_of_the_standard():
    """ASTM E1049-85 (2017), figure 6: -2, 1, -3, 5, -1, 3, -4, 4, -2."""
    a = np.array([-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0])
    found = solution_of(np.arange(9.0), a=a)
    counted = {3: 0.5, 4: 1.5, 6: 0.5, 8: 1.0, 9: 0.5}
    assert value("cycles(a)", found) == sum(counted.values())
    by_hand = sum(n * (size / 10.0) ** 5 for size, n in counted.items()) / 1e4
    assert value("damage(a, 10, 1e4, 5)", found) == pytest.approx(by_hand, rel=1e-14)
    bins = spectrum(value_of(parse("a"), found), 9)
    assert {round(b.high_range): b.cycles for b in bins if b.cycles} == counted
    assert sum(b.time for b in bins) == pytest.approx(1.0, abs=1e-14)


def test_bearing_life_of_a_duty_cycle_by_hand():
    """ISO 281: 40 % of the time 8 kN at 600 rpm, the rest 3 kN at 1500 rpm, C = 35.5 kN.

    Turns a minute: 240 and 900; P = ((240 8^3 + 900 3^3)/1140)^(1/3) = 5.0527 kN;
    L10 = (35.5/P)^3 = 346.83 million turns, at 1140 a minute 5070.6 h.
    """
    t = np.array([0.0, 4.0, 4.0 + 1e-9, 10.0])
    load, rpm = np.array([8e3, 8e3, 3e3, 3e3]), np.array([600.0, 600.0, -1500.0, -1500.0])
    found = solution_of(t, A__load=load, A__speed=rpm * 2 * np.pi / 60)
    P = (((240 * 8**3) + 900 * 3**3) / 1140) ** (1 / 3)
    hours = (35.5 / P) ** 3 * 1e6 / 1140 / 60
    text = "bearing_life(A.load, A.speed, 35.5 kN, 3)"
    assert value(f"{text}/3600", found) == pytest.approx(hours, rel=1e-7)
    assert value("equivalent(A.load, 3, A.speed)", found) == pytest.approx(1e3 * P, rel=1e-7)
    told = measured("life", Measure(text.replace("35.5 kN", "C"), "h"), found, {"C": 35.5e3})
    assert (told.value, told.unit) == (pytest.approx(hours, rel=1e-7), "h")
    assert value("share(A.load, 5 kN, 10 kN)", found) == pytest.approx(0.4, abs=1e-8)
    assert value("equivalent(A.load, 1)", found) == pytest.approx(5e3, rel=1e-8)


def test_vectors():
    t = np.linspace(0, 1, 11)
    found = solution_of(t, F=np.column_stack([3 * t, 4 * t, 0 * t]))
    assert value("max(norm(F))", found) == pytest.approx(5.0)
    assert value("norm(mean(F))", found) == pytest.approx(2.5)
    assert value("max(F.y - F[0])", found) == pytest.approx(1.0)
    assert value("norm(final(F))", found) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("settle(F)", "one component"),
        ("over(a, 2, 1)", "is empty"),
        ("mean(over(a, 0, 9 s))", "reaches out of the run"),
        ("mean(over(a, 0, 1)) + mean(a - after(a, 1))", "different windows"),
        ("at(a, 12 kN)", "outside"),
        ("at(a)", "at(x, t)"),
        ("between(a, 'begin', 'end')", "there are: forces.stop touches"),
        ("between(a, 1, 2)", "words in quotes"),
        ("max('a')", "a course or a number"),
        ("max(3 furlong)", "is not a unit"),
        ("median(a)", "there are max"),
        ("a", "gives 3 numbers"),
        ("integral(3)", "found a number"),
        ("at(a, a)", "one number"),
        ("nothing.x", "no signal"),
        ("__import__('os')", "no function"),
        ("share(a, 2, 1)", "low < high"),
        ("damage(a, 1, 1, 0)", "slope above 0"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    t = np.array([0.0, 1.0, 2.0])
    found = solution_of(t, a=t, F=np.zeros((3, 3)))
    with pytest.raises(UsageError, match=said.replace("(", r"\(").replace(")", r"\)")):
        value(text, found)


def test_no_value_is_told_with_its_reason():
    t = np.array([0.0, 1.0])
    constant = solution_of(t, a=np.ones(2))
    assert value("cycles(a)", constant) == 0.0
    assert value("damage(a, 1, 1000, 3)", constant) == 0.0
    for function, said in (
        *(("overshoot", "needs a step"), ("rise", "needs a step")),
        ("frequency", "needs two upward passages"),
    ):
        with pytest.raises(UsageError, match=said):
            value(f"{function}(a)", constant)
    assert "needs a step" in measured("f", Measure("overshoot(a)"), constant, {}).why
    assert "no value" in measured("f", Measure("log(min(a) - 1)"), constant, {}).why
    assert "no signal" in measured("f", Measure("max(b)"), constant, {}).why
    broken = Solution(t, {"a": t}, status=Status("failed", "It stopped."))
    assert "did not reach" in measured("f", Measure("max(a)"), broken, {}).why


def test_every_function_has_a_meaning_and_a_spelling():
    for name, function in FUNCTIONS.items():
        assert function.meaning and function.spelled(name).startswith(f"{name}(")
        assert 1 <= function.least <= len(function.arguments)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_extremes_of_a_vector_say_what_its_length_gives(scale):
    """A load that hangs: the largest component of the force is 0, the bearing carries 5 N."""
    time = np.linspace(0.0, 1.0, 11)
    force = np.column_stack([-3.0 * time, 0.0 * time, -4.0 * time]) * scale
    run = Solution(
        time,
        {"A.force": force, "line.pressures": force},
        units={"A.force": "N", "line.pressures": "Pa"},
    )

    def note(text):
        return measured("m", Measure(text), run, {}).note

    assert f"max(norm(A.force)) is {5 * scale:.6g} N" in note("max(A.force)")
    assert f"range(norm(after(A.force, 0.5))) is {2.5 * scale:.6g} N" in note(
        "range(after(A.force, 0.5))"
    )
    assert note("max(A.force) + max(2*A.force)").count("over the components") == 2
    for meant in (
        "max(norm(A.force))",
        "max(abs(A.force))",
        "max(A.force.x)",
        "max(line.pressures)",
    ):
        assert note(meant) == ""
