"""Kinks, jumps and dry friction at operating points, against what each side is by itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import linearise, operating_point
from vbg.analysis.linear.linear import linearise_sides, linearise_slipping
from vbg.analysis.probe.kinks import Kink, cells
from vbg.analysis.rest.place import coordinates, held, inputs
from vbg.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
X, Y = "translational.x.position", "translational.y.position"


def masses(**forces):
    """One mass for each force, x and y; the force is an expression."""
    parts = {}
    for node, force in forces.items():
        parts[f"m_{node}"] = {"kind": "mass", "nodes": [node], "m": 2.0}
        parts[f"f_{node}"] = {"kind": "force", "nodes": [node], "force": force}
    return vbg.assemble(vbg.Model(name="masses", translational=parts))


def frequencies(linear):
    return sorted(mode.damped_frequency for mode in linear.modes)


def test_a_bilinear_spring_has_a_frequency_on_each_side():
    """Force -k x with k = 200 where x > 0 and 50 where x < 0: w = sqrt(k / m)."""
    system = masses(x=f"-200*max({X}, 0) - 50*min({X}, 0)")
    sides = linearise_sides(system, operating_point(system), inputs=[], most=9)
    (kink,) = sides[0].kinks
    assert (kink.what, kink.signal, kink.value) == ("kink", X, 0.0)
    assert kink.part == "translational.f_x"
    found = {side.side: frequencies(side) for side in sides}
    assert_allclose(found[(f"{X} > 0",)], [10.0], rtol=1e-12)
    assert_allclose(found[(f"{X} < 0",)], [5.0], rtol=1e-12)
    assert all("not decided" in side.stability for side in sides)


def test_beside_the_kink_there_is_none():
    """The same spring preloaded by 20 N rests at 0.1 m, on one side."""
    system = masses(x=f"20 - 200*max({X}, 0) - 50*min({X}, 0)")
    found = linearise(system, operating_point(system), inputs=[])
    assert not found.kinks and "undamped" in found.stability
    assert_allclose(frequencies(found), [10.0], rtol=1e-9)


def test_two_kinks_have_four_sides():
    system = masses(x=f"-200*{X} - 50*abs({X})", y=f"-500*{Y} - 300*abs({Y})")
    sides = linearise_sides(system, operating_point(system), inputs=[], most=9)
    expected = {
        tuple(sorted((np.sqrt(a), np.sqrt(b)))) for a in (125.0, 75.0) for b in (400.0, 100.0)
    }
    assert_allclose(sorted(map(tuple, map(frequencies, sides))), sorted(expected), rtol=1e-12)


@pytest.mark.parametrize(
    ("force", "what"),
    [
        (f"-200*{X} - 3*sign({X})", "jump"),
        (f"-200*{X} - 3*sqrt({X})", "no slope"),
    ],
)
def test_a_jump_and_a_root_have_no_linear_form(force, what, tmp_path, capsys):
    (kink,) = linearise(masses(x=force), inputs=[]).kinks
    assert kink.what == what
    path = tmp_path / "m.toml"
    path.write_text(
        "vbg = 1\n[translational]\nm = {kind = 'mass', nodes = ['x'], m = 2}\n"
        f"f = {{kind = 'force', nodes = ['x'], force = '{force}'}}\n"
    )
    assert main(["show", "modes", str(path), "--about", "start"]) == 1
    out = capsys.readouterr().out
    assert "no linear form" in out and "pole" not in out.replace("poles here", "")


@pytest.mark.parametrize(
    "force",
    [
        "-200*{x} - 5*{v}*abs({v})",  # drag: its slope vanishes from both sides
        "-200*{x} - max({x}, 0)^2",
        "-200*{x} - max({x} - 1, 0)",  # far from its kink
        "-200*{x} + max(sin(t), 0)",  # of time alone
    ],
)
def test_what_is_smooth_is_not_called_a_kink(force):
    v = X.replace("position", "speed")
    system = masses(x=force.format(x=X, v=v))
    found = linearise(system, operating_point(system), inputs=[])
    assert not found.kinks
    assert_allclose(frequencies(found), [10.0], rtol=1e-9)


def test_lines_through_a_point_divide_a_plane():
    """m lines through one point make 2 m sectors; that of parallel ones is looked at before."""
    rng = np.random.default_rng(7)
    for m in (1, 2, 3):
        kinks = [Kink("", "", 0.0, "kink", rng.standard_normal(2), ()) for _ in range(m)]
        assert len(cells(kinks)) == 2 * m
        assert len(cells([Kink("", "", 0.0, "kink", g, ()) for g in np.eye(m)])) == 2**m


def servo(**valve):
    """The servo of the examples with another valve, its cylinder with one small side."""
    document = dict(vbg.read(EXAMPLES / "servo-hydraulic.toml").document)
    hydraulic = dict(document["hydraulic"])
    hydraulic["valve"] = hydraulic["valve"] | valve
    if valve:
        cylinder = {"area_b": 0.6e-3, "pressure_a": "40 bar", "pressure_b": "80 bar"}
        hydraulic["cylinder"] = hydraulic["cylinder"] | cylinder
    return vbg.assemble(vbg.Model(**(document | {"hydraulic": hydraulic})))


def beside(system, point, shift):
    """Linearised with the spool a little off its middle."""
    x = point.x.copy()
    (at,) = [s.first for s in system.slices if s.state.name == "spool.state"]
    x[at] += shift
    return linearise(system, x, inputs=[])


def test_a_tight_valve_at_its_middle_has_a_side_for_each_spool():
    system = servo(leakage=0.0)
    point = operating_point(system)
    assert point.kind == "equilibrium"
    sides = linearise_sides(system, point, inputs=[], most=9)
    assert [k.sentence for k in sides[0].kinks] == ["hydraulic.valve has a kink at spool = 0"]
    assert [side.side for side in sides] == [("spool > 0",), ("spool < 0",)]
    for side, shift in zip(sides, (1e-10, -1e-10), strict=True):
        near = beside(system, point, shift)
        assert not near.kinks
        assert_allclose(side.A, near.A, rtol=1e-4, atol=1e-3)
    assert not np.allclose(sides[0].A, sides[1].A, rtol=1e-3, atol=0.0)


def test_a_valve_between_equal_pressures_is_smooth_at_its_middle():
    """P to A and B to T open as much as P to B and A to T close.  A complex step through
    max(u, 0) and max(-u, 0) at 0 would open all four edges at once."""
    system = servo()
    point = operating_point(system)
    found = linearise(system, point, inputs=[])
    assert not found.kinks and found.stability.startswith("Stable")
    for shift in (1e-10, -1e-10):
        assert_allclose(found.A, beside(system, point, shift).A, rtol=1e-4, atol=1e-3)


def test_sticking_friction_holds_and_slips():
    """A mass on a spring, at rest 0.01 m out: friction holds 2 of 3 N; slipping w^2 = k / m."""
    model = vbg.Model(
        name="held",
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": 2.0},
            "k": {"kind": "spring", "nodes": ["x", "frame"], "k": 200.0, "length": -0.01},
            "f": {"kind": "friction", "nodes": ["x", "frame"], "coulomb": 3.0},
        },
    )
    system = vbg.assemble(model)
    point = operating_point(system)
    assert point.kind == "equilibrium"
    (grip,) = held(system, 0.0, point.x)
    assert_allclose([grip.load, grip.most], [2.0, 3.0], rtol=1e-12)
    assert_allclose(linearise(system, point).eigenvalues, [0.0], atol=1e-12)
    assert_allclose(frequencies(linearise_slipping(system, point)), [10.0], rtol=1e-12)


def hinge(coulomb, angle):
    """A rod on a hinge with dry friction, about y; weight moment 2.4525 N*m at most."""
    inertia = {"xx": 1e-4, "yy": 1 / 12, "zz": 1 / 12}
    return vbg.assemble(
        vbg.Model(
            name="rod",
            bodies={
                "rod": {"mass": 0.5, "inertia": inertia, "points": {"A": [-0.5, 0, 0]}},
            },
            joints={
                "A": {
                    "kind": "revolute",
                    "between": ["ground", "rod.A"],
                    "axis": [0, 1, 0],
                    "initial": {"angle": angle},
                    "friction": {"coulomb": coulomb},
                }
            },
        )
    )


def test_a_rod_hangs_down_where_its_friction_does_not_hold_it():
    """Without friction it would hang at pi/2: there it sticks, unloaded."""
    system = hinge(0.3, 0.4)
    point = operating_point(system)
    at = dict(zip(system.state_names, point.x, strict=True))
    assert point.kind == "equilibrium"
    assert at["A.angle"] == pytest.approx(np.pi / 2, abs=1e-8)
    w2 = 0.5 * 9.80665 * 0.5 / (1 / 12 + 0.5 * 0.25)
    assert_allclose(frequencies(linearise_slipping(system, point)), [np.sqrt(w2)], rtol=1e-3)


def test_a_rod_stays_where_its_friction_holds_it():
    system = hinge(3.0, 0.4)
    point = operating_point(system)
    at = dict(zip(system.state_names, point.x, strict=True))
    assert at["A.angle"] == pytest.approx(0.4, abs=1e-12)
    (grip,) = held(system, 0.0, point.x)
    weight = np.linalg.norm(system.model.gravity) * 0.5 * 0.5
    assert grip.load == pytest.approx(weight * np.cos(0.4), rel=1e-9)


def diode(volts):
    return vbg.assemble(
        vbg.Model(
            name="rectifier",
            electric={
                "V": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": volts},
                "D": {
                    "kind": "diode",
                    "nodes": ["a", "b"],
                    "law": "ideal",
                    "Ron": 0.5,
                    "Goff": 1e-3,
                },
                "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3},
                "R": {"kind": "resistor", "nodes": ["b", "gnd"], "R": 100.0},
            },
        )
    )


def test_an_ideal_diode_at_zero_volts():
    """C v' = -(1/R + G) v with G = 1/Ron conducting, Goff blocking; with 5 V it conducts."""
    blocking, conducting = -(0.01 + 1e-3) / 1e-3, -(0.01 + 2.0) / 1e-3
    system = diode(0.0)
    sides = linearise_sides(system, operating_point(system), inputs=[], most=9)
    assert_allclose(
        sorted(side.eigenvalues[0].real for side in sides), [conducting, blocking], rtol=1e-12
    )
    assert sides[0].kinks[0].part == "D"
    system = diode(5.0)
    point = operating_point(system)
    found = linearise(system, point, inputs=[])
    assert not found.kinks and close(found.eigenvalues, [conducting])
    assert close([v.value for v in inputs(system, 0.0, point.x)], [5.0])
    levels = {v.name: (v.value, v.unit) for v in coordinates(system, 0.0, point.x)}
    assert levels["electric.b.voltage"] == (pytest.approx(5.0 * 100 / 100.5), "V")


def close(found, expected):
    return np.allclose(found, expected, rtol=1e-9)


def test_a_relief_valve_is_open_where_the_pump_rests():
    """Displacement times speed flows over: p = setting + flow * slope; its pole is
    -1 / (slope C) of the volume.  Contents are small numbers: no rate of them is forgotten."""
    flow, slope, setting, capacity = 157 * 4e-6, 1e10, 150e5, 1e-3 / 1.4e9
    system = vbg.assemble(
        vbg.Model(
            name="pump",
            hydraulic={
                "pump": {
                    "kind": "pump",
                    "nodes": ["tank", "P"],
                    "speed": 157,
                    "displacement": 4e-6,
                },
                "relief": {
                    "kind": "relief_valve",
                    "nodes": ["P", "tank"],
                    "setting": setting,
                    "slope": slope,
                },
                "line": {
                    "kind": "volume",
                    "nodes": ["P"],
                    "volume": 1e-3,
                    "pressure": 100e5,
                    "bulk": 1.4e9,
                },
            },
        )
    )
    point = operating_point(system)
    assert point.kind == "equilibrium"
    pressure = float(vbg.start(system).outputs(0.0, point.x)["hydraulic.P.pressure"][0])
    assert pressure == pytest.approx(setting + flow * slope, rel=1e-9)
    assert_allclose(linearise(system, point).eigenvalues, [-1 / (slope * capacity)], rtol=1e-9)


def test_a_body_rests_on_its_stop():
    """It falls to its stop, which it presses by m g / k: w^2 = k / m."""
    system = vbg.assemble(
        vbg.Model(
            name="landing",
            bodies={"b": {"mass": 3.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
            joints={
                "slide": {
                    "kind": "prismatic",
                    "between": ["ground", "b"],
                    "axis": [0, 0, 1],
                    "initial": {"slide": 0.05},
                    "stop": {"lower": 0.0, "k": 3e4},
                }
            },
        )
    )
    point = operating_point(system)
    assert point.kind == "equilibrium"
    (height,) = [v.value for v in coordinates(system, 0.0, point.x) if v.name == "slide.slide"]
    assert height == pytest.approx(-3.0 * np.linalg.norm(system.model.gravity) / 3e4, rel=1e-9)
    assert_allclose(frequencies(linearise(system, point)), [100.0], rtol=1e-9)


TIGHT = """
vbg = 1
[hydraulic]
supply = { kind = "pressure_source", nodes = ["P", "tank"], pressure = "100 bar" }
valve = { kind = "proportional_valve", nodes = ["P", "tank", "A", "B"], opening = "u", qn = 2e-4 }
A = { kind = "volume", nodes = ["A"], volume = 1e-4, pressure = "40 bar" }
B = { kind = "volume", nodes = ["B"], volume = 1e-4, pressure = "20 bar" }
[signals.x]
kind = "transfer_function"
input = "-hydraulic.A.pressure/1e7"
numerator = [0.4]
denominator = [1, 1]
[signals.u]
kind = "expression"
expression = "x + 0.16"
"""


def test_modes_tell_point_kinks_and_sides(tmp_path, capsys):
    path = tmp_path / "tight.toml"
    path.write_text(TIGHT)
    assert main(["show", "modes", str(path)]) == 0
    text = capsys.readouterr().out
    assert "hydraulic.valve has a kink at u = 0" in text
    assert "hydraulic.A.pressure 4e+06 Pa" in text and "inputs: supply 1e+07 Pa" in text
    assert "Where u > 0" in text and "Stable" not in text and "Unstable" not in text
    assert main(["show", "modes", str(path), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    where = [side["where"] for side in plain["sides"]]
    assert plain["modes"] == [] and where == [["u > 0"], ["u < 0"]]
    assert plain["kinks"] == [
        {"part": "hydraulic.valve", "what": "kink", "signal": "u", "value": 0.0}
    ]
    assert plain["inputs"] == [{"name": "supply", "value": 1e7, "unit": "Pa"}]
    assert main(["show", "modes", str(EXAMPLES / "servo-hydraulic.toml"), "--at", "0.3 s"]) == 0
    assert "one instant" in capsys.readouterr().out
