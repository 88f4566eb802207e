"""Across a singular posture: where the motion came from, and the polynomial that goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array

NEAR = 1e-5  # nearness of a singular posture at which it is jumped over
AROUND = 100.0 * NEAR  # nearness below which a singular posture is approached with care
FALL = 8.0  # of the nearness in one step there: about a third of the distance is left


@dataclass(frozen=True)
class Passed:
    """An accepted, closed posture: state, rate, nearness of a singular posture, rank of the
    loop rows."""

    t: float
    y: Array
    rate: Array
    near: float
    rank: int


def nodes(past: list[Passed]) -> tuple[list[Passed], float]:
    """Up to five good postures to extrapolate from, and the time to the singular one.

    sqrt(nearness) falls linearly; nodes lie about that time apart, so that rounding
    is not blown up.
    """
    good = [p for p in past if p.near >= NEAR]
    if len(good) < 3:
        return [], 0.0
    before, last = good[-2], good[-1]
    fall = (np.sqrt(before.near) - np.sqrt(last.near)) / (last.t - before.t)
    reach = float(np.sqrt(last.near) / fall) if fall > 0.0 else last.t - before.t
    chosen = [last]
    for p in reversed(good[:-1]):
        if chosen[-1].t - p.t >= 0.7 * reach or len(good) <= 5:
            chosen.append(p)
        if len(chosen) == 5:
            break
    return (chosen[::-1], reach) if len(chosen) >= 3 else ([], 0.0)


@dataclass(frozen=True)
class Extrapolated:
    """A polynomial in the time from its last node on, called like a dense output."""

    path: Any
    origin: float

    @property
    def span(self) -> tuple[float, float]:
        """Begin and end."""
        return self.origin, np.inf

    def __call__(self, t: float | Array) -> Array:
        values: Array = self.path(t - self.origin)
        return values


def fell(past: list[Passed]) -> bool:
    """Whether the last step came near a singular posture from far away.

    The motion goes on behind it on a polynomial through the last steps, whose error grows with
    the square of the distance of each: they have to shrink with the distance, nearness with
    its square.
    """
    if len(past) < 2 or past[-2].rank != past[-1].rank:
        return False
    before, now = past[-2].near, past[-1].near
    return now < AROUND and before > FALL * max(now, NEAR)
