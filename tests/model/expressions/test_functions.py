"""[functions]: formulas with arguments, put in place of their calls while the file is read."""

import math
import random

import pytest

import vbg
from vbg import expressions
from vbg.errors import ModelError
from vbg.io import toml
from vbg.model.check import check

HEAD = """vbg = 1
[parameters]
m = "1200 kg"
rho = "1.2 kg/m^3"
"""
CAR = """
[bodies.car]
mass = "m"
inertia = { xx = 1, yy = 1, zz = 1 }
velocity = [30, 0, 0]
[joints.road]
kind = "prismatic"
between = ["ground", "car"]
axis = [1, 0, 0]
[forces.air]
kind = "force"
on = "car"
force = [FORCE, 0, 0]
"""
DRAG = """
[functions.drag]
arguments = { v = "km/h" }
value = "0.5*rho*0.6*(v/3.6)*abs(v/3.6)"
unit = "kN"
"""


def car(force, functions="", more=""):
    return toml.parse(HEAD + more + functions + CAR.replace("FORCE", force), "car.toml")


def told(force, functions, more=""):
    with pytest.raises(ModelError) as caught:
        car(force, functions, more)
    return caught.value.problems


def test_a_car_that_coasts_against_a_force_written_as_a_function():
    # m v' = -c v**2, so that v = v0/(1 + c v0 t/m); the value counts in N, told as kN
    model = car('"-drag(road.speed)"', DRAG.replace('"kN"', '"N"'))
    solution = vbg.simulate(vbg.assemble(model), t_end=60.0, output_step=10.0)
    t = solution.time
    assert solution["road.speed"] == pytest.approx(30 / (1 + 0.36 * 30 * t / 1200), rel=1e-7)


def test_the_unit_of_a_function_counts_alone_and_within_a_product():
    alone = car('"-drag(road.speed)"', DRAG).forces["air"].force[0]
    product = car('"-2*drag(road.speed)/2"', DRAG).forces["air"].force[0]
    for text in (alone, product):
        value = expressions.evaluate(expressions.parse(text), {"road.speed": 10.0})
        assert value == pytest.approx(-0.36 * 100 * 1000)


def test_constants_and_other_parameters_call_functions_in_any_order():
    model = car(
        '"a + hyp(3, 4) N"',
        '[functions.hyp]\narguments = ["x", "y"]\nvalue = "sqrt(sq(x) + sq(y))"\n'
        '[functions.sq]\narguments = ["x"]\nvalue = "x*x"\n',
        more='a = "hyp(6, b)"\nb = "sq(2) + 4"\n',
    )
    assert model.parameters["a"] == pytest.approx(10.0)
    assert model.forces["air"].force[0] == pytest.approx(15.0)
    assert model.with_parameters(m="sq(20) kg").parameters["m"] == pytest.approx(400.0)


def test_a_parameter_named_like_the_variable_of_a_law_keeps_its_value():
    # the law's variable is the flow f, the function's f is the parameter
    text = """vbg = 1
bonds = ["R -> C"]
[parameters]
f = 7.0
[functions.law]
arguments = ["x"]
value = "f*x"
[bondgraph.C]
kind = "C"
value = 1.0
[bondgraph.R]
kind = "R"
effort = ["law(f)"]
"""
    law = toml.parse(text).bondgraph["R"].effort[0]
    assert expressions.evaluate(expressions.parse(law), {"f": 2.0}) == 14.0


def test_random_functions_are_what_substitution_by_hand_gives():
    """Trees of calls against the same formulas evaluated by Python functions."""
    draw = random.Random(5)
    for _ in range(20):
        a, b, c = (round(draw.uniform(0.5, 2.0), 3) for _ in range(3))
        more = (
            f'[functions.f]\narguments = ["x", "y"]\nvalue = "x*{a} - y/{b}"\n'
            '[functions.g]\narguments = ["y"]\n'
            f'value = "if(y > 1, f(y, 2), f(2, y)) + sin(m)*{c}"\n'
        )

        def f(x, y, a=a, b=b):
            return x * a - y / b

        def g(y, c=c):
            return (f(y, 2) if y > 1 else f(2, y)) + math.sin(1200) * c

        text = car('"g(f(road.slide, g(t)))"', more).forces["air"].force[0]
        s, t = draw.uniform(0, 2), draw.uniform(0, 2)
        got = expressions.evaluate(expressions.parse(text), {"road.slide": s, "t": t})
        assert got == pytest.approx(g(f(s, g(t))))


@pytest.mark.parametrize(
    ("force", "functions", "words"),
    [
        ('"drag(1, 2)"', DRAG, "drag takes 1 argument, got 2"),
        ('"drug(1)"', DRAG, "'drug' is not a function"),
        ('"drag"', DRAG, "needs its argument in brackets"),
        ('"drag(1) N"', DRAG, "is in kN already"),
        ('"drag(1)"', DRAG.replace('"kN"', '"bar"'), "bar"),
        ('"drag(1)"', DRAG.replace('"kN"', '"kM"'), "kM"),
        ('"drag(1)"', DRAG.replace("rho", "rhu"), "neither an argument nor a parameter"),
        ('"drag(1)"', DRAG.replace("rho", "road.speed"), "add an argument"),
        ('"drag(1)"', DRAG.replace("rho", "t"), "drag(..., t)"),
        ('"drag(1)"', DRAG.replace("arguments", "argument"), "unknown key 'argument'"),
        ('"drag(1)"', DRAG.replace("0.5*", "drag(v)*"), "circle: drag -> drag"),
        ('"drag(1)"', DRAG.replace('*abs(v/3.6)"', '*abs(v/3.6) N"'), 'unit = "N"'),
        ("1", DRAG.replace("functions.drag", "functions.sin"), "always there"),
        ("1", DRAG.replace("functions.drag", "functions.rho"), "a parameter"),
        ("1", '[functions.h]\narguments = ["x", "x"]\nvalue = "x"\n', "twice"),
        ("1", '[functions.h]\narguments = ["t"]\nvalue = "1"\n', "cannot name an argument"),
        ("1", '[functions]\nh = "x"\n', "expected a table"),
        ("1", '[functions.h]\narguments = []\nvalue = "1"\n', "needs an argument"),
        ("1", '[functions.h]\narguments = ["x"]\n', "no value"),
    ],
)
def test_each_mistake_is_told_once_where_it_stands(force, functions, words):
    (problem,) = told(force, functions)
    assert words in f"{problem.what} {problem.remedy}"
    assert problem.line > 1 and problem.column >= 1


def test_circles_name_who_calls_whom():
    two = (
        '[functions.a]\narguments = ["x"]\nvalue = "b(x)"\n'
        '[functions.b]\narguments = ["x"]\nvalue = "a(x) + 1"\n'
    )
    (problem,) = told('"a(t)"', two)
    assert "a -> b -> a" in problem.what


def test_functions_that_double_at_every_level_are_refused_at_once():
    text = '[functions.f0]\narguments = ["x"]\nvalue = "x + 2*x"\n'
    for level in range(1, 60):
        text += (
            f'[functions.f{level}]\narguments = ["x"]\nvalue = "f{level - 1}(f{level - 1}(x))"\n'
        )
    problems = told('"f59(road.speed)"', text)
    assert len(problems) == 1 and "more than 2000 operations" in problems[0].what


def test_a_function_that_nothing_calls_is_noted():
    found = check(car("1", DRAG))
    assert [p.what for p in found if p.where == "functions.drag"] == [
        "nothing calls this function."
    ]


def test_what_is_written_is_read_again(tmp_path):
    model = car('"-drag(road.speed)"', DRAG)
    toml.write(model, tmp_path / "again.toml")
    assert vbg.read(tmp_path / "again.toml").hash == model.hash
