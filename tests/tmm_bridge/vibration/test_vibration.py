"""Frequencies by transfer matrices against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import vbg
from vbg.analysis import linearise
from vbg.errors import UsageError
from vbg.tmm_bridge.modes.chains.elements import (
    Beam,
    Body,
    Disc,
    ElasticHinge,
    Shaft,
    Spring,
    Support,
)
from vbg.tmm_bridge.modes.chains.vibration import (
    Branch,
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
    found = natural_frequencies(holzer(n, k, J), 2.01 * np.sqrt(k / J))
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
    found = natural_frequencies(system, 40.0)
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
        found = natural_frequencies(System(Branch((beam,) * pieces, "free")), exact[-1] * 1.1)
        np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_pinned_pinned_beam():
    EI, density, length = 310.0, 2.4, 1.7
    exact = (np.arange(1, 5) * np.pi / length) ** 2 * np.sqrt(EI / density)
    chain = (Beam(EI, density, length / 4),) * 4
    found = natural_frequencies(System(Branch(chain, "pinned"), "pinned"), exact[-1] * 1.05)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_shaft_is_the_limit_of_many_discs():
    shaft = System(Branch((Shaft(80.0, 0.5, 2.0),)))
    exact = (2 * np.arange(1, 4) - 1) * np.pi / 4.0 * np.sqrt(80.0 / 0.5)
    np.testing.assert_allclose(natural_frequencies(shaft, exact[-1] * 1.1), exact, rtol=1e-12)
    n = 200
    many = System(Branch((Disc(1.0 / n), Spring(40.0 * n)) * n))
    first = natural_frequencies(many, exact[0] * 1.5)
    np.testing.assert_allclose(first, exact[:1], rtol=5e-3)


def test_body_on_elastic_hinge_and_on_supports():
    """One rotation about an elastic hinge; bounce and pitch on two springs."""
    hinged = System(Branch((Body(2.0, 0.1, 0.8, 0.5), ElasticHinge(k_theta=75.0))))
    w = natural_frequencies(hinged, 50.0)
    np.testing.assert_allclose(w, [np.sqrt(75.0 / (0.1 + 2.0 * 0.3**2))], rtol=1e-10)
    k = 900.0
    car = System(Branch((Support(k), Body(3.0, 0.4, 1.0, 0.5), Support(k))), "free")
    exact = sorted([np.sqrt(2 * k / 3.0), np.sqrt(2 * k * 0.25 / 0.4)])
    np.testing.assert_allclose(natural_frequencies(car, 60.0), exact, rtol=1e-10)


def test_tree_of_three_equal_shafts():
    """Two discs on springs meet at a hub on a clamped spring: by the 3 x 3 stiffness matrix."""
    J, k = np.array([0.2, 0.5, 0.3]), np.array([40.0, 90.0, 70.0])
    arms = tuple(Branch((Disc(J[i]), Spring(k[i]))) for i in (0, 1))
    tree = System(Branch((Disc(J[2]), Spring(k[2])), arms))
    K = np.diag([k[0], k[1], k.sum()])
    K[2, :2] = K[:2, 2] = -k[:2]
    exact = np.sqrt(np.linalg.eigvals(K / J[:, None]).real)
    np.testing.assert_allclose(natural_frequencies(tree, 60.0), np.sort(exact), rtol=1e-10)


def test_mode_shape_of_a_holzer_chain():
    n = 6
    system = holzer(n, 1.0, 1.0)
    for number, w in enumerate(natural_frequencies(system, 2.0), start=1):
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


def beam_roots(kind, count):
    """b l of the first bending modes of a beam, closed forms over cosh."""
    sech = lambda x: 1.0 / np.cosh(min(x, 700.0))  # noqa: E731
    if kind == ("pinned", "pinned"):
        return np.pi * np.arange(1, count + 1)
    sign = 1.0 if kind == ("free", "clamped") else -1.0
    first = 0.5 if sign > 0 else 1.5
    middle = np.pi * (first + np.arange(count))
    reach = 3.0 * np.exp(-middle) + 1e-9 if sign < 0 else np.exp(1.0 - middle) + 1e-9
    f = lambda x: np.cos(x) + sign * sech(x)  # noqa: E731
    return np.array([brentq(f, m - r, m + r, xtol=1e-13) for m, r in zip(middle, reach)])


ENDS = [("free", "clamped"), ("clamped", "clamped"), ("free", "free"), ("pinned", "pinned")]


@pytest.mark.parametrize(
    ("ends", "pieces", "count"),
    [(ENDS[0], 1, 200), (ENDS[0], 200, 200)] + [(e, n, 20) for e in ENDS[1:] for n in (1, 7)],
)
def test_many_modes_of_a_beam(ends, pieces, count):
    """None missed, none twice, 1e-9 each, in one piece and in many."""
    EI, density, length = 310.0, 2.4, 1.7
    exact = beam_roots(ends, count + 1) ** 2 * np.sqrt(EI / density) / length**2
    chain = (Beam(EI, density, length / pieces),) * pieces
    upper = 0.5 * (exact[-2] + exact[-1])
    found = natural_frequencies(System(Branch(chain, ends[0]), ends[1]), upper)
    assert len(found) == count
    np.testing.assert_allclose(found, exact[:count], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaled_beams(scale):
    """Lengths times `scale`: frequencies over its square."""
    beam = System(Branch((Beam(310.0, 2.4, 1.7 * scale),)))
    exact = beam_roots(ENDS[0], 6) ** 2 * np.sqrt(310.0 / 2.4) / (1.7 * scale) ** 2
    found = natural_frequencies(beam, exact[-1] * 1.01)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_pinned_beam_of_timoshenko():
    """Both spectra: for k = n pi / l the squares of w solve
    (m J / (GA EI)) w^4 - (k^2 (m / GA + J / EI) + m / EI) w^2 + k^4 = 0."""
    EI, m, length, GA, J = 310.0, 2.4, 0.9, 5e4, 0.004
    k = np.arange(1, 60) * np.pi / length
    a, b = m * J / (GA * EI), k**2 * (m / GA + J / EI) + m / EI
    root = np.sqrt(b**2 - 4.0 * a * k**4)
    both = np.sort(np.sqrt(np.concatenate([(b - root), (b + root)]) / (2.0 * a)))
    shear = np.sqrt(GA / J)  # and one motion in pure shear
    exact = np.sort(np.append(both, shear))[:60]
    upper = 0.5 * (exact[-1] + exact[-2])
    for pieces in (1, 7):
        chain = (Beam(EI, m, length / pieces, GA, J),) * pieces
        found = natural_frequencies(System(Branch(chain, "pinned"), "pinned"), upper)
        np.testing.assert_allclose(found, exact[:-1], rtol=1e-9)


def test_double_frequencies_are_found_twice():
    """Three equal beams from one massless joint: motions of two against each other."""
    arm = Branch((Beam(310.0, 2.4, 1.7),), "free")
    star = System(Branch((Beam(310.0, 2.4, 1.7),), (arm, arm, arm)))
    alone = natural_frequencies(System(Branch((Beam(310.0, 2.4, 1.7),))), 400.0)
    found = natural_frequencies(star, 400.0)
    for w in alone:
        assert np.count_nonzero(np.abs(found - w) < 1e-9 * w) == 2


def test_static_response_of_a_long_chain():
    """F l^3 / (3 EI), in one piece and in 300, at a frequency far below and at high ones."""
    w = np.array([1e-3, 90.0, 2e4])
    one = frequency_response(System(Branch((Beam(310.0, 2.4, 1.7),))), w, [0.0, 5.0])
    many = frequency_response(System(Branch((Beam(310.0, 2.4, 1.7 / 300),) * 300)), w, [0.0, 5.0])
    assert abs(one[0, 0]) == pytest.approx(5.0 * 1.7**3 / (3 * 310.0), rel=1e-6)
    np.testing.assert_allclose(many, one, rtol=1e-8)


def test_shape_of_a_high_mode():
    """The hundredth of a pinned beam in 400 pieces is a sine."""
    system = System(Branch((Beam(310.0, 2.4, 1.7 / 400),) * 400, "pinned"), "pinned")
    w = (100 * np.pi / 1.7) ** 2 * np.sqrt(310.0 / 2.4)
    shape = np.array([state[0] for state in mode_shape(system, w)])
    sine = np.sin(100 * np.pi * np.arange(401) / 400)
    np.testing.assert_allclose(shape / shape[1], sine / sine[1], atol=1e-6)
