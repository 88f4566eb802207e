"""Rest points against closed forms over all sizes and stiffnesses; honest where there is none."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import vbg
from tests.anywhere import shaken
from tests.laws.machines import random_loop
from tests.tail import tail
from vbg.analysis import linearise, operating_point
from vbg.analysis.probe.kinks import kinks_at
from vbg.analysis.probe.probe import Probe
from vbg.blocks import const
from vbg.errors import UsageError
from vbg.io.toml import parse, read
from vbg.model import Model
from vbg.physics.rotation_vector import rotation_vector
from vbg.spatial import rotation_matrix

RESTS = Path(__file__).parents[2] / "data/rests"


def beam(n, m, J, k, g, piece):
    """A cantilever of n rigid pieces along x, each carried by a bushing at its left end."""
    bodies, forces = {}, {}
    for i in range(n):
        bodies[f"b{i}"] = {
            "mass": m,
            "inertia": {"xx": J, "yy": J, "zz": J},
            "position": [piece * (i + 0.5), 0.0, 0.0],
            "points": {"L": [-piece / 2, 0, 0], "R": [piece / 2, 0, 0]},
        }
        forces[f"e{i}"] = {
            "kind": "bushing",
            "between": [f"b{i - 1}.R" if i else "ground", f"b{i}.L"],
            "stiffness": list(k),
        }
    return Model.from_document(
        {"vbg": 1, "name": "beam", "gravity": [0, -g, 0], "bodies": bodies, "forces": forces}
    )


def closed_form(n, m, J, k, g, piece):
    """Tip deflection, and natural frequencies in the plane, of small motions: each bushing's
    shear and bending from the transverse positions and slopes of the two pieces it joins."""
    M, K = np.diag([m, J] * n), np.zeros((2 * n, 2 * n))
    for i in range(n):
        shear, bend = np.zeros(2 * n), np.zeros(2 * n)
        shear[2 * i], shear[2 * i + 1], bend[2 * i + 1] = 1.0, -piece / 2, 1.0
        if i:
            shear[2 * i - 2], shear[2 * i - 1], bend[2 * i - 1] = -1.0, -piece / 2, -1.0
        K += k[1] * np.outer(shear, shear) + k[5] * np.outer(bend, bend)
    x = np.linalg.solve(K, [-m * g, 0.0] * n)
    return x[-2] + x[-1] * piece / 2, np.sqrt(eigh(K, M, eigvals_only=True)) / (2 * np.pi)


@pytest.mark.parametrize("seed", range(7))
def test_cantilevers_of_any_size_rest_where_they_bend_to(seed):
    random = np.random.default_rng(seed)
    n = (1, 2, 3, 5, 8, 3, 2)[seed]
    mass, stiffness = 10.0 ** random.uniform(-6, 6, 2)
    piece = 10.0 ** random.uniform(-2, 1)
    J = mass * piece**2 * random.uniform(0.05, 0.2)
    along, across, bend = 10.0 ** random.uniform(-1, 4, 3)
    k = stiffness * np.array([1e3 * along, across, across, *([bend * piece**2] * 3)])
    unit = closed_form(n, mass, J, k, 1.0, piece)[0]
    g = 1e-5 * piece / abs(unit)  # deflections so small that the closed form is exact to 1e-9
    tip, frequencies = closed_form(n, mass, J, k, g, piece)
    system = vbg.assemble(beam(n, mass, J, k, g, piece))
    point = operating_point(system)
    assert point.kind == "equilibrium"
    assert_allclose(
        vbg.start(system).outputs(0.0, point.x)[f"b{n - 1}.R.position"][1], tip, rtol=1e-7
    )
    linear = linearise(system, point, inputs=[])
    assert not linear.kinks
    found = np.sort(np.abs(linear.eigenvalues.imag))[::2] / (2 * np.pi)
    for frequency in frequencies:
        assert np.abs(found / frequency - 1.0).min() < 1e-5


def test_a_steel_cantilever_bends_as_far_as_it_does():
    model = read(RESTS / "bushing-beam-8.toml")
    system = vbg.assemble(model)
    point = operating_point(system)
    assert point.kind == "equilibrium"
    # E I = 350 N m^2, q = 15.4 N/m: q L^4 / (8 E I) = 5.50 mm, first frequency 8.2 to 8.4 Hz
    assert_allclose(vbg.start(system).outputs(0.0, point.x)["b7.R.position"][1], -5.5e-3, rtol=5e-3)
    linear = linearise(system, point, inputs=[])
    assert not linear.kinks
    lowest = np.abs(linear.eigenvalues.imag).min() / (2 * np.pi)
    assert_allclose(lowest, 8.36, rtol=2e-2)


def test_a_spring_between_shafts_keeps_the_twist_it_starts_with():
    system = vbg.assemble(read(RESTS / "raw-store-on-joint.toml"))
    point = operating_point(system)
    out = vbg.start(system).outputs(0.0, point.x)
    assert point.kind == "equilibrium"
    # rotor at its demand, wave 0.2 rad; the arm's weight twists the flexspline further
    angle = out["j1.angle"][0]
    assert_allclose(out["rotational.rotor.angle"], 20.0, rtol=1e-9)
    weight = 5 * 9.81 * 0.3 * np.cos(angle)
    assert_allclose(angle - out["rotational.wave.angle"][0], 1e-4 * weight, rtol=1e-6)
    linear = linearise(system, point, inputs=[])
    assert linear.eigenvalues.real.max() < 0.0


GEARED = """vbg = 1
[bodies.arm]
mass = {m}
inertia = {{ xx = {J}, yy = {J}, zz = {J} }}
points = {{ A = [{A}, 0, 0] }}
[joints.hinge]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
initial = {{ angle = {angle} }}
[rotational.rotor]
kind = "inertia"
on = "rotational.motor"
J = {rotor}
[rotational.drive]
kind = "torque"
on = "rotational.motor"
torque = {torque}
[rotational.gear]
kind = "gear"
nodes = ["motor", "{wave}"]
ratio = {ratio}
"""
ELASTIC = """[rotational.elastic]
kind = "spring"
nodes = ["wave", "joint:hinge"]
k = {k}
"""


@pytest.mark.parametrize("seed", range(10))
def test_a_geared_arm_falls_to_its_rest_however_fast_its_rotor_turns(seed):
    # m g l cos(angle) + n torque = 0, n turns of the rotor for one of the arm
    random = np.random.default_rng(seed)
    m, n, l = 10.0 ** random.uniform((-2, 0, -2), (3, 5, 1))
    elastic, load = seed % 2 == 1, m * 9.81 * l
    text = (GEARED + ELASTIC * elastic).format(
        m=m,
        J=m * l**2 / 3,
        A=-l,
        angle=random.uniform(-1.5, 1.5),
        rotor=m * l**2 / n**2 * 10.0 ** random.uniform(-3, 1),
        torque=random.uniform(-0.8, 0.8) * load / n,
        wave="wave" if elastic else "joint:hinge",
        ratio=1 / n,
        k=load * 10.0 ** random.uniform(-1, 4),
    )
    system = vbg.assemble(parse(text))
    point = operating_point(system)
    out = vbg.start(system).outputs(0.0, point.x)
    assert point.kind == "equilibrium"
    turning = load * np.cos(out["hinge.angle"][0]) + n * out["drive.torque"][0]
    assert abs(turning) < 1e-6 * load
    found = linearise(system, point, inputs=[]).eigenvalues
    # one elimination beside a rotor that turns n times as fast leaves eps n^2 of the fastest
    rounding = 4.0 * np.finfo(float).eps * n**2 * np.abs(found).max()
    assert found.real.max() < 1e-6 * np.sqrt(9.81 / l) + rounding


def sprung(seed: int) -> Model:
    """A loop of three bodies in weight, each on two springs of 30 to 1e7 N/m that are bent far."""
    random, machine = np.random.default_rng(seed), random_loop(seed)
    for name in machine.bodies:
        place = machine.pose(name)[0]
        for other in "ab":
            ends = (
                machine.at("ground", place + random.normal(size=3)),
                machine.at(name, place + 0.2 * random.normal(size=3)),
            )
            machine.forces[f"{name}_{other}"] = {
                "kind": "spring",
                "between": list(ends),
                "k": 10.0 ** random.uniform(1.5, 7.0),
                "length": random.uniform(0.1, 1.5),
            }
    return machine.model()


@pytest.mark.parametrize("seed", tail([35, 27, 20, 9], 2))
def test_a_machine_on_soft_and_stiff_springs_rests_where_it_stands(seed):
    """Of all rests one that deviations do not leave, whatever the rounding of the start."""
    system = vbg.assemble(sprung(seed))
    places = []
    for start in shaken(vbg.start(system), 1):
        point = operating_point(system, x=start.state)
        assert point.kind == "equilibrium", point.sentence
        poles = linearise(system, point, inputs=[]).eigenvalues
        assert poles.real.max() < 1e-6 * np.abs(poles).max()
        places.append(point.x)
    assert_allclose(places[1], places[0], atol=1e-8)


FALLING = """vbg = 1
[bodies.a]
mass = MASS
inertia = { xx = 1e-3, yy = 1e-3, zz = 1e-3 }
points = { P = [0.1, 0, 0] }
[bodies.b]
mass = MASS
inertia = { xx = 1e-3, yy = 1e-3, zz = 1e-3 }
position = [0.2, 0, 0]
points = { P = [-0.1, 0, 0] }
[forces.e]
kind = "bushing"
between = ["a.P", "b.P"]
stiffness = [K, K, K, K, K, K]
"""


@pytest.mark.parametrize(("mass", "k"), (("1e-3", "1e9"), ("1", "1e9"), ("1", "1e-3")))
def test_a_stiff_chain_that_falls_is_not_at_rest(mass, k):
    system = vbg.assemble(parse(FALLING.replace("MASS", mass).replace("K", k)))
    point = operating_point(system)
    assert point.kind == "instant"
    assert point.sentence.startswith("No rest found: largest imbalance 9.8")
    assert "velocity" in point.sentence.split("at ")[1]
    assert "Nothing holds a.position, " in point.sentence


def test_what_nothing_holds_is_named_and_a_neutral_turn_is_a_rest():
    """Across the slide gravity is carried, along it by nothing; a turn about it is free and at
    rest where the mass centre is on the axis."""
    slide = """vbg = 1
[bodies.b]
mass = 2
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.j]
kind = "cylindrical"
between = ["ground", "b"]
axis = AXIS
"""
    point = operating_point(vbg.assemble(parse(slide.replace("AXIS", "[0.6, 0, 0.8]"))))
    assert point.kind == "instant" and "Nothing holds j.slide" in point.sentence
    assert (
        operating_point(vbg.assemble(parse(slide.replace("AXIS", "[1, 0, 0]")))).kind
        == "equilibrium"
    )


@pytest.mark.parametrize("angle", (0.0, 1e-12, 1e-7, 1e-4, 0.3, 1.5, 2.9, 3.1))
def test_rotation_vectors_are_smooth_from_zero_to_half_a_turn(angle):
    axis = np.array([0.48, -0.6, 0.64])
    before = rotation_matrix(np.array([0.4, 0.1, -0.7, 0.2]) / np.sqrt(0.7))
    turn = rotation_matrix([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    found = rotation_vector(const(turn @ before), before)
    assert_allclose(
        found.vector.data[:, 0], angle * axis, rtol=1e-13 / max(1e-2, np.pi - angle), atol=1e-15
    )
    # Jl^T times what it gives back: Jl = 1 + (1 - cos)/a^2 S + (a - sin)/a^3 S^2
    S = angle * np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    a = max(angle, 1e-3)
    second = (a - np.sin(a)) / a**3 if angle > 1e-2 else 1.0 / 6.0
    Jl = np.eye(3) + 0.5 * np.sinc(angle / 2 / np.pi) ** 2 * S + second * S @ S
    assert_allclose(Jl.T @ found.to_torque.data, np.eye(3), atol=1e-11 / (np.pi - angle))


def test_a_bushing_that_is_not_turned_has_no_kink():
    system = vbg.assemble(beam(2, 1.0, 0.1, [1e4] * 6, 0.0, 1.0))
    probe = Probe(system)
    for turned in (0.0, 1e-9, 1e-5, 1e-3):
        x = vbg.start(system).state.copy()
        (place,) = (s.first for s in system.slices if s.state.name == "b1.quaternion")
        x[place + 3] = turned
        assert kinks_at(probe, 0.0, x, np.zeros(0, dtype=np.intp)) == ()


ON_STOP = """vbg = 1
[bodies.b]
mass = 3
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.j]
kind = "prismatic"
between = ["ground", "b"]
axis = [0, 0, 1]
stop = { lower = 0, k = "20 MN/m", c = 50 }
initial = { slide = GAP }
"""


@pytest.mark.parametrize("gap", (-1e-6, 0.0, 1e-13, 1e-6, 1e-2))
def test_what_rests_on_a_stop_is_found_however_it_bounces(gap):
    """A stiff stop lets go of what it was hit by: the rest is m g / k deep all the same."""
    system = vbg.assemble(parse(ON_STOP.replace("GAP", str(gap))))
    for start in shaken(vbg.start(system)):
        point = operating_point(system, x=start.state)
        assert point.kind == "equilibrium", point.sentence
        place = system.state_names.index("j.slide")
        assert point.x[place] == pytest.approx(-3 * 9.81 / 20e6, rel=1e-6)


def pushed(law: str, slide: float) -> Model:
    """A mass of 1 kg on a damped slide, pushed by a force along it."""
    body = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    guide = {"kind": "prismatic", "between": ["ground", "a"], "axis": [1, 0, 0]}
    return Model(
        bodies={"a": body},
        joints={"guide": guide | {"initial": {"slide": slide}}},
        forces={
            "push": {"kind": "force", "on": "a", "force": [law, 0, 0]},
            "rub": {"kind": "damper", "on": "joints.guide", "c": 1.0},
        },
    )


@pytest.mark.parametrize(
    "law", ["1/guide.slide", "1e-9/guide.slide**3", "1e4*exp(-guide.slide/1e-8)"]
)
@pytest.mark.parametrize("place", [1e-3, 1e-6, 1e-9, 1e-12])
def test_beside_a_wall_of_force_is_no_rest(law, place):
    """Newton's steps are short there, whatever pushes: x, x/3, a hundred millionth of a metre."""
    system = vbg.assemble(pushed(f"{law} - 2*guide.slide", place))
    found, probe = operating_point(system), Probe(system)
    rates = probe.values(0.0, found.x)[probe.spans["rate"]]
    assert found.kind == "instant" or np.abs(rates).max() < 1e-6
    if law == "1/guide.slide":
        slide = probe.start.outputs(0.0, found.x)["guide.slide"]
        assert slide == pytest.approx(np.sqrt(0.5), rel=1e-8)


@pytest.mark.parametrize(
    "law", ["0*log(guide.slide)", "1/(guide.slide - 0.5)", "sqrt(guide.slide - 1)"]
)
def test_where_the_search_begins_without_a_value_is_no_rest(law):
    """Of rates that are not finite no step can be made, nor judged; nor where they are complex."""
    system = vbg.assemble(pushed(law, 0.5 if "0.5" in law else 0.0))
    try:
        assert operating_point(system).kind == "instant"
    except UsageError as told:
        assert "a law divides by zero there" in str(told)


def test_a_search_goes_round_where_a_law_divides_by_zero():
    """Newton's first step leads to the very place at which it does."""
    system = vbg.assemble(pushed("1 - 4*guide.slide + 0/(guide.slide - 0.25)", 0.5))
    found, probe = operating_point(system), Probe(system)
    assert found.kind == "equilibrium"
    assert np.abs(probe.values(0.0, found.x)[probe.spans["rate"]]).max() < 1e-8


def test_a_search_for_rest_assembles_the_machine_once(monkeypatch):
    # a machine that has no rest was assembled anew at each of 750 postures that were tried
    from vbg.assemble.start import start as starting

    assembled, count = starting._assembled, []

    def counted(system):
        count.append(system)
        return assembled(system)

    monkeypatch.setattr(starting, "_assembled", counted)
    falling = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    model = Model.from_document(
        {"vbg": 1, "name": "falling", "gravity": [0, -9.81, 0], "bodies": {"b": falling}}
    )
    assert operating_point(vbg.assemble(model)).kind == "instant"
    assert len(count) == 1


@pytest.mark.parametrize("power", [3, 5, 8])
@pytest.mark.parametrize("length", [1e-6, 1e1])
def test_a_spring_of_a_high_power_is_as_steep_as_it_is_on_the_side_where_it_hangs(power, length):
    """m g = c |z|^n at z = -length, below zero; w^2 = n g / length there."""
    sign = 1.0 if power % 2 else -1.0  # of the upward force -c z^n, or c z^n where n is even
    system = vbg.assemble(
        Model.from_document(
            {
                "bodies": {"b": {"mass": 2.0, "inertia": dict.fromkeys(("xx", "yy", "zz"), 1.0)}},
                "joints": {
                    "g": {
                        "kind": "prismatic",
                        "between": ["ground", "b"],
                        "axis": [0, 0, 1],
                        "initial": {"slide": -0.7 * length},
                    }
                },
                "forces": {
                    "F": {
                        "kind": "force",
                        "on": "b",
                        "force": [0, 0, f"{-sign * 2.0 * 9.81!r}*(g.slide/{length!r})^{power}"],
                    }
                },
            }
        )
    )
    point = operating_point(system)
    assert point.kind == "equilibrium"
    place = system.state_names.index("g.slide")
    assert point.x[place] == pytest.approx(-length, rel=1e-9)
    (mode,) = linearise(system, point).modes
    assert abs(mode.eigenvalue) == pytest.approx(np.sqrt(power * 9.81 / length), rel=1e-8)
