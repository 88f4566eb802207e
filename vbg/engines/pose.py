"""Rotations and places for the engines, by scipy: vbg's own are among what they are to witness."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

Array = np.ndarray[Any, Any]
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A frame in another: R (3, 3), its axes as columns, and p (3,) [m]."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Place) -> Place:
        return Place(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Place:
        """The other frame in this one."""
        return Place(self.R.T, -self.R.T @ self.p)


def of_quaternion(quaternion: Any) -> Array:
    """(3, 3) of a quaternion, scalar first."""
    w, x, y, z = (float(c) for c in quaternion)
    return np.asarray(Rotation.from_quat([x, y, z, w]).as_matrix())


def to_quaternions(R: Array) -> Array:
    """(n, 4) scalar first, of (n, 3, 3)."""
    return np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=-1)


def turn(axis: Any, angle: float) -> Array:
    """(3, 3) right-handed about a unit vector."""
    return np.asarray(Rotation.from_rotvec(angle * np.asarray(axis, float)).as_matrix())


def triad(z: Any, near: Any | None = None) -> Array:
    """(3, 3) whose third column is along `z`, its first across it, nearest to `near`."""
    z = np.asarray(z, float) / np.linalg.norm(z)
    x = None if near is None else np.asarray(near, float)
    if x is None or np.linalg.norm(np.cross(x, z)) < 1e-9:
        x = np.eye(3)[np.argmin(np.abs(z))]
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return np.column_stack((np.cross(y, z), y, z))


def shortest(a: Any, b: Any) -> Array:
    """(3, 3) smallest rotation that takes the direction `a` to `b`."""
    a, b = (np.asarray(v, float) / np.linalg.norm(v) for v in (a, b))
    across = np.cross(a, b)
    sine = float(np.linalg.norm(across))
    if sine < 1e-15:
        return np.eye(3) if a @ b > 0 else turn(triad(a)[:, 0], np.pi)
    return turn(across / sine, float(np.arctan2(sine, a @ b)))


def skew(a: Array) -> Array:
    """(3, 3) of the product a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
