"""Piecewise polynomials: of one input, of two, and as blocks.

Each piece is a polynomial of the distance from its own begin, and a table says which one holds.  A
sum over all pieces that lie before, c max(0, x - a)^n, loses digits: the cubes of a long table,
or of a short ramp in a long move, are a million times what is left of them.

A cubic from knot to knot follows from its values z and slopes m at both ends (Hermite), d = x - a,
b = a + h, with the secant s = (z_b - z_a)/h:

    z = z_a + m_a d + (3 s - 2 m_a - m_b)/h d^2 + (m_a + m_b - 2 s)/h^2 d^3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vbg.blocks import Block, const, lookup, rows, times

Array = NDArray[np.float64]
INTERPOLATIONS = ("linear", "cubic", "monotone")
OUTSIDE = ("hold", "extend")


def slopes(x: Array, z: Array, interpolation: str) -> Array | None:
    """Slopes at the knots x (n,) of values z (n, ...) along their first axis: of the cubic spline
    with natural ends, or of the monotone cubics of F. Fritsch and J. Butland (SIAM J. Sci. Stat.
    Comput. 5, 1984); None for straight lines."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    if interpolation == "linear":
        return None
    if len(x) == 2:
        return np.repeat(np.diff(z, axis=0) / (x[1] - x[0]), 2, axis=0)
    if interpolation == "cubic":
        return np.asarray(CubicSpline(x, z, bc_type="natural")(x, 1))
    return np.asarray(PchipInterpolator(x, z)(x, 1))


def pieces(x: Array, z: Array, m: Array | None, outside: str) -> tuple[list[float], Array]:
    """Where each piece begins, and coefficients (n + 1, 4, ...) from the constant on in x less that
    place, of values z (n, ...) with slopes m (None: straight); the first piece holds before the
    first knot, the last behind the last one."""
    h = np.diff(x).reshape(-1, *(1,) * (z.ndim - 1))
    s = np.diff(z, axis=0) / h
    a, b = (s, s) if m is None else (m[:-1], m[1:])
    inside = [z[:-1], a, (3.0 * s - 2.0 * a - b) / h, (a + b - 2.0 * s) / h**2]
    if m is None:
        inside[2:] = [0.0 * s, 0.0 * s]
    kept = float(outside == "extend")
    ends = [[z[i], kept * slope, 0.0 * z[i], 0.0 * z[i]] for i, slope in ((0, a[0]), (-1, b[-1]))]
    whole = np.concatenate([[ends[0]], np.stack(inside, axis=1), [ends[1]]])
    return [float(x[0]), *x.tolist()], whole


def kinks(lines: Sequence[float], interpolation: str, outside: str) -> Sequence[float]:
    """The knots at which a characteristic has a kink."""
    if interpolation == "linear":
        return lines
    return (lines[0], lines[-1]) if outside == "hold" else ()


def chosen(x: Block, starts: Sequence[float], coefficients: ArrayLike) -> Block:
    """The polynomial of the piece that x is in, of x less its begin: `starts` (k,), `coefficients`
    (k, n) from the constant on.  A piece holds from its begin on, as rows do that stand at an
    edge; the first before its own, too."""
    d, c = _found(x, starts, _trimmed(np.asarray(coefficients, dtype=float)))
    return _polynomial(d, c)


def held(x: Block, steps: Sequence[tuple[float, float]]) -> Block:
    """Of (begin, value) the value that has begun last, the first also before its begin.

    Each as it is written: jumps that are added up leave what they round to, and of a 1e-9 behind a
    1e9 that is nothing."""
    starts, values = zip(*steps)
    return chosen(x, starts, [[value] for value in values])


def chosen_patch(
    inputs: tuple[Block, Block], starts: tuple[Sequence[float], Sequence[float]], c: Array
) -> Block:
    """The same of two inputs: on patch (i, j) the sum of c[i, k, j, l] dx^k dy^l."""
    c = _trimmed(np.moveaxis(_trimmed(np.moveaxis(c, 1, 3)), 2, 3))  # [i, j, k, l] in turn
    across, along, powers = c.shape[0], c.shape[1], c.shape[2:]
    (dx, (i,)), (dy, (j,)) = (
        _found(of, begins, np.arange(float(count))[:, None])
        for of, begins, count in zip(inputs, starts, (across, along), strict=True)
    )
    number = float(along) * i + j
    begins = np.arange(across * along) - 0.5
    row = lookup(number, const(begins), const(c.reshape(across * along, -1)))
    each = [rows(row, n, n + 1) for n in range(row.rows)]
    width = powers[1]
    inner = [_polynomial(dy, each[k * width : (k + 1) * width]) for k in range(powers[0])]
    return _polynomial(dx, inner)


def _found(x: Block, starts: Sequence[float], table: Array) -> tuple[Block, list[Block]]:
    """x less the begin of its piece, and the entries of the table's row."""
    begins = np.asarray(starts, dtype=float)
    row = lookup(x, const(begins), const(np.column_stack([begins, table])))
    begin, *entries = (rows(row, i, i + 1) for i in range(row.rows))
    return x - begin, entries


def _trimmed(c: Array) -> Array:
    """Without the highest powers, along the last axis, that no piece has."""
    used = np.flatnonzero(c.reshape(-1, c.shape[-1]).any(axis=0))
    return c[..., : max(int(used[-1]) + 1 if used.size else 1, 1)]


def _polynomial(d: Block, c: Sequence[Block]) -> Block:
    """c0 + d (c1 + d (c2 + ...))."""
    result = c[-1]
    for coefficient in reversed(c[:-1]):
        result = coefficient + times(d, result)
    return result
