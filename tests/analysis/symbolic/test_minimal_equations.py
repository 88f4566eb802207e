"""Symbolic equations in minimal coordinates, closed loops and joint forces: they are the motion."""

import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import only
from vbg.cli.main import main
from vbg.errors import UsageError, VbgError
from vbg.io import toml
from vbg.model.text.plain import thaw

sympy = pytest.importorskip("sympy")

from benchmarks.accuracy.kane import balls, chain, kane, operations, paper, size_of_kane  # noqa: E402
from vbg.analysis.symbolic.loops.code.c import as_c  # noqa: E402
from vbg.analysis.symbolic.loops.code.coding import code_of  # noqa: E402
from vbg.analysis.symbolic.loops.code.fortran import as_fortran  # noqa: E402
from vbg.analysis.symbolic.loops.code.python import as_python  # noqa: E402
from vbg.analysis.symbolic.loops.deriving import minimal_equations  # noqa: E402
from vbg.analysis.symbolic.loops.reduced import size_of  # noqa: E402
from vbg.analysis.symbolic.loops.text import as_text  # noqa: E402
from vbg.plumbing.components import vector_of  # noqa: E402

EXAMPLES = Path(__file__).parents[3] / "examples"
TIGHT = {"rtol": 1e-12, "atol": 1e-14}
SPANS = {
    "slider-crank": 0.2,
    "shaft-arm-slider": 0.5,
    "two-link-robot": 0.8,
    "spatial-four-bar": 0.05,
    "wishbone-corner": 0.3,
    "hydraulic-arm": 0.1,
    "triple-pendulum": 0.3,
    "andrews-squeezer": 0.02,
    "heavy-top": 0.2,
    "free-body": 0.5,
}
FIRST = ["slider-crank", "shaft-arm-slider", "two-link-robot"]


@cache
def example(name, names=False):
    """An example; cylinders without the stops at their ends, which have modes."""
    text = (
        (EXAMPLES / f"{name}.toml").read_text("utf-8").replace("stroke = 10", "stroke = 10\nk = 0")
    )
    system = vbg.assemble(toml.parse(text, str(EXAMPLES / f"{name}.toml")))
    return system, minimal_equations(system, names=names, start=vbg.start(system))


def programs_of(equations):
    return [writer(code_of(equations)) for writer in (as_python, as_c, as_fortran)]


def module(equations):
    space = {"__name__": "machine"}
    exec(compile(as_python(code_of(equations)), "machine", "exec"), space)
    return space


def agrees(found, solution, row, tolerance=1e-9):
    """Every output of the equations with the run's, of the largest of its kind in the run."""
    names = list(dict.fromkeys(vector_of(name) for name in found))
    names = [name for name in names if name in solution.signals]
    kinds = {name.rpartition(".")[2] for name in names}
    largest = {
        kind: max(np.abs(solution[n]).max() for n in names if n.endswith(f".{kind}"))
        for kind in kinds
    }
    for name in names:
        values = [v for key, v in found.items() if vector_of(key) == name]
        scale = max(largest[name.rpartition(".")[2]], 0.1 * largest["force"])
        assert_allclose(values, np.ravel(solution[name][row]), atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize("name", only(FIRST, SPANS))
def test_joint_forces_and_rates_along_a_run(name):
    """At states of a run of the compiled system: joint forces, speeds of all coordinates, and
    the rates of the speeds against the slope of the run."""
    system, equations = example(name, names=name in FIRST)
    code = module(equations)
    t_end = SPANS[name]
    solution = vbg.simulate(system, t_end=t_end, output_step=t_end / 4, **TIGHT)
    if not all(n in solution.signals for n in map(str, equations.q)):
        pytest.skip("Cardan angles are no signals: the programs are run below")
    for row in range(
        1 if equations.states else len(solution.time)
    ):  # theirs are known at the start
        q = np.array([solution[str(one)][row] for one in equations.q])
        y = [q[i] for i in equations.independent]
        y += [solution[str(equations.u[i])][row] for i in equations.independent]
        y += [equations.start[state] for state in equations.states]
        found = code["forces"](solution.time[row], np.array(y), q.copy())
        agrees(found, solution, row)
        _, u, _, _ = code["evaluate"](solution.time[row], np.array(y), q)
        speeds = [solution[str(one)][row] for one in equations.u]
        assert_allclose(u, speeds, atol=1e-9 * max(1.0, np.abs(speeds).max()))


@pytest.mark.parametrize(
    ("example", "line", "mode"),
    [
        ("pendulum", 'axis = [0, 1, 0]\nstop = { upper = "9 deg", k = 1e3 }', "touching"),
        ("hydraulic-arm", "stroke = 10", r"cylinder\.stop\.in\.touching, .*out\.touching"),
    ],
)
def test_a_program_that_would_pass_stops_unseen_is_refused(example, line, mode):
    text = (EXAMPLES / f"{example}.toml").read_text("utf-8")
    text = text.replace(line.partition("\n")[0], line)
    equations = minimal_equations(vbg.assemble(toml.parse(text)))
    assert "touching" in as_text(equations, forces=True)
    with pytest.raises(VbgError, match=f"no program of its own: .*{mode}.*k = 0"):
        code_of(equations)


LANGUAGES = {
    "c": ("cc", as_c, "m.c", ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-lm"]),
    "fortran": ("gfortran", as_fortran, "m.f90", ["-std=f2008", "-O1"]),
}


def program(folder, text, compiler, file, flags, arguments):
    """What a written program prints, compiled without warnings and run to its end."""
    (folder / file).write_text(text)
    own = [f for f in flags if f != "-lm"]
    last = ["-lm"] if "-lm" in flags else []
    subprocess.run([compiler, *own, file, "-o", "m", *last], cwd=folder, check=True)
    command = [folder / "m", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = dict(line.split("=") for line in done.stdout.splitlines())
    return {key.strip(): float(value) for key, value in found.items()}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("name", "steps"),
    only(
        [("slider-crank", 4000), ("two-link-robot", 10)],
        [
            ("slider-crank", 4000),
            ("two-link-robot", 10),
            ("shaft-arm-slider", 4000),
            ("spatial-four-bar", 8000),
            ("triple-pendulum", 4000),
            ("free-body", 4000),
        ],
    ),
)
def test_programs_run_by_themselves(name, steps, language, tmp_path):
    """Compiled without warnings, from the start to an end: motion and joint forces to 1e-9."""
    compiler, writer, file, flags = LANGUAGES[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    system, equations = example(name, names=name in FIRST)
    if name == "slider-crank":  # whose slide is free up to the dead points only
        equations = minimal_equations(system, independent=("slide.slide",), start=vbg.start(system))
        assert equations.independent == (2,)
    t_end = SPANS[name]
    text = writer(code_of(equations))
    found = program(tmp_path, text, compiler, file, flags, (t_end, steps))
    solution = vbg.simulate(system, t_end=t_end, output_step=t_end / 4, **TIGHT)
    outputs = {k: v for k, v in found.items() if vector_of(k).endswith((".force", ".torque"))}
    if system.model.joints:
        assert len(outputs) >= 6
        agrees(outputs, solution, -1)
    for body in system.model.bodies:
        for i, axis in enumerate("xyz"):
            if f"{body}.{axis}" in found:  # a free one
                at = solution[f"{body}.position"][-1][i]
                assert_allclose(found[f"{body}.{axis}"], at, atol=1e-9)
    for key, value in found.items():
        if key.endswith((".angle", ".slide")):
            assert_allclose(value, solution[key][-1], rtol=1e-9, atol=1e-9)


def test_the_motion_by_another_integrator():
    from scipy.integrate import solve_ivp

    system, equations = example("slider-crank", names=True)
    code = module(equations)
    q = code["q_start"].copy()
    t_end = SPANS["slider-crank"]
    run = solve_ivp(
        lambda t, y: code["rate"](t, y, q),
        (0, t_end),
        code["y_start"],
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    )
    solution = vbg.simulate(system, t_end=t_end, output_step=t_end, **TIGHT)
    assert_allclose(run.y[0, -1], solution["A.angle"][-1], rtol=1e-9)


def test_parameters_may_take_other_values():
    """The equations with names are those of every machine of the file."""
    system, equations = example("two-link-robot", names=True)
    model = system.model.with_parameters(T=1.25, L1=0.5)
    values = {s: model.parameters[str(s)] for s in equations.parameters}
    assert {"T", "L1"} <= {str(s) for s in values}
    other = replace(equations, parameters=values)
    solution = vbg.simulate(vbg.assemble(model), t_end=0.5, output_step=0.1, **TIGHT)
    code = module(other)
    for row in range(6):
        found = code["forces"](solution.time[row], np.zeros(0), code["q_start"].copy())
        agrees(found, solution, row)


@pytest.mark.parametrize(
    ("count", "closed"), only([(3, ""), (2, "slide")], [(3, ""), (2, "slide"), (3, "pin")])
)
def test_shorter_than_kane(count, closed):
    """Common parts named on both sides; of the chain the mass matrices are equal, too."""
    equations = minimal_equations(vbg.assemble(chain(count, closed=closed)))
    assert size_of(equations) < size_of_kane(count, closed)
    if not closed:
        method, _ = kane(count)
        values = dict(zip(method.q, np.linspace(0.2, 1.1, count), strict=True))
        values |= dict(zip(sympy.symbols("m J l", positive=True), (1.3, 0.11, 0.7), strict=True))
        own = dict(zip(equations.q, np.linspace(0.2, 1.1, count), strict=True))
        own |= equations.parameters
        mine = np.array(equations.mass.xreplace(own).tolist(), dtype=float)
        theirs = np.array(method.mass_matrix.subs(values).tolist(), dtype=float)
        assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.slow
def test_shorter_than_kane_in_space():
    """The paper's shaft, arm and slider; three links on ball joints, by the same angles."""
    for make in (paper, balls):
        model, method = make()
        equations = minimal_equations(vbg.assemble(model), forces=False)
        assert size_of(equations) < operations([*method.mass_matrix, *method.forcing])


def test_text_is_short_and_without_rounding():
    """Three links: products of cosines are cosines of differences, nothing of 1e-12 is left."""
    equations = minimal_equations(vbg.assemble(chain(3)))
    text = as_text(equations, forces=False)
    assert not any(abs(f) < 1e-6 for f in sympy.sympify(sum(equations.loads)).atoms(sympy.Float))
    assert "cos(P1.angle)" in text and "P0.angle + P1.angle" in text
    assert max(map(len, text.splitlines())) < 1200
    assert operations([*equations.mass]) < 60


LEG = """
gravity = [0, 0, -9.81]

[bodies.lower]
mass = {mass:g}
inertia = {{ xx = {xx:g}, yy = {yy:g}, zz = {zz:g} }}
points = {{ base = [0, 0, {down:g}], middle = [0, 0, {up:g}] }}

[bodies.upper]
mass = {mass:g}
inertia = {{ xx = {xx:g}, yy = {yy:g}, zz = {zz:g} }}
points = {{ middle = [0, 0, {down:g}], tip = [0, 0, {up:g}] }}

[joints.base]
kind = "universal"
between = [{{ body = "ground", at = {at} }}, "lower.base"]
axis = {axis}
axis2 = {axis2}

[joints.leg]
kind = "prismatic"
between = ["lower.middle", "upper.middle"]
axis = [0, 0, 1]
"""


def skew_leg(seed, size):
    """A leg that turns about two skew axes and slides; lengths of `size`, a density of water."""
    rng = np.random.default_rng(seed)
    axis, other = rng.normal(size=(2, 3))
    axis2 = np.cross(axis, other)
    mass = 1000.0 * size**3
    at = [float(x) for x in size * rng.uniform(-1.0, 1.0, size=3)]
    text = LEG.format(
        mass=mass,
        xx=0.3 * mass * size**2,
        yy=0.31 * mass * size**2,
        zz=0.02 * mass * size**2,
        up=0.25 * size,
        down=-0.25 * size,
        at=at,
        axis=axis.tolist(),
        axis2=axis2.tolist(),
    )
    return toml.parse(text, "leg.toml")


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "size"), [(1, 1.0), (2, 1e-6), (3, 1e4)])
def test_turns_about_skew_axes_leave_no_rounding(seed, size):
    """No number in an entry of M is 1e-13 of sqrt(M_ii M_jj), what products of turns leave of
    nothing; with what is left joint forces are those of the run."""
    system = vbg.assemble(skew_leg(seed, size))
    equations = minimal_equations(system, names=False)
    slide = {q: sympy.Float(size) for q in equations.q if str(q).endswith("slide")}

    def numbers(entry):
        terms = sympy.Add.make_args(sympy.expand(entry).xreplace(slide))
        return [abs(float(term.as_coeff_Mul()[0])) for term in terms]

    M = equations.mass
    own = [max(numbers(M[i, i])) for i in range(3)]
    for i in range(3):
        for j in range(3):
            bound = 1e-13 * np.sqrt(own[i] * own[j])
            assert all(n == 0.0 or n > bound for n in numbers(M[i, j])), (i, j)
    code = module(equations)
    solution = vbg.simulate(system, t_end=0.05, output_step=0.05, **TIGHT)
    agrees(code["forces"](0.0, code["y_start"], code["q_start"].copy()), solution, 0)


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("stiff", [2e8, 3e16])
def test_terms_of_other_units_stay_beside_a_stiff_spring(stiff, names):
    """J q'' = -k q - c q' - d cos(t), c and d 1e15 and 1e23 times as small as k."""
    model = vbg.Model(
        parameters={"c": 1e-7},
        bodies={"a": {"mass": 2, "inertia": {"xx": 0.01, "yy": 0.03, "zz": 0.03}}},
        joints={"j": {"kind": "revolute", "between": ["ground", "a"], "axis": [0, 1, 0]}},
        signals={
            "u": {"kind": "expression", "expression": f"{stiff}*j.angle + c*j.speed + 3e-7*cos(t)"}
        },
        forces={"k": {"kind": "torque", "on": "joints.j", "torque": ["-u"]}},
    )
    (load,) = minimal_equations(vbg.assemble(model), names=names).loads
    at = {"j.angle": 0.0, "j.speed": 2.0, "t": 1.1, "c": 1e-7}
    found = float(load.xreplace({s: at[str(s)] for s in load.free_symbols}))
    assert found == pytest.approx(-2e-7 - 3e-7 * np.cos(1.1), rel=1e-14)


def rods(seed, light):
    """Two rods on ball joints, of `light` times the density of steel."""
    rng = np.random.default_rng(seed)
    model = vbg.read(EXAMPLES / "triple-pendulum.toml")
    document = {key: value for key, value in thaw(model.document).items() if key != "simulate"}
    for table in ("bodies", "joints"):
        document[table] = dict([*document[table].items()][:2])
    document.pop("measures", None)
    given = {"L": rng.uniform(0.1, 0.4), "radius": rng.uniform(0.003, 0.01)}
    document["parameters"] = {k: float(v) for k, v in given.items()} | {"steel": 7850 * light}
    return vbg.Model.from_document(document)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_joint_forces_have_no_terms_of_rounding(seed):
    """Of round bodies J_yy - J_zz is a last digit, at every density: no number that is rounding
    beside the masses and inertias that it comes from."""
    for light in (1.0, 1e-6, 1e3):
        found = minimal_equations(vbg.assemble(rods(seed, light)), names=False)
        every = [*found.mass, *found.loads, *(c for three in found.outputs.values() for c in three)]
        numbers = [abs(float(n)) for entry in every for n in entry.atoms(sympy.Float)]
        assert min(numbers) > 1e-9 * min(light, 1.0)


def test_the_command_line_says_what_there_is_not(capsys, tmp_path):
    crank = str(EXAMPLES / "slider-crank.toml")
    assert main(["show", "equations", crank, "--independent", "B.angel", "--numbers"]) == 2
    assert "A.angle, B.angle, slide.slide" in capsys.readouterr().err
    assert main(["show", "equations", crank, "--form", "minimal", "--c"]) == 2
    assert "--program" in capsys.readouterr().err
    motor = str(EXAMPLES / "motor-slider-crank.toml")
    assert main(["show", "equations", motor, "--form", "minimal", "--numbers"]) == 1
    assert "electric.motor" in capsys.readouterr().err


def test_a_redundant_loop_shares_its_efforts():
    """A joint closed twice: the motion is the same, and the sum of the two is what one carried."""
    model = chain(2, closed="slide")
    twice = dict(model.document["joints"]) | {"S2": model.document["joints"]["S"]}
    again = vbg.Model(**(dict(model.document) | {"joints": twice}))
    one = minimal_equations(vbg.assemble(model), names=False)
    both = minimal_equations(vbg.assemble(again), names=False)
    assert not one.shared and len(both.shared) == 1 and both.shared[0].startswith("S")
    assert "efforts are shared" in as_text(both, forces=False)
    first, second = module(one), module(both)
    y = first["y_start"] + np.array([0.2, 1.3])
    assert_allclose(second["rate"](0.0, y), first["rate"](0.0, y), rtol=1e-12)
    alone, shared = first["forces"](0.0, y), second["forces"](0.0, y)
    for name, value in alone.items():
        joint, _, rest = name.partition(".")
        found = shared[name] + (shared[f"S2.{rest}"] if joint == "S" else 0.0)
        assert_allclose(found, value, atol=1e-10 * max(map(abs, alone.values())))
    with pytest.raises(UsageError, match="1 free, such as"):
        minimal_equations(vbg.assemble(again), names=False, independent=("P0.angle", "P1.angle"))


def test_a_second_run_of_a_program_begins_where_the_first_did():
    """The first one passes dead points of the slide and ends with another free coordinate."""
    system = vbg.assemble(vbg.read(EXAMPLES / "slider-crank.toml"))
    made = module(minimal_equations(system, independent=("slide.slide",)))
    first, free = made["run"](0.05, 200)[1], list(made["free"])
    assert free != made["free_start"]
    assert np.array_equal(made["run"](0.05, 200)[1], first)


def test_loops_that_do_not_close_end_the_program():
    """A crank longer than its rod goes up to the dead point and no further."""
    _, equations = example("slider-crank", names=True)
    code = module(
        replace(equations, parameters=equations.parameters | {sympy.Symbol("r", real=True): 0.2})
    )
    y = code["y_start"].copy()
    code["rate"](0.0, y)
    with pytest.raises(ArithmeticError, match=r"do not close|choose others"):
        for _ in range(80):
            y[0] += 0.02
            code["rate"](0.0, y)


def test_efforts_that_no_motion_feels_are_told():
    """Of a plane loop of hinges: one force and two torques out of the plane."""
    hinge = {"kind": "revolute", "axis": [0, 0, 1]}
    rod = {"mass": 1, "inertia": dict.fromkeys(("xx", "yy", "zz"), 0.01)}
    ends = {"points": {"p": [-0.15, 0, 0], "s": [0.15, 0, 0]}}
    pins = {
        "A": {"between": ["ground", "a.p"], "initial": {"angle": 1.2}},
        "B": {"between": ["a.s", "b.p"], "initial": {"angle": -1.1}},
        "C": {"between": ["b.s", "c.s"]},
        "D": {
            "between": [{"body": "ground", "at": [0.35, 0, 0]}, "c.p"],
            "initial": {"angle": 1.3},
        },
    }
    model = vbg.Model(
        bodies={name: {**rod, **ends} for name in "abc"},
        joints={name: {**hinge, **pin} for name, pin in pins.items()},
    )
    system = vbg.assemble(model)
    equations = minimal_equations(system, names=False, start=vbg.start(system), forces=True)
    assert len(equations.idle) == 3 and not equations.shared
    for told in (as_text(equations, forces=True), *programs_of(equations)):
        assert "D.effort[4]: no motion feels them (redundant); not unique, taken as 0 in " in told
        assert "force and torque of D, from which other joints' follow" in told.replace("\n! ", "")
    _, determined = example("slider-crank")
    assert not any("redundant)" in one for one in programs_of(determined))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_program_of_bennetts_linkage(language, tmp_path):
    """Two turns through postures at which other closures are the independent ones."""
    compiler, writer, file, flags = LANGUAGES[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    system, equations = example("bennett")
    assert len(equations.shared) == 3
    found = program(tmp_path, writer(code_of(equations)), compiler, file, flags, (2.0, 8000))
    solution = vbg.simulate(system, t_end=2.0, output_step=2.0, **TIGHT)
    assert_allclose(found["J1.angle"], solution["J1.angle"][-1], rtol=1e-9)
    mass = {b: system.model.bodies[b].mass for b in "AB"}
    for body, near, far in (("A", "J1", "J2"), ("B", "J2", "J3")):
        for i, axis in enumerate("xyz"):  # what they carry is shared, but it moves the bodies
            pull = found[f"{near}.force.{axis}"] - found[f"{far}.force.{axis}"]
            a = solution[f"{body}.acceleration"][-1][i] + (9.81 if i == 2 else 0.0)
            assert_allclose(pull, mass[body] * a, atol=1e-8)


def test_gears_are_refused_by_name():
    system = vbg.assemble(vbg.read(EXAMPLES / "gear-pair.toml"))
    with pytest.raises(VbgError, match="is a gear, a coupling"):
        minimal_equations(system, names=False)
