"""What rounding leaves of an implicit step's tolerances.

A rate f(x) is known to eps |J| |x|: a stiff spring K that is measured at places x gives a force to
eps K |x|.  Over the time that the state takes to answer, 1 / sqrt(sum_j |J_ij J_ji|), this is

    d_i = eps (|J| |x|)_i / sqrt(sum_j |J_ij J_ji|),

eps K |x| / w = m w eps |x| of a momentum, below which no step can tell states apart.  It adds up
over the run at the longest: an integral, which nothing answers to, is off by eps (|J| |x|)_i times
the run's duration, and so is what leaks through valves that are shut.  Newton's iteration does not
settle there, the error that is estimated does not fall with the step, and steps
shrink until h f is below the tolerance (1e-7 s for waves of 4000 rad/s).  So a tolerance is at
least BEARS d_i, and the iteration ends at what rounding lets it reach.

An explicit method, whose steps are no longer than that time, sees rounding in the error that it
estimates alone, and there not all of d_i, a sum of magnitudes: terms of either sign that are
rounded to half a digit come to SEEN d_i in the mean over the states.  Its tolerances are lifted
where that many steps lie ahead that rounding may be what makes them short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.stiffness import PATIENCE, WATCH, Jacobian

Array = NDArray[np.float64]

BEARS = 100.0  # times what rounding moves a state: less is no tolerance
SEEN = 0.05  # of it, what the error estimate of an explicit step sees
SETTLED = 0.5  # times the changes by rounding at which Newton's iteration ends: forces of the
# stiffest modes see what it leaves (docs/decisions/2026-11-trial.md)
SLOWEST = 1e-3  # of the fastest rate: what answers slower is given no more
EPS = float(np.finfo(float).eps)


class RoundingOf:
    """What a dense or sparse Jacobian `J` makes of rounding, in a run of this `duration` [s]."""

    def __init__(self, J: Any, duration: float, discrete: NDArray[np.bool_] | bool = False):
        """`discrete` states are exact: they change at events and instants alone."""
        self.J, self._size, self._moves = J, abs(J), np.logical_not(discrete)
        size = self._size
        with np.errstate(over="ignore"):  # a rate beyond numbers: of its rounding nothing is known
            back = size.multiply(size.T) if hasattr(size, "multiply") else size * size.T
            rate = np.sqrt(np.asarray(back.sum(axis=1), dtype=float).ravel())
        fastest = float(rate.max(initial=0.0))
        self._known = bool(np.isfinite(fastest)) and fastest > 0.0
        self._rate = np.maximum(rate, max(SLOWEST * fastest, 1.0 / duration))

    def at(self, x: Array) -> Array:
        """d of every state, (n,)."""
        if not self._known:
            return np.zeros(len(x))
        terms = np.asarray(self._size @ (self._moves * np.abs(x))).ravel()
        return np.asarray(EPS * terms / self._rate)


def bear_rounding(solver: Any, atol: Array, rounding: RoundingOf) -> None:
    """`atol` and the end of the implicit method's iteration above rounding where it stands."""
    d = rounding.at(solver.y)
    if not np.isfinite(d).all():
        return
    solver.atol = np.maximum(atol, BEARS * d)
    left = d / (solver.atol + solver.rtol * np.abs(solver.y))
    size = SETTLED * float(np.sqrt(np.mean(left**2)))
    solver.newton_tol = max(newton_end(solver.rtol), size)


def newton_end(rtol: Any) -> float:
    """Part of the tolerance at which Newton's iteration ends: E. Hairer, G. Wanner, Solving
    Ordinary Differential Equations II, IV.8."""
    return max(10.0 * EPS / float(np.min(rtol)), min(0.03, float(np.max(rtol)) ** 0.5))


class RoundingWatch:
    """Least tolerances of an explicit method, from the exact Jacobian where too many steps lie
    ahead."""

    def __init__(
        self,
        jacobian: Callable[[], Jacobian],
        t: float,
        t_end: float,
        duration: float,
        discrete: NDArray[np.bool_],
    ):
        """`jacobian` gives that of the rate when it is first needed; steps begin at t; `duration`
        of the run [s]; which states are `discrete`."""
        self._jacobian, self._t_end = jacobian, t_end
        self._duration, self._discrete = duration, discrete
        self._steps, self._since = 0, t

    def least(self, t: float, x: Array) -> Array | None:
        """To be asked once after each step: (n,), None where nothing is known anew."""
        self._steps += 1
        if self._steps < WATCH:
            return None
        ahead = self._steps * (self._t_end - t) / (t - self._since) if t > self._since else 0.0
        self._steps, self._since = 0, t
        if ahead < PATIENCE:
            return None
        try:
            d = RoundingOf(self._jacobian()(t, x), self._duration, self._discrete).at(x)
        except ZeroDivisionError:  # a law without a slope here
            return None
        return SEEN * d if np.isfinite(d).all() else None
