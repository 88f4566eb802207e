"""What has crossed lately: what does so again and again at one instant."""

from __future__ import annotations

from collections.abc import Sequence

CHATTER = 100  # so many events at one instant are a failure


class Recent:
    """Events of one run, those within a time of `instant` [s] of each other at one instant."""

    def __init__(self, instant: float):
        self._instant = instant
        self._events: list[tuple[float, Sequence[int]]] = []

    def add(self, t: float, crossed: Sequence[int]) -> None:
        """The switching functions that have `crossed` at t."""
        self._events = [*self._events[-CHATTER:], (t, crossed)]

    @property
    def endless(self) -> list[int]:
        """What switches endlessly at one instant; empty if nothing does."""
        events = self._events
        if len(events) <= CHATTER or events[-1][0] - events[0][0] > self._instant:
            return []
        return sorted({i for _, crossed in events for i in crossed})
