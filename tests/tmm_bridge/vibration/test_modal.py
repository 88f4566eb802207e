"""Vibration of models by transfer matrices: closed forms, and the linearised bond graph."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

import vbg
from vbg.analysis import frequency_response, linearise, operating_point
from vbg.analysis.rest.idle import Place, resting_point
from vbg.cli.main import main
from vbg.cli.show.vibration import compared, poses_at, responses
from vbg.errors import UsageError
from vbg.model.placing.placed import place
from vbg.tmm_bridge.modes.modal import orthogonality, vibration
from vbg.tmm_bridge.modes.passing import count_below

EXAMPLES = Path(__file__).parents[3] / "examples"
ROUND = {"xx": 0.02, "yy": 0.05, "zz": 0.04, "xy": 0.003, "yz": -0.002, "zx": 0.001}


def discs(n: int, k: float, J: float, c: float = 0.0) -> vbg.Model:
    """n equal discs on equal springs (and dampers), the first one's on the ground."""
    bodies, joints, forces = {}, {}, {}
    for i in range(n):
        bodies[f"d{i}"] = {"mass": 1.0, "inertia": {"xx": 0.3, "yy": 0.3, "zz": J}}
        before = "ground" if i == 0 else f"d{i - 1}"
        joints[f"j{i}"] = {"kind": "revolute", "between": [before, f"d{i}"], "axis": [0, 0, 1]}
        forces[f"s{i}"] = {"kind": "torsion_spring", "on": f"joints.j{i}", "k": k, "c": c}
    return vbg.Model(name="discs", bodies=bodies, joints=joints, forces=forces)


def tree(*, damped: bool) -> vbg.Model:
    """Revolute, universal, prismatic and ball; springs on joints, to the ground and between
    moving bodies, all of them loaded by weight and a constant force at rest."""
    bodies = {
        "a": (1.2, [0.3, 0, -0.1], [-0.3, 0, 0.1], {"o1": [0.2, 0.1, -0.1], "o2": [0.1, -0.2, 0]}),
        "b": (0.8, [0.6, 0.3, -0.3], [-0.1, -0.2, 0.1], {"tip": [0.1, 0.1, -0.2]}),
        "c": (0.5, [0.45, -0.4, -0.2], [-0.05, 0.2, 0.1], {"tip": [0.1, -0.1, 0.1]}),
        "d": (0.6, [0.75, 0.5, -0.7], [-0.05, -0.1, 0.2], {"tip": [0.1, 0.1, -0.1]}),
    }
    wall = {"body": "ground", "at": [0.9, 0.9, 0.1]}
    joints = {
        "J1": {"kind": "revolute", "between": ["ground", "a.in"], "axis": [0.2, 1, 0.1]},
        "J2": {
            "kind": "universal",
            "between": ["a.o1", "b.in"],
            "axis": [0, 1, 0.2],
            "axis2": [1, 0, 0],
        },
        "J3": {"kind": "prismatic", "between": ["a.o2", "c.in"], "axis": [0.3, -1, 0.2]},
        "J4": {"kind": "spherical", "between": ["b.tip", "d.in"]},
    }
    forces = {
        "coil": {"kind": "torsion_spring", "on": "joints.J1", "k": 30.0, "c": 0.2 * damped},
        "rail": {"kind": "spring", "on": "joints.J3", "k": 200.0},
        "hang": {"kind": "spring", "between": ["d.tip", wall], "k": 60.0, "length": 0.5},
        "across": {"kind": "spring", "between": ["c.tip", "d.tip"], "k": 40.0, "length": 0.6},
        "pull": {"kind": "force", "on": "c.tip", "force": [1.0, 2.0, -0.5]},
        "motor": {"kind": "torque", "on": "joints.J1", "torque": [0.5]},
    }
    if damped:
        joints["J1"]["friction"] = {"viscous": 0.3}
        forces["dash"] = {"kind": "damper", "between": ["c.tip", "b.tip"], "c": 3.0}
    return vbg.Model(
        name="tree",
        gravity=[0.5, 0, -9.81],
        bodies={
            name: {
                "mass": mass,
                "inertia": ROUND,
                "position": place,
                "points": {"in": inboard, **points},
            }
            for name, (mass, place, inboard, points) in bodies.items()
        },
        joints=joints,
        forces=forces,
    )


def rest_of(model: vbg.Model) -> Place:
    """Where the bond-graph solver says that the machine rests."""
    system = vbg.assemble(model)
    return Place(system, operating_point(system, "equilibrium"))


@pytest.mark.parametrize("n", [1, 2, 12])
def test_holzer_chain_of_a_model(n):
    k, J = 1200.0, 0.03
    exact = 2 * np.sqrt(k / J) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    found = vibration(discs(n, k, J))
    np.testing.assert_allclose([mode.frequency for mode in found.modes], exact, rtol=1e-10)
    for number, mode in enumerate(found.modes, start=1):
        angles = np.cumsum([mode.shape[f"j{i}.angle"] for i in range(n)])
        expected = np.sin((2 * number - 1) * np.pi / (2 * n + 1) * np.arange(1, n + 1))
        np.testing.assert_allclose(
            angles / angles[-1], expected / expected[-1], atol=1e-8 * np.abs(angles).max()
        )


def test_count_of_frequencies_below():
    """Sturm: the number of negative pivots at w is that of the frequencies below w."""
    n, k, J = 9, 70.0, 0.2
    found = vibration(discs(n, k, J))
    exact = 2 * np.sqrt(k / J) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    for below, (a, b) in enumerate(pairwise(exact), start=1):
        assert count_below(found.small, (0.5 * (a + b)) ** 2) == below


def test_damped_disc():
    """J s^2 + c s + k = 0, below and above critical damping."""
    for c in (0.5, 9.0):
        poles = vibration(discs(1, 50.0, 0.2, c)).poles
        exact = np.roots([0.2, c, 50.0])
        exact = exact[exact.imag >= 0.0]
        np.testing.assert_allclose(
            np.sort_complex(poles), np.sort_complex(exact.astype(complex)), rtol=1e-12
        )


def bob(centre: list[float]) -> vbg.Model:
    """A ball of 1 kg on two crossed hinges; its centre from there [m]."""
    return vbg.Model(
        name="bob",
        gravity=[0, 0, -10.0],
        bodies={
            "bar": {
                "mass": 1.0,
                "inertia": {"xx": 0.15, "yy": 0.15, "zz": 0.15},
                "position": centre,
                "points": {"in": [-x for x in centre]},
            }
        },
        joints={
            "J": {
                "kind": "universal",
                "between": ["ground", "bar.in"],
                "axis": [1, 0, 0],
                "axis2": [0, 1, 0],
            }
        },
    )


@pytest.mark.parametrize("m, k, c", [(1e-12, 1.0, 1e-8), (1e-3, 1e9, 1e-3), (1e6, 1e-3, 1e-3)])
def test_poles_do_not_depend_on_the_units(m, k, c):
    """Micromachines, stiff ones and slow ones: each pole is that of its own quadratic."""
    masses = m * np.array([1.0, 1.3, 1.6])
    springs = k * np.array([1.0, 2.0, 3.0])
    model = vbg.Model(
        name="sliders",
        gravity=[0, 0, 0],
        bodies={
            f"b{i}": {"mass": float(mass), "inertia": {"xx": m, "yy": m, "zz": m}}
            for i, mass in enumerate(masses)
        },
        joints={
            f"j{i}": {"kind": "prismatic", "between": ["ground", f"b{i}"], "axis": [1, 0, 0]}
            for i in range(3)
        },
        forces={
            f"{kind}{i}": {"kind": kind, "on": f"joints.j{i}", letter: float(value)}
            for i, spring in enumerate(springs)
            for kind, letter, value in (("spring", "k", spring), ("damper", "c", c))
        },
    )
    decay = c / (2.0 * masses)
    expected = -decay + 1j * np.sqrt(springs / masses - decay**2)
    poles = vibration(model).poles
    np.testing.assert_allclose(poles.real, expected.real, rtol=1e-12)
    np.testing.assert_allclose(poles.imag, expected.imag, rtol=1e-12)


def test_double_frequency_is_found_twice():
    """w^2 = m g l / (J + m l^2) about either hinge."""
    modes = vibration(bob([0, 0, -0.5])).modes
    np.testing.assert_allclose([m.square for m in modes], [5.0 / 0.4] * 2, rtol=1e-12)
    assert abs(np.linalg.det([[m.shape["J.angle"], m.shape["J.angle2"]] for m in modes])) > 0.1


def test_standing_bar_falls():
    """w^2 = -m g l / (J + m l^2) about the rest in which it stands."""
    model = bob([0, 0, 0.5])
    modes = vibration(model, poses=dict(place(model).poses)).modes
    np.testing.assert_allclose([m.square for m in modes], [-5.0 / 0.4] * 2, rtol=1e-12)
    assert all(np.isnan(m.frequency) for m in modes)


def test_newton_leaves_the_standing_rest_only_if_pushed():
    """It ends where it hangs from a start beside the upright."""
    modes = vibration(bob([0.14, 0.0, 0.48])).modes
    np.testing.assert_allclose([m.square for m in modes], [5.0 / 0.4] * 2, rtol=1e-9)


@pytest.mark.parametrize("damped", [False, True])
def test_tree_against_the_linearised_bond_graph(damped):
    """Poles, complex shapes and responses of coordinates and joint forces."""
    model = tree(damped=damped)
    place = rest_of(model)
    found = vibration(model)
    forces = [f"J{k}.force" for k in (1, 2, 3, 4)]
    names = ["J1.angle", "J2.angle", "J2.angle2", "J3.slide"]
    linear = linearise(place.system, place.point, inputs=["motor"], outputs=[*names, *forces])
    rows = compared(found, linear)
    assert len(rows) == 7
    assert max(row.error for row in rows) < 1e-10
    assert max(row.apart for row in rows) < 1e-9
    assert max(one.error for one in responses(found, linear, "motor")) < 1e-10
    w = [0.7, 4.0, 11.0, 40.0]
    amplitudes = found.response("motor", w)
    for force in forces:
        other = [frequency_response(linear, "motor", f"{force}[{k}]", w).value for k in range(3)]
        size = np.abs(other).max()
        np.testing.assert_allclose(amplitudes[force], np.array(other).T, atol=1e-10 * size)


def test_response_to_a_force_on_a_body():
    model = tree(damped=True)
    place = rest_of(model)
    linear = linearise(place.system, place.point, inputs=["pull[1]"])
    w = [1.0, 9.0]
    amplitudes = vibration(model).response("pull", w, axis=1)
    for name in ("J1.angle", "J3.slide"):
        np.testing.assert_allclose(
            amplitudes[name], frequency_response(linear, None, name, w).value, rtol=1e-9
        )


def test_undamped_modes_are_the_poles_without_dampers():
    found = vibration(tree(damped=True))
    plain = vibration(tree(damped=False))
    squares = [mode.square for mode in found.modes]
    np.testing.assert_allclose(np.sqrt(squares), np.sort(np.abs(plain.poles)), rtol=1e-10)


@pytest.mark.parametrize("name", ["pendulum", "double-pendulum", "triple-pendulum", "heavy-top"])
def test_examples_against_the_linearised_bond_graph(name):
    model = vbg.read(EXAMPLES / f"{name}.toml")
    place = rest_of(model)
    rows = compared(vibration(model, poses=poses_at(place)), linearise(place.system, place.point))
    assert rows
    assert max(row.error for row in rows) < 1e-8
    assert all(row.apart < 1e-8 for row in rows if row.apart == row.apart)


def test_modes_are_orthogonal(capsys):
    """Holzer's chain: mass x.x J, stiffness w^2 of it; a tree; the table of the command."""
    n, k, J = 6, 1200.0, 0.03
    for model in (discs(n, k, J), tree(damped=True)):
        found = vibration(model)
        products = orthogonality(found)
        squares = [mode.square for mode in found.modes]
        np.testing.assert_allclose(products.stiffness / products.mass, squares, rtol=1e-10)
        np.testing.assert_allclose(products.M, np.eye(len(squares)), atol=1e-8)
        assert products.worst < 1e-8
    found = vibration(discs(n, k, J))
    angles = np.cumsum([[m.shape[f"j{i}.angle"] for m in found.modes] for i in range(n)], axis=0)
    np.testing.assert_allclose(orthogonality(found).mass, J * (angles**2).sum(axis=0), rtol=1e-9)
    file = str(EXAMPLES / "double-pendulum.toml")
    assert main(["show", "vibration", file, "--orthogonality", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["orthogonality"]
    assert len(told["mass"]) == 2
    assert told["worst"] < 1e-9
    assert main(["show", "vibration", file, "--orthogonality"]) == 0
    assert "products beside the diagonal up to" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(6))
def test_free_chains_have_a_table(seed):
    """Discs without a spring to the ground, and with more hinges that nothing holds: modes of
    frequency 0 beside those of the dense eigenvalue problem, at any units."""
    rng = np.random.default_rng(seed)
    n, units = 5, 10.0 ** rng.uniform(-6, 6, 2)
    J, k = units[0] * rng.uniform(0.3, 3.0, n), units[1] * rng.uniform(0.3, 3.0, n)
    loose = {0, *rng.choice(n, seed % 3, replace=False).tolist()}
    plain = discs(n, 1.0, 0.1)
    bodies = {
        f"d{i}": {"mass": 1.0, "inertia": {"xx": J[i], "yy": J[i], "zz": float(J[i])}}
        for i in range(n)
    }
    forces = {
        f"s{i}": {"kind": "torsion_spring", "on": f"joints.j{i}", "k": float(k[i])}
        for i in range(n)
        if i not in loose
    }
    joints = plain.document["joints"]
    found = vibration(vbg.Model(name="chain", bodies=bodies, joints=joints, forces=forces))
    products = orthogonality(found)
    L = np.tril(np.ones((n, n)))  # of hinge angles
    held = np.diag([0.0 if i in loose else k[i] for i in range(n)])
    squares = eigh(held, L.T @ np.diag(J) @ L, eigvals_only=True)
    assert (products.stiffness == 0.0).sum() == len(loose)
    np.testing.assert_allclose(
        products.stiffness / products.mass, squares, rtol=1e-10, atol=1e-13 * squares.max()
    )
    assert_orthogonal(products)


def assert_orthogonal(products):
    n = len(products.mass)
    np.testing.assert_allclose(products.M, np.eye(n), atol=1e-9)
    np.testing.assert_allclose(products.K, np.diag(np.sign(products.stiffness)), atol=1e-9)
    assert products.worst < 1e-9


@pytest.mark.parametrize(
    ("name", "free", "others"),
    [("shaft-arm-slider", 1, 2), ("heavy-top", 1, 2), ("free-body", 6, 0)],
)
def test_the_table_of_machines_with_free_hinges(name, free, others, capsys):
    file = str(EXAMPLES / f"{name}.toml")
    place = resting_point(vbg.assemble(vbg.read(file)))
    found = vibration(place.system.model, poses=poses_at(place), off=place.off)
    products = orthogonality(found)
    assert_orthogonal(products)
    poles = sorted(abs(mode.eigenvalue) for mode in linearise(place.system, place.point).modes)
    squares = np.array(poles[2 * free :]) ** 2
    assert poles[: 2 * free] == pytest.approx([0.0] * 2 * free, abs=1e-6)
    np.testing.assert_allclose((products.stiffness / products.mass)[free:], squares, rtol=1e-8)
    assert len(squares) == others and not products.stiffness[:free].any()
    assert main(["show", "vibration", file, "--orthogonality"]) == 0
    told = capsys.readouterr().out
    assert f"{free} mode" in told and "frequency and K of 0" in told and "K 1" in told


def test_what_has_no_linear_form_is_refused():
    with pytest.raises(UsageError, match="dry friction"):
        vibration(vbg.read(EXAMPLES / "ball-screw-axis.toml"))


@pytest.mark.slow
def test_command(capsys):
    """The motor that no rest goes with is switched off; its harmonic input still excites."""
    file = str(EXAMPLES / "shaft-arm-slider.toml")
    assert main(["show", "vibration", file, "--excite", "motor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["switched_off"] == ["motor"]
    assert max(pole["difference"] for pole in answer["poles"]) < 1e-9
    assert max(one["difference"] for one in answer["responses"]) < 1e-9
    assert main(["show", "vibration", file]) == 0
    assert "J3.slide 1" in capsys.readouterr().out
