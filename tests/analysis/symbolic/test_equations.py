"""Symbolic equations: as in a textbook, and equal to the compiled ones at random states."""

import subprocess
from functools import cache
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import only
from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import tangent
from vbg.analysis.symbolic.symbolic import equations_of
from vbg.analysis.symbolic.written import as_c, as_latex, as_python, as_text
from vbg.assemble.start.constraints.posture import Projector
from vbg.cli.main import main
from vbg.errors import VbgError

pytest.importorskip("sympy")
GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = Path(__file__).parents[3] / "examples"
LONG = ("hydraulic-arm", "shaft-arm-slider")
TREES = (
    "pendulum",
    "double-pendulum",
    "shaft-arm-slider",
    "hydraulic-arm",
    "coupled-pendulums",
    "dc-motor-start",
    "quarter-car",
)
EVERY = sorted(path.stem for path in EXAMPLES.glob("*.toml"))
REFUSED = ("transistor-amplifier", "stewart-platform", "elastic-robot", "wind-rotor")
SMALL = [name for name in EVERY if name not in REFUSED]
FEW = ["slider-crank", "coupled-pendulums", "hydraulic-arm"]


@cache
def system(name):
    return vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))


def random_state(name, seed):
    """A state on the constraint manifold beside the start."""
    s = system(name)
    probe = Probe(s)
    x = vbg.start(s).state
    space = tangent(probe, probe.jacobian(0.0, x), x)
    z = np.random.default_rng(seed).uniform(-0.3, 0.3, space.basis.shape[1])
    sizes = np.abs(space.basis).max(axis=0)
    x = x + space.basis @ (z / np.maximum(sizes, 1.0))
    projector = Projector(s)
    projector.normalise(x)
    projector.project(0.0, x, 1e-14, 1e-14)
    return probe, x


def function(code):
    space = {}
    exec(compile(code, "equations", "exec"), space)
    return space["rate"]


@pytest.mark.parametrize("name", only([n for n in TREES if n not in LONG], TREES))
def test_minimal_form_is_the_motion(name):
    """Every state of the minimal form is a signal or state; its rate is the derivative
    of that signal along the flow of the whole system."""
    equations = equations_of(system(name), "minimal")
    rate = function(as_python(equations))
    names = [str(s) for s in equations.rates]
    names += [str(u) for u in equations.speeds if str(u) not in names]
    for seed in range(3):
        probe, x = random_state(name, seed)
        t = 0.3 + 0.2 * seed
        values, jacobian = probe.values(t, x), probe.jacobian(t, x)[:, : probe.size]
        flow = values[probe.spans["rate"]]
        state, expected = [], []
        for one in names:
            row = _row(probe, one)
            if row is None:
                at = system(name).state_names.index(one)
                state.append(x[at])
                expected.append(flow[at])
            else:
                state.append(values[row])
                expected.append(jacobian[row] @ flow)
        modes = [x[system(name).state_names.index(str(symbol))] for symbol in equations.modes]
        found = rate(t, np.array(state), *([modes] if modes else []))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def _row(probe, name):
    span = probe.spans.get(f"signal {name}")
    return None if span is None else span.start


def any_state(name, seed):
    """A state beside the start, on the constraints or not: the rates are defined there, too."""
    s = system(name)
    x = vbg.start(s).state
    free = ("position", "quaternion", "displacement")
    sizes = np.abs(x)
    for one in s.slices:
        if one.state.kind in free or one.state.name.endswith("momentum"):
            sizes[one.first : one.last] += 1.0
    x += 0.03 * np.random.default_rng(seed).uniform(-1.0, 1.0, len(x)) * sizes
    Projector(s).normalise(x)
    return x


@pytest.mark.parametrize(
    "name", only(["slider-crank", "coupled-pendulums", "hydraulic-arm"], SMALL)
)
def test_constraint_form_equals_the_compiled_rate(name):
    """At states on the constraints and off them, parameters written by name.

    Efforts of redundant rows belong together on the constraints only: there alone with those.
    """
    s = system(name)
    equations = equations_of(s, "constraint")
    rate = function(as_python(equations))
    for seed in range(3):
        redundant = vbg.start(s).dependent > 0
        x = random_state(name, seed)[1] if redundant else any_state(name, seed)
        t = 0.1 + 0.2 * seed
        expected = dict(zip(s.state_names, vbg.start(s).rate(t, x)[: s.size], strict=True))
        state = dict(zip(s.state_names, x, strict=True))
        states = [str(symbol) for symbol in equations.rates]
        given = np.array([state[n] for n in states])
        efforts = vbg.start(s).constraint_efforts(t, x)
        modes = [state[str(symbol)] for symbol in equations.modes]
        found = rate(t, given, *(a for a in (efforts, modes) if len(a)))
        wanted = np.array([expected[n] for n in states])
        scale = max(1.0, float(np.abs(wanted).max()), float(np.abs(efforts).max(initial=0.0)))
        assert_allclose(found, wanted, rtol=0, atol=1e-11 * scale)


@pytest.mark.slow
def test_parameters_as_numbers():
    """The same minimal form without names: mass and right-hand side at the model's values."""
    named, plain = (equations_of(system("double-pendulum"), names=n) for n in (True, False))
    assert not plain.parameters
    x = np.random.default_rng(3).uniform(-1.0, 1.0, 4)
    found, wanted = (function(as_python(one))(0.0, x) for one in (named, plain))
    assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(SMALL)))
def test_what_has_no_readable_equations_is_refused_with_the_reason(name, capsys):
    with pytest.raises(VbgError, match=r"no closed form|up to \d+ (operations )?are written out"):
        equations_of(system(name), "constraint")
    assert main(["show", "equations", str(EXAMPLES / f"{name}.toml")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_parameters_are_written_by_name():
    """Masses from shapes and levers from points show the parameters that they come from."""
    equations = equations_of(system("double-pendulum"))
    assert {str(s) for s in equations.parameters} == {"L1", "L2", "m1", "m2"}
    text = as_text(equations)
    assert "L1**2*m1/3" in text and "L1 = 0.5" in text
    other = equations_of(
        vbg.assemble(vbg.read(EXAMPLES / "double-pendulum.toml").with_parameters(L1=0.8, m2=0.3))
    )
    assert as_text(other).splitlines()[:-1] == text.splitlines()[:-1]
    latex = as_latex(equations)
    assert "L_{1}" in latex and "\\mathrm{L1}" not in latex


@pytest.mark.parametrize("name", ["pendulum", "double-pendulum", "dc-motor-start"])
def test_golden(name):
    model = vbg.read(GOLDEN / f"{name}.toml")
    found = as_text(equations_of(vbg.assemble(model))) + "\n"
    assert found == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_latex_has_one_line_for_each_equation():
    equations = equations_of(system("double-pendulum"))
    text = as_latex(equations)
    assert text.startswith("\\begin{align}") and text.count("\\\\\n") == 3
    assert "\\mathrm{hinge.speed}" in text


# one of each form; shaft-arm-slider has a parameter M, as the code has a matrix
COMPILED = ("double-pendulum", "shaft-arm-slider", "dc-motor-start", "heavy-top", "ball-screw-axis")


@pytest.mark.skipif(which("gcc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", COMPILED)
def test_c_function_gives_the_same_numbers(name, tmp_path):
    import ctypes

    equations = equations_of(system(name))
    source, library = tmp_path / "rate.c", tmp_path / "rate.so"
    source.write_text(as_c(equations))
    command = ["gcc", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    call = ctypes.CDLL(str(library)).rate
    states = {*equations.rates, *equations.speeds}
    further = [v for v in (equations.efforts, equations.modes) if v]
    rng = np.random.default_rng(4)
    x, *others = (rng.uniform(0.3, 0.9, len(v)) for v in (states, *further))
    dx = np.zeros(len(x))
    pointer = ctypes.POINTER(ctypes.c_double)
    call(ctypes.c_double(0.0), *(v.ctypes.data_as(pointer) for v in (x, *others, dx)))
    for text in (as_c(equations), as_python(equations)):
        assert ("set by the caller" in text) == bool(equations.modes)
    expected = function(as_python(equations))(0.0, x, *others)
    assert_allclose(dx, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_names_that_the_code_needs_are_left_to_it():
    """Parameters called as words of Python and C, or as arrays of the code."""
    parameters = {"M": 2.0, "lambda": 3.0, "double": 5.0, "x": 7.0}
    parts = {
        "m": {"kind": "mass", "nodes": ["a"], "m": "M"},
        "k": {"kind": "spring", "nodes": ["a", "frame"], "k": "lambda"},
        "c": {"kind": "damper", "nodes": ["a", "frame"], "c": "double"},
        "f": {"kind": "force", "nodes": ["a"], "force": "x"},
    }
    machine = vbg.Model(name="words", parameters=parameters, translational=parts)
    equations = equations_of(vbg.assemble(machine))
    assert {str(s) for s in equations.parameters} >= {"M", "lambda", "double"}
    values = function(as_python(equations))(0.0, np.array([0.5, 0.25]))
    speed, position = (0.5, 0.25) if "speed" in str(next(iter(equations.rates))) else (0.25, 0.5)
    expected = {(7.0 - 3.0 * position - 5.0 * speed) / 2.0, speed}
    assert_allclose(sorted(values), sorted(expected), rtol=1e-12)


def test_loops_have_a_minimal_form_with_what_closes_them(capsys):
    with pytest.raises(VbgError, match=r"closes a loop|is point_on_line"):
        equations_of(system("slider-crank"), "minimal")
    assert main(["show", "equations", str(EXAMPLES / "pendulum.toml"), "--python"]) == 0
    assert "def rate(t, x)" in capsys.readouterr().out
    minimal = ["show", "equations", str(EXAMPLES / "slider-crank.toml"), "--form", "minimal"]
    assert main([*minimal, "--numbers"]) == 0  # closed, see test_minimal_equations.py
    assert "# dependent" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(8))
def test_rates_of_a_network_at_every_scale_of_its_stores(seed):
    """A motor behind a filter: i' = (v - R i - K w) / L, w' = K i / J, v' = ((U - v) / Rs - i) / C,
    numbers with units of their own and up to 1e17 apart."""
    exponents = np.random.default_rng(seed).uniform((-13, -6, 0), (-10, 0, 4))
    C, L, J = (float(f"{10.0**e:.3g}") for e in exponents)
    wires = {"nodes": ["a", "gnd"]}
    motor = {"kind": "dc_motor", "on": "rotational.s", "R": 1.0, "L": L, "K": 3.0}
    equations = equations_of(
        vbg.assemble(
            vbg.Model(
                electric={
                    "src": {"kind": "voltage_source", "nodes": ["in", "gnd"], "voltage": 24.0},
                    "Rs": {"kind": "resistor", "nodes": ["in", "a"], "R": 10.0},
                    "C": {"kind": "capacitor", "C": C, **wires},
                    "M": {**motor, **wires},
                },
                rotational={"w": {"kind": "inertia", "nodes": ["s"], "J": J}},
            )
        ),
        "minimal",
    )
    names = [str(symbol) for symbol in equations.rates]
    w, v, i = "rotational.s.speed", "electric.a.voltage", "M.current"
    at = {w: 0.7, v: 5.0, i: 0.3}
    found = function(as_python(equations))(0.0, [at.get(name, 0.0) for name in names])
    right = {w: 3.0 * 0.3 / J, v: ((24.0 - 5.0) / 10.0 - 0.3) / C, i: (5.0 - 0.3 - 3.0 * 0.7) / L}
    for name, value in right.items():
        assert found[names.index(name)] == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize("seed", range(3))
def test_names_stay_where_numbers_agree_to_the_last_digit_but_one(seed):
    """i' = (U - R i - v) / L, v' = i / C: what is one block at some values, 1/L twice, is two at
    others."""
    R, L, C = map(float, np.random.default_rng(seed).uniform((90, 1, 1e-6), (110, 3, 3e-6)))
    model = vbg.Model(
        parameters={"R": R, "L": L, "C": C},
        electric={
            "src": {"kind": "voltage_source", "nodes": ["b", "gnd"], "voltage": 7.0},
            "l": {"kind": "inductor", "nodes": ["b", "c"], "L": "L"},
            "r": {"kind": "resistor", "nodes": ["c", "d"], "R": "R"},
            "c": {"kind": "capacitor", "nodes": ["d", "gnd"], "C": "C"},
        },
    )
    equations = equations_of(vbg.assemble(model), "auto")
    assert {str(s) for s in equations.parameters} == {
        "R",
        "L",
        "C",
    } and not equations.numbered.names
    found = function(as_python(equations))(0.0, [0.3, 5.0])
    assert found == pytest.approx([(7.0 - R * 0.3 - 5.0) / L, 0.3 / C], rel=1e-14)


def test_parameters_that_stay_numbers_are_told():
    """An angle that turns a frame; the mass beside it keeps its name."""
    model = vbg.Model(
        parameters={"turn": 0.3, "m": 2.0},
        bodies={"a": {"mass": "m", "inertia": {"xx": 1, "yy": 2, "zz": 3}}},
        joints={
            "j": {
                "kind": "prismatic",
                "between": ["ground", "a"],
                "axis": ["cos(turn)", 0, "sin(turn)"],
            }
        },
    )
    equations = equations_of(vbg.assemble(model), "minimal")
    assert equations.numbered.names == ("turn",)
    assert "# in numbers: turn (" in as_text(equations)


@pytest.mark.parametrize("stiff", [1e4, 1e10, 1e14])
def test_dampers_with_names_stay_beside_a_stiff_spring(stiff):
    """J q'' = -k q - (c + d) q' + m g r cos(q), k beside 7e-4: in text and numbers."""
    joint = {"kind": "revolute", "between": ["ground", "a.p"], "axis": [0, 1, 0]}
    model = vbg.Model(
        parameters={"k": stiff, "c": 4e-4, "d": 3e-4},
        bodies={
            "a": {
                "mass": 2,
                "inertia": {"xx": 0.01, "yy": 0.03, "zz": 0.03},
                "points": {"p": [-0.2, 0, 0]},
            }
        },
        joints={"j": {**joint, "friction": {"viscous": "d"}}},
        forces={"s": {"kind": "torsion_spring", "on": "joints.j", "k": "k", "c": "c"}},
    )
    equations = equations_of(vbg.assemble(model), "minimal")
    (speed,) = (value for name, value in equations.rates.items() if str(name) == "j.speed")
    parts = {str(symbol): speed.diff(symbol) for symbol in speed.free_symbols}
    assert float(parts["c"].coeff(next(iter(parts["c"].free_symbols)))) == pytest.approx(-1 / 0.11)
    assert {"c", "d", "k"} <= parts.keys()
