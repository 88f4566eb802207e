"""Undamped modes of closed loops: closed forms, and the linearised bond graph."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tmm_bridge.vibration.test_modal import assert_orthogonal, poses_at, rest_of
from vbg.analysis import linearise
from vbg.cli.main import main
from vbg.tmm_bridge.modes.modal import orthogonality, vibration


def link(mass, inertia, at, **points):
    return {
        "mass": float(mass),
        "inertia": {"xx": float(inertia), "yy": float(inertia), "zz": float(inertia)},
        "position": [float(c) for c in at],
        "points": {name: [float(c) for c in p] for name, p in points.items()},
    }


def pin(first, second, kind="revolute"):
    return {"kind": kind, "between": [first, second], "axis": [0, 1, 0]}


def ground(x, z=0.0):
    return {"body": "ground", "at": [float(x), 0.0, float(z)]}


@pytest.mark.parametrize("seed", range(6))
def test_a_parallelogram_swings_as_a_pendulum(seed, tmp_path, capsys):
    """Two hanging cranks m, J, l and a bar M: mass 2 J + m l^2/2 + M l^2, stiffness g l (m + M)."""
    rng = np.random.default_rng(seed)
    l, m, M = 10.0 ** rng.uniform(-3, 2, 3)
    J, d = m * l**2 * rng.uniform(0.05, 0.3), l * rng.uniform(0.5, 2)
    ends = {"A": [0, 0, l / 2], "B": [0, 0, -l / 2]}
    bodies = {
        "left": link(m, J, [0, 0, -l / 2], **ends),
        "right": link(m, J, [d, 0, -l / 2], **ends),
        "bar": link(M, M * d**2 / 12, [d / 2, 0, -l], A=[-d / 2, 0, 0], B=[d / 2, 0, 0]),
    }
    joints = {
        "L": pin(ground(0), "left.A"),
        "R": pin(ground(d), "right.A"),
        "B": pin("left.B", "bar.A"),
        "C": pin("bar.B", "right.B", "point_on_line"),
    }
    model = vbg.Model(name="parallelogram", bodies=bodies, joints=joints)
    found = vibration(model)
    products = orthogonality(found)
    assert_allclose(products.mass, [2 * J + m * l**2 / 2 + M * l**2], rtol=1e-9)
    assert_allclose(products.stiffness, [9.81 * l * (m + M)], rtol=1e-9)
    assert_allclose([mode.square for mode in found.modes], products.stiffness / products.mass)
    if seed == 0:
        vbg.write(model, tmp_path / "p.toml")
        assert (
            main(["show", "vibration", str(tmp_path / "p.toml"), "--orthogonality", "--json"]) == 0
        )
        told = json.loads(capsys.readouterr().out)["orthogonality"]
        assert_allclose(told["mass"], products.mass)


def five_bar(seed):
    """Two legs of two links that meet, on torsion springs, beside a pendulum on the first link."""
    rng = np.random.default_rng(seed)
    length = 10.0 ** rng.uniform(-2, 1)
    places = np.array([[0, 0], [-0.4, -0.9], [0.5, -1.6], [1.5, -0.8], [1.1, 0], [-0.4, -1.7]])
    places = length * (places + rng.uniform(-0.1, 0.1, places.shape))
    bodies = {}
    for name, a, b in (("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("d", 3, 4), ("e", 1, 5)):
        middle, half = (places[a] + places[b]) / 2, (places[b] - places[a]) / 2
        bodies[name] = link(
            rng.uniform(1, 3), rng.uniform(0.02, 0.2) * length**2, [middle[0], 0, middle[1]],
            A=[-half[0], 0, -half[1]], B=[half[0], 0, half[1]],
        )  # fmt: skip
    joints = {
        "O": pin(ground(*places[0]), "a.A"),
        "P": pin("a.B", "b.A"),
        "Q": pin(ground(*places[4]), "d.B"),
        "R": pin("d.A", "c.B"),
        "S": pin("b.B", "c.A", "point_on_line"),
        "T": pin("a.B", "e.A"),
    }
    forces = {
        f"k{j}": {
            "kind": "torsion_spring",
            "on": f"joints.{j}",
            "k": rng.uniform(5, 50) * 9.81 * length,
        }
        for j in "OPQRT"
    }
    return vbg.Model(name="five-bar", bodies=bodies, joints=joints, forces=forces)


@pytest.mark.parametrize("seed", range(5))
def test_modes_of_five_bars_against_the_linearised_bond_graph(seed):
    """Three coordinates are left open; springs and weights balance the loop's efforts."""
    place = rest_of(five_bar(seed))
    found = vibration(place.system.model, poses=poses_at(place))
    products = orthogonality(found)
    assert_orthogonal(products)
    poles = sorted(abs(mode.eigenvalue) for mode in linearise(place.system, place.point).modes)
    squares = np.unique(np.round(np.array(poles) ** 2, 9))
    assert len(found.modes) == 3
    assert_allclose([mode.square for mode in found.modes], squares, rtol=1e-7)


def test_what_nothing_holds_in_a_loop_is_told_as_zero():
    """A coupler on two ball joints turns about itself: modal mass is its moment about that line."""
    turn = 0.004
    bodies = {
        "left": link(1.0, 0.01, [0, 0, -0.2], A=[0, 0, 0.2], B=[0, 0, -0.2]),
        "right": link(1.0, 0.01, [0.6, 0, -0.2], A=[0, 0, 0.2], B=[0, 0, -0.2]),
        "bar": link(2.0, 0.05, [0.3, 0, -0.4], A=[-0.3, 0, 0], B=[0.3, 0, 0]),
    }
    bodies["bar"]["inertia"]["xx"] = turn
    joints = {
        "L": pin(ground(0), "left.A"),
        "R": pin(ground(0.6), "right.A"),
        "B": {"kind": "spherical", "between": ["left.B", "bar.A"]},
        "C": {"kind": "spherical", "between": ["bar.B", "right.B"]},
    }
    products = orthogonality(vibration(vbg.Model(name="balls", bodies=bodies, joints=joints)))
    assert_allclose(products.mass, [turn, 2 * 0.01 + 0.4**2 / 2 + 2.0 * 0.4**2], rtol=1e-9)
    assert_allclose(products.stiffness, [0.0, 9.81 * 0.4 * 3.0], rtol=1e-9)
