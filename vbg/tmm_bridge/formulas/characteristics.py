"""Characteristics y = f(x) and z = f(x, y): slopes at the knots, and a cubic from knot to knot.

Between knots a and b = a + h, d = x - a, with the slopes m, n there and the secant s:

    y = y_a + m d + (3 s - 2 m - n)/h d^2 + (m + n - 2 s)/h^2 d^3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def natural_slopes(x: Array, y: Array) -> Array:
    """Slopes whose cubics join with one curvature, which is zero at both ends."""
    h, n = np.diff(x), len(x)
    s = np.diff(y) / h
    rows, right = np.zeros((n, n)), np.zeros(n)
    rows[0, :2], right[0] = (2.0, 1.0), 3.0 * s[0]
    rows[-1, -2:], right[-1] = (1.0, 2.0), 3.0 * s[-1]
    for k in range(1, n - 1):
        rows[k, k - 1 : k + 2] = 1.0 / h[k - 1], 2.0 / h[k - 1] + 2.0 / h[k], 1.0 / h[k]
        right[k] = 3.0 * (s[k - 1] / h[k - 1] + s[k] / h[k])
    return np.asarray(np.linalg.solve(rows, right))


def monotone_slopes(x: Array, y: Array) -> Array:
    """Weighted harmonic means of neighbouring secants, zero where these turn (Fritsch, Butland
    1984); at the ends that of the parabola through three points, bounded."""
    h = np.diff(x)
    s = np.diff(y) / h
    m = np.zeros(len(x))
    for k in range(1, len(x) - 1):
        if s[k - 1] * s[k] > 0.0:
            one, two = 2.0 * h[k] + h[k - 1], h[k] + 2.0 * h[k - 1]
            m[k] = (one + two) / (one / s[k - 1] + two / s[k])
    m[0] = _end_slope(h[0], h[1], s[0], s[1])
    m[-1] = _end_slope(h[-1], h[-2], s[-1], s[-2])
    return m


def _end_slope(h: float, beyond: float, s: float, next_s: float) -> float:
    slope = ((2.0 * h + beyond) * s - h * next_s) / (h + beyond)
    if slope * s <= 0.0:
        return 0.0
    return 3.0 * s if s * next_s <= 0.0 and abs(slope) > 3.0 * abs(s) else float(slope)


def slopes_of(x: Array, y: Array, interpolation: str) -> Array:
    """Slopes at the knots of a smooth curve."""
    if len(x) == 2:
        return np.repeat(np.diff(y) / np.diff(x), 2)
    return natural_slopes(x, y) if interpolation == "cubic" else monotone_slopes(x, y)


def hermite(x: Array, y: Array, slopes: Array, outside: str) -> tuple[Array, Array]:
    """Places where pieces begin and their coefficients (k, 4); the first piece also before."""
    h, s = np.diff(x), np.diff(y) / np.diff(x)
    m, n = slopes[:-1], slopes[1:]
    inside = np.column_stack([y[:-1], m, (3.0 * s - 2.0 * m - n) / h, (m + n - 2.0 * s) / h**2])
    return _with_ends(x, y, inside, (m[0], n[-1]), outside)


def pieces_of(x: Array, y: Array, interpolation: str, outside: str) -> tuple[Array, Array]:
    """The same of a characteristic."""
    if interpolation != "linear":
        return hermite(x, y, slopes_of(x, y, interpolation), outside)
    s = np.diff(y) / np.diff(x)
    inside = np.column_stack([y[:-1], s, 0.0 * s, 0.0 * s])
    return _with_ends(x, y, inside, (s[0], s[-1]), outside)


def _with_ends(
    x: Array, y: Array, inside: Array, slopes: tuple[float, float], outside: str
) -> tuple[Array, Array]:
    first, last = slopes if outside == "extend" else (0.0, 0.0)
    before, behind = [y[0], first, 0.0, 0.0], [y[-1], last, 0.0, 0.0]
    return np.concatenate([x[:1], x]), np.vstack([before, inside, behind])


Curve = tuple[Array, Array]  # places and coefficients


def surface_of(
    x: Array, y: Array, z: Array, interpolation: str, outside: str
) -> list[tuple[Curve, Curve]]:
    """A surface as sum of products of a curve of x with a curve of y.

    Straight lines and splines are linear in their values: z = sum_i C_i(x) S_i(y), the curve C_i
    through 1 at line i and 0 at the others, S_i that through the values on line i.  Monotone
    slopes are not: there z = sum_i H_i(x) S_i(y) + G_i(x) M_i(y) with the cubics H_i of value 1
    and G_i of slope 1 at line i alone, and M_i through the slopes by x.
    """
    ones = np.eye(len(x))
    if interpolation != "monotone":
        return [
            (pieces_of(x, one, interpolation, outside), pieces_of(y, row, interpolation, outside))
            for one, row in zip(ones, z, strict=True)
        ]

    def along(lines: Array, values: Array) -> Array:
        return np.array([slopes_of(lines, one, interpolation) for one in values])

    by_y, by_x = along(y, z), along(x, z.T).T
    mixed = 0.5 * (along(y, by_x) + along(x, by_y.T).T)
    none = np.zeros(len(x))
    heights = [
        (hermite(x, one, none, outside), hermite(y, row, slopes, outside))
        for one, row, slopes in zip(ones, z, by_y, strict=True)
    ]
    tilts = [
        (hermite(x, none, one, outside), hermite(y, row, slopes, outside))
        for one, row, slopes in zip(ones, by_x, mixed, strict=True)
    ]
    return heights + tilts
