"""What has crossed lately: what does so again and again at one instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHATTER = 100  # so many events at one instant are a failure,
SHIVERS = 4  # so many of one function a step that is too long for what decays
ALIKE = 4e-14  # relative distance of roots between which only rounding is
AGAIN = 4.0  # times as large is what is taken for rounding with each crossing between such roots


class Recent:
    """Events of one run of `number` switching functions, those within a time of `instant` [s] of
    each other at one instant."""

    def __init__(self, number: int, instant: float):
        self._instant = instant
        self._events: list[tuple[float, Sequence[int]]] = []
        self._last: Array = np.full(number, -np.inf)  # when each has crossed [s],
        self._again: Array = np.zeros(number)  # and how often behind the first there

    def add(self, t: float, crossed: Sequence[int]) -> None:
        """The switching functions that have `crossed` at t."""
        self._events = [*self._events[-CHATTER:], (t, crossed)]
        again = t <= self._last[crossed] * (1.0 + ALIKE)
        self._again[crossed] = np.where(again, self._again[crossed] + 1.0, 0.0)
        self._last[crossed] = t

    def turned_at(self, t: float, which: Sequence[int]) -> bool:
        """Whether any of these has last crossed just at t, and that is the last event."""
        return bool(self._events) and self._events[-1][0] == t == max(
            self._last[which], default=0.0
        )

    @property
    def blurred(self) -> Array:
        """By how much larger rounding of each is than its terms tell: what crosses zero again in no
        time has less digits, as a voltage that the last digits of a choke's current set."""
        return AGAIN**self._again

    @property
    def shivering(self) -> list[int]:
        """What has crossed last and does so again and again at one instant."""
        if not self._events:
            return []
        now, latest = self._events[-1]
        since = [i for t, crossed in self._events if now - t <= self._instant for i in crossed]
        counts = Counter(since)
        return [i for i in latest if counts[i] >= SHIVERS]

    @property
    def endless(self) -> list[int]:
        """What switches endlessly at one instant; empty if nothing does."""
        events = self._events
        if len(events) <= CHATTER or events[-1][0] - events[0][0] > self._instant:
            return []
        return sorted({i for _, crossed in events for i in crossed})
