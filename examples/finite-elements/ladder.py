"""Mass and stiffness matrices of a ladder of steel tubes: two rails along x, seven rungs along y.

Beam elements of Euler and Bernoulli between welded nodes, six freedoms a node (x, y, z, rx, ry,
rz), masses lumped.  ``python ladder.py`` writes ladder-M.npy, ladder-K.npy and ladder-nodes.npy,
which ladder.toml reads; a finite-element program would write the same three files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LENGTH, WIDTH, BAYS = 1.2, 0.3, 6  # [m]; nodes 0 to 6 on one rail, 7 to 13 on the other
RADIUS, INNER = 0.009, 0.0075  # of the tubes [m]
E, NU, DENSITY = 2.1e11, 0.3, 7850.0
AREA = np.pi * (RADIUS**2 - INNER**2)
SECOND = np.pi / 4 * (RADIUS**4 - INNER**4)  # of the area, about any line through its middle


def stiffness(length: float) -> Array:
    """(12, 12) of a tube along x between its ends."""
    k = np.zeros((12, 12))
    for at, stiff in ((0, E * AREA), (3, E / (2 + 2 * NU) * 2 * SECOND)):
        k[np.ix_([at, at + 6], [at, at + 6])] = stiff / length * np.array([[1, -1], [-1, 1]])
    bend = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    for at, turn in (([1, 5, 7, 11], length), ([2, 4, 8, 10], -length)):
        d = np.diag([1.0, turn, 1.0, turn])
        k[np.ix_(at, at)] = E * SECOND / length**3 * d @ bend @ d
    return k


def half_mass(length: float) -> Array:
    """(6, 6) of half a tube along x, lumped into a node: its mass and, as a rod, its inertia."""
    m = DENSITY * AREA * length / 2
    across = m * ((length / 2) ** 2 / 12 + RADIUS**2 / 4)
    return np.diag([m, m, m, m * RADIUS**2, across, across])


def along(direction: Array) -> Array:
    """R, (3, 3), whose columns are axes of a tube in those of the ladder."""
    up = np.array([0.0, 0.0, 1.0])
    return np.column_stack([direction, np.cross(up, direction), up])


def ladder() -> tuple[Array, Array, Array]:
    """M, K, nodes."""
    x = np.linspace(0.0, LENGTH, BAYS + 1)
    rails = [np.column_stack([x, np.full_like(x, y), 0 * x]) for y in (-WIDTH / 2, WIDTH / 2)]
    nodes, n = np.vstack(rails), BAYS + 1
    tubes = [(k, k + 1) for k in (*range(BAYS), *range(n, n + BAYS))]
    tubes += [(k, k + n) for k in range(n)]
    M, K = np.zeros((6 * len(nodes),) * 2), np.zeros((6 * len(nodes),) * 2)
    for a, b in tubes:
        length = float(np.linalg.norm(nodes[b] - nodes[a]))
        R = along((nodes[b] - nodes[a]) / length)
        places = np.r_[6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
        turned = np.kron(np.eye(4), R)
        K[np.ix_(places, places)] += turned @ stiffness(length) @ turned.T
        for end in (a, b):
            here = slice(6 * end, 6 * end + 6)
            M[here, here] += turned[:6, :6] @ half_mass(length) @ turned[:6, :6].T
    return M, K, nodes


if __name__ == "__main__":
    for name, matrix in zip(("M", "K", "nodes"), ladder(), strict=True):
        np.save(Path(__file__).with_name(f"ladder-{name}.npy"), matrix)
