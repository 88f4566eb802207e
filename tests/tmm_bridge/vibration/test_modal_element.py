"""Flexible bodies in the transfer equations: closed forms, the bond graph, the recursion."""

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.laws.meshes import frame, lattice
from tests.tail import tail
from tests.tmm_bridge.recursion import assert_riccati_agrees
from tests.tmm_bridge.vibration.test_acting import agree, seen
from vbg.analysis import linearise, operating_point
from vbg.cli.main import main
from vbg.cli.show.vibration import compared, worst_of
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.tmm_bridge.mechanism.start import start
from vbg.tmm_bridge.modes.modal import orthogonality, vibration
from vbg.tmm_bridge.overall.deduction import deduce, transfer_text
from vbg.tmm_bridge.overall.transfer import overall_equation

EXAMPLES = Path(__file__).parents[3] / "examples"
BEAM = frame(4, 1.0), {"A": [0], "B": [4]}
SOLID = lattice(), {"A": [0, 1, 2, 3], "B": [12, 13, 14, 15]}
BOB = {"inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.025}, "points": {"in": [0.05, 0.02, 0.1]}}


def arm(mesh, softer=1.0, **more):
    """A flexible body with three fixed-interface modes, its stiffness divided by `softer`."""
    (M, K, X), points = mesh
    M, K, X = (a.tolist() for a in (M, K / softer, X))
    return {"flexible": {"M": M, "K": K, "nodes": X, "points": points, "modes": 3, **more}}


def hooked(mesh, mass, softer=1.0, **more):
    """A flexible pendulum on springs, a bob on a hinge at its end."""
    spring = {"kind": "torsion_spring", "on": "joints.pin", "k": 20.0 * mass}
    return vbg.Model(
        name="flexible pendulum",
        gravity=[0, 0, -9.81],
        bodies={"arm": arm(mesh, softer, damping=0.02, **more), "bob": {"mass": mass, **BOB}},
        joints={
            "pin": {"kind": "revolute", "between": ["ground", "arm.A"], "axis": [0, 1, 0]},
            "hook": {"kind": "revolute", "between": ["arm.B", "bob.in"], "axis": [0, 1, 0.3]},
        },
        forces={
            "s": spring,
            "s2": spring | {"on": "joints.hook", "k": 15.0},
            "push": {"kind": "torque", "on": "joints.hook", "torque": [0]},
        },
    )


def hung(softer, pull=2e3):
    """The same on springs at both ends, nothing clamped: its points carry forces, and the moments
    of the bob."""
    ends = {"a": (0, 0, "A"), "b": (1.5, 0.2, "B"), "c": (0.5, 1.2, "B"), "d": (-0.5, -1.2, "A")}
    springs = {
        name: {
            "kind": "spring",
            "between": [{"body": "ground", "at": [x, y, 3.0]}, f"arm.{point}"],
            "k": pull,
            "length": 1.0,
        }
        for name, (x, y, point) in ends.items()
    }
    return vbg.Model(
        name="hung",
        gravity=[0, 0, -9.81],
        bodies={"arm": arm(BEAM, softer), "bob": {"mass": 2.0, **BOB}},
        joints={"hook": {"kind": "revolute", "between": ["arm.B", "bob.in"], "axis": [0, 1, 0.3]}},
        forces=springs | {"s2": {"kind": "torsion_spring", "on": "joints.hook", "k": 15.0}},
    )


@pytest.mark.parametrize("mesh", [BEAM, pytest.param(SOLID, marks=pytest.mark.slow)])
def test_alone_it_has_its_own_frequencies(mesh):
    """Six free motions and the frequencies of the reduced matrices."""
    model = vbg.Model(gravity=[0, 0, 0], bodies={"arm": arm(mesh)})
    own = model.bodies["arm"].flexible.modes.frequencies
    found = np.array([mode.frequency for mode in vibration(model).modes])
    assert len(found) == 6 + len(own)
    np.testing.assert_allclose(found[6:], np.sort(own), rtol=1e-10)
    assert np.abs(found[:6]).max() < 1e-5 * own.min()


@pytest.mark.parametrize(
    ("mesh", "mass", "softer"),
    [
        (BEAM, 2.0, 1.0),
        *(pytest.param(m, 20.0, 10.0, marks=pytest.mark.slow) for m in (BEAM, SOLID)),
    ],
)
def test_pendulum_against_the_linearised_bond_graph(mesh, mass, softer):
    """A loop through the clamp: poles, shapes, responses to a torque."""
    agree(hooked(mesh, mass, softer), 1e-7, 1e-7)


@pytest.mark.parametrize("softer", [1.0, pytest.param(20.0, marks=pytest.mark.slow)])
def test_hung_body_against_the_linearised_bond_graph(softer):
    """No loop: frequencies by counting pivots, none missed; modes are orthogonal.  A soft one is
    bent by some degrees, so that the turn of its points counts."""
    place, found = seen(hung(softer))
    linear = linearise(place.system, place.point)
    rows = compared(found, linear)
    assert len(rows) == len(linear.modes)
    assert worst_of(rows) < 1e-8
    counted = np.array([mode.frequency for mode in found.modes])
    np.testing.assert_allclose(np.sort(np.abs(found.poles)), counted, rtol=1e-8)
    assert orthogonality(found).worst < 1e-9


@pytest.mark.parametrize("softer", tail([1.0, 50.0, 5.0, 20.0, 30.0, 100.0], 2))
def test_a_hung_body_has_one_rest_however_soft(softer):
    """Let go at 19 kJ, it rests at 0.2 kJ: springs carry the weight of both bodies, deviations do
    not grow, and rounding of the start changes nothing."""
    system = vbg.assemble(hung(softer))
    start = vbg.start(system)
    found = [operating_point(system, x=one.state) for one in shaken(start, 1)]
    assert [one.kind for one in found] == ["equilibrium"] * 2
    np.testing.assert_allclose(found[1].x, found[0].x, atol=1e-9)
    out = start.outputs(0.0, found[0].x)
    carried = np.zeros(3)
    for name, spring in system.model.forces.items():
        if spring.kind == "spring":
            way = out[f"{spring.between[1].body}.position"] - spring.between[0].at
            carried += out[f"{name}.force"] * way / np.linalg.norm(way)
    weight = 9.81 * (2.0 + system.model.bodies["arm"].mass)
    np.testing.assert_allclose(carried, [0.0, 0.0, weight], atol=1e-7 * weight)
    assert linearise(system, found[0], inputs=[]).eigenvalues.real.max() < 1e-4


def test_a_steady_motion_is_sought_with_flexible_bodies_too():
    """A free one that flies and turns about nothing moves along; one on springs does not."""
    flies = arm(BEAM) | {"velocity": [1.0, 2.0, 3.0]}
    free = vbg.assemble(vbg.Model(gravity=[0, 0, 0], bodies={"arm": flies}))
    assert operating_point(free, "steady").kind == "steady motion"
    assert operating_point(vbg.assemble(hung(1.0)), "steady").kind == "instant"


def moving(model):
    """Mechanism and a state of it at random."""
    mechanism = lay_out(model)
    y, random = start(mechanism).y, np.random.default_rng(3)
    n_q, n_v = (int(k) for k in mechanism.tables.sizes[:2])
    y[n_q : n_q + n_v] += random.normal(size=n_v)
    _, q, _, n = mechanism.tables.flexes[0]
    y[q : q + n] += 0.02 * random.normal(size=n)
    return mechanism, y


@pytest.mark.parametrize("model", [hung(1.0), hooked(BEAM, 2.0)], ids=["tree", "loop"])
def test_overall_equation_gives_the_riccati_solution(model):
    mechanism, y = moving(model)
    assert_riccati_agrees(mechanism, y, 1e-9)
    numbers = overall_equation(mechanism, y, 0.0)
    assert len(set(numbers.columns)) == numbers.matrix.shape[1]
    assert "modes of bodies.arm q''[2]" in numbers.columns
    assert "modes of bodies.arm" in numbers.rows


def test_deduction_names_points_and_modes(capsys):
    found = deduce(hooked(BEAM, 2.0))
    assert found.paths["z[bob]"] == ("bob", "hook", "arm_B", "arm", "free")
    assert (
        "q''[arm] + G'[arm] alpha[arm] + H'[arm_A] (z[pin\"]) + H'[arm_B] (U[hook] U[bob] z[bob])"
        " = f[arm]" in found.equations
    )
    assert found.topology == "chain"
    assert "U[arm_A], U[arm_B] take H q'' off a and alpha" in transfer_text(hooked(BEAM, 2.0))
    assert main(["show", "transfer", str(EXAMPLES / "finite-elements/ladder.toml")]) == 0
    assert "ladder: tree with one loop" in capsys.readouterr().out
