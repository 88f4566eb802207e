"""Steps of circuits with exponential diodes by what their sources did so far.

A diode carries amperes or next to nothing: behind a charge the capacitor of a rectifier only
decays, an error estimate allows any step there, and all stages of a long one may lie where the
diodes block.  The charges come from the sources, functions of time or of states alike.  So their
voltages are looked at behind each step, and no step is longer than

    SEEN times the shortest time between two turns of a source that has turned,
    AGE times the time since the run, or a jump, began beside one that moves and has not yet.

A turn is a peak or a trough from which the voltage has come back by PART of its range so far, but
by no less than THERMAL, which no diode feels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vbg.tmm_bridge.kernels.motion.rotation import Array

SEEN = 1 / 8  # a sine is looked at 16 times a period
AGE = 1 / 5
PART = 0.2
THERMAL = 0.01  # [V]


@dataclass
class Course:
    """Of one source: (time, voltage) of its `peak` and its `trough` since the last turn, its
    `range` so far; `sense` 1 while it rises."""

    peak: tuple[float, float] = (0.0, -np.inf)
    trough: tuple[float, float] = (0.0, np.inf)
    range: tuple[float, float] = (np.inf, -np.inf)
    sense: int = 0
    turned: float = -np.inf
    shortest: float = np.inf

    @property
    def moves(self) -> bool:
        """Whether a diode would feel it."""
        return self.range[1] - self.range[0] > THERMAL

    def look(self, t: float, voltage: float) -> None:
        """Take note of the voltage at t."""
        self.range = min(self.range[0], voltage), max(self.range[1], voltage)
        least = max(THERMAL, PART * (self.range[1] - self.range[0]))
        now = t, voltage
        self.peak = now if voltage > self.peak[1] else self.peak
        self.trough = now if voltage < self.trough[1] else self.trough
        if self.sense >= 0 and voltage < self.peak[1] - least:
            self._turn(self.peak[0], -1)
            self.trough = now
        elif self.sense <= 0 and voltage > self.trough[1] + least:
            self._turn(self.trough[0], 1)
            self.peak = now

    def _turn(self, t: float, sense: int) -> None:
        if self.sense != 0 and t > self.turned:
            self.shortest = min(self.shortest, t - self.turned)
        self.turned, self.sense = t, sense


@dataclass
class Pace:
    """Of the sources of one run whose voltages are at `places` among the network's outputs; the
    smooth span `began` [s]."""

    places: tuple[int, ...]
    began: float = 0.0
    courses: list[Course] = field(init=False)

    def __post_init__(self) -> None:
        self.courses = [Course() for _ in self.places]

    def longest(self, t: float, told: Array) -> float:
        """The longest step [s] from t, where the network's outputs are `told`."""
        found = np.inf
        for place, course in zip(self.places, self.courses, strict=True):
            course.look(t, float(told[place]))
            if np.isfinite(course.shortest):
                found = min(found, SEEN * course.shortest)
            elif course.moves and t > self.began:
                found = min(found, AGE * (t - self.began))
        return found
