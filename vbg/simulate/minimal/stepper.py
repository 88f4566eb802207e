"""Closed loops in independent coordinates: the stepper of `formulation = "minimal"`.

Of the whole state x only y = K z (posture), u = L s (speeds) and the states that no
constraint touches are integrated; all others follow from the constraints by Newton at
every evaluation (`retraction`), so position and velocity residuals stay at rounding and
nothing drifts.  Rates and joint forces are those of the compiled machine at that state:

    y' = K z',    u' = L s'

Where the coordinates have become bad (`growth`), K and L are chosen anew; the history of
the multistep method goes on (`adams`).

Beside a singular posture the constraints leave eps c^2 in the speeds and eps c^3 in the rates,
c the condition of [J; K Z], whatever the method does.  Where a
step of that would be seen in the error of the state, it would follow rounding: the motion is
carried across (`leap`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start
from vbg.assemble.system import System
from vbg.errors import Problem
from vbg.simulate.minimal.programs import minimal_programs
from vbg.simulate.minimal.retraction import Retraction
from vbg.simulate.steppers.adams import LOST, NO_RATE, Adams, NoStep
from vbg.simulate.steppers.leap import History, notes_of
from vbg.simulate.steppers.tolerances import Tolerances
from vbg.simulate.steppers.work import Counts

Array = NDArray[np.float64]

# of rtol: global errors of a multistep method at rtol are some times those of DOP853
SHARE = 0.1
GROWN = 2.0  # of the condition since the choice: the coordinates have turned by 60 degrees
BESIDE = 3.0  # times the least condition of the run: the posture is nearly singular
NEARER = 0.25  # of the leap that is put off: half of the way to the posture
EPS = float(np.finfo(float).eps)

OnChange = Literal["transform", "restart"]


class Minimal:
    """Adams-Moulton in independent coordinates; a Stepper of full states.

    `on_change`: "restart" begins with order 1 where coordinates change, to see what the
    transformed history is worth.
    """

    consistent = True

    def __init__(
        self,
        start: Start,
        t: float,
        x: Array,
        rtol: float,
        atol: float,
        on_change: OnChange = "transform",
        duration: float = 1.0,
        longest: float = np.inf,
    ):
        system = start.system
        self.programs = minimal_programs(start)
        self._size, self._on_change = system.size, on_change
        self._retraction = Retraction(system, self.programs)
        self._rates = Evaluator(self.programs.rates, kept=start.kept)
        self._efforts = system.equations.efforts.rows
        self._share, self._counted = max(SHARE * rtol, 1e-13), _counted(system)
        self._tolerances = Tolerances(system, atol, duration, supplied=True)
        self._hold(t, x)
        self.rates, self.changes, self.worst = 0, 0, 1.0
        self.counts = Counts()
        self.t_end = np.inf
        self._longest = self._next = longest  # any step, the next one
        self.carried, self._best = False, np.inf
        self._history = History()
        self._crossed: list[tuple[float, float]] = []
        self._across: tuple[float, Callable[[float], Array]] | None = None
        self._begin(t, x)

    def _hold(self, t: float, x: Array) -> None:
        """The tolerances of the counted states at a state."""
        self._tolerances.look(x)
        self._atol = self._tolerances(t, x)[self._counted]
        self._rtol = self._tolerances.relative(t, x, self._share)[self._counted]
        self._weighed: Array | None = None  # the state that `_weights` are of

    def _begin(self, t: float, x: Array) -> None:
        retraction = self._retraction
        retraction.freedoms, self._least = (None, None), 1.0
        X = np.concatenate([x, retraction.speeds(t, x)])
        rate = self._rate
        try:
            retraction.choose(t, x)
            self._least = retraction.growth
            X = retraction(t, X)
        except NoStep:
            rate = _no_rate
        self._renewed, self._condition = t, 1.0
        self._history.clear()
        self._across, self.carried = None, False
        self._from = X
        self._adams = Adams(rate, self._retract, self._error, t, X)

    def _retract(self, t: float, X: Array) -> Array:
        """On the constraints, with Jacobians of the predicted state for both formulas, or
        older ones that still serve."""
        if t != self._renewed and not self._retraction.lasting:
            self._retraction.renew(t, X[: self._size])
            self._renewed = t
        return self._retraction(t, X)

    def _rate(self, t: float, X: Array) -> Array:
        """(x', s') at a state on the constraints."""
        self.rates += 1
        n, m = self._size, self._efforts
        found = self._rates(t, X[:n])
        rate = np.concatenate([found[:n], found[n + m :]])
        if not np.all(np.isfinite(rate)):
            raise NoStep(NO_RATE)
        return rate

    def _error(self, difference: Array, X: Array) -> float:
        """Root mean square of the errors of the full state, each relative to its tolerance:
        y is a linear image of it and has no scale of its own."""
        at = self._counted
        if X is not self._weighed:  # of a step several formulas are asked
            self._weighed, self._weights = X, self._atol + self._rtol * np.abs(X[at])
        return float(np.sqrt(np.mean((difference[at] / self._weights) ** 2))) if len(at) else 0.0

    # -- the face of a Stepper ------------------------------------------------------

    @property
    def t(self) -> float:
        return self._adams.t

    @property
    def x(self) -> Array:
        return self._adams.X[: self._size]

    @property
    def t_before(self) -> float:
        return self._adams.t_before if self._across is None else self._across[0]

    @property
    def h(self) -> float:
        """Length of the step that comes next."""
        return self._adams.h

    @property
    def steps(self) -> int:
        return self._adams.steps

    @property
    def rejected(self) -> int:
        return self._adams.rejected

    @property
    def coordinates(self) -> Array:
        """K: the independent coordinates as combinations of z."""
        return self._retraction.K.matrix

    @property
    def freedoms(self) -> tuple[int, int]:
        """Number of independent coordinates and of independent speeds."""
        return self._retraction.K.count, self._retraction.L.count

    def step(self) -> str | None:
        self.counts.steps += 1
        if self._leaps():
            return None
        self._across, self.carried, self._from = None, False, self._adams.X
        trouble = self._adams.step(self._reach)
        self._next = self._longest
        if trouble is not None:
            return trouble
        try:
            self._look_after_coordinates()
        except NoStep:
            return LOST
        self._history.add(self.t, self._adams.X, self._adams.rate)
        if self._tolerances.look(self.x) or self._tolerances.varies:
            self._hold(self.t, self.x)
        return None

    def _leaps(self) -> bool:
        """Across the singular posture ahead, if one comes nearer and rounding in the rates would
        be seen behind the next step; from nearer to it as long as the extrapolation is in more
        doubt than that.  False, too, where the motion does not leave the posture behind."""
        before, self._condition = self._condition, self._retraction.condition
        self._reach = min(self.t_end, self.t + self._next)
        self._best = min(self._best, self._condition)
        X, rate = self._adams.X, self._adams.rate
        rounding = self.h * self._error(EPS * self._condition**3 * np.abs(rate), X)
        if rounding < 1.0 or self._condition <= max(before, BESIDE * self._best):
            return False
        length = self._history.length(self._condition_at, self.h)
        if isinstance(length, str):
            return False
        if self._error(self._history.doubt(length), X) > rounding:
            self._reach = min(self.t + NEARER * length, self._reach)
            return False
        across, (begin, _) = self._history.across(length), self._history.last
        end = min(begin + length, self.t_end)
        self._begin(end, np.asarray(across(end - begin))[: self._size])
        self._crossed.append((begin, end))
        self._across, self.carried = (begin, across), True
        return True

    def _condition_at(self, t: float, X: Array) -> float:
        there = copy(self._retraction)
        try:
            there.renew(t, X[: self._size])
        except NoStep:
            return np.inf
        return there.condition

    def _look_after_coordinates(self) -> None:
        """A new K and L where the old ones are bad by the Jacobians of the step's end."""
        adams, retraction = self._adams, self._retraction
        growth = retraction.growth / self._least
        self.worst = max(self.worst, growth)
        if growth > GROWN:
            retraction.choose(adams.t, self.x)
            self._least = retraction.growth
            self.changes += 1
            if self._on_change == "restart":
                adams.begin(adams.t, adams.X)

    def between(self, t: float) -> Array:
        """The state at t inside the last step, on the constraints; where no Newton brings it
        there, as beside a singular posture, the interpolated one, whose residuals tell."""
        if t == self.t:
            return self.x.copy()
        if self._across is not None:
            begin, across = self._across
            return np.asarray(across(t - begin))[: self._size]
        X = self._adams.between(t)
        try:
            return self._retraction(t, X)[: self._size]
        except NoStep:  # K and L of the step's end do not reach back so far
            nearby = copy(self._retraction)
            try:
                nearby.choose(t, X[: self._size])
                return nearby(t, X)[: self._size]
            except NoStep:
                return X[: self._size]

    def between_each(self, times: Array) -> Array:
        return np.stack([self.between(t) for t in times])

    def smooth(self, t: float) -> Array:
        """The state at t by the rates inside the last step alone, from where it began: what
        prescribes a jump there has not moved it."""
        if self._across is not None:
            return self.between(t)
        moved = self._adams.between(t) - self._adams.between(self.t_before)
        return np.asarray(self._from + moved)[: self._size]

    def reset(self, x: Array) -> None:
        self.restart(self.t, x)

    def keep(self) -> None:
        """The step's own state is on the constraints: there is nothing to do."""

    def restart(self, t: float, x: Array) -> None:
        """Behind an event: freedoms may have changed, so K and L are chosen anew."""
        self._begin(t, x.copy())

    def limit(self, t: float) -> None:
        self.t_end = t

    def shorten(self, h: float) -> None:
        """The next step is no longer than h."""
        self._next = min(self._next, h)

    def notes(self) -> tuple[Problem, ...]:
        coordinates, speeds = self.freedoms
        return (
            Problem(
                "note",
                "simulate.formulation",
                f"minimal: {coordinates} independent coordinates and {speeds} speeds, chosen anew "
                f"{self.changes} times; {self.rejected} steps were rejected.",
            ),
            *notes_of(self._crossed),
        )


def _no_rate(t: float, X: Array) -> Array:
    """Of a start whose Jacobians have no value."""
    raise NoStep


def _counted(system: System) -> NDArray[np.int64]:
    """Places whose error is controlled: not what others determine or what is constant."""
    spans = [
        np.arange(s.first, s.last)
        for s in system.slices
        if s.state.measured is None and s.state.kind != "discrete"
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *spans]).astype(np.int64)
