"""Bounds of functions of time over intervals (interval arithmetic), many intervals at once.

R. E. Moore, Interval Analysis (1966).  Every function of `vbg.blocks.functions` that is not named
here has no bounds; rounding is not directed: the bounds are looked at, no proof rests on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from vbg.blocks import Block, dependencies

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]


def bounds(functions: Sequence[Block], low: Array, high: Array) -> list[Bounds]:
    """For each scalar function of time alone its least and largest value over [low, high],
    (n,) each, or bounds of them."""
    found: dict[bytes, Bounds] = {}
    with np.errstate(all="ignore"):
        for block in dependencies(functions):
            found[block.key] = _bounds(block, [found[a.key] for a in block.args], low, high)
    return [found[f.key] for f in functions]


def _bounds(block: Block, args: list[Bounds], low: Array, high: Array) -> Bounds:
    none = np.full_like(low, -np.inf), np.full_like(low, np.inf)
    if block.op == "lookup":
        return _rows_met(args[0], block.args[1].data[1:, 0])
    if block.op == "rows" and block.args[0].op == "lookup" and block.rows == 1:
        return _over_rows(args[0], block.args[0].args[2].data[:, block.data[0]])
    if any(a.op == "lookup" for a in block.args):
        return none
    if block.shape != (1, 1) or any(len(a) != 2 for a in args):
        return none
    match block.op:
        case "leaf":
            return low, high
        case "const":
            value = np.full_like(low, float(block.data[0, 0]))
            return value, value
        case "sum":
            terms = [_scaled(f, a) for f, a in zip(block.data, args, strict=True)]
            return sum(t[0] for t in terms) + 0.0 * low, sum(t[1] for t in terms) + 0.0 * low
        case "times" | "mul" | "product":
            if len(args) == 2 and block.args[0] == block.args[1]:
                return _square(args[0])
            return reduce(_times, args)
        case "call" if block.data in _FUNCTIONS:
            result = _FUNCTIONS[block.data](*args)
            broken = np.isnan(result[0]) | np.isnan(result[1])
            return np.where(broken, -np.inf, result[0]), np.where(broken, np.inf, result[1])
    return none


def _rows_met(a: Bounds, begins: Array) -> Bounds:
    """First and last row of a table that its scalar may be in: what stands for its bounds here."""
    first, last = (np.searchsorted(begins, end, side="right") for end in a)
    return first.astype(float), last.astype(float)


def _over_rows(a: Bounds, column: Array) -> Bounds:
    """Least and largest entry of a column between two rows."""
    ends = np.column_stack([a[0], a[1] + 1.0]).astype(int).ravel()
    padded = np.append(column, column[-1])  # `reduceat` takes no end behind the last entry
    return np.minimum.reduceat(padded, ends)[::2], np.maximum.reduceat(padded, ends)[::2]


def _scaled(factor: float, a: Bounds) -> Bounds:
    return (factor * a[0], factor * a[1]) if factor >= 0.0 else (factor * a[1], factor * a[0])


def _times(a: Bounds, b: Bounds) -> Bounds:
    corners = np.stack([x * y for x in a for y in b])
    corners = np.where(np.isnan(corners), 0.0, corners)  # 0 times infinity
    return corners.min(axis=0), corners.max(axis=0)


def _square(a: Bounds) -> Bounds:
    low, high = np.minimum(a[0] ** 2, a[1] ** 2), np.maximum(a[0] ** 2, a[1] ** 2)
    return np.where((a[0] <= 0.0) & (a[1] >= 0.0), 0.0, low), high


def _divide(a: Bounds, b: Bounds) -> Bounds:
    crosses = (b[0] <= 0.0) & (b[1] >= 0.0)
    inverse = np.where(crosses, -np.inf, 1.0 / b[1]), np.where(crosses, np.inf, 1.0 / b[0])
    return _times(a, inverse)


def _power(a: Bounds, b: Bounds) -> Bounds:
    n = float(b[0].flat[0])
    if n == np.round(n) and np.all((b[0] == n) & (b[1] == n)):
        whole = _rising(lambda x: np.sign(x) * np.abs(x) ** abs(n))(a)
        if n % 2 == 0:
            whole = _square(_rising(lambda x: np.sign(x) * np.abs(x) ** (0.5 * abs(n)))(a))
        one = np.ones_like(a[0])
        return whole if n >= 0.0 else _divide((one, one), whole)
    corners = np.stack([x**y for x in a for y in b])
    return corners.min(axis=0), corners.max(axis=0)


def _cos(a: Bounds) -> Bounds:
    ends = np.cos(a[0]), np.cos(a[1])
    top = np.floor(a[1] / (2 * np.pi)) >= np.ceil(a[0] / (2 * np.pi))
    bottom = np.floor(a[1] / (2 * np.pi) - 0.5) >= np.ceil(a[0] / (2 * np.pi) - 0.5)
    return np.where(bottom, -1.0, np.minimum(*ends)), np.where(top, 1.0, np.maximum(*ends))


def _sin(a: Bounds) -> Bounds:
    return _cos((a[0] - 0.5 * np.pi, a[1] - 0.5 * np.pi))


def _abs(a: Bounds) -> Bounds:
    low = np.where((a[0] <= 0.0) & (a[1] >= 0.0), 0.0, np.minimum(np.abs(a[0]), np.abs(a[1])))
    return low, np.maximum(np.abs(a[0]), np.abs(a[1]))


def _select(c: Bounds, a: Bounds, b: Bounds) -> Bounds:
    low = np.where(c[0] > 0.0, a[0], np.where(c[1] <= 0.0, b[0], np.minimum(a[0], b[0])))
    high = np.where(c[0] > 0.0, a[1], np.where(c[1] <= 0.0, b[1], np.maximum(a[1], b[1])))
    return low, high


def _rising(function: Callable[[Array], Array]) -> Callable[[Bounds], Bounds]:
    return lambda a: (function(a[0]), function(a[1]))


_FUNCTIONS: Mapping[str, Callable[..., Bounds]] = {
    "sin": _sin,
    "cos": _cos,
    "exp": _rising(np.exp),
    "log": _rising(np.log),
    "sqrt": _rising(np.sqrt),
    "atan": _rising(np.arctan),
    "asin": _rising(np.arcsin),
    "sign": _rising(np.sign),
    "positive": _rising(lambda a: (a > 0.0).astype(float)),
    "abs": _abs,
    "min": lambda a, b: (np.minimum(a[0], b[0]), np.minimum(a[1], b[1])),
    "max": lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    "power": _power,
    "reciprocal": lambda a: _divide((np.ones_like(a[0]), np.ones_like(a[0])), a),
    "select": _select,
}
