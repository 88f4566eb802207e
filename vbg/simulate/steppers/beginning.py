"""The first step of an integration, and the words for a step that cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

TINY = 1e-6  # s, where nothing moves yet
SHARE = 0.01  # of the time in which the state changes by itself
TOO_SMALL = "Required step size is less than spacing between numbers."
NO_RATE = "The rate is not finite: a part stands where its law has no value."


def first_step(
    rate: Callable[[float, Any], Any],
    t: float,
    y: Any,
    f: Any,
    span: float,
    scale: Any,
    order: int,
) -> float:
    """A step from (t, y) with the rate f, of `span` at most, whose error would be small at order 1,
    for a method whose error goes with h^order (E. Hairer, S. Norsett, G. Wanner, Solving ODEs I,
    II.4); `scale` (n,) is the tolerance."""
    if len(y) == 0 or span <= 0.0:
        return math.inf
    size, slope = norm(y, scale), norm(f, scale)
    h = min(TINY if size < 1e-5 or slope < 1e-5 else SHARE * size / slope, span)
    if not h > 0.0:  # the rate is beyond floating point: no step is small enough
        return 0.0
    ahead = rate(t + h, y + h * f)
    steepest = max(slope, norm(ahead - f, scale) / h)
    longer = max(TINY, 1e-3 * h) if steepest <= 1e-15 else (SHARE / steepest) ** (1.0 / order)
    return min(100.0 * h, longer, span)


def is_finite(values: Any) -> bool:
    """Whether all of a vector are numbers: its square, which is one then but where it is beyond
    them, costs a sixth of a look at each."""
    return math.isfinite(values.dot(values)) or bool(np.isfinite(values).all())


def norm(values: Any, scale: Any) -> float:
    """Root of the mean square of values / scale; infinite, without a word, where squares are
    beyond floating point: the first step is then none, and the run says what has no value."""
    with np.errstate(over="ignore", invalid="ignore"):
        parts = (values / scale).ravel()
        return math.sqrt(parts.dot(parts)) / math.sqrt(parts.size)
