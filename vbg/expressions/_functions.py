"""The functions that an expression may call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping


def _sign(x: float) -> float:
    return x if math.isnan(x) else float((x > 0) - (x < 0))


def _least(*values: float) -> float:
    return math.nan if any(map(math.isnan, values)) else min(values)


def _most(*values: float) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values)


def _if(c: float, a: float, b: float) -> float:
    return c if math.isnan(c) else a if c > 0 else b


# name: (numeric function, least and greatest number of arguments)
FUNCTIONS: Mapping[str, tuple[Callable[..., float], int, int]] = {
    "sin": (math.sin, 1, 1),
    "cos": (math.cos, 1, 1),
    "tan": (math.tan, 1, 1),
    "asin": (math.asin, 1, 1),
    "acos": (math.acos, 1, 1),
    "atan": (math.atan, 1, 1),
    "atan2": (math.atan2, 2, 2),
    "sqrt": (math.sqrt, 1, 1),
    "exp": (math.exp, 1, 1),
    "log": (math.log, 1, 1),
    "abs": (abs, 1, 1),
    "min": (_least, 2, 100),
    "max": (_most, 2, 100),
    "sign": (_sign, 1, 1),
    # if(c > 0, a, b); a comparison of two sums is their difference, see the parser
    "if": (_if, 3, 3),
}
RESERVED = frozenset(FUNCTIONS) | {"pi", "t"}
