"""What a course over time does: how it settles, swings and crosses levels.

Between two rows it is linear.  A step response goes from the first value of its window to the
last one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.measures.series import Series

Array = NDArray[np.float64]

HYSTERESIS = 0.01  # of the range: a crossing counts once the course was this far on the other side
RISES = (0.1, 0.9)  # parts of the step between which a rise is counted


def _crossing(t: Array, a: Array, k: int, level: float) -> float:
    """When the course passes `level` between rows k and k + 1."""
    step = a[k + 1] - a[k]
    return float(t[k] + (t[k + 1] - t[k]) * (level - a[k]) / step) if step else float(t[k])


def settle(course: Series, band: float = 0.02) -> float:
    """Time from the begin of the window after which the course stays within `band` times the
    step of its last value [s]; 0 where it never leaves it."""
    if not band > 0.0:
        raise UsageError(f"settle() takes a band above 0, found {band:g}")
    a = course.require_scalar("settle")
    allowed = band * abs(a[-1] - a[0])
    outside = np.flatnonzero(np.abs(a - a[-1]) > allowed)
    if not outside.size:
        return 0.0
    if allowed == 0.0:
        raise _no_step(course, "settle")
    k = int(outside[-1])
    edge = a[-1] + np.copysign(allowed, a[k] - a[-1])
    return _crossing(course.time, a, k, edge) - float(course.time[0])


def overshoot(course: Series) -> float:
    """How far the course goes beyond its last value, as a part of the step; 0 if it does not."""
    a = course.require_scalar("overshoot")
    step = a[-1] - a[0]
    if not step:
        raise _no_step(course, "overshoot")
    return float(max(((a - a[-1]) / step).max(), 0.0))


def rise(course: Series) -> float:
    """Time from 10 % to 90 % of the step [s], each when it is first reached."""
    a = course.require_scalar("rise")
    step = a[-1] - a[0]
    if not step:
        raise _no_step(course, "rise")
    part = (a - a[0]) / step
    low, high = (int(np.argmax(part >= level)) for level in RISES)
    times = [
        _crossing(course.time, part, max(k - 1, 0), level)
        for k, level in zip((low, high), RISES, strict=True)
    ]
    return times[1] - times[0]


def _no_step(course: Series, function: str) -> UsageError:
    return UsageError(
        f"{function}() needs a step, but the course is {course.values[0]:g} at "
        f"{course.time[0]:g} s and again at {course.time[-1]:g} s"
    )


def upward(course: Series, level: float, function: str) -> Array:
    """Times at which the course passes `level` upwards, shape (n,).  It must have been below
    by a hundredth of its range in between: what trembles at the level counts once."""
    a = course.require_scalar(function)
    hysteresis = HYSTERESIS * float(np.ptp(a))
    times, armed = [], a[0] < level - hysteresis
    for k in range(len(a) - 1):
        armed = armed or a[k] < level - hysteresis
        if armed and a[k] <= level < a[k + 1]:
            times.append(_crossing(course.time, a, k, level))
            armed = False
    return np.array(times)


def count(course: Series, level: float) -> float:
    """How often the course passes `level` upwards."""
    return float(len(upward(course, level, "count")))


def frequency(course: Series) -> float:
    """Swings per second [Hz], from the first upward passage to the last one.

    Swings are told apart by the middle between the extremes of the window; when each passes is
    taken at the middle between its own extremes, the least value before and the largest behind:
    of a decaying swing all passages are then in the same phase, wherever it comes to rest.
    """
    a = course.require_scalar("frequency")
    times = upward(course, 0.5 * float(a.min() + a.max()), "frequency")
    own = _own_passages(course.time, a, times)
    times = own if len(own) > 1 else times
    if len(times) < 2:
        raise UsageError(
            "frequency() needs two upward passages of the middle of the course, found "
            f"{len(times)} from {course.time[0]:g} to {course.time[-1]:g} s"
        )
    return (len(times) - 1) / float(times[-1] - times[0])


def _own_passages(t: Array, a: Array, times: Array) -> Array:
    """Where the course passes the middle between the least value before and the largest behind
    each of `times`, shape (m,); without the passages of which the window cuts one off."""
    found = []
    at = [0, *np.searchsorted(t, times), len(a)]
    for before, here, behind in zip(at, at[1:], at[2:], strict=False):
        if not before < here < behind:
            continue
        low = before + int(np.argmin(a[before:here]))
        high = here + int(np.argmax(a[here:behind]))
        if low == 0 or high == len(a) - 1:
            continue
        level = 0.5 * (a[low] + a[high])
        k = low + int(np.argmax(a[low : high + 1] > level)) - 1
        found.append(_crossing(t, a, k, level))
    return np.array(found)


def share(course: Series, low: float, high: float) -> float:
    """Part of the window's time in which the course is between `low` and `high`."""
    a, t = course.require_scalar("share"), course.time
    if not low < high:
        raise UsageError(f"share() takes low < high, found {low:g} and {high:g}")
    return part_within(t, a, low, high, np.less_equal)


def part_within(t: Array, a: Array, low: float, high: float, up_to: Callable[..., Any]) -> float:
    """Part of the time in which low <= a and `up_to`(a, high)."""
    first, last = np.minimum(a[1:], a[:-1]), np.maximum(a[1:], a[:-1])
    height = last - first
    inside = np.clip(np.minimum(last, high) - np.maximum(first, low), 0.0, None)
    flat = ((first >= low) & up_to(first, high)).astype(float)
    parts = np.where(height > 0.0, inside / np.where(height > 0.0, height, 1.0), flat)
    return float(np.diff(t) @ parts / (t[-1] - t[0]))
