"""Frequencies by transfer matrices against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import vbg
from vbg.analysis import linearise
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.vibration import (
    Beam,
    Body,
    Branch,
    Disc,
    ElasticHinge,
    Shaft,
    Spring,
    Support,
    System,
    frequency_response,
    mode_shape,
    natural_frequencies,
)


def holzer(n: int, k: float, J: float) -> System:
    """n equal discs on equal springs, the last spring clamped."""
    return System(Branch((Disc(J), Spring(k)) * n), "clamped")


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_holzer_chain(n):
    k, J = 1200.0, 0.03
    exact = 2 * np.sqrt(k / J) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    found = natural_frequencies(holzer(n, k, J), 2.01 * np.sqrt(k / J), samples=25 * n)
    assert len(found) == n
    np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_holzer_chain_against_the_linearised_bond_graph():
    n, k, J = 3, 50.0, 0.2
    bodies, joints, forces = {}, {}, {}
    for i in range(n):
        bodies[f"d{i}"] = {"mass": 1.0, "inertia": {"xx": 0.3, "yy": 0.3, "zz": J}}
        before = "ground" if i == 0 else f"d{i - 1}"
        joints[f"j{i}"] = {"kind": "revolute", "between": [before, f"d{i}"], "axis": [0, 0, 1]}
        forces[f"s{i}"] = {"kind": "torsion_spring", "on": f"joints.j{i}", "k": k}
    model = vbg.Model(name="discs", bodies=bodies, joints=joints, forces=forces)
    modes = linearise(vbg.assemble(model)).modes
    system = holzer(n, k, J)
    found = natural_frequencies(system, 40.0, samples=100)
    np.testing.assert_allclose([mode.frequency for mode in modes], found, rtol=1e-10)
    for mode, w in zip(modes, found, strict=True):
        # From the clamped end on; the first disc's angle is the first hinge's.
        angles = np.cumsum([mode.shape[f"j{i}.angle"] for i in range(n)])
        chain = np.array([state[0] for state in mode_shape(system, w)[:-1:2]])[::-1]
        factor = angles[0] / chain[0]
        np.testing.assert_allclose(angles, factor * chain, atol=1e-8 * np.abs(angles).max())


def test_clamped_free_beam_in_pieces():
    """cosh x cos x = -1, whatever the number of pieces."""
    roots = [
        brentq(lambda x: np.cos(x) + 1 / np.cosh(x), a, a + 2.5, xtol=1e-14) for a in (1, 4, 7)
    ]
    EI, density, length = 310.0, 2.4, 1.7
    exact = np.array(roots) ** 2 * np.sqrt(EI / density) / length**2
    for pieces in (1, 5, 60):
        beam = Beam(EI, density, length / pieces)
        found = natural_frequencies(
            System(Branch((beam,) * pieces, "free")), exact[-1] * 1.1, samples=60
        )
        np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_pinned_pinned_beam():
    EI, density, length = 310.0, 2.4, 1.7
    exact = (np.arange(1, 5) * np.pi / length) ** 2 * np.sqrt(EI / density)
    chain = (Beam(EI, density, length / 4),) * 4
    found = natural_frequencies(
        System(Branch(chain, "pinned"), "pinned"), exact[-1] * 1.05, samples=100
    )
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_shaft_is_the_limit_of_many_discs():
    shaft = System(Branch((Shaft(80.0, 0.5, 2.0),)))
    exact = (2 * np.arange(1, 4) - 1) * np.pi / 4.0 * np.sqrt(80.0 / 0.5)
    np.testing.assert_allclose(
        natural_frequencies(shaft, exact[-1] * 1.1, samples=100), exact, rtol=1e-12
    )
    n = 200
    many = System(Branch((Disc(1.0 / n), Spring(40.0 * n)) * n))
    first = natural_frequencies(many, exact[0] * 1.5, samples=50)
    np.testing.assert_allclose(first, exact[:1], rtol=5e-3)


def test_body_on_elastic_hinge_and_on_supports():
    """One rotation about an elastic hinge; bounce and pitch on two springs."""
    hinged = System(Branch((Body(2.0, 0.1, 0.8, 0.5), ElasticHinge(k_theta=75.0))))
    w = natural_frequencies(hinged, 50.0, samples=100)
    np.testing.assert_allclose(w, [np.sqrt(75.0 / (0.1 + 2.0 * 0.3**2))], rtol=1e-10)
    k = 900.0
    car = System(Branch((Support(k), Body(3.0, 0.4, 1.0, 0.5), Support(k))), "free")
    exact = sorted([np.sqrt(2 * k / 3.0), np.sqrt(2 * k * 0.25 / 0.4)])
    np.testing.assert_allclose(natural_frequencies(car, 60.0, samples=100), exact, rtol=1e-10)


def test_tree_of_three_equal_shafts():
    """Two discs on springs meet at a hub on a clamped spring: by the 3 x 3 stiffness matrix."""
    J, k = np.array([0.2, 0.5, 0.3]), np.array([40.0, 90.0, 70.0])
    arms = tuple(Branch((Disc(J[i]), Spring(k[i]))) for i in (0, 1))
    tree = System(Branch((Disc(J[2]), Spring(k[2])), arms))
    K = np.diag([k[0], k[1], k.sum()])
    K[2, :2] = K[:2, 2] = -k[:2]
    exact = np.sqrt(np.linalg.eigvals(K / J[:, None]).real)
    np.testing.assert_allclose(
        natural_frequencies(tree, 60.0, samples=100), np.sort(exact), rtol=1e-10
    )


def test_mode_shape_of_a_holzer_chain():
    n = 6
    system = holzer(n, 1.0, 1.0)
    for number, w in enumerate(natural_frequencies(system, 2.0, samples=100), start=1):
        angles = np.array([state[0] for state in mode_shape(system, w)[:-1:2]])
        expected = np.sin((2 * number - 1) * np.pi / (2 * n + 1) * np.arange(n, 0, -1))
        expected /= expected[np.argmax(np.abs(expected))]
        np.testing.assert_allclose(angles, expected, atol=1e-8)


def test_frequency_response_of_one_disc():
    """x = F / (k - J w^2), and a beam's static deflection F l^3 / (3 EI)."""
    w = np.array([0.5, 3.0, 9.0])
    found = frequency_response(holzer(1, 20.0, 1.5), w, [2.0])
    np.testing.assert_allclose(np.abs(found[:, 0]), np.abs(2.0 / (20.0 - 1.5 * w**2)), rtol=1e-12)
    beam = System(Branch((Beam(310.0, 1e-9, 1.7),)))
    static = frequency_response(beam, [1e-3], [0.0, 5.0])
    assert abs(static[0, 0]) == pytest.approx(5.0 * 1.7**3 / (3 * 310.0), rel=1e-6)


def test_mixed_kinds_are_refused():
    with pytest.raises(UsageError, match="one kind"):
        natural_frequencies(System(Branch((Disc(1.0), Beam(1.0, 1.0, 1.0)))), 10.0)
