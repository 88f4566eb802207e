"""What happens at one event or instant, in its order: samples, modes, rows and impulses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start
from vbg.simulate.events.events import Switches
from vbg.simulate.events.kicks import Kick
from vbg.simulate.events.latches import Before, Latches
from vbg.simulate.instants.drives import Kink
from vbg.simulate.instants.samples import Instant, Samples
from vbg.solution import Event

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Passing:
    """Of one run; at (t, x) `renew` chooses the rows that hold, `project` moves x onto them."""

    start: Start
    projector: Projector
    switches: Switches
    latches: Latches
    renew: Callable[[float, Array], None]
    samples: Samples
    project: Callable[[float, Array], object]

    def root(self, t: float, x: Array) -> list[Event]:
        """x behind the root at t that `Switches.find` has found, in place; what follows from it."""
        self.project(t, x)
        before = self.latches.look(t, x)
        self.switches.turn(x)
        shaken = self.behind(t, x, before)
        self.project(t, x)
        between = self.latches.look(t, x)
        self.switches.passed(t, x)
        shaken += self.behind(t, x, between)
        self.project(t, x)
        return [*self.latches.account(t, x, before, between), *shaken]

    def instant(self, instant: Instant, kinks: Sequence[Kink], x: Array) -> list[Event]:
        """x behind an instant at which something jumps or is sampled, in place; what happened."""
        after = instant.after
        self.project(instant.before, x)
        idle = self.switches.idle(instant.before, x)
        held = x.copy()
        self.samples.go_past(instant, x)
        events: list[Event] = []
        if kinks or self._prescribes(after, held, x):
            kick = Kick(self.start, instant, kinks)
            events += kick.strike(self.switches, self.projector, held, x, self.project)
        before = self.latches.look(after, x)
        events += self.switches.jump(instant.at, after, x, idle)
        shaken = self.behind(after, x, before)
        self.project(after, x)
        return [*events, *self.latches.account(after, x, before), *shaken]

    def behind(self, t: float, x: Array, before: Before) -> list[Event]:
        """Rows that come and go behind an event, and the impulses of joints that close there;
        returns what sticks or slips by these, which is told behind its cause."""
        self.renew(t, x)
        closed = self.latches.closed(x, before)
        if not closed:
            return []
        strike = partial(self.latches.strike, closed=closed)
        return self.switches.struck(t, t, x, strike)

    def _prescribes(self, t: float, before: Array, x: Array) -> bool:
        """Whether what was sampled, from `before` to x, changes a speed that rows prescribe."""
        if not self.projector.rows or np.array_equal(before, x):
            return False
        were, are = (self.projector.residuals(t, state)[1] for state in (before, x))
        return not np.array_equal(were, are)
