"""Runs that begin at rest, in balance, or where another one stopped: closed forms, both ways."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from vbg.errors import AssemblyError, ModelError, UsageError
from vbg.fields import Beginning

EXAMPLES = Path(__file__).parents[2] / "examples"
HANGING = """
vbg = 1
[parameters]
s = 1.0
[bodies.load]
mass = "3*s**3"
inertia = { xx = "0.1*s**5", yy = "0.1*s**5", zz = "0.1*s**5" }
[joints.guide]
kind = "prismatic"
between = ["ground", "load"]
axis = [0, 0, 1]
[forces.spring]
kind = "spring"
on = "joints.guide"
k = "400*s**2"
length = 0
[forces.damper]
kind = "damper"
on = "joints.guide"
c = "s**2.5"
[simulate]
t_end = "0.5*s**0.5"
output_step = "5e-3*s**0.5"
start = "equilibrium"
"""

LIFT = """
vbg = 1
[bodies.load]
mass = 500
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.guide]
kind = "prismatic"
between = ["ground", "load"]
axis = [0, 0, 1]
initial = { slide = 0.2 }
[hydraulic.cylinder]
kind = "cylinder"
nodes = ["a", "b"]
on = "joints.guide"
area_a = "20 cm^2"
area_b = "12 cm^2"
stroke = 1.0
[hydraulic.back]
kind = "laminar_resistance"
nodes = ["b", "tank"]
conductance = 1e-9
[simulate]
t_end = 0.2
start = { balance = ["cylinder"] }
"""


PUSHED = """
[forces.push]
kind = "force"
on = "load"
force = [0, 0, "3*sin(40*t)"]
[electric.U]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = 5
[electric.R]
kind = "resistor"
nodes = ["a", "b"]
R = 100
[electric.leak]
kind = "resistor"
nodes = ["b", "gnd"]
R = 300
[electric.C]
kind = "capacitor"
nodes = ["b", "gnd"]
C = 1e-3
"""


def parse(text):
    from vbg.io import toml

    return toml.parse(text, "")


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_hanging_mass_rests_where_its_spring_holds_it(scale):
    model = parse(HANGING).with_parameters(s=scale)
    solution = vbg.simulate(model)
    hang = -3 * scale**3 * 9.81 / (400 * scale**2)
    assert solution["guide.slide"][0] == pytest.approx(hang, rel=1e-9)
    assert np.ptp(solution["guide.slide"]) <= 1e-9 * abs(hang)
    assert any("rests" in note.what for note in solution.notes)
    written = vbg.simulate(model, start="written")
    assert written["guide.slide"][0] == 0.0
    assert written["guide.slide"].min() < 1.5 * hang


def test_a_pressure_is_found_that_holds_the_load_as_it_is_written():
    system = vbg.assemble(parse(LIFT))
    start = vbg.start(system)
    pressure = start.outputs(0.0, start.state)["cylinder.pressure_a"][0]
    other = start.outputs(0.0, start.state)["cylinder.pressure_b"][0]
    assert abs(other) < 1.0  # not pulling
    assert 20e-4 * pressure - 12e-4 * other == pytest.approx(500 * 9.81, rel=1e-9)
    solution = vbg.simulate(start)
    assert solution["guide.slide"][0] == pytest.approx(0.2, abs=1e-14)
    assert abs(solution["guide.speed"]).max() < 1e-9


def test_what_holds_nothing_or_cannot_hold_is_said():
    model = parse(LIFT)
    with pytest.raises(UsageError, match="back holds nothing"):
        vbg.start(model, Beginning(balance=("back",)))
    away = LIFT.replace('balance = ["cylinder"]', 'balance = ["cylinder.position[0]"]')
    line = away[: away.index("start = {")].count("\n") + 1
    with pytest.raises(UsageError, match=rf"\A(\S*:)?{line}:1: error: simulate.start: there is no"):
        vbg.start(parse(away))
    with pytest.raises(ModelError, match="unknown part"):
        parse(LIFT.replace('balance = ["cylinder"]', 'balance = ["zylinder"]'))
    free = LIFT.replace('on = "joints.guide"', 'on = "translational.rod"')
    free += '[translational.rod]\nkind = "mass"\nnodes = ["rod"]\nm = 1\n'
    with pytest.raises(AssemblyError, match="cannot hold the machine"):
        vbg.start(parse(free))


def test_a_pressure_that_would_have_to_pull_is_named():
    """The chamber that would have to pull is named: told of the load alone, one would look for a
    part that is missing."""
    lifted = LIFT.replace("vbg = 1", "vbg = 1\ngravity = [0, 0, 9.81]")
    with pytest.raises(AssemblyError, match="cannot hold the machine") as told:
        vbg.start(parse(lifted.replace('["cylinder"]', '["cylinder.pressure_a"]')))
    problem = told.value.problems[0]
    assert "load is left" in problem.what
    assert "cylinder.pressure_a would have to be below zero" in problem.what
    assert "cylinder.pressure_b" not in problem.what
    assert "other chamber" in problem.remedy


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('"equilibrum"', "equilibrium"),
        ('"run.h5"', "Write { file"),
        ("{ at = 1.0 }", "a start must be one of"),
        ('{ file = "run.txt" }', "a result must end in"),
        ("3", "expected"),
        ('{ file = "a.h5", balance = ["b"] }', "a start must be one of"),
    ],
)
def test_a_wrong_start_is_told_with_its_remedy(written, said):
    with pytest.raises(ModelError, match=said):
        parse(HANGING.replace('start = "equilibrium"', f"start = {written}"))


def test_a_wheel_that_is_driven_has_no_rest():
    text = """
[rotational.wheel]
kind = "inertia"
nodes = ["a"]
J = 0.1
[rotational.push]
kind = "torque"
nodes = ["a"]
torque = 2
[simulate]
start = "equilibrium"
"""
    with pytest.raises(AssemblyError, match="no rest is found") as caught:
        vbg.start(parse(text))
    written = text.splitlines().index('start = "equilibrium"') + 1
    assert caught.value.problems[0].line == written


@pytest.mark.parametrize("name", ["servo-hydraulic", "rlc-ladder", "excavator-arm"])
def test_the_state_of_a_circuit_is_read_off_its_signals(name):
    model = vbg.read(EXAMPLES / f"{name}.toml")
    system = vbg.assemble(model)
    whole = vbg.simulate(system, t_end=60 * model.simulate.output_step)
    at = float(whole.time[50])
    start = vbg.start(system, whole, at=at)
    for signal, value in start.outputs(at, start.state).items():
        if not signal.startswith("energy."):
            size = np.abs(whole[signal]).max()
            expected = np.atleast_1d(whole[signal][50])
            assert np.ravel(value) == pytest.approx(expected, abs=1e-7 * size + 1e-12), signal


@pytest.mark.parametrize("seed", range(6))
def test_a_charge_is_read_off_its_voltage_and_not_off_a_power_that_is_zero_twice(seed):
    """u = U R2/(R1 + R2) (1 - exp(-t/T)): C.power is zero at u = 0, the written start, and at
    the end of charging."""
    rng = np.random.default_rng([16, seed])
    U, R1, R2, T = (10.0 ** rng.uniform(-2, 3) for _ in range(4))
    C = T * (R1 + R2) / (R1 * R2)
    model = parse(f"""
vbg = 1
name = "divider"
[electric.V]
kind = "voltage_source"
nodes = ["p", "gnd"]
voltage = {U!r}
[electric.R1]
kind = "resistor"
nodes = ["p", "q"]
R = {R1!r}
[electric.C]
kind = "capacitor"
nodes = ["q", "gnd"]
C = {C!r}
[electric.R2]
kind = "resistor"
nodes = ["q", "gnd"]
R = {R2!r}
[simulate]
t_end = {40.0 * T!r}
output_step = {2.0 * T!r}
""")
    whole = vbg.simulate(model)
    for row in (1, 5, 20):
        start = vbg.start(model, whole, at=float(whole.time[row]))
        assert [note.severity for note in start.notes] == ["note"]
        voltage = float(np.ravel(start.outputs(0.0, start.state)["C.voltage"])[0])
        final = U * R2 / (R1 + R2)
        charged = final * -np.expm1(-whole.time[row] / T)
        assert voltage == pytest.approx(charged, rel=1e-6)


def test_halves_are_the_whole_and_files_of_every_format_start_it(tmp_path):
    from vbg.io.runs import csv, hdf5
    from vbg.io.runs import json as json_file

    model = parse(HANGING)
    system = vbg.assemble(model)
    whole = vbg.simulate(system, start="written", t_end=0.5)
    at = 40
    hdf5.write(whole, tmp_path / "a.h5")
    csv.write(whole, tmp_path / "a.csv")
    json_file.write(whole, tmp_path / "a.json")
    for name in ("a.h5", "a.csv", "a.json"):
        loaded = vbg.load(tmp_path / name)
        rest = vbg.simulate(system, start=loaded, at=float(whole.time[at]), t_end=0.3)
        size = np.abs(whole["guide.slide"]).max()
        assert np.abs(rest["guide.slide"] - whole["guide.slide"][at:]).max() < 1e-7 * size
    changed = model.edited(("forces", "spring", "k"), 800.0)
    again = vbg.simulate(changed, start=whole, at=float(whole.time[at]), t_end=0.01)
    assert again["guide.slide"][0] == pytest.approx(whole["guide.slide"][at], abs=1e-12)
    assert any("do not begin as in the result" in note.what for note in again.notes)
    with pytest.raises(UsageError, match=r"no row at 0\.1234 s"):
        vbg.start(system, whole, at=0.1234)
    with pytest.raises(UsageError, match="no signal of"):
        vbg.start(vbg.assemble(vbg.read(EXAMPLES / "rlc-ladder.toml")), whole)


def test_a_rotor_whose_momentum_no_signal_tells_turns_with_its_joint():
    text = """
vbg = 1
[bodies.rod]
mass = 1
inertia = { xx = 0.01, yy = 0.1, zz = 0.1 }
points = { A = [-0.25, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
initial = { angle = "30 deg", speed = "2 rad/s" }
[rotational.rotor]
kind = "inertia"
nodes = ["joint:hinge"]
J = 0.05
[simulate]
t_end = 0.4
output_step = 0.1
"""
    system = vbg.assemble(parse(text))
    whole = vbg.simulate(system)
    start = vbg.start(system, whole, at=0.2)
    assert not [note for note in start.notes if note.severity == "warning"]
    speed = start.outputs(0.0, start.state)["hinge.speed"]
    assert speed == pytest.approx(whole["hinge.speed"][2], rel=1e-10)


def test_a_machine_with_turns_and_loops_goes_on(tmp_path):
    model = vbg.read(EXAMPLES / "slider-crank.toml")
    system = vbg.assemble(model)
    whole = vbg.simulate(system, t_end=1.0)
    start = vbg.start(system, whole, at=0.5)
    row = int(np.argmin(abs(whole.time - 0.5)))
    assert whole["A.angle"][row] > 7.0  # more than a turn
    rest = vbg.simulate(start, t_end=0.5)
    for name in ("A.angle", "A.force", "slide.slide"):
        size = np.abs(whole[name]).max()
        assert np.abs(rest[name] - whole[name][row:]).max() < 2e-6 * size, name


def test_the_model_names_a_result_of_its_own_folder(tmp_path, monkeypatch):
    from vbg.io.runs import hdf5

    monkeypatch.delenv("VBG_ALLOW_INCLUDE", raising=False)
    whole = vbg.simulate(parse(HANGING), start="written", t_end=0.1)
    text = HANGING.replace('"equilibrium"', '{ file = "runs/a.h5", at = "50 ms" }')
    (tmp_path / "m.toml").write_text(text)
    (tmp_path / "runs").mkdir()
    hdf5.write(whole, tmp_path / "runs" / "a.h5")
    start = vbg.start(vbg.read(tmp_path / "m.toml"))
    slide = start.outputs(0.0, start.state)["guide.slide"][0]
    assert slide == pytest.approx(whole["guide.slide"][10], abs=1e-13)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "m.toml").write_text(text.replace("runs/", "../runs/"))
    with pytest.raises(UsageError, match="not below the folder"):
        vbg.start(vbg.read(tmp_path / "inner" / "m.toml"))


def test_the_second_solver_is_handed_the_start():
    """A charge and a posture at rest, pushed from there on."""
    report = vbg.validate(parse(HANGING + PUSHED), t_end=0.1, in_children=False)
    assert report.result == "PASS"
    assert any("was handed the start" in note for note in report.verdict.notes)
    first, second = (report.solutions[name] for name in ("vbg", "mstmm"))
    assert first["C.voltage"][0] == second["C.voltage"][0] == pytest.approx(3.75, rel=1e-9)
    for name in ("guide.speed", "guide.slide"):
        size = np.abs(first[name]).max()
        assert np.abs(first[name] - second[name]).max() < 1e-7 * size
    assert np.ptp(first["guide.slide"]) > 1e-6  # it is pushed out of its rest


def test_a_state_of_the_wrong_size_is_refused():
    from vbg.assemble import start_at

    system = vbg.assemble(parse(HANGING))
    with pytest.raises(UsageError, match="numbers"):
        start_at(system, np.zeros(3))
    with pytest.raises(UsageError, match="no value"):
        start_at(system, np.full(system.size, np.nan))


def jack(back: float, mass: float, **more) -> vbg.Model:
    """A load on a cylinder whose ports are shut, `back` on the side of its rod."""
    cylinder = {
        "kind": "cylinder",
        "nodes": ["a", "b"],
        "on": "joints.guide",
        "area_a": "20 cm^2",
        "area_b": "12 cm^2",
        "stroke": 1.0,
        "pressure_a": "equilibrium",
        "pressure_b": back,
    }
    guide = {"kind": "prismatic", "between": ["ground", "load"], "axis": [0, 0, 1]}
    return vbg.Model(
        bodies={"load": {"mass": mass, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={"guide": {**guide, "initial": {"slide": 0.2}}},
        hydraulic={"cylinder": cylinder},
        **more,
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_pressure_that_is_written_equilibrium_holds_the_load(seed):
    """p_a A_a = m g + p_b A_b, and what is written stays."""
    rng = np.random.default_rng(seed)
    back, mass = 10.0 ** rng.uniform(4, 7), 10.0 ** rng.uniform(0, 4)
    solution = vbg.simulate(jack(back, mass), t_end=0.1)
    expected = (mass * 9.81 + back * 12e-4) / 20e-4
    assert solution["cylinder.pressure_b"][0] == pytest.approx(back, rel=1e-9)
    assert solution["cylinder.pressure_a"] == pytest.approx(expected, rel=1e-7)
    assert np.abs(solution["guide.speed"]).max() < 1e-9
    assert any("cylinder.pressure_a balances" in note.what for note in solution.notes)


def boom(turn, length, mass, hook):
    """A boom about a pin at the origin that a cylinder holds level, a load below its tip; all of
    it turned.  (model, weight's moment over the lever of the cylinder)"""

    def at(x, z):
        return (turn @ [x * length, 0.0, z * length]).tolist()

    def body(share, x, z, **points):
        J = share * mass * length**2 * 0.1
        return {
            "mass": share * mass,
            "inertia": {"xx": J, "yy": 1.1 * J, "zz": 1.2 * J},
            "position": at(x, z),
            "points": points,
        }

    cylinder = {
        "kind": "cylinder",
        "between": [{"body": "ground", "at": at(0.2, -0.6)}, "boom.C"],
        "nodes": ["a", "b"],
        "area_a": "20 cm^2",
        "area_b": "12 cm^2",
        "length": 0.4 * length,
        "stroke": 0.5 * length,
        "pressure_a": "equilibrium",
        "pressure_b": "5 bar",
    }
    axis = (turn @ [0, -1, 0]).tolist()
    pin = {"kind": "revolute", "axis": axis, "between": ["ground", "boom.A"]}
    model = vbg.Model(
        gravity=(turn @ [0, 0, -9.81]).tolist(),
        bodies={
            "boom": body(1.0, 1, 0, A=at(-1, 0), C=at(-0.4, -0.05), T=at(1, 0)),
            "load": body(1.7, 2, -0.3, H=at(0, 0.3)),
        },
        joints={
            "pin": pin,
            "hook": {"kind": hook, "between": ["boom.T", "load.H"]},
        },
        hydraulic={"cylinder": cylinder},
    )
    arm, along = np.array([0.6, -0.05]), np.array([0.4, 0.55]) / np.hypot(0.4, 0.55)
    return model, mass * 9.81 * (1.0 + 1.7 * 2.0) / (arm[0] * along[1] - arm[1] * along[0])


@pytest.mark.parametrize("hook", ["spherical", "fixed"])
@pytest.mark.parametrize("seed", range(4))
def test_a_pressure_holds_a_boom_however_it_is_turned(seed, hook):
    """Along most axes nothing pushes: there rows of the balance hold rounding alone."""
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=seed).as_matrix()
    model, force = boom(turn, 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(0, 3), hook)
    solution = vbg.simulate(model, t_end=0.01)
    expected = (force + 5e5 * 12e-4) / 20e-4
    assert solution["cylinder.pressure_a"][0] == pytest.approx(expected, rel=1e-7)
    assert np.abs(solution["boom.acceleration"]).max() < 1e-5


def test_equilibrium_of_a_pressure_holds_in_files_that_include_it(tmp_path):
    (tmp_path / "lift.toml").write_text(
        LIFT.replace("start = {", "# {").replace("stroke", 'pressure_a = "equilibrium"\nstroke')
    )
    (tmp_path / "two.toml").write_text(
        'vbg = 1\n[include.l]\nfile = "lift.toml"\n[include.r]\nfile = "lift.toml"\n'
        "position = [1, 0, 0]\n[simulate]\nt_end = 0.1\n"
    )
    model = vbg.read(tmp_path / "two.toml")
    assert model.simulate.start == Beginning(
        balance=("l_cylinder.pressure_a", "r_cylinder.pressure_a")
    )
    solution = vbg.simulate(model)
    for side in "lr":
        held = 500.0 * 9.81 / 20e-4
        assert solution[f"{side}_cylinder.pressure_a"] == pytest.approx(held, rel=1e-7)


@pytest.mark.parametrize("start", ["equilibrium", "written"])
def test_equilibrium_of_a_pressure_beside_other_starts(start):
    """At rest it is anyway; `balance` keeps what it names, and a whole part needs no word more."""
    model = jack(1e6, 100.0, simulate={"start": start})
    found = model.simulate.start
    assert found == ("equilibrium" if start == "equilibrium" else Beginning(balance=(NAME,)))
    both = {"start": {"balance": ["cylinder"]}}
    assert jack(1e6, 1.0, simulate=both).simulate.start == Beginning(balance=("cylinder",))


NAME = "cylinder.pressure_a"


@pytest.mark.parametrize("wrong", ["cylinder.pressure", "cylinder.k", "cylinder.presure_a"])
def test_a_single_pressure_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match=wrong):
        vbg.start(jack(1e6, 100.0), Beginning(balance=(wrong,)))


def test_only_pressures_of_stores_are_found():
    with pytest.raises(ModelError, match="equilibrium"):
        jack("equilibrium * 2", 100.0)
