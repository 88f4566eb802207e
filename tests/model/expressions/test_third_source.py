"""What both solvers share, checked by a third source: a mistake here, both would make.

Rotations against scipy's Rotation, mass properties against numerical quadrature (and against
a solid modeller where one is installed), frames of joints against their definition written out
slowly, units against pint.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pint
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from vbg import units
from vbg.fields import Shape
from vbg.model import Model, place
from vbg.model.forms.shapes import SOLIDS, mass_properties
from vbg.spatial import (
    axis_angle,
    quaternion_from_matrix,
    quaternion_product,
    rotation_about,
    rotation_between,
    rotation_matrix,
    skew,
)

TRIALS = range(10)


def unit(rng: np.random.Generator, n: int = 3) -> np.ndarray:
    vector = rng.normal(size=n)
    return vector / np.linalg.norm(vector)


def scipy_of(quat: np.ndarray) -> Rotation:
    """Scalar-first quaternion as scipy's Rotation."""
    return Rotation.from_quat(np.roll(quat, -1))


@pytest.mark.parametrize("_", TRIALS)
def test_rotations_are_those_of_scipy(_, rng):
    a, b, axis, angle = unit(rng, 4), unit(rng, 4), unit(rng), rng.uniform(-7, 7)
    vector = rng.normal(size=3)
    assert_allclose(rotation_matrix(a), scipy_of(a).as_matrix(), atol=1e-14)
    product = (scipy_of(a) * scipy_of(b)).as_matrix()
    assert_allclose(rotation_matrix(quaternion_product(a, b)), product, atol=1e-14)
    turned = Rotation.from_rotvec(angle * axis)
    assert_allclose(rotation_about(axis, angle), turned.as_matrix(), atol=1e-14)
    assert_allclose(rotation_matrix(axis_angle(axis, angle)), turned.as_matrix(), atol=1e-14)
    back = scipy_of(quaternion_from_matrix(turned.as_matrix()))
    assert (back * turned.inv()).magnitude() < 1e-14
    assert_allclose(skew(axis) @ vector, np.cross(axis, vector), atol=1e-15)
    # half of quat o (0, w) is the rate of a quaternion that turns at w in body axes
    step, w = 1e-6, rng.normal(size=3)
    moved = a + 0.5 * step * quaternion_product(a, np.array([0.0, *w]))
    exact = scipy_of(a) * Rotation.from_rotvec(step * w)
    assert (scipy_of(moved) * exact.inv()).magnitude() < 1e-11


@pytest.mark.parametrize("_", TRIALS)
def test_the_smallest_rotation_between_directions_is_scipys(_, rng):
    a, b = unit(rng), unit(rng)
    axis = np.cross(a, b)
    angle = math.atan2(np.linalg.norm(axis), a @ b)
    expected = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    assert_allclose(rotation_between(a, b), expected, atol=1e-13)


# points and volume elements of a solid from three parameters, their ranges, and its sizes
def _round(radius_at, bore, low, high):
    """Polar coordinates about z: share of the radius between bore and rim, angle, height."""

    def place(s, angle, z):
        width = radius_at(z) - bore
        r = bore + s * width
        return np.array([r * math.cos(angle), r * math.sin(angle), z]), r * width

    return place, ((0.0, 1.0), (0.0, 2.0 * math.pi), (low, high))


def _box(x, y, z):
    return lambda a, b, c: (np.array([a, b, c]), 1.0), tuple((-d / 2, d / 2) for d in (x, y, z))


SIZES = {
    "box": ({"x": 0.6, "y": 0.35, "z": 1.1}, _box(0.6, 0.35, 1.1)),
    "cylinder": ({"radius": 0.3, "length": 0.7}, _round(lambda z: 0.3, 0.0, -0.35, 0.35)),
    "sphere": ({"radius": 0.4}, _round(lambda z: math.sqrt(0.16 - z * z), 0.0, -0.4, 0.4)),
    "cone": ({"radius": 0.3, "height": 0.9}, _round(lambda z: 0.3 * (1 - z / 0.9), 0.0, 0.0, 0.9)),
    "tube": (
        {"radius": 0.3, "inner_radius": 0.2, "length": 0.7},
        _round(lambda z: 0.3, 0.2, -0.35, 0.35),
    ),
}
DENSITY, PLACE, TURN = 1900.0, np.array([0.2, -0.5, 0.3]), np.array([0.4, -0.9, 1.3])


def shape_of(kind: str) -> Shape:
    quat = np.roll(Rotation.from_rotvec(TURN).as_quat(), 1)
    return Shape(kind, SIZES[kind][0], DENSITY, tuple(PLACE), tuple(quat))


def test_every_solid_is_checked():
    assert set(SIZES) == set(SOLIDS)


@pytest.mark.parametrize("kind", SIZES)
def test_mass_properties_are_integrals_over_the_solid(kind):
    """Gauss-Legendre over the volume of the placed and turned solid: mass, first moments and
    J = integral of (r.r 1 - r r^T) about the mass centre."""
    place, ranges = SIZES[kind][1]
    nodes, weights = np.polynomial.legendre.leggauss(10)
    R = Rotation.from_rotvec(TURN).as_matrix()
    points, masses = [], []
    for choice in itertools.product(range(10), repeat=3):
        at = [lo + (hi - lo) * (nodes[k] + 1) / 2 for k, (lo, hi) in zip(choice, ranges)]
        element = math.prod((hi - lo) / 2 * weights[k] for k, (lo, hi) in zip(choice, ranges))
        point, volume = place(*at)
        points.append(PLACE + R @ point)
        masses.append(DENSITY * element * volume)
    mass = sum(masses)
    centre = sum(m * p for m, p in zip(masses, points)) / mass
    inertia = sum(
        m * ((p - centre) @ (p - centre) * np.eye(3) - np.outer(p - centre, p - centre))
        for m, p in zip(masses, points)
    )
    found = mass_properties((shape_of(kind),))
    assert found.mass == pytest.approx(mass, rel=1e-9)
    assert_allclose(found.centre, centre, atol=1e-9)
    assert_allclose(found.inertia, inertia, atol=1e-8 * np.abs(inertia).max())


def _modelled(kind, sizes):
    from OCP.BRepPrimAPI import (
        BRepPrimAPI_MakeBox,
        BRepPrimAPI_MakeCone,
        BRepPrimAPI_MakeCylinder,
        BRepPrimAPI_MakeSphere,
    )
    from OCP.gp import gp_Ax2, gp_Dir, gp_Pnt

    if kind == "box":
        x, y, z = sizes["x"], sizes["y"], sizes["z"]
        return BRepPrimAPI_MakeBox(gp_Pnt(-x / 2, -y / 2, -z / 2), x, y, z).Shape()
    if kind == "sphere":
        return BRepPrimAPI_MakeSphere(sizes["radius"]).Shape()
    if kind == "cone":
        return BRepPrimAPI_MakeCone(sizes["radius"], 0.0, sizes["height"]).Shape()
    base = gp_Ax2(gp_Pnt(0, 0, -sizes["length"] / 2), gp_Dir(0, 0, 1))
    return BRepPrimAPI_MakeCylinder(base, sizes["radius"], sizes["length"]).Shape()


@pytest.mark.parametrize("kind", [k for k in SIZES if k != "tube"])
def test_mass_properties_are_those_of_a_solid_modeller(kind):
    pytest.importorskip("OCP")
    from OCP.BRepGProp import BRepGProp
    from OCP.GProp import GProp_GProps

    sizes = SIZES[kind][0]
    found, properties = mass_properties((Shape(kind, sizes, 1.0),)), GProp_GProps()
    BRepGProp.VolumeProperties_s(_modelled(kind, sizes), properties)
    matrix = properties.MatrixOfInertia()
    J = np.array([[matrix.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)])
    assert found.mass == pytest.approx(properties.Mass(), rel=1e-9)
    assert_allclose(found.inertia, J, atol=1e-9 * np.abs(J).max())


INERTIA = {"xx": 1.0, "yy": 1.0, "zz": 1.0}
WITH_AXIS = ("revolute", "prismatic", "cylindrical", "planar", "point_on_line")


def _written(rng, kind, angle, *, placed, axis, axis_on_second=None):
    """Two bodies joined at skew places; `placed`: positions and rotations of both written."""
    turns = [Rotation.random(random_state=rng) for _ in range(2)]
    bodies = {}
    for name, turn in zip("ab", turns, strict=True):
        bodies[name] = {"mass": 1.0, "inertia": INERTIA}
        if placed:
            quaternion = np.roll(turn.as_quat(), 1).tolist()
            place = rng.normal(size=3).tolist()
            bodies[name] |= {"position": place, "rotation": {"quaternion": quaternion}}
    ends = [{"body": n, "at": rng.normal(size=3).tolist()} for n in "ab"]
    joint = {"kind": kind, "between": ends, "axis": axis}
    if axis_on_second is not None:
        joint["axis_on_second"] = axis_on_second
    if kind in ("revolute", "cylindrical"):
        joint["initial"] = {"angle": angle}
    joints = {"base": {"kind": "fixed", "between": ["ground", "a"]}, "j": joint}
    return Model(bodies=bodies, joints=joints), turns


def _turn_about_z(R: np.ndarray) -> float:
    """The angle of a matrix that must be a turn about z."""
    assert_allclose(R[2], [0, 0, 1], atol=1e-12)
    return math.atan2(R[1, 0], R[0, 0])


@pytest.mark.parametrize("kind", WITH_AXIS)
@pytest.mark.parametrize("_", range(3))
def test_frames_at_a_written_posture_are_what_the_file_says(kind, _, rng):
    """F's z is the written axis of the first body, M's z the same line in the second one's
    axes, and the angle from F to M the written one, all by scipy's rotations."""
    axis, angle = unit(rng), rng.uniform(-3, 3)
    model, (first, second) = _written(rng, kind, angle, placed=True, axis=axis.tolist())
    frame = place(model).frames["j"]
    assert_allclose(frame.R_AF[:, 2], axis, atol=1e-12)
    in_second = second.inv().apply(first.apply(axis))
    assert_allclose(frame.R_BM[:, 2], in_second, atol=1e-12)
    R_FM = frame.R_AF.T @ (first.inv() * second).as_matrix() @ frame.R_BM
    expected = angle if kind in ("revolute", "cylindrical") else 0.0
    assert math.remainder(_turn_about_z(R_FM) - expected, 2 * math.pi) == pytest.approx(
        0.0, abs=1e-12
    )
    for matrix in (frame.R_AF, frame.R_BM):
        assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-12)
        assert np.linalg.det(matrix) == pytest.approx(1.0)


@pytest.mark.parametrize("_", range(3))
def test_second_axes_are_what_the_file_says(_, rng):
    """Bodies that nothing places are carried so that both written axes are one line in W, and
    the second body is turned about it by the written angle from where the axes met shortest."""
    axis, other, angle = unit(rng), unit(rng), rng.uniform(-3, 3)
    written = {"axis": axis.tolist(), "axis_on_second": other.tolist()}
    model, _turns = _written(rng, "revolute", angle, placed=False, **written)
    placed = place(model)
    poses, frame = placed.poses, placed.frames["j"]
    assert_allclose(frame.R_BM[:, 2], other, atol=1e-12)
    assert_allclose(poses["b"].R_WB @ other, poses["a"].R_WB @ axis, atol=1e-12)
    cross = np.cross(other, axis)
    shortest = Rotation.from_rotvec(
        math.atan2(np.linalg.norm(cross), other @ axis) * cross / np.linalg.norm(cross)
    )
    expected = Rotation.from_rotvec(angle * axis) * shortest
    relative = poses["a"].R_WB.T @ poses["b"].R_WB
    assert_allclose(relative, expected.as_matrix(), atol=1e-12)


@pytest.mark.parametrize("apart", [1e-2, 1e-5, 1e-9])
def test_second_axes_almost_opposite_carry_a_body_by_a_rotation(apart, rng):
    axis = unit(rng)
    other = apart * np.cross(axis, unit(rng)) - axis
    other /= np.linalg.norm(other)
    written = {"axis": axis.tolist(), "axis_on_second": other.tolist()}
    model, _turns = _written(rng, "revolute", 0.7, placed=False, **written)
    poses = place(model).poses
    R = poses["a"].R_WB.T @ poses["b"].R_WB
    assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    assert_allclose(R @ other, axis, atol=1e-14)


PINT = pint.UnitRegistry()
# pint's name where it has another one
NAMES = {"°": "degree", "degC": "degC", "°C": "degC", "%": "percent", "hp": "horsepower"}
NAMES |= {"Ω": "ohm", "Ohm": "ohm", "cc": "centimeter**3", "h": "hour", "rev": "revolution"}
NAMES |= {"Wh": "watt_hour", "t": "metric_ton", "C": "coulomb", "T": "tesla", "l": "liter"}
NAMES |= {"gpm": "gallon/minute", "PS": "metric_horsepower"}


def _in_si(text: str) -> float:
    """1 of a symbol in SI base units by pint; a turn counts 2 pi, hertz as turns per second."""
    if text == "Hz" or text.endswith("Hz"):
        return 2 * math.pi * float(PINT.Quantity(1, text).to("1/s").magnitude)
    quantity = PINT.Quantity(1.0, NAMES.get(text, text))
    return float(quantity.to_base_units().magnitude)


@pytest.mark.parametrize("text", [s for s in units.symbols() if s not in ("1", "Wh", "Ah")])
def test_units_are_those_of_pint(text):
    found = units.parse(text)
    assert found.factor + found.offset == pytest.approx(_in_si(text), rel=1e-9)


@pytest.mark.parametrize("prefix", ["G", "M", "k", "h", "d", "c", "m", "u", "n", "p"])
@pytest.mark.parametrize("symbol", ["m", "s", "A", "N", "Pa", "J", "W", "V", "ohm", "F", "H", "Hz"])
def test_prefixes_are_those_of_pint(prefix, symbol):
    found = units.parse(prefix + symbol)
    assert found.factor == pytest.approx(_in_si(prefix + symbol), rel=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs", "si"),
    [
        ("kN*m/deg", "kN*m/degree", "N*m/rad"),
        ("mm/rev", "mm/revolution", "m/rad"),
        ("L/min", "L/minute", "m^3/s"),
        ("kg*cm^2", "kg*cm**2", "kg*m^2"),
        ("N*s/mm", "N*s/mm", "N*s/m"),
        ("bar*min/L", "bar*minute/L", "Pa*s/m^3"),
        ("mm^2", "mm**2", "m^2"),
        ("lbf/in", "lbf/inch", "N/m"),
        ("rpm/V", "rpm/V", "rad/s/V"),
    ],
)
def test_products_of_units_are_those_of_pint(ours, theirs, si):
    expected = PINT.Quantity(3.7, theirs).to_base_units().magnitude
    assert units.convert(f"3.7 {ours}", si) == pytest.approx(expected, rel=1e-12)
