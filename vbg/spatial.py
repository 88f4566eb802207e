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
    z = np.asarray(z, float)
    x = np.zeros(3)
    x[int(np.argmin(np.abs(z)))] = 1.0
    x -= (x @ z) * z
    return x / math.sqrt(float(x @ x))


def frame_of_axis(z: ArrayLike, x: ArrayLike | None = None) -> Array:
    """(3, 3) right-handed triad whose third column is the unit vector `z`; its first
    is `x` less its part along `z`, or `perpendicular(z)` where `x` is not given or parallel.
    """
    z = np.asarray(z, float)
    first = perpendicular(z)
    if x is not None:
        across = np.asarray(x, float) - (np.asarray(x, float) @ z) * z
        length = math.sqrt(float(across @ across))
        if length > 1e-9:
            first = across / length
    second = np.array(
        [
            z[1] * first[2] - z[2] * first[1],
            z[2] * first[0] - z[0] * first[2],
            z[0] * first[1] - z[1] * first[0],
        ]
    )
    return np.column_stack((first, second, z))


def rotation_between(a: ArrayLike, b: ArrayLike) -> Array:
    """(3, 3) smallest rotation that takes the unit vector `a` to the unit vector `b`;
    half a turn about `perpendicular(a)` where they are opposite."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    cosine = float(a @ b)
    if cosine < -1 + 1e-14:
        return rotation_about(perpendicular(a), math.pi)
    v = skew(np.cross(a, b))
    return np.eye(3) + v + v @ v / (1 + cosine)
