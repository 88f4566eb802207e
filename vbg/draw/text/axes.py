"""Round ticks and their labels."""

from __future__ import annotations

import math
from itertools import pairwise

_MOST = 8  # ticks asked for at most to have two in a narrow range


def ticks(low: float, high: float, wanted: int) -> tuple[float, ...]:
    """About `wanted` round values (1, 2, 2.5 or 5 times a power of ten) in [low, high]."""
    span = high - low
    if not (math.isfinite(span) and span > 0) or wanted < 1:
        return (low,) if math.isfinite(low) else ()
    raw = span / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last <= first and wanted < _MOST:
        # one value alone gives no scale
        return ticks(low, high, 2 * wanted)
    return tuple(round(i * step, 12 - math.floor(math.log10(step))) for i in range(first, last + 1))


def decades(low: float, high: float, wanted: int) -> tuple[float, ...]:
    """Whole exponents of ten between the logarithms `low` and `high`, at most `wanted`."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / max(wanted, 1)))
    return tuple(float(e) for e in range(first, last + 1, stride))


def powers(low: float, high: float, wanted: int) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Ticks in [low, high], logarithms of ten, with their labels: powers of ten, or 1, 2 and 5
    times them where few powers are in sight."""
    whole = tuple(e for e in decades(low, high, wanted) if low <= e <= high)
    if len(whole) > 2:
        return whole, tuple(number(10.0**e) for e in whole)
    first, last = math.floor(low), math.ceil(high)
    values = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    seen = [v for v in values if low <= math.log10(v) <= high]
    return tuple(map(math.log10, seen)), tuple(map(number, seen))


def tick_labels(values: tuple[float, ...]) -> tuple[str, ...]:
    """Labels of one axis, all with the same number of decimals, without loss."""
    if not values:
        return ()
    largest = max(abs(v) for v in values)
    step = min((b - a for a, b in pairwise(values)), default=largest or 1.0)
    if largest >= 1e6 or (largest and largest < 1e-3) or step < 1e-6:
        digits = max(0, math.floor(math.log10(largest)) - math.floor(math.log10(step)))
        return tuple(_short_exponent(v, digits + 1) for v in values)
    decimals = next(d for d in range(8) if all(abs(round(v, d) - v) < step * 1e-6 for v in values))
    return tuple(f"{v + 0.0:.{decimals}f}" for v in values)


def _short_exponent(value: float, digits: int) -> str:
    """`value` like 2.5e-7, with no zeros that say nothing."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def number(value: float, digits: int = 4) -> str:
    """`value` for reading: `digits` significant digits, e.g. 12.31, 3.2e-10, 0."""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 10 ** max(digits, 5):
        text = f"{value:.{digits}g}"
        return text if "e" not in text else f"{value:.0f}"
    return _short_exponent(value, digits - 1)
