"""Integrators behind one small face: step, state, dense output, restart.

Rates of the stages of all of them run in compiled code.
A stepper never knows what it integrates; `run` moves its state onto the
constraints between steps through `reset`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.errors import Problem
from vbg.plumbing.one_thread import load_scipy_on_one_thread
from vbg.simulate.steppers.beginning import NO_RATE, TOO_SMALL, is_finite
from vbg.simulate.steppers.dormand_prince import Compiled, Pieces, Polynomial
from vbg.simulate.steppers.explicit import (
    EndsBesideSingularPosture,
    NearSingularPosture,
    SteadyDOP853,
    between_ends,
)
from vbg.simulate.steppers.implicit.collocation import Inside
from vbg.simulate.steppers.implicit.implicit import Implicit
from vbg.simulate.steppers.implicit.iteration import Compiled as Newton
from vbg.simulate.steppers.leap import History, notes_of
from vbg.simulate.steppers.rounding import RoundingOf, RoundingWatch, bear_rounding
from vbg.simulate.steppers.stiffness import Jacobian, fastest
from vbg.simulate.steppers.tolerances import Tolerances
from vbg.simulate.steppers.work import Counts

FIRST = 0.01  # first implicit step, in the fastest time constant: no transient is stepped over
LEAPS = 10.0  # tolerances that the extrapolation may miss by
NEARER = 10.0  # times the condition from which it leaps, where it would miss by more
NEAREST = 1e9  # condition beyond which rounding would grow
STANDS = 1e-15  # of the run: shorter steps do not lead on ...
ROUNDING = 1e-9  # of a fixed step: what ends so near to an instant ends there
STOOD = 5000  # ... where there are so many of them, one after the other

Array = NDArray[np.float64]
Rate = Callable[[float, Array], Array]

NO_SLOPE = "The Jacobian has no value: a part stands where its law has no slope."


class Stepper(Protocol):
    """t, x: where the integration stands; `step()` makes one accepted step and
    returns a sentence if it could not; `between(t)` is the state inside that step, and
    `between_each` those at several times, as rows; `smooth(t)`: the same as the rates alone make
    it, whatever constraints prescribe inside the step;
    `reset(x)` goes on from another state, `keep()` from the step's own (`restart` where
    the motion has a kink); no step passes the time set by `limit`.  `consistent`: its
    states are on the constraints as they come; `carried`: the last step was made across a
    singular posture, where constraints hold too weakly to project on.  `rates`: evaluations of
    the rate so far; `counts`: what else was done.  `notes()`: what a solution says of it."""

    consistent: bool
    carried: bool
    rates: int
    counts: Counts

    @property
    def t(self) -> float: ...
    @property
    def x(self) -> Array: ...
    @property
    def t_before(self) -> float: ...

    def step(self) -> str | None: ...
    def between(self, t: float) -> Array: ...
    def between_each(self, times: Array) -> Array: ...
    def smooth(self, t: float) -> Array: ...
    def reset(self, x: Array) -> None: ...
    def keep(self) -> None: ...
    def restart(self, t: float, x: Array) -> None: ...
    def limit(self, t: float) -> None: ...
    def shorten(self, h: float) -> None: ...
    def notes(self) -> tuple[Problem, ...]: ...


class Adaptive:
    """DOP853, or Radau IIA of orders 5, 9 and 13."""

    consistent = False

    def __init__(
        self,
        kind: str,
        rate: Evaluator,
        t: float,
        x: Array,
        t_end: float,
        rtol: float,
        atol: Tolerances,
        jacobian: Callable[[], Jacobian],
        condition: Callable[[], float],
        weak: Callable[[float, Array, float], bool],
        longest: float,
    ):
        self._rate, self._rtol, self._atol = rate, rtol, atol
        self.counts = counts = Counts()
        self._t_end: float = t_end
        run = atol.duration, atol.discrete
        self._rounding = RoundingWatch(jacobian, t, t_end, *run) if kind == "dop853" else None
        newton = Newton(rate, len(x), counts)
        self._least: Array = np.zeros(len(x))  # tolerances, by what rounding moves

        def make(t0: float, x0: Array) -> Any:
            # without a finite rate there is no Jacobian either; `step` will report it
            finite = bool(np.all(np.isfinite(rate(t0, x0)[: len(x0)])))
            chosen = kind if finite else "dop853"
            atol.look(x0)
            self._held = atol(t0, x0)
            least = np.maximum(self._held, self._least)
            exact = jacobian() if chosen == "radau" else None
            rest = (t0, x0, self._t_end, rtol, least, longest)
            solver: Any = None
            if exact is not None:
                try:
                    solver = _implicit(self._counted, self._counted_each, exact, newton, *rest)
                except ZeroDivisionError:
                    self._without_slope = True  # `step` will report it
            if solver is None:
                solver = _explicit(rate, self._counted, weak, *rest)
            solver.rtol = atol.relative(t0, x0, rtol)
            if hasattr(solver, "J"):
                bear_rounding(solver, self._held, RoundingOf(solver.J, *run))
            return solver

        self._make = make
        self._borne: RoundingOf | None = None  # that the tolerances have been held against
        self._without_slope = False
        self._rates = 0  # but for those of the present solver's own stages
        self._dense: Any = None
        self._solver = self._make(t, x)
        self._condition = condition
        self._history = History()
        self._crossed: list[tuple[float, float]] = []
        self._missed = np.inf  # by the extrapolation that was put off last
        self._stood = 0  # steps that led nowhere, one after the other
        self.carried = False
        self.t, self.x, self.t_before = t, x, t

    @property
    def rates(self) -> int:
        """Evaluations of the rate so far."""
        return self._rates + self._in_stages

    @rates.setter
    def rates(self, number: int) -> None:
        self._rates = number - self._in_stages

    @property
    def _in_stages(self) -> int:
        return getattr(self._solver, "staged", 0)

    def _counted(self, t: float, x: Array) -> Array:
        self._rates += 1
        return self._rate(t, x)[: len(x)].copy()

    def _counted_each(self, times: Array, states: Array) -> Array:
        self._rates += len(times)
        return self._rate.each(times, states)[:, : states.shape[1]]

    def step(self) -> str | None:
        self._dense, self.carried = None, False
        self.counts.steps += 1
        if not is_finite(self._solver.f):  # a loop began where another stage left it
            self._solver.f = self._counted(self.t, self.x)
            if not is_finite(self._solver.f):
                return NO_RATE
        if self._without_slope:
            return NO_SLOPE
        try:
            message = self._solver.step()
        except ZeroDivisionError:
            return NO_SLOPE
        except EndsBesideSingularPosture:
            return self._leap_or_go_nearer()
        except NearSingularPosture:
            return self._leap()
        if self._solver.status == "failed":
            return str(message)
        self.t, self.x, self.t_before = self._solver.t, self._solver.y, self._solver.t_old
        if not is_finite(self.x):
            return "The state is not finite any more."
        # beside t = 0 numbers are dense: a law without a value ahead is come nearer to for ever
        stands = self.t - self.t_before < STANDS * self._atol.duration
        self._stood = self._stood + 1 if stands else 0
        if self._stood > STOOD:
            return TOO_SMALL
        if self._atol.look(self.x, self.t - self.t_before) or self._atol.varies:
            self._held = self._atol(self.t, self.x)
            self._solver.atol = np.maximum(self._held, self._least)
            self._solver.rtol = self._atol.relative(self.t, self.x, self._rtol)
        self._bear()
        return None

    def _bear(self) -> None:
        """Tolerances above rounding, where the Jacobian is another one or the tolerances are."""
        least = self._rounding.least(self.t, self.x) if self._rounding is not None else None
        if least is not None:
            self._least = least
            self._solver.atol = np.maximum(self._held, least)
        J = getattr(self._solver, "J", None)
        if J is None:
            return
        if self._borne is None or self._borne.J is not J:
            self._borne = RoundingOf(J, self._atol.duration, self._atol.discrete)
        elif not self._atol.varies:
            return
        bear_rounding(self._solver, self._held, self._borne)

    def _leap_or_go_nearer(self) -> str | None:
        """Across the posture that the step would end beside; from nearer to it where the
        extrapolation would miss by more than the tolerance, and getting nearer helps."""
        solver = self._solver
        length = self._length_of_leap()
        if isinstance(length, str):
            solver.watches = False
            return self.step()
        scale = solver.atol + solver.rtol * np.abs(self._history.last[1])
        miss = float(np.sqrt(np.mean((self._history.doubt(length) / scale) ** 2)))
        if miss > LEAPS and miss < 0.5 * self._missed and solver.beside < NEAREST:
            self._missed = miss
            solver.beside = NEARER * max(solver.beside, self._condition())
            return self.step()
        self._missed = np.inf
        self._carry(length)
        return None

    def _leap(self) -> str | None:
        """Across a singular posture that has made the steps small."""
        length = self._length_of_leap()
        if isinstance(length, str):
            return length
        self._carry(length)
        return None

    def _condition_at(self, t: float, x: Array) -> float:
        self._counted(t, x)
        return self._condition()

    def _length_of_leap(self) -> float | str:
        return self._history.length(self._condition_at, self._solver.h_abs)

    def _carry(self, length: float) -> None:
        last, _ = self._history.last
        across = self._history.across(length)
        length = min(length, self._t_end - last)
        self.restart(last + length, np.asarray(across(length)))
        self._crossed.append((last, last + length))
        self.t_before, self.carried = last, True
        self._dense = lambda t: across(t - last)

    def between(self, t: float) -> Array:
        return np.asarray(self._polynomial()(t))

    smooth = between

    def between_each(self, times: Array) -> Array:
        dense = self._polynomial()
        if isinstance(dense, Polynomial | Pieces | Inside):
            return dense.each(times)
        return np.stack([dense(t) for t in times])

    def _polynomial(self) -> Any:
        if self._dense is None:
            self._dense = between_ends(self._solver, self._atol.sums)
            if isinstance(self._dense, Pieces):  # they know its end better
                self.x = self._solver.y = self._dense(self.t)
                self._solver.f = self._counted(self.t, self.x)
        return self._dense

    def reset(self, x: Array) -> None:
        self.x = x
        self._solver.y = x
        self._solver.f = self._counted(self.t, x)
        self._remember()

    def keep(self) -> None:
        self._remember()

    def limit(self, t: float) -> None:
        self._t_end = t
        self._solver.t_bound = t
        if self._solver.status == "finished" and self._solver.t < t:
            self._solver.status = "running"

    def shorten(self, h: float) -> None:
        """The next step is no longer than h."""
        self._solver.h_abs = min(self._solver.h_abs, h)

    def notes(self) -> tuple[Problem, ...]:
        return notes_of(self._crossed, "; formulation = 'minimal' integrates through")

    def _remember(self) -> None:
        self._history.add(self.t, self.x, self._solver.f)

    def go_back(self, t: float, x: Array, length: float) -> None:
        """To (t, x), where the last step began: the next one is of this length."""
        self._dense = None
        self.t, self.x, self.t_before = t, x, t
        self._solver.go_back(t, x, self._counted(t, x), length)

    def follow(self, before: Adaptive) -> None:
        """The first step is tried as long as the next one of `before`, which got as far."""
        self._solver.h_abs = before._solver.h_abs

    def restart(self, t: float, x: Array) -> None:
        self._dense = None
        self._history.clear()
        self.t, self.x, self.t_before = t, x, t
        self._rates += self._in_stages
        self._solver = self._make(t, x)


def _implicit(
    rate: Rate,
    rates: Callable[[Array, Array], Array],
    jacobian: Jacobian,
    newton: Newton,
    t: float,
    x: Array,
    t_end: float,
    rtol: float,
    atol: Array,
    longest: float,
) -> Implicit:
    load_scipy_on_one_thread()
    limits: dict[str, Any] = {"max_step": longest, "rtol": rtol, "atol": atol}
    how: dict[str, Any] = {"counts": newton.counts, "newton": newton}
    solver = Implicit(rate, rates, jacobian, t, x, t_end, **limits, **how)
    solver.h_abs = min(solver.h_abs, FIRST / fastest(solver.J, atol))
    return solver


def _explicit(
    evaluator: Evaluator,
    rate: Rate,
    weak: Callable[[float, Array, float], bool],
    t: float,
    x: Array,
    t_end: float,
    rtol: float,
    atol: Array,
    longest: float,
) -> SteadyDOP853:
    step = Compiled(evaluator, len(x))
    return SteadyDOP853(
        rate, t, x, t_end, step=step, weak=weak, max_step=longest, rtol=rtol, atol=atol
    )


class FixedStep:
    """Classical Runge-Kutta of order 4 with the step `h`, in compiled code.

    Steps that end within rounding of a multiple of h end there: output rows at these are steps."""

    consistent = False
    carried = False

    def __init__(self, evaluator: Evaluator, t: float, x: Array, t_end: float, h: float):
        self._evaluator, self.program = evaluator, evaluator.program
        self._t_end, self._h = t_end, h
        self._before = x.copy()
        self.t, self.x, self.t_before = t, x.copy(), t
        self.rates, self.counts = 0, Counts()
        self._room = np.empty_like(x), np.empty_like(x)
        self._here: Array | None = None  # what the rate's program gives where it stands
        self._ends: Array | None = None  # rates at both ends of the step

    def step(self) -> str | None:
        from vbg.assemble.program.machine import interpreter, rk4_step

        end, first = self._next(), self.outputs()
        h = end - self.t
        self._before = self.x.copy()
        self._here = self._ends = None
        rk4_step(interpreter(), self._evaluator.reader, self.t, h, first, self.x, *self._room)
        self.t_before, self.t = self.t, end
        self.rates += 3
        self.counts.steps += 1
        return None if np.all(np.isfinite(self.x)) else "The state is not finite any more."

    def _next(self) -> float:
        """Where the next step ends."""
        end, h = self.t + self._h, self._h
        multiple = h * round(end / h)
        if abs(multiple - end) < ROUNDING * h:
            end = multiple
        return end if self._t_end - end >= ROUNDING * h else self._t_end

    def outputs(self) -> Array:
        """What the rate's program gives where it stands: rates, and behind them the efforts."""
        if self._here is None:
            self._here = self._evaluator(self.t, self.x).copy()
            self.rates += 1
        return self._here

    def between(self, t: float) -> Array:
        return np.asarray(self.between_each(np.array([t]))[0])

    smooth = between

    def between_each(self, times: Array) -> Array:
        """Cubic Hermite inside the step."""
        h = self.t - self.t_before
        s = np.minimum((times - self.t_before) / h, 1.0) if h > 0.0 else np.ones(len(times))
        if np.all(s == 1.0):
            return np.tile(self.x, (len(times), 1))
        if self._ends is None:
            ends = np.array([self.t_before, self.t]), np.stack([self._before, self.x])
            self._ends = self._evaluator.each(*ends)[:, : len(self.x)]
        s = s[:, None]
        f0, f1 = self._ends
        # what is constant stays so to the last digit: a mode is 0 or 1
        slopes = h * s * (1 - s) * ((1 - s) * f0 - s * f1)
        return self._before + s * s * (3 - 2 * s) * (self.x - self._before) + slopes

    def reset(self, x: Array) -> None:
        self.x, self._here, self._ends = x, None, None

    def keep(self) -> None:
        """The next step starts from x alone, which may have been normalised."""
        self._here = None

    def limit(self, t: float) -> None:
        self._t_end = t

    def shorten(self, h: float) -> None:
        """No step is shorter than its own."""

    def notes(self) -> tuple[Problem, ...]:
        return ()

    def restart(self, t: float, x: Array) -> None:
        self.t, self.x, self.t_before = t, x.copy(), t
        self._before, self._here, self._ends = x.copy(), None, None
