"""The choice of method = "auto": explicit or implicit steps, whichever are less work.

A run begins with explicit steps.  It goes over to implicit ones for good where a decaying
eigenvalue is what limits its steps (`stiffness`).  What else may limit them, fast waves that nobody
excites and nobody damps, rates that are steep across what is constrained, no eigenvalue tells: they
are tried.  Where enough work lies ahead that a trial is little beside it, the run goes on with
implicit steps; when the work of these for a second of motion (`work`) is less than that of the
explicit ones before, it stays with them, and else it goes back and waits twice as long as before
until it tries again.  Nothing of a trial is thrown away: its steps are of the motion, within the
same tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.implicit.sparsity import Pattern
from vbg.simulate.steppers.stepper import Stepper
from vbg.simulate.steppers.stiffness import Jacobian, StiffnessWatch
from vbg.simulate.steppers.work import CALLED, Counts, Prices, explicit_prices, implicit_prices

FIRST = 150  # explicit steps before the first trial,
WAIT = 400  # before the next look, twice as many after each trial that did not pay,
STILL = 50  # and behind something that has switched
WINDOW = 50  # the last steps that explicit work is measured by
BLOCK = 6  # implicit steps of one look at a trial,
BETTER = 0.5  # which goes on while a block is so much less work than the one before
ASTRAY = 6  # times that a step's stages stray in the last ASTRAY_IN: they do so again and again
ASTRAY_IN = 30  # steps
ROUND = 40  # implicit steps of one look at a method that is kept
LIKELY = Counts(steps=12, iterations=48, jacobians=4, factorisations=36)  # of two of
RATES = 240  # these, and the rates of their stages
SHARE = 0.08  # of the work ahead that these may be
PAYS = 0.7  # of the work of explicit steps: implicit ones are kept


class Choice:
    """method: "dop853" or "radau"; stiff: whether it is implicit for good; tries: whether it makes
    trials."""

    def __init__(
        self,
        jacobian: Callable[[], Jacobian],
        pattern: Callable[[], Pattern | None],
        operations: int,
        size: int,
        t_end: float,
        line: NDArray[np.int64],
    ):
        """`jacobian` and its `pattern` are asked for when they are first needed; `operations`: of
        the rate's program of `size` states; `line` as of StiffnessWatch."""
        self.method, self.stiff, self.tries = "dop853", False, True
        self._watch = StiffnessWatch(jacobian, t_end, line)
        self._pattern, self._operations, self._size = pattern, operations, size
        self._explicit = explicit_prices(operations)
        self._t_end, self._wait = t_end, FIRST
        self._count, self._still = 0, 0  # steps since the last look, since something switched
        self._made, self._astray = 0, list[int]()  # steps so far, those whose stages strayed
        self._mark = 0.0, 0.0  # time, and work so far, from where work is measured
        self._bar = math.inf  # work for a second of the explicit steps before the last trial
        self._block: float | None = None  # that of the last implicit steps, in a trial

    @property
    def tried(self) -> bool:
        """Whether a trial is being made."""
        return self._block is not None

    @cached_property
    def _implicit(self) -> Prices:
        return implicit_prices(self._operations, self._size, self._pattern())

    def changes(self, stepper: Stepper) -> bool:
        """To be asked once after each step: whether the run goes on by the other method."""
        self._count += 1
        self._still += 1
        self._made += 1
        if self.stiff:
            return False
        return self._tries(stepper) if self.method == "dop853" else self._gives_up(stepper)

    def switched(self) -> None:
        """Something has switched: a trial waits."""
        self._still = 0

    def strays(self) -> bool:
        """Whether the run goes on by implicit steps, since stages stray once more.

        Beyond the end of stability they do so every few steps; beside a singular posture, where
        no implicit step is better, a few times until it is passed."""
        self._astray = [n for n in (*self._astray, self._made) if n > self._made - ASTRAY_IN]
        if len(self._astray) >= ASTRAY:
            self.settle()
        return self.stiff

    def settle(self) -> None:
        """Implicit from now on, for good."""
        self.method, self.stiff, self._block = "radau", True, None

    def goes_back(self) -> bool:
        """Whether a run whose implicit steps have failed goes on with explicit ones."""
        return self.method == "radau" and not self.stiff and self._back()

    def go_on(self, stepper: Stepper) -> None:
        """From here on `stepper` steps, by the present method."""
        self._count = self._still = 0
        self._measure(stepper)
        if self.method == "dop853":
            self._watch.go_on(stepper.t)

    def _tries(self, stepper: Stepper) -> bool:
        if self._watch.is_stiff(stepper.t, stepper.x):
            self.settle()
            return True
        if not self.tries or self._count < self._wait - WINDOW:
            return False
        if self._count == self._wait - WINDOW:
            self._measure(stepper)
        if self._count < self._wait or self._still < STILL:
            return False
        self._count, self._wait = 0, max(self._wait, WAIT)
        work = self._work_of_a_second(stepper)
        if not self._is_little(SHARE * work * (self._t_end - stepper.t)):
            return False
        self.method, self._bar, self._block = "radau", work, math.inf
        return True

    def _is_little(self, most: float) -> bool:
        """Whether two blocks are likely to be less work than that."""
        bare = Prices(self._explicit.rate, CALLED)  # what needs no structure first
        for prices in (lambda: bare, lambda: self._implicit):
            if prices().of(RATES, LIKELY) > most:
                return False
        return True

    def _gives_up(self, stepper: Stepper) -> bool:
        if self._count < (BLOCK if self.tried else ROUND):
            return False
        work = self._work_of_a_second(stepper)
        self._count = 0
        self._measure(stepper)
        if self._block is None:
            return work > self._bar and self._back()
        if work > PAYS * self._bar and work > BETTER * self._block:
            return self._back()
        self._block = work if work > PAYS * self._bar else None
        return False

    def _back(self) -> bool:
        self.method, self._block, self._wait = "dop853", None, 2 * self._wait
        return True

    def _measure(self, stepper: Stepper) -> None:
        self._mark = stepper.t, self._work(stepper)

    def _work_of_a_second(self, stepper: Stepper) -> float:
        """Of the steps since `_measure`."""
        t, work = self._mark
        span = stepper.t - t
        return (self._work(stepper) - work) / span if span > 0.0 else math.inf

    def _work(self, stepper: Stepper) -> float:
        prices = self._explicit if self.method == "dop853" else self._implicit
        return prices.of(stepper.rates, stepper.counts)
