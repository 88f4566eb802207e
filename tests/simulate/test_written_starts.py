"""What is written is what starts: couplings, rotors, tied stores; both solvers."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.accuracy.mechanisms import model_of, random_mechanism
from tests.laws.joints.test_faults import four_bar
from tests.scaled import Scale
from tests.tail import tail
from vbg.assemble.start.values.tied import level
from vbg.io.toml import parse
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.motion.rate.plant import Plant

STARTS = Path(__file__).parent.parent / "data/starts"
BODY = "mass = 1\ninertia = { xx = 0.02, yy = 0.03, zz = 0.04 }\n"


def other_start(model):
    """Values and rates of joint coordinates where the second solver starts."""
    mechanism = lay_out(model)
    plant = Plant(mechanism)
    plant.evaluate(
        0.0, np.concatenate([start(mechanism).y, getattr(mechanism.network, "start", ())])
    )
    return {key: plant.scratch.coordinate[k, :2] for key, k in mechanism.coordinates.items()}


def started(model):
    begun = vbg.start(model)
    return begun.outputs(0.0, begun.state), begun.notes


def test_a_rack_starts_where_it_is_written():
    model = vbg.read(STARTS / "rack.toml")
    out, notes = started(model)
    assert not notes
    assert_allclose(out["rack.position"], [0.3, 0, 0.1], atol=1e-13)
    assert_allclose(out["pinion.rotation"], [1, 0, 0, 0], atol=1e-13)
    assert_allclose(other_start(model)["guide", "slide"], [0.3, 0], atol=1e-13)


def test_a_rotor_leaves_a_written_speed_alone():
    model = vbg.read(STARTS / "rotor.toml")
    out, notes = started(model)
    assert not notes
    assert_allclose([out["axle.speed"][0], out["rotor.speed"][0]], 10.0, rtol=1e-13)
    assert_allclose(other_start(model)["axle", "angle"][1], 10.0, rtol=1e-13)


def shaft(kind, place, axis):
    return f"""
[joints.j{kind}]
kind = "{"revolute" if kind != "b" else "prismatic"}"
between = [{{ body = "ground", at = {place} }}, "{kind}"]
axis = {axis}
"""


@pytest.mark.parametrize("seed", range(8))
def test_couplings_count_from_any_written_posture(seed):
    random = np.random.default_rng(seed)
    x, ratio, turn = random.uniform(-3, 3), random.uniform(0.02, 5), random.uniform(-170, 170)
    coupling = ("rack_pinion", "gear", "belt")[seed % 3]
    second = "b" if coupling == "rack_pinion" else "c"
    size = {
        "rack_pinion": f'ratio = "{ratio} m/rad"',
        "gear": f"ratio = {ratio}",
        "belt": f"ratio = {ratio / 0.3}",
    }[coupling]
    place = f"position = [{x}, 0, 1]" if second == "b" else "position = [0, 0, 1]"
    model = parse(
        f"""vbg = 1
[bodies.a]
{BODY}position = [0, 0, 0]
rotation = {{ axis = [0, 1, 0], angle = "{turn} deg" }}
angular_velocity = [0, 4, 0]
[bodies.{second}]
{BODY}{place}
"""
        + shaft("a", "[0, 0, 0]", "[0, 1, 0]")
        + shaft(second, "[0, 0, 1]", "[1, 0, 0]" if second == "b" else "[0, 1, 0]")
        + f"""[joints.k]
kind = "{coupling}"
between = ["joints.ja", "joints.j{second}"]
{size}
"""
    )
    out, notes = started(model)
    assert not notes
    assert_allclose(out[f"{second}.position"], [x if second == "b" else 0, 0, 1], atol=1e-12)
    assert_allclose(out["a.angular_velocity"], [0, 4, 0], rtol=1e-12, atol=1e-12)
    key = "slide" if second == "b" else "angle"
    value, rate = other_start(model)[f"j{second}", key]
    assert_allclose(value, out[f"j{second}.{key}"][0], atol=1e-12)
    assert_allclose(rate, out[f"j{second}.speed"][0], rtol=1e-11)
    assert rate != 0.0


def test_a_screw_turns_from_where_its_nut_is_written():
    text = f"""vbg = 1
[bodies.nut]
{BODY}position = [0.4, 0, 0]
[joints.screw]
kind = "helical"
between = ["ground", "nut"]
axis = [1, 0, 0]
lead = "10 mm/rad"
"""
    out, notes = started(parse(text))
    assert not notes
    assert_allclose(out["nut.position"], [0.4, 0, 0], atol=1e-13)
    driven = parse(text + 'drive = "40 + t"')  # slide = lead * angle already: nothing slides
    assert_allclose(started(driven)[0]["nut.position"], [0.4, 0, 0], atol=1e-12)
    turned, _ = started(parse(text + "initial = { angle = 30 }"))
    assert_allclose(turned["nut.position"], [0.3, 0, 0], atol=1e-12)


FOUR_BAR = f"""vbg = 1
[bodies.crank]
{BODY}position = [0, 0, 0.1]
angular_velocity = [0, 7, 0]
points = {{ A = [0, 0, -0.1], B = [0, 0, 0.1] }}
[bodies.coupler]
{BODY}position = [0.25, 0, 0.35]
points = {{ A = [-0.25, 0, -0.15], B = [0.25, 0, 0.15] }}
[bodies.rocker]
{BODY}position = [0.5, 0, 0.25]
points = {{ A = [0, 0, -0.25], B = [0, 0, 0.25] }}
[joints.A]
kind = "revolute"
between = ["ground", "crank.A"]
axis = [0, 1, 0]
[joints.B]
kind = "spherical"
between = ["crank.B", "coupler.A"]
[joints.C]
kind = "universal"
between = ["coupler.B", "rocker.B"]
axis = [0, 1, 0]
axis2 = [0, 0, 1]
[joints.D]
kind = "revolute"
between = [{{ body = "ground", at = [0.5, 0, 0] }}, "rocker.A"]
axis = [0, 1, 0]
[rotational.rotor]
kind = "inertia"
on = "joints.D"
J = J_ROTOR
"""


@pytest.mark.parametrize("scale", (1e-6, 1e-3, 1.0, 1e3, 1e6))
def test_a_written_crank_speed_is_kept_through_a_loop(scale):
    model = parse(FOUR_BAR.replace("J_ROTOR", f"{0.3 * scale}"))
    out, notes = started(model)
    assert not [n for n in notes if n.severity == "warning"]
    assert_allclose(out["crank.angular_velocity"], [0, 7, 0], rtol=1e-9, atol=1e-9)
    assert_allclose(out["rotor.speed"], out["D.speed"], rtol=1e-9)
    rate = other_start(model)["D", "angle"][1]
    assert_allclose(rate, out["D.speed"][0], rtol=1e-8)


@pytest.mark.parametrize("scale", (1e-9, 1.0, 1e6))
def test_stores_that_nobody_wrote_follow_the_others(scale):
    circuit = f"""vbg = 1
[electric.c1]
kind = "capacitor"
nodes = ["a", "gnd"]
C = {1e-6 * scale}
voltage = 12
[electric.c2]
kind = "capacitor"
nodes = ["a", "gnd"]
C = 1e-6
[electric.r]
kind = "resistor"
nodes = ["a", "gnd"]
R = 1e3
"""
    assert_allclose(started(parse(circuit))[0]["c2.voltage"], 12.0, rtol=1e-10)
    oil = f"""vbg = 1
[hydraulic.v]
kind = "volume"
nodes = ["p"]
volume = {1e-4 * scale}
pressure = "5 MPa"
[hydraulic.cyl]
kind = "cylinder"
nodes = ["p", "tank"]
on = "translational.rod"
area_a = 1e-3
length = -0.1
stroke = 0.3
[hydraulic.gap]
kind = "laminar_resistance"
nodes = ["p", "tank"]
conductance = 1e-12
[translational.m]
kind = "mass"
nodes = ["rod"]
m = 50
"""
    out, notes = started(parse(oil))
    assert not notes
    assert_allclose(out["cyl.pressure_a"], 5e6, rtol=1e-10)


@pytest.mark.parametrize("unit", (1e-12, 1e-6, 1.0, 1e9))
def test_a_store_without_such_an_effort_stays_whatever_the_unit(unit):
    """effort = unit q / sqrt(1 + q^2) has none of 2 units, and 0.6 of them at q = 3/4."""
    for share, q in ((0.6, 0.75), (2.0, 0.0)):
        model = vbg.Model(
            bondgraph={
                "node": {"kind": "0"},
                "first": {"kind": "C", "value": 1.0 / unit, "initial": [share]},
                "second": {"kind": "C", "energy": f"{unit!r}*sqrt(1 + q^2)"},
                "leak": {"kind": "R", "value": unit},
            },
            bonds=["node -> first", "node -> second", "node -> leak"],
        )
        system = vbg.assemble(model)
        x = np.zeros(max(s.last for s in system.slices))
        place = {s.state.name: s.first for s in system.slices}
        x[place["first.displacement"]] = share
        level(system, x)
        assert_allclose(x[place["second.displacement"]], q, rtol=1e-12)


def test_values_that_cannot_stand_together_are_told():
    text = (STARTS / "rotor.toml").read_text().replace("J = 0.03", "J = 0.03\nspeed = -10")
    out, notes = started(parse(text))
    assert {n.where for n in notes if n.severity == "warning"} == {
        "bodies.wheel",
        "rotational.rotor",
    }
    assert_allclose(out["axle.speed"], -5.0, rtol=1e-12)  # momentum shared: (0.01 - 0.03) 10 / 0.04


def test_a_body_far_from_where_it_is_written_is_a_warning():
    text = (STARTS / "rack.toml").read_text()
    moved = text.replace("position = [0.3, 0, 0.1]", "position = [0.3, 0, 0.2]")
    (note,) = (n for n in started(parse(moved))[1] if n.where == "bodies.rack")
    assert note.severity == "warning"
    assert "joints.guide" in note.what
    near = text.replace("position = [0.3, 0, 0.1]", "position = [0.3, 0, 0.1005]")
    assert {n.severity for n in started(parse(near))[1]} == {"note"}


@pytest.mark.parametrize("seed", range(8))
def test_a_velocity_that_joints_forbid_moves_nothing_else(seed):
    """A linkage of one freedom has its speed written on a crank, and its coupler a velocity that
    no joint allows: what rounding leaves of that is not solved for."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 0], [0.1, 0, 0.4], [0.9, 0, 0.7], [1.1, 0, 0]])
    document = four_bar({"B": "spherical", "C": "spherical"}, list(corners))
    document["joints"]["A"]["initial"] = {"speed": float(rng.uniform(1.0, 3.0))}
    document["bodies"]["coupler"]["velocity"] = rng.normal(size=3).tolist()
    state = vbg.start(vbg.Model(**document)).state
    assert np.abs(state).max() < 1e3


@pytest.mark.parametrize("slides", [False, True])
def test_speeds_that_contradict_each_other_change_by_so_much_per_second(slides):
    """A pinion J at w and its rack m, or a second wheel J2, at v, tied by v = r w: they go on at
    w' = (J w + m r v) / (J + m r^2), and each is told with the change of its speed."""
    w, v, r, m, J, J2 = 3.0, -1.0, 0.2, 1.0, 0.03, 0.03
    ends = {"axis": [0, 1, 0]}
    pinion = {"kind": "revolute", "between": ["ground", "a"], **ends, "initial": {"speed": w}}
    second = {"kind": "prismatic" if slides else "revolute", "between": ["ground", "b"], **ends}
    tie = {"kind": "rack_pinion" if slides else "gear", "between": ["joints.p", "joints.q"]}
    body = {"mass": m, "inertia": {"xx": 0.02, "yy": J, "zz": 0.04}}
    joints = {"p": pinion, "q": second | {"initial": {"speed": v}}, "tie": tie | {"ratio": r}}
    model = vbg.Model(name="tied", bodies={"a": body, "b": body}, joints=joints, gravity=[0, 0, 0])
    (note,) = vbg.start(model).notes
    other = m if slides else J2
    kept = (J * w + other * r * v) / (J + other * r**2)
    changes = (f"p.angle (by {kept - w:.4g} rad/s)", f"q.{{}} (by {r * kept - v:.4g} {{}}/s)")
    told = ", ".join(changes).format(*(("slide", "m") if slides else ("angle", "rad")))
    assert note.severity == "warning" and note.what.endswith(f"changed: {told}.")


@pytest.mark.parametrize("length", [1e-6, 1e3])
@pytest.mark.parametrize("seed", tail([5000005, 5000002, 5000006, 5000010, 5000018, 5000024], 1))
def test_rounding_of_written_speeds_is_not_told(seed, length):
    """Speeds that joints leave, written as they were computed, in any unit of length: bodies that
    others hold had 1e-16 of the others' speeds, which changed by 100 %."""
    model = Scale(length).model(model_of(random_mechanism(seed)))
    assert not [note for note in vbg.start(model).notes if "is not kept" in note.what]
