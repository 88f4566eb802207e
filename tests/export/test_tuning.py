"""Parameters that stay parameters in C code and FMUs: the machine of any values, against the
machine that is read with them."""

import subprocess

import numpy as np
import pytest

import vbg
from tests.export.comparing import family, family_peaks
from tests.tail import tail
from vbg.errors import UsageError
from vbg.export import write_code
from vbg.export.fmu import write_fmu
from vbg.export.tuning import Wish, parse_wish, tuned
from vbg.io import toml
from vbg.solution import components

ARM = """
name = "tuned arm"
[parameters]
load = "2 kg"
k = 30
damping = 0.4
speed = 1.5
lean = "20 deg"
L = 0.5
late = 0.1
none = 0
idle = 5
gain = "2*k"
[bodies.arm]
mass = "1 + load"
inertia = { xx = "0.1 + load/20", yy = "load*0.2**2 + 0.1", zz = "0.1 + load/30" }
points = { A = ["-L", 0, 0], tip = ["L", 0, 0] }
[joints.A]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
initial = { angle = "lean", speed = "speed" }
[forces.spring]
kind = "torsion_spring"
on = "joints.A"
k = "k"
c = "damping*k/load + none"
[forces.motor]
kind = "torque"
on = "joints.A"
torque = ["gain*sin(5*t)*sign(t - late)"]
[simulate]
t_end = 0.3
output_step = 0.01
rtol = 1e-9
"""
OTHERS = {"load": 7.0, "k": 11.0, "damping": 2.1, "speed": -0.4}
WISHES = [*map(Wish, ("load", "k", "damping")), Wish("speed", -2.0, 2.0)]


@pytest.fixture(scope="module")
def begun():
    return vbg.start(vbg.assemble(toml.parse(ARM)))


def whole(values):
    solution = vbg.simulate(toml.parse(ARM).with_parameters(**values))
    assert solution.status.code == "finished"
    return dict(components(solution))


def require_close(found, expected, names, close):
    """Every signal, of the peak of all of its kind."""
    peaks = family_peaks(expected)
    assert names
    for name in names:
        miss = np.abs(found[name] - expected[name]).max()
        assert miss <= close * peaks[family(name)], (name, miss)


@pytest.mark.parametrize(
    ("version", "kind"),
    tail([(3, "CoSimulation"), (2, "ModelExchange"), (3, "ModelExchange"), (2, "CoSimulation")], 1),
)
def test_an_fmu_with_other_parameters_is_the_machine_with_them(begun, tmp_path, version, kind):
    """A mass that also enters inertias and a damper as 1/load, a stiffness of which another
    parameter is made, a speed at the start of both signs."""
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    path = str(tmp_path / "arm.fmu")
    write_fmu(begun, path, version=version, tunable=WISHES)
    assert validate_fmu(path) == []
    described = {v.name: v for v in fmpy.read_model_description(path).modelVariables}
    assert (described["load"].unit, described["load"].max) == ("kg", "20.0")
    names = [n for n in whole({}) if n in described and not n.startswith("energy.")]
    for values in ({}, OTHERS):
        found = fmpy.simulate_fmu(
            path,
            fmi_type=kind,
            stop_time=0.3,
            output_interval=0.01,
            relative_tolerance=1e-10,
            output=names,
            start_values=values,
            record_events=False,
        )
        expected = whole(values)
        require_close(found, expected, names, 1e-6)
    with pytest.raises(Exception, match="fmi"):
        fmpy.simulate_fmu(path, stop_time=0.1, start_values={"load": 21.0})


@pytest.mark.slow
def test_the_c_code_follows_its_parameters(begun, tmp_path):
    write_code(begun, tmp_path, WISHES)
    main = (tmp_path / "main.c").read_text()
    lines = (f"vbg_tune(&v, {i}, {v!r}, v.x);" for i, v in enumerate(OTHERS.values()))
    main = main.replace(
        "vbg_status status = vbg_begin", f"{''.join(lines)}\nvbg_status status = vbg_begin"
    )
    (tmp_path / "main.c").write_text(main)
    subprocess.run(["make", "-s", "-C", tmp_path], check=True, timeout=120)
    told = subprocess.run([tmp_path / "tuned_arm"], check=True, capture_output=True, text=True)
    head, *rows = told.stdout.splitlines()
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    columns = dict(zip((n.partition(" [")[0] for n in head.split(",")), table.T, strict=True))
    expected = whole(OTHERS)
    require_close(columns, expected, [n for n in columns if n in expected], 1e-6)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ("lean", "lean enters.*in another way than by sums of powers"),
        ("late", "instants of clocks and sources move"),
        ("none", "none: it is 0 in the file.*none=0:1"),
        ("idle", "idle: nothing in the equations or at the start follows it"),
        ("lod", "no such parameter.*load"),
        ("k=40:50", "30, its value, is not in between"),
        ("k=40", "expected NAME or NAME=LOW:HIGH"),
    ],
)
def test_what_cannot_stay_a_parameter_is_told(begun, wish, words):
    with pytest.raises(UsageError, match=words):
        tuned(begun, [parse_wish(wish)])


def test_a_parameter_is_named_once(begun):
    with pytest.raises(UsageError, match="k: named twice"):
        tuned(begun, [Wish("k"), Wish("k", 1.0, 50.0)])


def test_a_range_may_hold_zero_and_numbers_are_exact(begun):
    """damping*k/load + none; word by word against the tapes that are assembled with the value."""
    machine, tuning = tuned(begun, [parse_wish("none=0:1")])
    again, _ = tuned(vbg.start(vbg.assemble(toml.parse(ARM).with_parameters(none=0.7))), ())
    assert tuning.parameters[0].value == 0.0 and tuning.words
    for word in tuning.words:
        program = again.programs[list(machine.programs)[word.tape]]
        right = np.concatenate([program.workspace, program.factors])[word.at]
        assert len(word.terms) == 2
        assert word.value(np.array([0.7])) == pytest.approx(right, rel=1e-12)
