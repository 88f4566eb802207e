"""Events: switching functions are located to the root, modes follow them, sampled states
take their values at the instants of their clocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.graph.bondgraph import Mode, Switch
from vbg.solution import Event

if TYPE_CHECKING:
    from vbg.simulate.steppers import Stepper

Array = NDArray[np.float64]

CLOSE = 8.0 * np.finfo(float).eps  # relative distance kept from an instant on both sides
LOOKS = 8  # places of a step at which switching functions are looked at
ROUNDS = 20  # changes of modes that may follow from one event
FLAT = 1e-10  # of the largest value seen: a switching function this small has no sign
CHATTER, INSTANT = 100, 1e-11  # so many events within this time [s or relative] are a failure


class Switches:
    """The switching functions of one run, their signs, and the modes they set."""

    def __init__(self, system: System):
        graph = system.causal.graph
        self._about: list[Switch | Mode] = [*graph.switches, *graph.modes]
        self._evaluate = system.evaluator("switch")
        places = {s.state.name: s.first for s in system.slices}
        self._mode = np.array([places.get(s.name, -1) for s in self._about], dtype=int)
        self._signs: Array = np.zeros(len(self._about))
        self._scale: Array = np.zeros(len(self._about))
        self._crossed: list[int] = []
        self._recent: list[float] = []

    def _values(self, t: float, x: Array) -> Array:
        values = self._evaluate(t, x)[: len(self._about)].copy()
        np.maximum(self._scale, np.abs(values), out=self._scale, where=np.isfinite(values))
        return values

    def begin(self, t: float, x: Array) -> None:
        """Modes that agree with their conditions, in place, and the signs from there."""
        if self._about:
            self._agree(t, x)
            self._remember(t, x)

    def begin_run(self, x: Array) -> None:
        """The same at t = 0, from modes that are all off."""
        x[self._mode[self._mode >= 0]] = 0.0
        self.begin(0.0, x)

    def find(self, stepper: Stepper) -> tuple[float, list[Event]] | None:
        """The first crossing inside the last step, to the root, and its events.

        A long step is looked at in several places, so that a contact that begins and
        ends inside it is not passed over.
        """
        if not self._about:
            return None
        points = np.linspace(stepper.t_before, stepper.t, LOOKS + 1)
        for before, after in pairwise(points):
            x = stepper.x if after == stepper.t else stepper.between(after)
            signs = np.sign(self._values(after, x))
            crossed = np.flatnonzero((signs != self._signs) & (self._signs != 0.0))
            if crossed.size:
                return self._first_root(stepper, crossed, before, after)
            self._signs = np.where(self._mode >= 0, self._signs, signs)
        return None

    def _first_root(
        self, stepper: Stepper, crossed: NDArray[np.intp], before: float, after: float
    ) -> tuple[float, list[Event]]:
        times = {int(i): self._root(stepper, int(i), before, after) for i in crossed}
        first = min(times.values())
        self._crossed = [i for i, t in times.items() if t == first]
        self._recent = [*self._recent[-CHATTER:], first]
        return first, [
            Event(first, self._about[i].name, self._about[i].what)
            for i in self._crossed
            if self._about[i].what
        ]

    def _root(self, stepper: Stepper, i: int, before: float, after: float) -> float:
        from scipy.optimize import brentq

        def value(t: float) -> float:
            return float(self._values(t, stepper.between(t))[i])

        if value(before) * value(after) >= 0.0:  # it stood beyond zero from the beginning
            return before
        return float(brentq(value, before, after, xtol=1e-15 * max(after, 1e-3), rtol=1e-14))

    def passed(self, t: float, x: Array) -> None:
        """Modes and signs beyond the event at t: those that crossed are turned over."""
        for i in self._crossed:
            if self._mode[i] >= 0:
                x[self._mode[i]] = 1.0 - x[self._mode[i]]
        if self._about:
            self._agree(t, x)
        signs = self._signs.copy()
        self._remember(t, x)
        for i in self._crossed:
            if self._mode[i] < 0:
                self._signs[i] = -signs[i]
        self._crossed = []

    def _agree(self, t: float, x: Array) -> None:
        """Turns modes over until each agrees with the sign of its condition."""
        held = np.flatnonzero(self._mode >= 0)
        for _ in range(ROUNDS):
            values = self._values(t, x)
            wrong = [
                i
                for i in held
                if abs(values[i]) > FLAT * self._scale[i]
                and (values[i] > 0.0) != (x[self._mode[i]] > 0.5)
            ]
            if not wrong:
                return
            for i in wrong:
                x[self._mode[i]] = 1.0 - x[self._mode[i]]

    def _remember(self, t: float, x: Array) -> None:
        """Signs: of a mode its own side, of a mere switch that of its function."""
        signs = np.sign(self._values(t, x))
        held = self._mode >= 0
        signs[held] = np.where(x[self._mode[held]] > 0.5, 1.0, -1.0)
        self._signs = signs

    @property
    def chatters(self) -> str:
        """The names of what switches endlessly at one instant; empty if nothing does."""
        recent = self._recent
        if len(recent) <= CHATTER or recent[-1] - recent[0] > INSTANT * max(1.0, recent[-1]):
            return ""
        return ", ".join(s.name for s in self._about)


class Samples:
    """The clocks of one run: instants at which functions of time jump or states are sampled."""

    def __init__(self, system: System):
        graph = system.causal.graph
        self._clocks = graph.clocks
        places = {s.state.name: slice(s.first, s.last) for s in system.slices}
        self._sampled = [(s, places[s.name]) for s in graph.sampled]
        self._update = system.evaluator("update") if self._sampled else None

    def after(self, t: float) -> float:
        """The first instant later than t, infinite where there is none."""
        return min((instant for c in self._clocks for instant in _later(c, t)), default=np.inf)

    def take(self, t: float, x: Array) -> bool:
        """Samples at the instant t, in place; whether any state was sampled."""
        if self._update is None:
            return False
        due = [(s, at) for s, at in self._sampled if _is_due(s.clock.first, s.clock.period, t)]
        if not due:
            return False
        self._update(t, x)
        values = [self._update.output(s.name).copy() for s, _ in due]
        for (_, at), value in zip(due, values, strict=True):
            x[at] = value
        return True


def _later(clock: object, t: float) -> Iterator[float]:
    first, period = clock.first, clock.period  # type: ignore[attr-defined]
    if t < first and not _is_due(first, 0.0, t):
        yield first
    elif period > 0.0:
        count = np.floor((t - first) / period * (1.0 + 4.0 * CLOSE) + 1e-9) + 1.0
        yield first + count * period


def _is_due(first: float, period: float, t: float) -> bool:
    """Whether t is first + k period, k >= 0, but for rounding."""
    near = 1e-9 * period if period > 0.0 else 1e-12 * max(abs(first), 1e-12)
    k = max(0.0, np.round((t - first) / period)) if period > 0.0 else 0.0
    return bool(abs(t - (first + k * period)) <= near)


def just_before(instant: float) -> float:
    """A time so near before an instant that nothing moves between them."""
    return instant * (1.0 - CLOSE)


def just_after(instant: float) -> float:
    return instant * (1.0 + CLOSE) + 1e-30
