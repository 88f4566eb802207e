"""Timing: processor time of this process, best of repeats, warm."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence


def best_seconds(call: Callable[[], object], repeats: int = 7, least: float = 0.02) -> float:
    """Processor seconds of one `call`; each repeat runs it for at least `least` seconds."""
    call()
    number = 1
    while (spent := _spent(call, number)) < least:
        number = max(2 * number, math.ceil(number * least / max(spent, 1e-6)))
    return min([spent, *(_spent(call, number) for _ in range(repeats - 1))]) / number


def _spent(call: Callable[[], object], number: int) -> float:
    started = time.process_time()
    for _ in range(number):
        call()
    return time.process_time() - started


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log(seconds) over log(sizes) by least squares."""
    x = [math.log(size) for size in sizes]
    y = [math.log(second) for second in seconds]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
