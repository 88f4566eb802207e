"""Which of two methods of integration goes on: whichever gets farther for the same work.

Stability is not all that keeps the steps of an explicit method short: at tight tolerances
a stiff mode through which a slow motion passes its forces does so long before.  So no
property of the equations is asked; after some steps the other method tries a few, which
count like all others, and the one that gets farther per evaluation of the rate goes on.
Trials become rarer while nothing changes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

FIRST = 250  # steps before the other method tries for the first time
TRIAL = 9  # steps of a trial
SEEN = 4  # steps by which a pace is measured
RARER = 4  # times as many steps until the next trial
WEIGHT = 2.0  # of an evaluation in an implicit step, whose systems are to be solved as well


@dataclass
class Method:
    """The method in use; `stiff` is the implicit one, `used` whether that went on after a trial."""

    stiff: bool = False
    used: bool = False
    steps: int = 0
    due: int = FIRST
    trial: bool = False
    pace: float = 0.0
    passed: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=SEEN + 1))

    def begun(self, t: float, n_rates: int) -> None:
        """Steps begin at t, where an integration starts anew."""
        self.passed.clear()
        self.passed.append((t, n_rates))

    def stepped(self, t: float, n_rates: int) -> bool:
        """Take note of a step up to t; whether the other method is to go on from there."""
        self.steps += 1
        self.passed.append((t, n_rates))
        if self.steps < (TRIAL if self.trial else self.due) or len(self.passed) <= SEEN:
            return False
        (early, before), weight = self.passed[0], WEIGHT if self.stiff else 1.0
        pace = (t - early) / (weight * (n_rates - before))
        back = self.trial and pace <= self.pace
        change = back or not self.trial
        if self.trial:
            self.due *= RARER
            self.used |= self.stiff and not back
        self.trial, self.pace, self.steps = not self.trial, pace, 0
        if change:
            self.stiff = not self.stiff
            self.begun(t, n_rates)
        return change

    def gave_up(self, t: float, n_rates: int) -> bool:
        """Whether the implicit method is to go on from t, where explicit steps became too short."""
        if self.stiff:
            return False
        self.stiff, self.used, self.trial, self.steps = True, True, False, 0
        self.begun(t, n_rates)
        return True
