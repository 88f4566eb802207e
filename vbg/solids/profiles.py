"""Solids from a profile, a polygon of corners: mass properties in closed form.

    extrude   the profile in x, y, pushed along z by the height, from -height/2 to height/2
    revolve   the profile in r, z with r >= 0, turned once about z

Integrals over a polygon are sums over the triangles of a fan, signed, each by a rule that is
exact for polynomials of degree 5 (Radon 1948; 7 points)::

    extrude   V = h A,        integral of x^2 = h Int x^2 dA,   of z^2 = V h^2 / 12
    revolve   V = 2 pi Int r dA, of x^2 = pi Int r^3 dA,        of z^2 = 2 pi Int r z^2 dA
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ROOT = np.sqrt(15.0)
_A, _B = (6.0 - _ROOT) / 21.0, (6.0 + _ROOT) / 21.0
_WA, _WB = (155.0 - _ROOT) / 1200.0, (155.0 + _ROOT) / 1200.0
POINTS = np.array(
    [
        [1 / 3, 1 / 3, 1 / 3],
        *([1 - 2 * _A if i == k else _A for i in range(3)] for k in range(3)),
        *([1 - 2 * _B if i == k else _B for i in range(3)] for k in range(3)),
    ]
)
WEIGHTS = np.array([9 / 40, _WA, _WA, _WA, _WB, _WB, _WB])


def integral(profile: Array, f: Callable[[Array, Array], Array]) -> float:
    """Of f(x, y) over the polygon (n, 2), positive whichever way round it is written."""
    total, area = 0.0, 0.0
    for k in range(1, len(profile) - 1):
        corners = np.array([profile[0], profile[k], profile[k + 1]])
        (ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[0]
        size = 0.5 * (ax * by - ay * bx)
        x, y = (POINTS @ corners).T
        total += size * float(WEIGHTS @ f(x, y))
        area += size
    return total if area >= 0.0 else -total


def extruded(profile: Sequence[Sequence[float]], height: float) -> tuple[float, Array, Array]:
    """Volume, centre (3,), and inertia about it per density (3, 3)."""
    p = np.asarray(profile, float)
    area = integral(p, lambda x, y: np.ones_like(x))
    volume = height * area
    first = [height * integral(p, lambda x, y: x), height * integral(p, lambda x, y: y), 0.0]
    xx, yy, xy = (
        height * integral(p, f)
        for f in (lambda x, y: x * x, lambda x, y: y * y, lambda x, y: x * y)
    )
    second = np.array([[xx, xy, 0.0], [xy, yy, 0.0], [0.0, 0.0, volume * height**2 / 12.0]])
    return _about_centre(volume, np.array(first), second)


def revolved(profile: Sequence[Sequence[float]]) -> tuple[float, Array, Array]:
    """The same of a turned profile."""
    p = np.asarray(profile, float)
    volume = 2.0 * np.pi * integral(p, lambda r, z: r)
    first = np.array([0.0, 0.0, 2.0 * np.pi * integral(p, lambda r, z: r * z)])
    across = np.pi * integral(p, lambda r, z: r**3)
    along = 2.0 * np.pi * integral(p, lambda r, z: r * z * z)
    return _about_centre(volume, first, np.diag([across, across, along]))


def _about_centre(volume: float, first: Array, second: Array) -> tuple[float, Array, Array]:
    centre = first / volume
    C = second - volume * np.outer(centre, centre)
    return volume, centre, np.trace(C) * np.eye(3) - C


def crosses_itself(profile: Sequence[Sequence[float]]) -> bool:
    """Whether two edges that are no neighbours meet."""
    p = np.asarray(profile, float)
    n = len(p)
    for i in range(n):
        for j in range(i + 2, n):
            if i == 0 and j == n - 1:
                continue
            if _meet(p[i], p[(i + 1) % n], p[j], p[(j + 1) % n]):
                return True
    return False


def _meet(a: Array, b: Array, c: Array, d: Array) -> bool:
    def side(p: Array, q: Array, r: Array) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) <= 0.0 and side(c, d, a) * side(c, d, b) <= 0.0
