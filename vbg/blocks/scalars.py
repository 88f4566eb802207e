"""The scalar functions of block expressions as numpy evaluates them, of reals and of complex
steps.

Comparisons are data: `positive(x)` is 1 where x > 0, else 0, and `select(c, a, b)` is a where
c > 0, else b.

What has no value gives none, everywhere that these functions are computed (compiled, in C, by
the other solver): `min` and `max` are NaN where either side is, as numpy's; `sign`, `positive`,
`floor` and `abs` of NaN are NaN; so is `select` where its condition is, whatever its branches. Of
`select` the branch that is not taken plays no part, in the value or in the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def _select(c: Any, a: Any, b: Any) -> Any:
    return np.where(np.isnan(c), c, np.where(np.real(c) > 0.0, a, b))


def _smaller(a: Any, b: Any) -> Any:
    return np.where((np.real(a) <= np.real(b)) | np.isnan(a), a, b)


def _larger(a: Any, b: Any) -> Any:
    return np.where((np.real(a) >= np.real(b)) | np.isnan(a), a, b)


def _positive(a: Any) -> Any:
    return np.where(np.isnan(a), a, 1.0 * (np.real(a) > 0.0))


def _arctan2(y: Any, x: Any) -> Any:
    """atan2 that also takes complex steps."""
    y, x = np.asarray(y), np.asarray(x)
    real = np.arctan2(y.real, x.real)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return real
    step = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return real + 1j * step


def _power(a: Any, b: Any) -> Any:
    """a**b that also takes complex steps.

    By length and angle the sine of b pi, where a is negative, is no zero beside a step; where a is
    zero they give the slope's limit, huge or zero.
    """
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return np.power(a, b)
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.power(a.real, b.real)
        by_base = np.where(a.imag == 0.0, 0.0, b.real * np.power(a.real, b.real - 1.0) * a.imag)
        by_exponent = np.where(b.imag == 0.0, 0.0, value * np.log(a.real) * b.imag)
        of_none = np.power(a.astype(complex), b)
    return np.where(a.real == 0.0, of_none, value + 1j * (by_base + by_exponent))


def _abs(a: Any) -> Any:
    return np.where(np.real(a) < 0.0, -a, a)


SCALARS: Mapping[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": _arctan2,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "abs": _abs,
    "sign": lambda a: np.sign(np.real(a)),
    "positive": _positive,
    "min": _smaller,
    "max": _larger,
    "power": _power,
    "reciprocal": lambda a: np.divide(1.0, a),
    "select": _select,
    "floor": lambda a: np.floor(np.real(a)),
}
