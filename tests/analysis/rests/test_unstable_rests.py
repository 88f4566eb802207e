"""A rest that deviations leave is named, with its growth in closed form; what is neutral is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import vbg
from vbg.analysis import operating_point
from vbg.io.toml import parse
from vbg.model import Model

G = 9.81


def rods(m: np.ndarray, l: np.ndarray, way: float) -> Model:
    """A chain of rods along z, its pins across, hanging (`way` -1) or upright (1)."""
    bodies, joints, end = {}, {}, 0.0
    for i in range(len(m)):
        J = m[i] * l[i] ** 2 / 12
        bodies[f"b{i}"] = {
            "mass": m[i],
            "inertia": {"xx": J, "yy": J, "zz": J},
            "position": [0, 0, end + way * l[i] / 2],
            "points": {"a": [0, 0, -way * l[i] / 2], "b": [0, 0, way * l[i] / 2]},
        }
        ends = [f"b{i - 1}.b" if i else "ground", f"b{i}.a"]
        joints[f"j{i}"] = {"kind": "revolute", "between": ends, "axis": [0, 1, 0]}
        end += way * l[i]
    return Model(gravity=[0, 0, -G], bodies=bodies, joints=joints)


def squared_rates(m: np.ndarray, l: np.ndarray) -> np.ndarray:
    """Of small motions of the upright chain, by its absolute angles, ascending."""
    V = np.tril(np.tile(l, (len(l), 1)), -1) + np.diag(l / 2)  # speeds of mass centres
    M = V.T @ np.diag(m) @ V + np.diag(m * l**2 / 12)
    return eigh(np.diag(G * V.T @ m), M, eigvals_only=True)


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_that_stands_is_named_with_its_rate_and_one_that_hangs_is_not(seed):
    random = np.random.default_rng(seed)
    m = 10.0 ** (random.uniform(-9, 6) + random.uniform(-1, 1, 1 + seed))
    l = 10.0 ** random.uniform(-4, 3) * random.uniform(0.5, 2.0, 1 + seed)
    upright, hanging = (operating_point(vbg.assemble(rods(m, l, way))) for way in (1.0, -1.0))
    assert upright.kind == hanging.kind == "equilibrium"
    assert hanging.growth is None and "unstable" not in hanging.sentence
    assert upright.growth is not None and upright.growth.sentence in upright.sentence
    assert_allclose(upright.growth.rate, np.sqrt(squared_rates(m, l)[-1]), rtol=1e-9)
    assert upright.growth.turns == 0.0 and upright.growth.coordinate.endswith(".angle")


ROD = """vbg = 1
[bodies.rod]
mass = 2
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
position = [0, 0, 0.5]
points = { foot = [0, 0, -0.5] }
[joints.pin]
kind = "revolute"
between = ["ground", "rod.foot"]
axis = [0, 1, 0]
"""
J, TURNING, PERIOD = 0.1 + 2 * 0.5**2, 2 * G * 0.5, 0.01
RATE, OIL = np.sqrt(TURNING / J), 3.0
HELD = """[signals.held]
kind = "sample_and_hold"
input = "-{}*pin.angle - 4*pin.speed"
period = 0.01
[forces.hand]
kind = "torque"
on = "joints.pin"
torque = ["held"]
"""


def sampled(gain: float) -> float:
    """Growth of the rod under a torque -gain angle - 4 speed that is held for PERIOD."""
    c, s = np.cosh(RATE * PERIOD), np.sinh(RATE * PERIOD)
    free = np.array([[c, s / RATE], [RATE * s, c]])
    pushed = np.array([[c - 1, 0], [0, s * RATE]]) @ np.ones((2, 1)) / TURNING
    largest = np.abs(np.linalg.eigvals(free - pushed @ [[gain, 4.0]])).max()
    return float(np.log(largest) / PERIOD)


@pytest.mark.parametrize(
    ("more", "rate"),
    [
        ("stop = { lower = 0, k = 1e9, c = 1e3 }", RATE),  # it falls to the other side
        ("friction = { coulomb = 0.1 }", None),
        (
            f"[forces.oil]\nkind = 'damper'\non = 'joints.pin'\nc = {OIL}",
            (np.sqrt(OIL**2 + 4 * J * TURNING) - OIL) / (2 * J),
        ),
        (HELD.format(60), None),
        (HELD.format(5), sampled(5)),
    ],
    ids=["at a stop", "in dry friction", "in oil", "held by samples", "held too weakly"],
)
def test_a_rod_that_stands(more, rate):
    point = operating_point(vbg.assemble(parse(ROD + more)))
    assert point.kind == "equilibrium"
    if rate is None:
        assert point.growth is None
    else:
        assert point.growth is not None and point.growth.coordinate == "pin.angle"
        assert_allclose(point.growth.rate, rate, rtol=1e-7)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_free_to_move_on_is_neutral_beside_anything_stiff(seed):
    """A balanced rotor, a weight on a rope of nothing but a guide across, an integrator, and a mass
    on a spring of a megahertz."""
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    body = {"mass": 3.0, "inertia": {"xx": 1.0, "yy": 2.0, "zz": 2.5}}
    model = Model(
        gravity=[0, 0, -G],
        bodies={"rotor": body, "cart": body, "mass": body},
        joints={
            "axle": {"kind": "revolute", "between": ["ground", "rotor"], "axis": axis.tolist()},
            "guide": {"kind": "prismatic", "between": ["ground", "cart"], "axis": [0.6, 0.8, 0]},
            "slide": {"kind": "prismatic", "between": ["ground", "mass"], "axis": [1, 2, 3]},
        },
        forces={"spring": {"kind": "spring", "on": "joints.slide", "k": 1e14}},
        signals={
            "sum": {
                "kind": "transfer_function",
                "input": 0,
                "numerator": [1],
                "denominator": [1, 0, 0],
            }
        },
    )
    point = operating_point(vbg.assemble(model))
    assert point.kind == "equilibrium" and point.growth is None


def test_a_run_that_begins_at_an_unstable_rest_says_so():
    system = vbg.assemble(parse(ROD))
    (told,) = vbg.start(system, "equilibrium").notes
    assert told.severity == "warning" and "unstable" in told.what and "4.04 /s" in told.what
    assert "pin.angle" in told.what and "another pin.angle" in told.remedy


@pytest.mark.parametrize("seed", [5022, 5040])
def test_a_chain_under_torques_goes_on_from_a_rest_that_it_would_leave(seed):
    """Of sources that work the stored energy is no measure: the search down it ended in saddles."""
    random = np.random.default_rng(seed)
    bodies, joints, forces = {}, {}, {}
    for i in range(int(random.integers(1, 5))):
        m, l = 10 ** random.uniform(-1, 1), random.uniform(0.3, 1.5)
        J = 0.1 * m * l**2
        bodies[f"b{i}"] = {
            "mass": m,
            "inertia": {"xx": J, "yy": J, "zz": J},
            "points": {"a": [-l / 2, 0, 0], "b": [l / 2, 0, 0]},
        }
        joints[f"j{i}"] = {
            "kind": "revolute",
            "between": [f"b{i - 1}.b" if i else "ground", f"b{i}.a"],
            "axis": random.normal(size=3).tolist(),
            "initial": {"angle": random.uniform(-1.5, 1.5)},
        }
        torque = [random.uniform(-1, 1) * 0.6 * m * G * l / 2]
        forces[f"t{i}"] = {"kind": "torque", "on": f"joints.j{i}", "torque": torque}
    model = Model(gravity=[0, 0, -G], bodies=bodies, joints=joints, forces=forces)
    point = operating_point(vbg.assemble(model))
    assert point.kind == "equilibrium" and point.growth is None


def test_a_rod_that_is_written_upright_stays_so_on_a_spring_that_gives_way():
    carried = """
[bodies.block]
mass = 1
inertia = { xx = 1, yy = 1, zz = 1 }
[joints.lift]
kind = "prismatic"
between = ["ground", "block"]
axis = [0, 0, 1]
[forces.pad]
kind = "spring"
on = "joints.lift"
k = 1000
"""
    text = ROD.replace('["ground", "rod.foot"]', '["block", "rod.foot"]') + carried
    point = operating_point(vbg.assemble(parse(text)))
    assert point.kind == "equilibrium" and point.growth is not None
    assert_allclose(point.growth.rate, RATE, rtol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_what_stands_beside_an_unstable_rest_goes_to_the_rest_on_its_side_at_any_scale(seed):
    """A block on a rail under the force k s (1 - (s / l)^2), which rests at 0 and leaves it for
    -l or l: at micrometres and kilometres, and a rod that falls over; at 0 they stay."""
    random = np.random.default_rng(seed)
    m, l = 10.0 ** random.uniform(-9, 6), 10.0 ** random.uniform(-6, 6)
    side = random.choice([-1.0, 1.0])
    for beside, rests_at in ((1e-9, 0.0), (10.0 ** random.uniform(-4, -1), side)):
        s, J = side * beside, m * l * l / 12
        body = {"mass": m, "inertia": {"xx": J, "yy": J, "zz": J}, "points": {"a": [0, 0, -l / 2]}}
        rail, pin = (
            {"kind": kind, "between": ["ground", end], "axis": [1, 0, 0], "initial": initial}
            for kind, end, initial in (
                ("prismatic", "body", {"slide": s * l}),
                ("revolute", "body.a", {"angle": s}),
            )
        )
        law = {
            "kind": "force",
            "on": "body",
            "force": [f"{m / l}*at.slide*(1 - (at.slide/{l})^2)", 0, 0],
        }
        for joint, forces, gravity, far, reached in (
            (rail, {"law": law}, 0.0, l, "at.slide"),
            (pin, {}, G, np.pi, "at.angle"),
        ):
            model = Model(
                gravity=[0, 0, -gravity], bodies={"body": body}, joints={"at": joint}, forces=forces
            )
            system = vbg.assemble(model)
            point = operating_point(system)
            place = system.state_names.index(reached)
            assert point.kind == "equilibrium" and (point.growth is None) == (rests_at != 0.0)
            assert_allclose(point.x[place], rests_at * far, rtol=1e-9, atol=1e-9 * far)
