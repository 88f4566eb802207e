"""Mass properties of solids against integrals over their sections, and of bodies made of them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.errors import ModelError
from vbg.fields import Shape
from vbg.model import Model
from vbg.model.forms.bodies import principal_moments
from vbg.model.forms.shapes import mass_properties
from vbg.model.text.plain import INERTIA_KEYS
from vbg.spatial import rotation_matrix

# outer radius, bore and ends along z of each round solid
ROUND = {
    "cylinder": ({"radius": 0.3, "length": 0.7}, lambda z: 0.3, 0.0, (-0.35, 0.35)),
    "sphere": ({"radius": 0.4}, lambda z: math.sqrt(0.16 - z * z), 0.0, (-0.4, 0.4)),
    "cone": ({"radius": 0.3, "height": 0.9}, lambda z: 0.3 * (1 - z / 0.9), 0.0, (0.0, 0.9)),
    "tube": (
        {"radius": 0.3, "inner_radius": 0.2, "length": 0.7},
        lambda z: 0.3,
        0.2,
        (-0.35, 0.35),
    ),
}


@pytest.mark.parametrize("kind", ROUND)
def test_round_solids_against_the_integral_over_discs(kind):
    """A disc of radius R at height z: dm = rho pi R^2 dz, about its diameter dm R^2/4,
    about the axis dm R^2/2; Gauss-Legendre is exact, R^4 being a polynomial in z."""
    sizes, outer, bore, (low, high) = ROUND[kind]
    density = 2700.0
    nodes, weights = np.polynomial.legendre.leggauss(12)
    mass = first = across = along = 0.0
    for x, weight in zip(nodes, weights, strict=True):
        z = low + (high - low) * (x + 1) / 2
        dz = weight * (high - low) / 2
        for radius, sign in ((outer(z), 1), (bore, -1)):
            dm = sign * density * math.pi * radius**2 * dz
            mass += dm
            first += dm * z
            across += dm * (radius**2 / 4 + z * z)
            along += dm * radius**2 / 2
    found = mass_properties((Shape(kind, sizes, density),))
    centre = first / mass
    assert found.mass == pytest.approx(mass, rel=1e-13)
    assert_allclose(found.centre, [0, 0, centre], atol=1e-14)
    moment = across - mass * centre**2
    assert_allclose(found.inertia, np.diag([moment, moment, along]), rtol=1e-12, atol=1e-12)


def test_a_box_is_the_sum_of_its_quarters():
    whole = mass_properties((Shape("box", {"x": 0.6, "y": 0.4, "z": 1.1}, 800.0),))
    sizes = {"x": 0.3, "y": 0.2, "z": 1.1}
    quarters = tuple(
        Shape("box", sizes, 800.0, (sx * 0.15, sy * 0.1, 0.0)) for sx in (-1, 1) for sy in (-1, 1)
    )
    together = mass_properties(quarters)
    m = 800 * 0.6 * 0.4 * 1.1
    closed_form = np.diag([0.4**2 + 1.1**2, 0.6**2 + 1.1**2, 0.6**2 + 0.4**2]) * m / 12
    for found in (whole, together):
        assert found.mass == pytest.approx(m, rel=1e-14)
        assert_allclose(found.centre, 0, atol=1e-15)
        assert_allclose(found.inertia, closed_form, rtol=1e-13, atol=1e-12)


def test_turning_and_moving_everything_turns_the_inertia_only(rng):
    quat = rng.normal(size=4)
    quat /= np.linalg.norm(quat)
    R, shift = rotation_matrix(quat), rng.normal(size=3)
    solids = (
        Shape("cone", {"radius": 0.1, "height": 0.3}, 900.0, (0.2, 0.0, 0.1)),
        Shape("box", {"x": 0.2, "y": 0.3, "z": 0.1}, 500.0, (-0.3, 0.2, 0.0)),
    )
    moved = tuple(
        Shape(s.kind, s.sizes, s.density, tuple(R @ s.position + shift), tuple(quat))
        for s in solids
    )
    before, after = mass_properties(solids), mass_properties(moved)
    assert_allclose(after.centre, R @ before.centre + shift, atol=1e-14)
    assert_allclose(after.inertia, R @ before.inertia @ R.T, atol=1e-13)


def test_a_body_takes_everything_from_its_shape():
    """Two balls on a rod: points and solids count from the common mass centre."""
    balls = [
        {"sphere": {"radius": 0.1}, "density": 3000, "position": [0, 0, 0]},
        {"sphere": {"radius": 0.1}, "density": 1000, "position": [1, 0, 0]},
    ]
    body = Model(bodies={"b": {"shape": balls, "points": {"P": [1, 2, 3]}}}).bodies["b"]
    ball = 4 / 3 * math.pi * 1e-3
    assert body.mass == pytest.approx(4000 * ball)
    assert body.points["P"] == pytest.approx((0.75, 2, 3))
    assert body.shape[0].position == pytest.approx((-0.25, 0, 0))
    assert body.shape[1].position == pytest.approx((0.75, 0, 0))
    own = 0.4 * body.mass * 0.01
    steiner = ball * (3000 * 0.25**2 + 1000 * 0.75**2)
    assert body.inertia == pytest.approx((own, own + steiner, own + steiner, 0, 0, 0), abs=1e-12)


def test_mass_without_density_is_spread_evenly():
    shape = {"cylinder": {"radius": 0.1, "length": 0.5, "axis": [1, 0, 0]}}
    body = Model(bodies={"b": {"mass": 3.0, "shape": shape}}).bodies["b"]
    across = 3.0 * (0.01 / 4 + 0.25 / 12)
    assert body.inertia == pytest.approx((3.0 * 0.01 / 2, across, across, 0, 0, 0), abs=1e-15)


def test_com_moves_points_attachments_and_drawn_shapes():
    written = {
        "mass": 1.0,
        "inertia": {"xx": 1, "yy": 1, "zz": 1},
        "com": [0.1, 0.2, 0.3],
        "points": {"P": [1, 1, 1]},
        "shape": {"box": {"x": 1, "y": 1, "z": 1}},
    }
    model = Model(
        bodies={"b": written},
        joints={
            "j": {"kind": "fixed", "between": ["ground", {"body": "b", "at": [0.1, 0.2, 0.3]}]},
            "k": {"kind": "spherical", "between": ["ground", "b.P"]},
            "l": {"kind": "spherical", "between": [{"body": "ground", "at": [1, 0, 0]}, "b"]},
        },
    )
    body = model.bodies["b"]
    assert body.com is None
    assert body.points["P"] == pytest.approx((0.9, 0.8, 0.7))
    assert body.shape[0].position == pytest.approx((-0.1, -0.2, -0.3))
    assert model.joints["j"].between[1].at == pytest.approx((0, 0, 0))
    assert model.joints["k"].between[1].at == body.points["P"]
    assert model.joints["l"].between[1].at == (0.0, 0.0, 0.0)


def entries(J):
    """The table that writes the matrix J."""
    rows = {"x": 0, "y": 1, "z": 2}
    return {key: J[rows[key[0]], rows[key[1]]] for key in INERTIA_KEYS}


@pytest.mark.parametrize("_", range(10))
def test_any_set_of_point_masses_passes_the_inertia_check(_, rng):
    """The inertia of real matter satisfies the triangle inequality in any axes."""
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    body = Model(bodies={"b": {"mass": 1.0, "inertia": entries(J)}}).bodies["b"]
    assert_allclose(principal_moments(body.inertia), np.linalg.eigvalsh(J), rtol=1e-12)


@pytest.mark.parametrize("_", range(10))
def test_a_turned_impossible_inertia_is_refused(_, rng):
    quat = rng.normal(size=4)
    R = rotation_matrix(quat / np.linalg.norm(quat))
    J = R @ np.diag([1.0, 2.0, 3.1]) @ R.T
    with pytest.raises(ModelError, match="triangle inequality"):
        Model(bodies={"b": {"mass": 1.0, "inertia": entries(J)}})


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_a_turned_rod_thinner_than_rounding_is_refused(scale):
    """On axes of its own a moment keeps its digits however small; on others it is a difference of
    the larger ones, of either sign where it is lost."""
    rng = np.random.default_rng(20261124)
    for _ in range(20):
        R = rotation_matrix((quat := rng.normal(size=4)) / np.linalg.norm(quat))
        for thin, kept in ((1e-12, True), (1e-18, False)):
            rod = scale * np.diag([thin, 1.0, 1.0])
            Model(bodies={"b": {"mass": 1.0, "inertia": entries(rod)}})
            turned = {"mass": 1.0, "inertia": entries(R @ rod @ R.T)}
            if kept:
                Model(bodies={"b": turned})
                continue
            with pytest.raises(ModelError, match="by more than rounding"):
                Model(bodies={"b": turned})


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e4])
@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, -1], [0, -1, 0]])
def test_a_solid_along_an_axis_of_its_body_has_no_products_of_inertia(axis, size):
    """J = R diag R^T of a quarter turn, of any size; about a skew axis they are those of R."""
    lengths = {"radius": 0.13 * size, "inner_radius": 0.11 * size, "length": 0.7 * size}

    def inertia(along):
        shape = {"tube": {**lengths, "axis": along}, "density": 2700}
        xx, yy, zz, *products = Model(bodies={"a": {"shape": shape}}).bodies["a"].inertia
        return np.array([xx, yy, zz]), products

    moments, products = inertia(axis)
    assert products == [0.0, 0.0, 0.0]
    own, others = sorted(moments)[0], sorted(moments)[1:]
    assert moments[np.flatnonzero(axis)[0]] == own and others[0] == others[1]
    n = np.array([0.6, 0.48, 0.64])
    J = others[0] * (np.eye(3) - np.outer(n, n)) + own * np.outer(n, n)
    assert inertia(n.tolist())[1] == pytest.approx([J[0, 1], J[1, 2], J[2, 0]], rel=1e-12)
