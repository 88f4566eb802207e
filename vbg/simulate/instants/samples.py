"""The instants of one run, counted; sampled states take their values there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.errors import Problem, UsageError
from vbg.graph.bondgraph import Clock
from vbg.model.located import located
from vbg.simulate.instants.units import Units

Array = NDArray[np.float64]

# Relative distance kept from an instant on both sides: what start + n period and the phase of a
# pulse round off, each at most 4 eps, stays below it.
CLOSE = 8.0 * np.finfo(float).eps
EQUAL = 64.0 * np.finfo(float).eps  # relative distance of times that are equal but for rounding
BEGIN = 1e-6  # s, in which CLOSE and EQUAL count where something has a kink at t = 0


@dataclass(frozen=True, slots=True)
class Instant:
    """Instants that are equal but for rounding, as one: functions of time are smooth up to
    `before` and from `after` on, between the two nothing moves.  Output rows from `first` to
    `last` lie on it."""

    at: float
    before: float
    after: float
    first: float
    last: float


MOST_INSTANTS = 1e8  # of a run, each the end of a step
NEVER = Instant(np.inf, np.inf, np.inf, np.inf, np.inf)


def require_countable(system: System, t_end: float) -> None:
    """Raises UsageError where clocks have more instants in a run of t_end [s] than steps can end
    at; of a period of 1 ns there are so many in a second."""
    clocks = [c for c in system.causal.graph.clocks if c.period > 0.0]
    count = sum(max(t_end - c.first, 0.0) / c.period for c in clocks)
    if count <= MOST_INSTANTS:
        return
    fastest = min(c.period for c in clocks)
    parts = system.model.signals.items()
    named = [f"signals.{n}" for n, part in parts if getattr(part, "period", None) == fastest]
    sampled = [s.name for s in system.causal.graph.sampled if s.clock.period == fastest]
    told = Problem(
        "error",
        (*named, *sampled, "simulate.t_end")[0],
        f"with a period of {fastest:g} s a run of {t_end:g} s has {count:.3g} instants at which "
        f"something jumps or is sampled; steps may end at {MOST_INSTANTS:.0e} of them at most.",
        "Take a longer period, or a shorter run.",
    )
    raise UsageError.of(located(system.model, [told]))


class Samples:
    """The clocks of one run: instants at which functions of time jump or states are sampled.

    Instants are counted, first + n period with the n that comes next: no time is compared
    with an edge to find out whether it has been passed.
    """

    def __init__(self, system: System, kinks: Array):
        """`kinks`: further instants, in order."""
        clocks = system.causal.graph.clocks
        self._periodic = [c for c in clocks if c.period > 0.0]
        earliest = min((c.first for c in clocks), default=0.0)
        self._scale = max(-earliest, 0.0)  # what is subtracted from the time and rounded
        if len(kinks) and kinks[0] == 0.0:
            self._scale = max(self._scale, BEGIN)
        single = np.union1d([c.first for c in clocks if c.period == 0.0], kinks)
        self._single = single[single >= -self.spread(0.0)].tolist()
        self._passed = 0  # of the single instants
        self._counts = [self._first_count(c) for c in self._periodic]
        places = {s.state.name: slice(s.first, s.last) for s in system.slices}
        self._sampled = [(s, places[s.name]) for s in system.causal.graph.sampled]
        self.units = Units(system)
        held = self._sampled or self.units
        self._update = Evaluator(system.programs.update) if held else None

    def spread(self, t: float) -> float:
        """How far two times may lie apart that are equal but for rounding."""
        return EQUAL * (abs(t) + self._scale)

    def _first_count(self, clock: Clock) -> int:
        """n of the clock's first instant in the run."""
        n = max(0, int(-clock.first / clock.period) - 1)
        while clock.first + n * clock.period < -self.spread(0.0):
            n += 1
        return n

    def _next(self) -> list[float]:
        """The next instant of every clock, that of the single ones last."""
        found = [c.first + n * c.period for c, n in zip(self._periodic, self._counts, strict=True)]
        return found + self._single[self._passed : self._passed + 1]

    def next(self) -> Instant:
        """The first instant that has not been passed."""
        times = self._next()
        if not times:
            return NEVER
        first = min(times)
        last = max(t for t in times if t <= first + self.spread(first))
        near, far = CLOSE * (abs(first) + self._scale), CLOSE * (abs(last) + self._scale)
        return Instant(
            first,
            before=first - near,
            after=max(last + far, 0.0),
            first=first - self.spread(first),
            last=last + self.spread(last),
        )

    def go_past(self, instant: Instant, x: Array) -> bool:
        """Counts on beyond the next instant and samples there, in place; whether any state was
        sampled."""
        return self._sample(instant.after, x, self._count(instant))

    def instants(self, t_end: float, most: int) -> Iterator[Instant]:
        """The next instants up to t_end, at most so many; counts on beyond each."""
        for _ in range(most):
            instant = self.next()
            if instant.first > t_end:
                return
            self._count(instant)
            yield instant

    def behind(self, row: float) -> float:
        """Where an output row is seen by a method that stops at no instant: behind the instant
        on which it lies.  Counts on up to the row."""
        seen = row
        while (instant := self.next()).first <= row:
            self._count(instant)
            seen = instant.after if row <= instant.last else row
        return seen

    def _count(self, instant: Instant) -> set[Clock]:
        """Counts on beyond the next instant; the clocks whose it is."""
        due = set()
        for i, clock in enumerate(self._periodic):
            if clock.first + self._counts[i] * clock.period <= instant.last:
                self._counts[i] += 1
                due.add(clock)
        while self._passed < len(self._single) and self._single[self._passed] <= instant.last:
            self._passed += 1
        return due

    def _sample(self, t: float, x: Array, due: set[Clock]) -> bool:
        sampled = {s.name: at for s, at in self._sampled if s.clock in due}
        units = self.units.due(due)
        if not (sampled or units) or self._update is None:
            return False

        def read() -> dict[str, Array]:
            assert self._update is not None
            self._update(t, x)
            return {name: self._update.output(name).ravel().copy() for name in wanted}

        wanted = (*sampled, *units)
        before = x.copy()
        if units and not self.units.begun:  # they begin with what is sampled there
            _hold(x, sampled, read())
            self.units.step(x, units, read)
            _hold(x, sampled, {name: before[at] for name, at in sampled.items()})
        elif units:
            self.units.step(x, units, read)
        _hold(x, sampled, read())
        if units:
            self.units.agree(x, units, read)
        return True


def _hold(x: Array, places: Mapping[str, slice], values: Mapping[str, Array]) -> None:
    """What is read into its places, in place."""
    for name, at in places.items():
        x[at] = values[name]
