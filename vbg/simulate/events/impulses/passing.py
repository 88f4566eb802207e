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
from vbg.simulate.events.impulses.kicks import Jumps, Kick
from vbg.simulate.events.impulses.latches import Before, Latches
from vbg.simulate.instants.drives import Kink
from vbg.simulate.instants.samples import Instant, Samples
from vbg.solution import Event

Array = NDArray[np.float64]

CLOSINGS = 3  # steps of Newton, from where an integrator has come


@dataclass(frozen=True, slots=True)
class Passing:
    """Of one run; at (t, x) `renew` chooses the rows that hold, `project` moves x onto them."""

    start: Start
    projector: Projector
    switches: Switches
    latches: Latches
    jumps: Jumps
    renew: Callable[[float, Array], None]
    samples: Samples
    project: Callable[[float, Array], object]

    def root(self, t: float, before: tuple[float, Array], x: Array) -> list[Event]:
        """x behind the root at t that `Switches.find` has found, in place; what follows from it.
        `before`: a time and the state right before it, from where all but what jumps is smooth."""
        events = self._come(t, before, x)
        open_before, before = self.latches.look(t, x), (t, x.copy())
        self.switches.turn(x)
        shaken = self.behind(t, x, open_before)
        shaken += self._settle(t, before, x)
        between, before = self.latches.look(t, x), (t, x.copy())
        self.switches.passed(t, x)
        shaken += self.behind(t, x, between)
        shaken += self._settle(t, before, x)
        return [*events, *self.latches.account(t, x, open_before, between), *shaken]

    def instant(self, instant: Instant, kinks: Sequence[Kink], x: Array) -> list[Event]:
        """x behind an instant at which something jumps or is sampled, in place; what happened."""
        after = instant.after
        self.project(instant.before, x)
        idle = self.switches.idle(instant.before, x)
        held = instant.before, x.copy()
        self.samples.go_past(instant, x)
        events: list[Event] = []
        if kinks or self.jumps(held, after, x):
            kick = Kick(self.start, instant.at, self.jumps.laws, kinks)
            events += kick.strike(*self._about, held, after, x, self.project)
        before, held = self.latches.look(after, x), (after, x.copy())
        events += self.switches.jump(instant.at, after, x, idle)
        shaken = self.behind(after, x, before)
        shaken += self._settle(after, held, x, at=instant.at)
        return [*events, *self.latches.account(after, x, before), *shaken]

    def _settle(
        self, t: float, before: tuple[float, Array], x: Array, at: float | None = None
    ) -> list[Event]:
        """x onto the constraints at t, in place; where what they prescribe has jumped since
        `before`, by impulses whose work is counted."""
        if not self.jumps(before, t, x):
            self.project(t, x)
            return []
        kick = Kick(self.start, t if at is None else at, self.jumps.laws)
        return kick.strike(*self._about, before, t, x, self.project)

    @property
    def _about(self) -> tuple[Switches, Projector]:
        return self.switches, self.projector

    def _come(self, t: float, before: tuple[float, Array], x: Array) -> list[Event]:
        """The same where both are as an integrator has left them: beside the constraints by more
        than small jumps have."""
        if self.jumps.may:
            closed = [(at, self._closed(at, state)) for at, state in (before, (t, x))]
            if self.jumps(closed[0], *closed[1]):
                x[:] = closed[1][1]
                kick = Kick(self.start, t, self.jumps.laws)
                return kick.strike(*self._about, closed[0], t, x, self.project)
        self.project(t, x)
        return []

    def _closed(self, t: float, x: Array) -> Array:
        """The posture on the constraints, and speeds as they are."""
        x = x.copy()
        for _ in range(CLOSINGS):
            self.projector.normalise(x)
            self.projector.measure(t, x)
            position = self.projector.residuals(t, x)[0]
            if not position.any():
                break
            self.projector.move_posture(t, x, -position)
        self.projector.measure(t, x)
        return x

    def behind(self, t: float, x: Array, before: Before) -> list[Event]:
        """Rows that come and go behind an event, and the impulses of joints that close there;
        returns what sticks or slips by these, which is told behind its cause."""
        self.renew(t, x)
        closed = self.latches.closed(x, before)
        if not closed:
            return []
        strike = partial(self.latches.strike, closed=closed)
        return self.switches.struck(t, t, x, strike)
