"""Characteristics z = f(x, y): scipy along one axis after the other, closed forms, both solvers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, interp1d

import vbg
from tests.signals.test_characteristics import SLIDER, run_both
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.lower import lower
from vbg.blocks import Tangent, const, leaf, stack
from vbg.elements.signals.pieces import chosen_patch
from vbg.elements.signals.surface import Surface
from vbg.errors import ModelError
from vbg.io import toml
from vbg.tmm_bridge.formulas.characteristics import surface_of

INTERPOLATIONS = ("linear", "cubic", "monotone")
SMOOTH = INTERPOLATIONS[1:]


def surface(x, y, z, interpolation="cubic", outside="extend"):
    points = tuple((a, b, c) for a, row in zip(x, z) for b, c in zip(y, row))
    return Surface(x="t", y="t", points=points, interpolation=interpolation, outside=outside)


def drawn(part, at_x, at_y):
    """(n, 3): the values and both slopes, by the compiled tape."""
    inputs = leaf("x", 1), leaf("y", 1)
    value = chosen_patch(inputs, *part.patches())
    one = const(1.0)
    slopes = [Tangent({a: one})(value) for a in inputs]
    program = lower({"z": stack(value, *slopes)}, {"x": inputs[0], "t": inputs[1]})
    evaluate = Evaluator(program)
    return np.array([evaluate(b, np.array([a])).ravel().copy() for a, b in zip(at_x, at_y)])


def by_second_solver(part, at_x, at_y):
    def one(curve, x):
        starts, pieces = curve
        k = np.searchsorted(starts[1:], x, side="left")
        return sum(pieces[k, n] * (x - starts[k]) ** n for n in range(4))

    products = surface_of(*part.grid(), part.interpolation, part.outside)
    return sum(one(a, at_x) * one(b, at_y) for a, b in products)


def by_scipy(x, y, z, interpolation, at_x, at_y):
    """Along y on each line of x, then along x: what is linear in its values."""
    if interpolation == "linear":
        along = interp1d(y, z, axis=1)(at_y)
        return np.array([np.interp(a, x, along[:, i]) for i, a in enumerate(at_x)])
    along = CubicSpline(y, z, axis=1, bc_type="natural")(at_y)
    return np.array([CubicSpline(x, along[:, i], bc_type="natural")(a) for i, a in enumerate(at_x)])


def grid(rng, scale=1.0, count=(7, 5)):
    x = (np.linspace(-2.0, 3.0, count[0]) + rng.uniform(-0.3, 0.3, count[0])) * scale
    y = np.linspace(4.0, 9.0, count[1]) + rng.uniform(-0.3, 0.3, count[1])
    return x, y, rng.normal(size=count) / scale


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e7])
@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
def test_both_solvers_draw_what_scipy_draws(interpolation, scale):
    rng = np.random.default_rng(21)
    x, y, z = grid(rng, scale)
    part = surface(x, y, z, interpolation)
    at_x, at_y = rng.uniform(x[0], x[-1], 300), rng.uniform(y[0], y[-1], 300)
    at_x[:7], at_y[:5] = x, y  # on the lines, too
    expected = by_scipy(x, y, z, interpolation, at_x, at_y)
    assert drawn(part, at_x, at_y)[:, 0] == pytest.approx(expected, abs=1e-12 * np.ptp(z))
    assert by_second_solver(part, at_x, at_y) == pytest.approx(expected, abs=1e-12 * np.ptp(z))


@pytest.mark.parametrize("outside", ["hold", "extend"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_both_solvers_agree_within_and_beyond_the_grid(interpolation, outside):
    """Held: the value of the nearest place of the grid; extended: by the slopes there."""
    rng = np.random.default_rng(22)
    x, y, z = grid(rng)
    part = surface(x, y, z, interpolation, outside)
    at_x, at_y = rng.uniform(-5.0, 6.0, 600), rng.uniform(1.0, 12.0, 600)
    found = drawn(part, at_x, at_y)
    size = np.abs(found[:, 0]).max()
    assert found[:, 0] == pytest.approx(by_second_solver(part, at_x, at_y), abs=1e-12 * size)
    in_x, in_y = np.clip(at_x, x[0], x[-1]), np.clip(at_y, y[0], y[-1])
    inside = drawn(part, in_x, in_y)
    dx, dy = at_x - in_x, at_y - in_y
    if outside == "extend":
        one = (dx == 0.0) | (dy == 0.0)
        # on the last line itself the slope is that beyond it: without a jump where it extends
        inside[:, 0] += dx * inside[:, 1] + dy * inside[:, 2]
        assert found[one, 0] == pytest.approx(inside[one, 0], abs=1e-12 * size)
    else:
        assert found[:, 0] == pytest.approx(inside[:, 0], abs=1e-12 * size)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_slopes_are_those_of_the_values(interpolation):
    rng = np.random.default_rng(23)
    x, y, z = grid(rng)
    part = surface(x, y, z, interpolation)
    at_x, at_y = rng.uniform(-3.0, 4.0, 200), rng.uniform(3.0, 10.0, 200)
    h = 1e-5
    clear = np.min(np.abs(at_x[:, None] - x), axis=1) > h
    clear &= np.min(np.abs(at_y[:, None] - y), axis=1) > h
    at_x, at_y = at_x[clear], at_y[clear]
    found = drawn(part, at_x, at_y)
    for column, (dx, dy) in enumerate(((h, 0.0), (0.0, h)), 1):
        ahead, back = drawn(part, at_x + dx, at_y + dy), drawn(part, at_x - dx, at_y - dy)
        slope = (ahead[:, 0] - back[:, 0]) / (2.0 * h)
        assert found[:, column] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("interpolation", SMOOTH)
def test_values_and_slopes_are_continuous(interpolation):
    """Across every line of the grid, also the first and last: C1 beyond them."""
    rng = np.random.default_rng(24)
    x, y, z = grid(rng)
    part = surface(x, y, z, interpolation)
    step = 1e-9
    for line in x:
        at = rng.uniform(2.0, 11.0, 20)
        jump = drawn(part, 0 * at + line + step, at) - drawn(part, 0 * at + line - step, at)
        assert np.abs(jump).max() < 1e-6
    for line in y:
        at = rng.uniform(-4.0, 5.0, 20)
        jump = drawn(part, at, 0 * at + line + step) - drawn(part, at, 0 * at + line - step)
        assert np.abs(jump).max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_monotone_along_each_line(seed):
    """What PCHIP draws along each line of the grid, and nothing that turns there."""
    rng = np.random.default_rng(seed)
    x, y, _ = grid(rng)
    z = np.cumsum(np.cumsum(rng.exponential(size=(7, 5)) ** 3, axis=0), axis=1)
    part = surface(x, y, z, "monotone")
    for i, line in enumerate(x):
        at = np.linspace(y[0], y[-1], 200)
        found = drawn(part, 0 * at + line, at)[:, 0]
        assert found == pytest.approx(PchipInterpolator(y, z[i])(at), abs=1e-12 * np.ptp(z))
        assert np.diff(found).min() > -1e-12 * np.ptp(z)
    for j, line in enumerate(y):
        at = np.linspace(x[0], x[-1], 200)
        found = drawn(part, at, 0 * at + line)[:, 0]
        assert found == pytest.approx(PchipInterpolator(x, z[:, j])(at), abs=1e-12 * np.ptp(z))


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_what_is_bilinear_is_exact_everywhere(interpolation):
    rng = np.random.default_rng(25)
    x, y, _ = grid(rng)
    a, b, c, d = rng.normal(size=4)
    part = surface(x, y, a + b * x[:, None] + c * y + d * x[:, None] * y, interpolation)
    at_x, at_y = rng.uniform(-6.0, 7.0, 200), rng.uniform(0.0, 13.0, 200)
    expected = a + b * at_x + c * at_y + d * at_x * at_y
    assert drawn(part, at_x, at_y)[:, 0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(("interpolation", "order"), [("linear", 2), ("monotone", 2), ("cubic", 4)])
def test_order_of_convergence(interpolation, order):
    """Of sin x sin y from 0 to pi, whose curvature vanishes at the ends as the spline's: h^2/8 of
    the second derivatives by each input, 5/384 h^4 of the fourth ones."""
    at = np.linspace(0.1, 3.0, 41)
    at_x, at_y = np.repeat(at, 41), np.tile(at, 41)
    errors = []
    for count in (9, 17, 33):
        x = np.linspace(0.0, np.pi, count)
        part = surface(x, x, np.sin(x)[:, None] * np.sin(x), interpolation)
        found = drawn(part, at_x, at_y)[:, 0]
        errors.append(np.abs(found - np.sin(at_x) * np.sin(at_y)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders.min() > order - 0.3
    h = np.pi / 32.0
    assert errors[-1] < {2: h**2 / 4.0, 4: 5.0 / 192.0 * h**4}[order]


MAP = """
[signals.push]
kind = "surface"
x = "guide.slide"
y = "guide.speed"
x_values = [-0.3, 0, 0.25, 0.4]
y_values = [-1, 0.1, 1]
rows = [[40, 30, 12], [9, 2, -6], [-8, -19, -26], [-30, -40, -41]]
interpolation = "{}"
outside = "{}"
"""


@pytest.mark.parametrize(("interpolation", "outside"), [("cubic", "hold"), ("monotone", "extend")])
def test_a_machine_that_follows_a_map_in_both_solvers(interpolation, outside):
    found = run_both(MAP.format(interpolation, outside))
    part = toml.parse(SLIDER + MAP.format(interpolation, outside), "").signals["push"]
    expected = drawn(part, found["guide.slide"], found["guide.speed"])[:, 0]
    assert found["push"] == pytest.approx(expected, abs=1e-10)
    assert np.ptp(found["guide.slide"]) > 0.25  # over more than one line


def test_points_come_from_a_csv_file_with_units_in_any_order(tmp_path):
    lines = ["speed [rpm],way (mm),push [kN]"]
    lines += [f"{n},{s},{n * s / 1000 + s}" for s in (20, -10, 0) for n in (600, 0, 60)]
    (tmp_path / "map.csv").write_text("\n".join(lines))
    text = f"""{SLIDER}
[signals.push]
kind = "surface"
x = "guide.speed"
y = "guide.slide"
points = {{ file = "map.csv", columns = ["speed", "way", "push"] }}
"""
    (tmp_path / "m.toml").write_text(text)
    x, y, z = vbg.read(tmp_path / "m.toml").signals["push"].grid()
    rad = np.array([0.0, 60.0, 600.0])
    way = np.array([-10.0, 0.0, 20.0])
    assert x == pytest.approx(rad * np.pi / 30.0)
    assert y == pytest.approx(way / 1000.0)
    assert z == pytest.approx(1000.0 * (rad[:, None] * way / 1000 + way))
    (tmp_path / "map.csv").write_text("\n".join(lines[:-1]))
    with pytest.raises(ModelError, match=r"none of the points is at x = 6\.28319, y = 0"):
        vbg.read(tmp_path / "m.toml")
    (tmp_path / "map.csv").write_text("\n".join([*lines, lines[-1]]))
    with pytest.raises(ModelError, match=r"two points are at x = 6\.28319, y = 0"):
        vbg.read(tmp_path / "m.toml")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("x_values = [0, 1]\ny_values = [0, 1]", "rows is missing"),
        ("", "x_values is missing"),
        ("points = [[0, 0, 1], [1, 0, 1]]", "at least 2 lines each way, found 2 of x and 1 of y"),
        ("points = [[0, 0, 1], [1, 1, 1]]", "cross in 4 places, none of the points is at"),
        ("points = [[0, 0, 1]]\nrows = [[1]]", "given by points, too"),
    ],
)
def test_a_grid_that_is_none_is_told(keys, said):
    with pytest.raises(ModelError, match=said):
        toml.parse(SLIDER + f'[signals.push]\nkind = "surface"\nx = "t"\ny = "t"\n{keys}\n', "")
