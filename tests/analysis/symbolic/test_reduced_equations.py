"""The minimal form of closed loops as it is printed: read line by line it gives joint forces."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import only
from vbg.errors import VbgError
from vbg.io import toml

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic.loops.code.coding import code_of  # noqa: E402
from vbg.analysis.symbolic.loops.code.python import as_python  # noqa: E402
from vbg.analysis.symbolic.loops.deriving import minimal_equations  # noqa: E402
from vbg.analysis.symbolic.loops.text import as_latex, as_text  # noqa: E402
from vbg.analysis.symbolic.rewriting.sharing import written_once  # noqa: E402
from vbg.analysis.symbolic.spelling import shortened  # noqa: E402

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = 'vbg = 1\nname = "machine"\n'
LINK = """
[bodies.{name}]
mass = {mass}
inertia = {{ xx = 4e-3, yy = 5e-3, zz = 2e-3, xy = 3e-4 }}
position = {at}
points = {{ {points} }}
"""
PIN = """
[joints.{name}]
kind = "{kind}"
between = [{first}, "{second}"]
axis = [0, 1, 0]
"""


def six_bar():
    """A second four-bar on the coupler of the first, a spring and a damper; two blocks of two."""
    links = [
        ("crank", 0.4, [0.05, 0, 0], "O = [-0.05, 0, 0], A = [0.05, 0, 0]"),
        ("coupler", 0.8, [0.25, 0, 0.1], "A=[-0.15,0,-0.1], B=[0.15,0,0.1], P=[0.02,0,0.12]"),
        ("rocker", 0.4, [0.4, 0, 0.06], "B = [0, 0, 0.14], C = [0, 0, -0.14]"),
        ("rod", 0.3, [0.41, 0, 0.27], "P = [-0.14, 0, -0.05], Q = [0.14, 0, 0.05]"),
        ("swing", 0.5, [0.6, 0, 0.16], "Q = [-0.05, 0, 0.16], D = [0.05, 0, -0.16]"),
    ]
    pins = [
        ("O", "revolute", '"ground"', "crank.O"),
        ("A", "revolute", '"crank.A"', "coupler.A"),
        ("C", "revolute", '{ body = "ground", at = [0.4, 0, -0.08] }', "rocker.C"),
        ("P", "revolute", '"coupler.P"', "rod.P"),
        ("D", "revolute", '{ body = "ground", at = [0.65, 0, 0] }', "swing.D"),
        ("B", "point_on_line", '"coupler.B"', "rocker.B"),
        ("Q", "point_on_line", '"rod.Q"', "swing.Q"),
    ]
    text = HEAD
    for name, mass, at, points in links:
        text += LINK.format(name=name, mass=mass, at=at, points=points)
    for name, kind, first, second in pins:
        text += PIN.format(name=name, kind=kind, first=first, second=second)
    return (
        text
        + """
[forces.pull]
kind = "spring"
between = ["coupler.P", { body = "ground", at = [0.3, 0, 0.5] }]
k = 120
length = 0.1
[forces.loss]
kind = "damper"
on = "joints.C"
c = 0.05
"""
    )


def rssr():
    """Two ball joints: three coordinates in one block, two degrees of freedom."""
    text = HEAD + LINK.format(
        name="crank", mass=0.3, at=[0.06, 0, 0], points="A = [-0.06, 0, 0], B = [0.06, 0, 0]"
    )
    text += LINK.format(
        name="coupler", mass=0.5, at=[0.32, 0.15, 0.2],
        points="B = [-0.2, -0.15, -0.2], D = [0.2, 0.15, 0.2]",
    )  # fmt: skip
    text += LINK.format(
        name="rocker", mass=1.0, at=[0.52, 0.3, 0.2], points="E = [0, 0, -0.2], D = [0, 0, 0.2]"
    )
    return (
        text
        + """
[joints.A]
kind = "revolute"
between = ["ground", "crank.A"]
axis = [0, 0, 1]
initial = { speed = 5 }
[joints.B]
kind = "spherical"
between = ["crank.B", "coupler.B"]
[joints.D]
kind = "spherical"
between = ["coupler.D", "rocker.D"]
[joints.E]
kind = "revolute"
between = [{ body = "ground", at = [0.52, 0.3, 0] }, "rocker.E"]
axis = [0, 0.94, 0.342]
"""
    )


MACHINES = {
    "slider-crank": lambda: (EXAMPLES / "slider-crank.toml").read_text("utf-8"),
    "driven": lambda: (
        (EXAMPLES / "slider-crank.toml")
        .read_text("utf-8")
        .replace('initial = { angle = "phi", speed = "speed" }', 'drive = "phi + 5*t + sin(9*t)"')
    ),
    "spatial-four-bar": lambda: (EXAMPLES / "spatial-four-bar.toml").read_text("utf-8"),
    "six-bar": six_bar,
    "rssr": rssr,
}

NAME = re.compile(r"\(d[\w.\-]+/d[\w.\-]+\)|\b[A-Za-z_][\w.\-]*(?:\[[\w.]+\])?'?")
FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt")}


class Reader:
    """Reads lines `left = right` in order; equations wait until there are as many as unknowns,
    in which they are linear."""

    def __init__(self, known):
        self.known, self.waiting = dict(known), []

    def line(self, text):
        left, _, right = text.partition("    #")[0].partition(" = ")
        if NAME.fullmatch(left) and left not in self.known and not self.unknown(right):
            self.known[left] = self.value(right, {})
        else:
            self.waiting.append(f"({left}) - ({right})")
            self.solve()

    def unknown(self, text):
        return [n for n in dict.fromkeys(NAME.findall(text)) if n not in {*self.known, *FUNCTIONS}]

    def value(self, text, given):
        values = self.known | given
        spelled = NAME.sub(lambda m: m[0] if m[0] in FUNCTIONS else f"_[{m[0]!r}]", text)
        return eval(spelled, {"__builtins__": {}, **FUNCTIONS, "_": values})

    def solve(self):
        names = list(dict.fromkeys(n for text in self.waiting for n in self.unknown(text)))
        if len(names) != len(self.waiting):
            return
        zeros = dict.fromkeys(names, 0.0)
        right = np.array([self.value(text, zeros) for text in self.waiting])
        if names:
            columns = [
                [self.value(text, zeros | {name: 1.0}) for text in self.waiting] for name in names
            ]
            slopes = np.array(columns).T - right[:, None]
            self.known |= dict(zip(names, np.linalg.solve(slopes, -right), strict=True))
        self.waiting = []


def module_of(e):
    space = {"__name__": "machine"}
    exec(compile(as_python(code_of(e)), "machine", "exec"), space)
    return space


@pytest.mark.parametrize("name", only(["slider-crank", "rssr"], list(MACHINES)))
def test_read_line_by_line_it_gives_the_joint_forces(name):
    """At random states near the start; the programs, which hold B^T M B in numbers, are as the
    runs are (test_minimal_equations)."""
    system = vbg.assemble(toml.parse(MACHINES[name](), str(EXAMPLES / "machine.toml")))
    e = minimal_equations(system, start=vbg.start(system))
    lines = [line for line in as_text(e, forces=True).splitlines() if " = " in line]
    space = module_of(e)
    draw, free = np.random.default_rng(3), len(e.independent)
    for _ in range(2):
        y, q, t = space["y_start"].copy(), space["q_start"].copy(), draw.uniform(0, 0.02)
        y[:free] += draw.uniform(-0.05, 0.05, free)
        y[free : 2 * free] += draw.uniform(-3, 3, free)
        expected = space["forces"](t, y, q)
        known = dict(zip(map(str, e.q), q, strict=True)) | {"t": t}
        known |= {str(e.u[i]): y[free + n] for n, i in enumerate(e.independent)}
        reader = Reader(known | {str(s): v for s, v in e.parameters.items()})
        for line in lines:
            if re.match(r"[\w.\-]+' = [\w.\-]+( |$)", line) or line.startswith(("#", "r = ")):
                continue  # coordinates by their speeds; values
            if line.startswith("0 = ") and not reader.unknown(line[4:]):
                assert abs(reader.value(line[4:], {})) < 1e-9
            else:
                reader.line(line)
        assert not reader.waiting
        largest = max(abs(v) for key, v in expected.items() if ".force" in key)
        for key, value in expected.items():
            assert_allclose(reader.known[key], value, atol=1e-9 * largest, err_msg=key)


def test_the_motion_has_the_independent_coordinate_alone():
    """One row of motion; no effort of a closure in it, in text and in LaTeX."""
    system = vbg.assemble(toml.parse(MACHINES["slider-crank"](), "m.toml"))
    e = minimal_equations(system, start=vbg.start(system), forces=False)
    _, _, motion = as_text(e, forces=False).partition("# motion\n")
    (row,) = motion.split("\n\n")[0].splitlines()
    assert "effort" not in row and re.findall(r"[\w.]+'", row) == ["A.speed'"]
    _, _, motion = as_latex(e, forces=False).partition("% motion\n")
    assert "effort" not in motion and motion.count("&=") == 1
    assert r"\mathrm{B.angle}_{,\mathrm{A.angle}}" in motion


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slider-crank", "rssr", "six-bar"])
def test_masses_by_name_are_the_same_motion(name):
    """Joint forces at random states; of the slider-crank with another piston, too."""
    system = vbg.assemble(toml.parse(MACHINES[name](), str(EXAMPLES / "machine.toml")))
    start = vbg.start(system)
    plain = minimal_equations(system, start=start)
    e = minimal_equations(system, start=start, masses=True)
    spaces = [module_of(plain), module_of(e)]
    draw = np.random.default_rng(5)
    y = spaces[0]["y_start"] + draw.uniform(-0.03, 0.03, len(spaces[0]["y_start"]))
    expected, found = (space["forces"](0.0, y, space["q_start"].copy()) for space in spaces)
    largest = max(abs(v) for key, v in expected.items() if ".force" in key)
    for key, value in expected.items():
        assert_allclose(found[key], value, atol=1e-11 * largest, err_msg=key)
    if name == "slider-crank":
        motion = as_text(e, forces=False).partition("# motion\n")[2].partition("\n\n")[0]
        assert {*re.findall(r"\d+\.\d+", motion)} == {"9.81", "4.905"}
        text = MACHINES[name]().replace("density = 2700", "density = 7100")
        heavy = minimal_equations(vbg.assemble(toml.parse(text, "m.toml")), start=start)
        piston = {
            s: v * 7100 / 2700 if str(s) == "m_piston" else v for s, v in e.parameters.items()
        }
        other = module_of(replace(e, parameters=piston))
        expected = module_of(heavy)["forces"](0.0, y, spaces[0]["q_start"].copy())
        found = other["forces"](0.0, y, spaces[0]["q_start"].copy())
        for key, value in expected.items():
            assert_allclose(found[key], value, atol=1e-11 * largest, err_msg=key)


def test_a_mass_that_is_a_parameter_keeps_its_name():
    system = vbg.assemble(vbg.read(EXAMPLES / "shaft-arm-slider.toml"))
    e = minimal_equations(system, masses=True)
    text = as_text(e, forces=False)
    assert "m_arm" not in text and "J_arm_yy" in text and "J3.slide**2*m" in text


def test_fractions_of_decimal_numbers_are_decimal_numbers():
    x = sympy.Symbol("x", positive=True)
    third, seven = sympy.Rational(2, 3), sympy.Rational(6, 5)
    printed = {
        sympy.Rational(157, 50) * x: "3.14*x",
        x / 5 + sympy.Rational(49, 5): "0.2*x + 9.8",
        x / 2 + third: "x/2 + 2/3",
        sympy.cos(x) ** seven: "cos(x)**(6/5)",
        1 / (x + seven): "1/(x + 1.2)",
    }
    for expression, expected in printed.items():
        assert written_once()(shortened(expression, fractions=False)) == expected


def test_a_machine_without_moving_bodies_is_told_so():
    system = vbg.assemble(vbg.read(EXAMPLES / "quarter-car.toml"))
    with pytest.raises(VbgError, match="no body that moves"):
        minimal_equations(system)
