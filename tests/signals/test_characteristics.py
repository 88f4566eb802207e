"""Curves, surfaces, motions and comparisons: closed forms, scipy, and both solvers."""

import itertools
import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, RegularGridInterpolator

import vbg
from vbg.elements.signals.motion import Motion
from vbg.errors import ModelError
from vbg.expressions import derivative, evaluate, parse, to_text
from vbg.io import toml
from vbg.tmm_bridge.formulas.characteristics import pieces_of
from vbg.tmm_bridge.formulas.timefunctions import of_motion

SLIDER = """
vbg = 1
[bodies.load]
mass = 2
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.guide]
kind = "prismatic"
between = ["ground", "load"]
axis = [1, 0, 0]
initial = { slide = 0.3, speed = 0.4 }
[forces.law]
kind = "force"
on = "load"
force = ["push", 0, 0]
[simulate]
t_end = 1.0
output_step = 0.005
"""


def at(pieces, starts, x):
    k = np.clip(np.searchsorted(starts[1:], x, side="left"), 0, len(pieces) - 1)
    d = x - np.asarray(starts)[k]
    c = np.asarray(pieces)[k]
    return c[:, 0] + d * (c[:, 1] + d * (c[:, 2] + d * c[:, 3]))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("interpolation", ["linear", "cubic", "monotone"])
def test_both_solvers_draw_the_curve_that_scipy_draws(interpolation, scale, rng):
    from vbg.elements.signals.curve import Curve

    x = (np.linspace(-2.0, 3.0, 9) + rng.uniform(-0.2, 0.2, 9)) * scale
    y = np.cumsum(rng.uniform(-0.2, 1.0, 9)) * scale
    rows = tuple(zip(x.tolist(), y.tolist(), strict=True))
    reference = {
        "linear": lambda at: np.interp(at, x, y),
        "cubic": CubicSpline(x, y, bc_type="natural"),
        "monotone": PchipInterpolator(x, y),
    }[interpolation]
    inside = np.linspace(x[0], x[-1], 400)
    beyond = np.array([x[0] - scale, x[-1] + scale])
    for outside in ("hold", "extend"):
        starts, pieces = Curve(
            input="t", rows=rows, interpolation=interpolation, outside=outside
        ).pieces()
        own = pieces_of(x, y, interpolation, outside)
        for found in (at(pieces, starts, inside), at(own[1], own[0], inside)):
            assert found == pytest.approx(reference(inside), abs=1e-12 * np.ptp(y))
        ends = at(pieces, starts, beyond)
        assert at(own[1], own[0], beyond) == pytest.approx(ends, rel=1e-9, abs=1e-12 * scale)
        if outside == "hold":
            assert ends == pytest.approx([y[0], y[-1]], rel=1e-12)


def run_both(signal):
    model = toml.parse(SLIDER + signal, "")
    first = vbg.simulate(model, rtol=1e-10, atol=1e-12)
    second = vbg.tmm_bridge.simulate(model, rtol=1e-10, atol=1e-12)
    assert first.status.code == second.status.code == "finished"
    for name in ("guide.slide", "guide.speed", "push"):
        size = np.abs(first[name]).max()
        assert np.abs(first[name] - second[name]).max() < 1e-7 * size, name
    return first


CURVE = """
[signals.push]
kind = "curve"
input = "guide.slide"
rows = [[-0.4, 60], [-0.1, 8], [0.1, -4], [0.2, -20], [0.5, -90]]
interpolation = "{}"
outside = "extend"
"""


@pytest.mark.parametrize("interpolation", ["linear", "monotone"])
def test_a_spring_by_its_curve(interpolation):
    """The work of the spring between two places is the area under its curve."""
    found = run_both(CURVE.format(interpolation))
    x = np.array([-0.4, -0.1, 0.1, 0.2, 0.5])
    y = np.array([60.0, 8.0, -4.0, -20.0, -90.0])
    slide, speed = found["guide.slide"], found["guide.speed"]
    assert slide.min() < -0.1
    assert slide.max() > 0.2
    fine = np.linspace(-0.4, 0.5, 90001)
    law = np.interp(fine, x, y) if interpolation == "linear" else PchipInterpolator(x, y)(fine)
    area = np.concatenate([[0.0], np.cumsum(0.5 * (law[1:] + law[:-1]) * np.diff(fine))])
    work = np.interp(slide, fine, area) - np.interp(slide[0], fine, area)
    kinetic = 0.5 * 2.0 * (speed**2 - speed[0] ** 2)
    assert kinetic == pytest.approx(work, abs=1e-7)


def test_a_map_of_two_inputs():
    signal = """
[signals.push]
kind = "surface"
x = "guide.slide"
y = "guide.speed"
x_values = [-0.3, 0, 0.25, 0.4]
y_values = [-1, 0.1, 1]
rows = [[40, 30, 12], [9, 2, -6], [-8, -19, -26], [-30, -40, -41]]
"""
    found = run_both(signal)
    lines = ([-0.3, 0, 0.25, 0.4], [-1, 0.1, 1])
    rows = np.array([[40, 30, 12], [9, 2, -6], [-8, -19, -26], [-30, -40, -41]], float)
    points = np.column_stack([found["guide.slide"], found["guide.speed"]])
    held = np.clip(points, [-0.3, -1], [0.4, 1])
    assert found["push"] == pytest.approx(RegularGridInterpolator(lines, rows)(held), abs=1e-10)


def test_comparisons_in_expressions():
    found = run_both(
        """
[signals.push]
kind = "expression"
expression = "if(guide.slide > 0, -50*guide.slide, -200*guide.slide) + if(t <= 0.5013, 1, -1)"
"""
    )
    slide = found["guide.slide"]
    expected = np.where(slide > 0, -50 * slide, -200 * slide) + np.where(found.time < 0.5013, 1, -1)
    assert found["push"] == pytest.approx(expected, abs=1e-12)
    for text, value in (
        ("if(2 > 1, 3, sqrt(-1))", 3.0),
        ("if(2 <= 1, 3, 4)", 4.0),
        ("if(1 >= 1, 3, 4)", 3.0),
        ("if(1 < 1, 3, 4)", 4.0),
        ("2*if(0 > 1, 3, if(3 > 2, 5, 6)) + 1", 11.0),
    ):
        assert evaluate(parse(text), {}) == value
        assert parse(to_text(parse(text))) == parse(text)
    slope = derivative(parse("if(x > 2, x**2, 3*x)"), "x")
    assert [evaluate(slope, {"x": x}) for x in (1.0, 3.0)] == [3.0, 6.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("if(1, 2, 3)", "comparison"),
        ("if(1 > 2, 3)", "two values"),
        ("1 < 2", "expected an operator"),
    ],
)
def test_a_wrong_comparison_is_told(text, said):
    with pytest.raises(ModelError, match=said):
        parse(text)


LIMITS = [
    ("trapezoid", {"speed": 2.0, "acceleration": 5.0}),
    ("s-curve", {"speed": 2.0, "acceleration": 5.0, "jerk": 40.0}),
    ("s-curve", {"speed": 2.0, "acceleration": 50.0, "jerk": 40.0}),
    ("polynomial", {"speed": 2.0, "acceleration": 5.0, "jerk": 40.0}),
    ("cycloid", {"acceleration": 5.0}),
    ("polynomial", {"duration": 1.5}),
]


@pytest.mark.parametrize("distance", [1e-3, 0.3, 3.0, -40.0])
@pytest.mark.parametrize(("law", "limits"), LIMITS)
def test_limits_are_kept_exactly_and_one_is_reached(law, limits, distance):
    """Both solvers' functions; the peak over a fine grid and all corners."""
    move = Motion(stops=(0.5, 0.5 + distance), law=law, start=0.25, **limits)
    own = of_motion(move)
    T = sum(move.widths(distance))
    t = np.unique(np.concatenate([np.linspace(0.25, 0.25 + T, 2001), [b for b, _ in own.breaks]]))
    rates = np.array([own.rates(x) for x in t])
    assert rates[0, 0] == pytest.approx(0.5, abs=1e-12)
    end = [0.5 + distance, 0.0, 0.0]
    assert rates[-1] == pytest.approx(end, abs=1e-9 * (1.0 + abs(distance) / T**2))
    peaks = dict(zip(("speed", "acceleration"), np.abs(rates[:, 1:]).max(axis=0), strict=True))
    inside = np.array([own.rates(x)[2] for x in np.linspace(0.25 + 1e-9 * T, 0.25 + T, 4001)])
    peaks["jerk"] = np.abs(np.diff(inside)).max() / (T / 4000)
    tight = [
        peaks[key] / limit
        for key, limit in limits.items()
        if key in peaks and not (key == "jerk" and law == "trapezoid")
    ]
    assert all(part <= 1 + 2e-3 for part in tight)
    assert not tight or max(tight) > 0.998
    even = np.linspace(0.25, 0.25 + T, 2001)
    way = np.array([own.value(x) for x in even])
    speeds = np.array([own.rates(x)[1] for x in even[1:-1]])
    slope = (way[2:] - way[:-2]) / (even[2:] - even[:-2])
    assert slope == pytest.approx(speeds, abs=5e-3 * peaks["speed"])


@pytest.mark.parametrize("jerk", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("law", ["trapezoid", "s-curve"])
def test_short_ramps_of_a_long_move_lose_no_digits(law, jerk):
    """At rest exactly at each stop, and between its ramps x = x0 + v (t - t0 - ramps/2): sums of
    cubes over the product of the widths were 1e-7 beside it, and refused as a drive that jumps."""
    acceleration, begin = math.sqrt(jerk), 0.75
    limits = f"jerk = {jerk}" if law == "s-curve" else ""
    text = f"""
[signals.go]
kind = "motion"
stops = [0, 1, -1]
law = "{law}"
start = {begin}
speed = 1
acceleration = {acceleration}
{limits}
[simulate]
t_end = 4.5
output_step = 0.25
"""
    driven = SLIDER.split("[forces.law]")[0].replace(
        "initial = { slide = 0.3, speed = 0.4 }", 'drive = "go"'
    )
    model = toml.parse(driven + text, "")
    ramps = 1.0 / acceleration + (acceleration / jerk if law == "s-curve" else 0.0)
    t = np.arange(19) * 0.25
    there, back = t - begin - ramps / 2, t - begin - 1.0 - 1.5 * ramps
    expected = np.clip(there, 0.0, 1.0) - np.clip(back, 0.0, 2.0)
    corner = np.min(np.abs([there, there - 1.0, back, back - 2.0]), axis=0) <= ramps / 2 + 1e-9
    for solve in (vbg.simulate, vbg.tmm_bridge.simulate):
        found = solve(model, rtol=1e-10, atol=1e-12)
        assert found.status.code == "finished"
        assert found["go"][~corner] == pytest.approx(expected[~corner], abs=1e-13)
        assert found["guide.slide"][~corner] == pytest.approx(expected[~corner], abs=1e-11)


def test_a_long_table_keeps_its_digits(rng):
    """300 rows: what scipy's spline is, to rounding, at its end as at its begin."""
    times = np.arange(301) * 0.01
    values = np.cumsum(rng.normal(size=len(times)))
    rows = [list(row) for row in zip(times.tolist(), values.tolist(), strict=True)]
    model = toml.parse(
        SLIDER.replace("t_end = 1.0", "t_end = 3.0").replace("0.005", "0.0625")
        + f"""
[signals.push]
kind = "table"
interpolation = "cubic"
rows = {rows}
""",
        "",
    )
    spline = CubicSpline(times, values, bc_type="natural")
    found = vbg.simulate(model, method="rk4")
    size = np.abs(values).max()
    assert found["push"] == pytest.approx(spline(found.time), abs=1e-13 * size)


@pytest.mark.parametrize(("law", "limits"), LIMITS[1:4])
def test_a_drive_follows_a_motion_in_both_solvers(law, limits):
    text = SLIDER.split("[forces.law]")[0].replace(
        "initial = { slide = 0.3, speed = 0.4 }", 'drive = "go"'
    )
    keys = "\n".join(f"{key} = {value}" for key, value in limits.items())
    text += f"""
[signals.go]
kind = "motion"
stops = [0.1, 0.4, 0.4, 0.2]
law = "{law}"
start = 0.05
dwell = "20 ms"
{keys}
[simulate]
t_end = 1.8
output_step = 0.02
"""
    model = toml.parse(text, "")
    first = vbg.simulate(model, rtol=1e-10, atol=1e-12)
    second = vbg.tmm_bridge.simulate(model, rtol=1e-10, atol=1e-12)
    own = of_motion(model.signals["go"])
    expected = np.array([own.rates(t) for t in first.time])
    assert first["guide.slide"] == pytest.approx(expected[:, 0], abs=1e-10)
    apart = np.min([np.abs(first.time - b) for b, _ in own.breaks], axis=0) > 1e-9
    for found in (first, second):
        assert found["guide.drive"][apart] == pytest.approx(2.0 * expected[apart, 2], abs=1e-7)
    assert first["guide.slide"][-1] == pytest.approx(0.2, abs=1e-10)


def test_rows_come_from_a_csv_file_with_units(tmp_path):
    (tmp_path / "pump.csv").write_text(
        "flow [L/min],pressure (bar),eta\n0,210,0.1\n60,200,0.8\n120,100,0.7\n"
    )
    text = SLIDER + CURVE.format("linear")
    rows = text[text.index("rows =") : text.index("interpolation")]
    text = text.replace(rows, 'rows = { file = "pump.csv", columns = ["flow", "pressure"] }\n')
    (tmp_path / "m.toml").write_text(text)
    found = vbg.read(tmp_path / "m.toml").signals["push"].rows
    assert found == ((0.0, 210e5), (pytest.approx(1e-3), 200e5), (pytest.approx(2e-3), 100e5))
    for change, said in (
        (('"pressure"]', '"head"]'), "no column 'head'"),
        (('"pump.csv"', '"../pump.csv"'), "not below the folder"),
        (('"pump.csv"', '"none.csv"'), "none.csv"),
        (('["flow", "pressure"]', '["flow"]'), "columns are 2 names"),
    ):
        (tmp_path / "m.toml").write_text(text.replace(*change))
        with pytest.raises(ModelError, match=said):
            vbg.read(tmp_path / "m.toml")


DRIVEN = SLIDER.split("[forces.law]")[0].replace(
    "initial = { slide = 0.3, speed = 0.4 }", 'drive = "path"'
)
PATH = """
[signals.path]
kind = "table"
interpolation = "cubic"
ends = "{ends}"
rows = {rows}
[simulate]
t_end = 1.2
output_step = 0.02
"""


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("begin", [0.1, 0.1 + 1e-13])
def test_a_path_at_rest_at_its_ends_is_a_polynomial_between_two_rows(begin, scale):
    """x = h (3 u^2 - 2 u^3): force m x'', and neither impulse nor work left over."""
    rows = f"[[{begin!r}, 0.0], [0.9, {0.2 * scale!r}]]"
    model = toml.parse(DRIVEN + PATH.format(ends="rest", rows=rows), "")
    u = np.clip((np.arange(61) * 0.02 - begin) / (0.9 - begin), 0.0, 1.0)
    inside = (u > 1e-9) & (u < 1 - 1e-9)
    pull = 2.0 * 0.2 * scale * (6.0 - 12.0 * u) / (0.9 - begin) ** 2
    for solve in (vbg.simulate, vbg.tmm_bridge.simulate):
        found = solve(model, rtol=1e-10, atol=1e-12 * scale)
        way = 0.2 * scale * (3.0 * u**2 - 2.0 * u**3)
        assert found["guide.slide"] == pytest.approx(way, abs=1e-9 * scale)
        assert found["guide.drive"][inside] == pytest.approx(pull[inside], abs=1e-7 * scale)
        assert found.audit.energy_residual < 1e-6
        assert not found.audit.failures


def test_the_speed_that_a_natural_spline_ends_with_is_an_impulse_whose_work_counts():
    model = toml.parse(DRIVEN + PATH.format(ends="natural", rows="[[0,0],[0.4,0.1],[1,0]]"), "")
    slope = CubicSpline([0, 0.4, 1], [0, 0.1, 0], bc_type="natural").c[2]
    for solve in (vbg.simulate, vbg.tmm_bridge.simulate):
        found = solve(model, rtol=1e-10, atol=1e-12)
        assert not found.audit.failures
        assert found["guide.speed"][0] == pytest.approx(slope[0], rel=1e-9)
        assert found["guide.speed"][-1] == pytest.approx(0.0, abs=1e-12)
        # what is supplied from the start on is the kinetic energy of the end less that of the start
        assert found["energy.supplied"][-1] == pytest.approx(-(slope[0] ** 2), rel=1e-6)


def test_a_drive_follows_a_csv_file(tmp_path):
    (tmp_path / "path.csv").write_text("time [ms],x [mm]\n0,0\n300,10\n600,30\n1000,20\n")
    csv = '{ file = "path.csv", columns = ["time", "x"] }'
    (tmp_path / "m.toml").write_text(DRIVEN + PATH.format(ends="rest", rows=csv))
    model = vbg.read(tmp_path / "m.toml")
    assert model.signals["path"].rows[2] == pytest.approx((0.6, 0.03))
    (tmp_path / "path.csv").write_text("time [mm],x [mm]\n0,0\n300,10\n")
    with pytest.raises(ModelError, match=r"column 'time': \[mm\] is a length, expected a time"):
        vbg.read(tmp_path / "m.toml")
    (tmp_path / "path.csv").write_text("time [s],x [mm]\n0,0\n3,10\n2,4\n")
    with pytest.raises(ModelError, match="the times must grow, found 3 before 2"):
        vbg.read(tmp_path / "m.toml")
    (tmp_path / "path.csv").write_text("time [s],x [mm]\n")
    with pytest.raises(ModelError, match="at least one row"):
        vbg.read(tmp_path / "m.toml")


def test_what_is_wrong_with_a_part_is_told():
    wrong = [
        ('kind = "table"\nrows = [[0, 0], [1, 1]]\nends = "rest"', "only a cubic spline"),
        ('kind = "curve"\ninput = "t"\nrows = [[0, 1], [0, 2]]', "x must grow"),
        ('kind = "curve"\ninput = "t"\nrows = [[0, 1]]', "at least 2 rows"),
        (
            'kind = "surface"\nx = "t"\ny = "t"\nx_values = [0, 1]\ny_values = [0, 1]\n'
            "rows = [[1, 2]]",
            "2 rows of 2 are needed",
        ),
        ('kind = "motion"\nstops = [0]\nduration = 1', "at least 2 stops"),
        ('kind = "motion"\nstops = [0, 1]', "either a duration or limits"),
        ('kind = "motion"\nstops = [0, 1]\nlaw = "s-curve"\nspeed = 1', "jerk is missing"),
        (
            'kind = "motion"\nstops = [0, 1]\nlaw = "trapezoid"\nspeed = 1\nacceleration = 1\n'
            "duration = 1",
            "as long as",
        ),
    ]
    for part, said in wrong:
        with pytest.raises(ModelError, match=said):
            toml.parse(SLIDER + f"[signals.push]\n{part}\n", "")


def test_moves_follow_one_another():
    move = Motion(stops=(0.0, 1.0, 1.0, -1.0), law="polynomial", duration=0.5, dwell=0.1, start=0.2)
    begins = [begin for begin, _, _ in move.moves()]
    assert begins == pytest.approx([0.2, 0.2 + 0.5 + 0.1 + 0.1])
    assert all(b > a for a, b in itertools.pairwise(begins))
    assert math.isclose(of_motion(move).value(5.0), -1.0)
