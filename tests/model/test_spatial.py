"""Rotations: every formula against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.spatial import (
    axis_angle,
    frame_of_axis,
    perpendicular,
    quaternion_from_matrix,
    quaternion_product,
    rotation_between,
    rotation_matrix,
    skew,
)


def unit(vector):
    return vector / np.linalg.norm(vector)


def exponential(a, terms=40):
    """exp(skew(a)) by its series: the slow twin of every rotation."""
    total, term = np.eye(3), np.eye(3)
    for n in range(1, terms):
        term = term @ skew(a) / n
        total = total + term
    return total


@pytest.mark.parametrize("_", range(20))
def test_axis_angle_is_the_exponential_of_the_skew_map(_, rng):
    axis, angle = unit(rng.normal(size=3)), rng.uniform(-3, 3)
    assert_allclose(rotation_matrix(axis_angle(axis, angle)), exponential(axis * angle), atol=1e-13)


@pytest.mark.parametrize("_", range(20))
def test_quaternions_and_matrices_agree(_, rng):
    a, b = unit(rng.normal(size=4)), unit(rng.normal(size=4))
    R_a, R_b = rotation_matrix(a), rotation_matrix(b)
    assert_allclose(R_a @ R_a.T, np.eye(3), atol=1e-15)
    assert_allclose(rotation_matrix(quaternion_product(a, b)), R_a @ R_b, atol=1e-14)
    assert_allclose(quaternion_from_matrix(R_a), a if a[0] >= 0 else -a, atol=1e-14)


@pytest.mark.parametrize("axis", np.eye(3))
@pytest.mark.parametrize("angle", [np.pi, 3.1, -3.1, 1e-9, 0.0])
def test_quaternion_of_a_matrix_near_half_a_turn(axis, angle):
    R = rotation_matrix(axis_angle(axis, angle))
    assert_allclose(rotation_matrix(quaternion_from_matrix(R)), R, atol=1e-15)


@pytest.mark.parametrize("_", range(20))
def test_triads(_, rng):
    z, x = unit(rng.normal(size=3)), rng.normal(size=3)
    assert abs(perpendicular(z) @ z) < 1e-15
    for R in (frame_of_axis(z), frame_of_axis(z, x), frame_of_axis(z, 2 * z)):
        assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert_allclose(R[:, 2], z)
        assert np.linalg.det(R) > 0
    assert frame_of_axis(z, x)[:, 0] @ x > 0


@pytest.mark.parametrize("_", range(20))
def test_smallest_rotation_between_two_directions(_, rng):
    a, b = unit(rng.normal(size=3)), unit(rng.normal(size=3))
    R = rotation_between(a, b)
    assert_allclose(R @ a, b, atol=1e-14)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert_allclose(R @ np.cross(a, b), np.cross(a, b), atol=1e-14)  # the axis of the turn
    assert_allclose(rotation_between(a, -a) @ a, -a, atol=1e-14)
    assert_allclose(rotation_between(a, a), np.eye(3), atol=1e-14)


@pytest.mark.parametrize("exponent", range(18))
def test_directions_almost_along_one_line(exponent, rng):
    """Rotations to rounding, however near to equal, opposite or parallel what they come from."""
    for sign in (1.0, -1.0):
        a = unit(rng.normal(size=3))
        b = unit(sign * a + 10.0**-exponent * np.cross(a, unit(rng.normal(size=3))))
        R = rotation_between(a, b)
        assert_allclose(R.T @ R, np.eye(3), atol=2e-15)
        assert_allclose(R @ a, b, atol=2e-15)
        assert np.trace(R) == pytest.approx(1 + 2 * a @ b, abs=4e-15)  # by the smallest angle
        frame = frame_of_axis(a, b)
        assert_allclose(frame.T @ frame, np.eye(3), atol=2e-15)
        assert_allclose(frame[:, 2], a)
