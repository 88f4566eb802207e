"""What loads do to a part: cycles, damage, mean loads, the life of a rolling bearing.

Cycles are counted by rainflow (ASTM E1049-85, 5.4.4; the package `rainflow`), damage is summed
by Miner's rule.  Bearings: ISO 281:2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.measures.course import part_within
from vbg.measures.series import Series, combined, integral, mean

Array = NDArray[np.float64]

MILLION_TURNS = 2.0 * np.pi * 1e6  # [rad]


def ranges(course: Series, function: str) -> tuple[Array, Array]:
    """Ranges of the cycles (peak to valley, SI) and how often each happened: 1, or 0.5 for the
    half cycles of what is left over; a load that stays where it is has none."""
    import rainflow

    found = [c for c in rainflow.extract_cycles(course.require_scalar(function)) if c[0] > 0.0]
    return np.array([c[0] for c in found]), np.array([c[2] for c in found])


def cycles(course: Series) -> float:
    """Number of rainflow cycles."""
    return float(ranges(course, "cycles")[1].sum())


def damage(course: Series, endured: float, times: float, slope: float) -> float:
    """Miner's sum over the window: sum of n_i / N_i with N_i = times (endured / range_i)^slope.

    A range `endured` (peak to valley) breaks the part after `times` cycles; 1 is broken.
    """
    for name, value in (("endured", endured), ("times", times), ("slope", slope)):
        if not value > 0.0:
            raise UsageError(f"damage() takes {name} above 0, found {value:g}")
    size, number = ranges(course, "damage")
    return float(np.sum(number * (size / endured) ** slope) / times) if size.size else 0.0


def equivalent(load: Series, exponent: float, speed: Series | None = None) -> float:
    """The constant load that wears as much, (mean of |load|^p)^(1/p); over the way travelled,
    where a speed is given: (integral |load|^p |speed| dt / integral |speed| dt)^(1/p)."""
    if not exponent > 0.0:
        raise UsageError(f"equivalent() takes an exponent above 0, found {exponent:g}")
    load.require_scalar("equivalent")
    powers = load.mapped(lambda a: np.abs(a) ** exponent)
    if speed is None:
        return float(mean(powers) ** (1.0 / exponent))
    speed.require_scalar("equivalent")
    way = speed.mapped(np.abs)
    worn = combined(np.multiply, powers, way)
    assert isinstance(worn, Series)
    travelled = float(integral(way))
    return float((integral(worn) / travelled) ** (1.0 / exponent)) if travelled else float("nan")


def bearing_life(load: Series, speed: Series, rating: float, exponent: float = 3.0) -> float:
    """Time [s] in which a tenth of such bearings fails if the window is repeated for ever.

    L10 = (C/P)^p million turns (ISO 281, 5.3.1, 6.1.1), C = `rating` the basic dynamic load
    rating [N], P the equivalent load of the window, p = 3 for balls, 10/3 for rollers; the time
    of a turn is the mean of the window's.  load : equivalent dynamic load X F_r + Y F_a [N];
    speed : of the inner ring against the outer one [rad/s].
    """
    if not rating > 0.0:
        raise UsageError(f"bearing_life() takes a rating above 0, found {rating:g}")
    turning = float(mean(speed.mapped(np.abs)))
    P = equivalent(load, exponent, speed)
    if not turning or not P:
        return float("nan")
    return (rating / P) ** exponent * MILLION_TURNS / turning


@dataclass(frozen=True, slots=True)
class Bin:
    """One class of a load spectrum: from `low` to `high`, SI.

    time : part of the window in which the load is in it;  cycles : rainflow cycles whose range
    (peak to valley) is in the class of the same height above 0, from `low_range` on.
    """

    low: float
    high: float
    time: float
    low_range: float
    high_range: float
    cycles: float


def spectrum(load: Series, classes: int = 10) -> tuple[Bin, ...]:
    """The load in `classes` of equal height between its extremes, and its cycles by range."""
    a = load.require_scalar("spectrum")
    if classes < 1:
        raise UsageError(f"a spectrum has at least 1 class, found {classes}")
    size, number = ranges(load, "spectrum")
    edges = np.linspace(float(a.min()), float(a.max()), classes + 1)
    heights = edges - edges[0]
    up_to = [np.less] * (classes - 1) + [np.less_equal]
    where = np.clip(np.searchsorted(heights, size, side="left") - 1, 0, classes - 1)
    return tuple(
        Bin(
            float(edges[k]),
            float(edges[k + 1]),
            part_within(load.time, a, edges[k], edges[k + 1], up_to[k]),
            float(heights[k]),
            float(heights[k + 1]),
            float(number[where == k].sum()) if size.size else 0.0,
        )
        for k in range(classes)
    )
