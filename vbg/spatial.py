"""Rotations: skew map, quaternions, rotation matrices (notation: docs/notation.md).

`R_WB` has B's axes in W as its columns, so v_W = R_WB @ v_B.  Quaternions are
scalar first, unit, and mean the same rotation: `R_WB = rotation_matrix(quat_WB)`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def skew(a: ArrayLike) -> Array:
    """(3, 3) matrix with skew(a) @ b == cross(a, b)."""
    x, y, z = np.asarray(a, float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_matrix(quat: ArrayLike) -> Array:
    """(3, 3) rotation matrix of the unit quaternion (w, x, y, z).

    R = 1 + 2 w skew(v) + 2 skew(v)^2 with v = (x, y, z).
    """
    w, x, y, z = (float(component) for component in np.asarray(quat, float))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def axes_of_frame(quat: ArrayLike) -> Array:
    """The same, x, y and z of a frame as columns, without what rounding leaves of terms that
    cancel: "90 deg" about x takes y to z, and not beside it by 2e-16."""
    eps = np.finfo(float).eps
    quat = np.asarray(quat, float)
    quat = np.where(np.abs(quat) <= eps, 0.0, quat)  # the last digit of half an angle
    w, x, y, z = np.abs(quat)
    xx, yy, zz = x * x, y * y, z * z
    across = [[0.5 + yy + zz, x * y + w * z, x * z + w * y],
              [x * y + w * z, 0.5 + xx + zz, y * z + w * x],
              [x * z + w * y, y * z + w * x, 0.5 + xx + yy]]  # fmt: skip
    R = rotation_matrix(quat)
    return np.where(np.abs(R) <= 8.0 * eps * np.array(across), 0.0, R)


def quaternion_from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion (w, x, y, z), w >= 0, of a rotation matrix.

    Of the four equivalent formulae the one with the largest divisor is taken
    (Shepperd, J. Guidance and Control 1 (1978) 223).
    """
    R = np.asarray(R, float)
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    choice = int(np.argmax([trace, R[0, 0], R[1, 1], R[2, 2]]))
    quat = np.empty(4)
    if choice == 0:
        quat[0] = 1.0 + trace
        quat[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i = choice - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        quat[0] = R[k, j] - R[j, k]
        quat[1 + i] = 1.0 + R[i, i] - R[j, j] - R[k, k]
        quat[1 + j] = R[j, i] + R[i, j]
        quat[1 + k] = R[k, i] + R[i, k]
    quat /= math.sqrt(float(quat @ quat))
    return -quat if quat[0] < 0 else quat


def quaternion_product(a: ArrayLike, b: ArrayLike) -> Array:
    """(4,) product a o b: quat_AC = quaternion_product(quat_AB, quat_BC)."""
    aw, ax, ay, az = np.asarray(a, float)
    bw, bx, by, bz = np.asarray(b, float)
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def axis_angle(axis: ArrayLike, angle: float) -> Array:
    """(4,) quaternion of the right-handed turn by `angle` [rad] about the unit vector `axis`."""
    x, y, z = np.asarray(axis, float)
    s = math.sin(angle / 2)
    return np.array([math.cos(angle / 2), s * x, s * y, s * z])


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """(3, 3) matrix of the right-handed turn by `angle` [rad] about the unit vector `axis`."""
    return rotation_matrix(axis_angle(axis, angle))


def perpendicular(z: ArrayLike) -> Array:
    """(3,) unit vector perpendicular to the unit vector `z`: the base vector of
    its smallest component, less its part along `z`."""
    x = np.zeros(3)
    x[int(np.argmin(np.abs(np.asarray(z, float))))] = 1.0
    return _unit_across(x, np.asarray(z, float))


def across(x: ArrayLike, z: ArrayLike, least: float = 1e-9) -> Array | None:
    """(3,) unit vector along the part of `x` that is perpendicular to the unit vector `z`; None
    where that part is not longer than `least`."""
    x, z = np.asarray(x, float), np.asarray(z, float)
    part = x - (x @ z) * z
    return _unit_across(part, z) if float(part @ part) > least**2 else None


def _unit_across(x: Array, z: Array) -> Array:
    """`x` less its part along `z`, of length one; taken off twice, since what rounding leaves
    along `z` of a short difference is no longer small beside it (Kahan's "twice is enough":
    Parlett, The Symmetric Eigenvalue Problem, 1980, 6.9)."""
    for _ in range(2):
        x = x - (x @ z) * z
        x = x / math.sqrt(float(x @ x))
    return x


def frame_of_axis(z: ArrayLike, x: ArrayLike | None = None) -> Array:
    """(3, 3) right-handed triad whose third column is the unit vector `z`; its first
    is `x` less its part along `z`, or `perpendicular(z)` where `x` is not given or parallel.
    """
    z = np.asarray(z, float)
    first = None if x is None else across(x, z)
    if first is None:
        first = perpendicular(z)
    return np.column_stack((first, _cross(z, first), z))


def _cross(a: Array, b: Array) -> Array:
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotation_between(a: ArrayLike, b: ArrayLike) -> Array:
    """(3, 3) smallest rotation that takes the unit vector `a` to the unit vector `b`;
    half a turn about `perpendicular(a)` where they are opposite.

    1 + [v] + [v]^2 / (1 + a.b) with v = a x b divides by what is lost near opposite directions,
    so beyond a right angle it is R = (b, n x b, n) (a, n x a, n)^T, with the axis n made
    perpendicular to both: orthogonal to rounding at every angle.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    cosine = float(a @ b)
    if cosine >= 0:
        v = skew(_cross(a, b))
        return np.eye(3) + v + v @ v / (1 + cosine)
    aside = across(b, a, least=4 * np.finfo(float).eps)
    n = perpendicular(a) if aside is None else _unit_across(_cross(a, aside), b)
    start = np.column_stack((a, _cross(n, a), n))
    return np.column_stack((b, _cross(n, b), n)) @ start.T
