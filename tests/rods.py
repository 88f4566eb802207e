"""Rods that hang on ball joints, one on the other: their motions in closed form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import vbg


def hanging_rods(seed: int, shake: float = 0.0) -> tuple[int, vbg.Model, np.ndarray]:
    """n rods in any direction of gravity, at any scale, and the n frequencies [rad/s], each twice,
    beside 2 n poles at zero, of the plane chain: K x = w^2 M x.  Gravity's components are off by
    about `shake` of themselves."""
    rng = np.random.default_rng(seed)
    n, (length, mass, g) = 1 + seed % 3, 10.0 ** rng.uniform(-4, 4, 3)
    down, other = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 3)))
    axis = np.cross(down, other) / np.linalg.norm(np.cross(down, other))
    side = np.cross(down, axis)  # the rods lie along their own z
    turned = Rotation.from_matrix(np.array([side, np.cross(down, side), down]).T)
    x, y, z, w = turned.as_quat()
    l, m, r = length * rng.uniform(0.3, 3, n), mass * rng.uniform(0.3, 3, n), rng.uniform(0.2, 0.8)
    along, J, bodies, joints = 0.0, rng.uniform(0.05, 0.2, n) * m * l**2, {}, {}
    for i in range(n):
        bodies[f"b{i}"] = {
            "mass": m[i],
            "inertia": {"xx": J[i], "yy": J[i], "zz": 0.1 * J[i]},
            "position": (down * (along + r * l[i])).tolist(),
            "rotation": {"quaternion": [w, x, y, z]},
            "points": {"A": [0.0, 0.0, -r * l[i]], "B": [0.0, 0.0, (1 - r) * l[i]]},
        }
        before = f"b{i - 1}.B" if i else "ground"
        joints[f"j{i}"] = {"kind": "spherical", "between": [before, f"b{i}.A"]}
        along += l[i]
    pull = g * down * (1.0 + shake * rng.standard_normal(3))
    model = vbg.Model(gravity=pull.tolist(), bodies=bodies, joints=joints)
    reach = np.array([[r * l[i] if j == i else l[j] * (j < i) for j in range(n)] for i in range(n)])
    M = reach.T @ np.diag(m) @ reach + np.diag(J)
    K = g * np.diag(m @ reach)
    return n, model, np.sqrt(eigh(K, M, eigvals_only=True))
