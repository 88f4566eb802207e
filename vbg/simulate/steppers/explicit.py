"""DOP853 that reports a singular posture instead of creeping up to it, and that does not
trust its polynomial between the ends of a step where that leaves the motion."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vbg.assemble.program.evaluator import Evaluator
from vbg.plumbing.dormand_prince import DENSE, END, ERROR_3, ERROR_5, NODES, STAGES, TABLEAU

# (t, y, h, K, begin, end): fills rows begin to end - 1 of K, returns the state of the last one
Stages = Callable[[float, Any, float, Any, int, int], Any]

FLOOR = 1e-2  # a step this small, relative to the largest so far, is not due to the motion
NEAR = 1e5  # condition above which a posture counts as nearly singular
TINY = 1e-4  # a step this small is not halved
PIECES = 8  # into which a step is cut whose polynomial leaves the motion
MOST_RATES = 400  # for all pieces together: beyond that the model is stiff
BESIDE = 1e4  # condition at the end of a step that lies beside a singular posture, at least
CLOSER = 30.0  # times smaller at the beginning of the step: it is still too far away to leap
HALVED = 110.0  # error norm that makes DOP853 halve its step: 0.9 norm^(-1/8)
GROWN = 1e3  # times the least condition of the run: links without mass always have a large one

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10.0  # of the step from its error
EXPONENT = -1.0 / 8.0  # the error of a step goes with h^8
TOO_SMALL = "Required step size is less than spacing between numbers."


class NearSingularPosture(Exception):
    """The step shrinks only because the constraint matrix is nearly singular."""


class EndsBesideSingularPosture(Exception):
    """A step that error control accepts ends where the rate is not to be trusted."""


class StrayStages(Exception):
    """The stages that only the polynomial needs leave the motion, in the step from (t, x)."""

    def __init__(self, t: float, x: Any):
        super().__init__(f"stages stray behind t = {t:.6g} s")
        self.t, self.x = t, x


class SteadyDOP853:
    """The method of order 8 of Dormand and Prince (E. Hairer, S. Norsett, G. Wanner, Solving
    ODEs I, II.5) that raises NearSingularPosture where error control follows a singular posture.

    The motion through such a posture is smooth, but the rate beside the constraint
    manifold is not: a velocity residual c of the stages makes the acceleration err by
    c / theta^2 at the distance theta.  Steps would shrink to zero with theta.  A step that
    ends beside such a posture is halved until it begins beside it, too, and then raises
    EndsBesideSingularPosture, as long as it `watches`; `beside` is the condition that says so.

    t, y, f: where it stands, and the rate there; t_old, y_old: where the last step began;
    h_abs: length of the next one; K: its stages.  Otherwise as scipy's solvers.
    """

    def __init__(
        self,
        fun: Callable[[float, Any], Any],
        t0: float,
        y0: ArrayLike,
        t_bound: float,
        *,
        condition: Callable[[], float],
        stages: Stages | None = None,
        first_step: float | None = None,
        max_step: float = math.inf,
        rtol: float = 1e-3,
        atol: Any = 1e-6,
    ):
        """`stages` computes stages of the method in compiled code."""
        self.fun, self.compiled = fun, stages
        self.t, self.t_bound = float(t0), t_bound
        self.y: Any = np.array(y0, dtype=float)
        self.rtol, self.atol, self.max_step = rtol, atol, max_step
        self.status, self.nfev = "running", 0
        self.t_old, self.y_old, self.h_previous = self.t, self.y, 0.0
        self.K = np.empty((STAGES, len(self.y)))
        self._condition = condition
        self._largest, self._least, self._last = 0.0, math.inf, 1.0
        self.watches, self.beside = True, BESIDE
        self.f: Any = self._rate(self.t, self.y)
        self.h_abs = self._first_step() if first_step is None else first_step

    def _rate(self, t: float, y: Any) -> Any:
        self.nfev += 1
        return self.fun(t, y)

    def _first_step(self) -> float:
        """A step whose error would be small at order 1 (II.4)."""
        span = self.t_bound - self.t
        if len(self.y) == 0 or span <= 0.0:
            return math.inf
        scale = self.atol + np.abs(self.y) * self.rtol
        size, slope = _norm(self.y / scale), _norm(self.f / scale)
        h = min(1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope, span)
        ahead = self._rate(self.t + h, self.y + h * self.f)
        steepest = max(slope, _norm((ahead - self.f) / scale) / h)
        longer = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** -EXPONENT
        return min(100.0 * h, longer, span, self.max_step)

    def step(self) -> str | None:
        """One accepted step, or why there is none: then the status is "failed"."""
        before = self.t
        message = None
        if len(self.y) == 0 or before == self.t_bound:
            self.t, self.y_old = self.t_bound, self.y
        else:
            message = self._accepted()
        if message is not None:
            self.status = "failed"
            return message
        self.t_old = before
        if self.t >= self.t_bound:
            self.status = "finished"
        return None

    def stages(self, t: float, y: Any, h: float, K: Any, begin: int, end: int) -> Any:
        """Fills rows begin to end - 1 of K; the state of the last one."""
        if self.compiled is not None:
            self.nfev += end - begin
            return self.compiled(t, y, h, K, begin, end)
        at = y
        for s in range(begin, end):
            at = y + h * (TABLEAU[s, :s] @ K[:s])
            K[s] = self._rate(t + h * NODES[s], at)
        return at

    def _accepted(self) -> str | None:
        t, y, K = self.t, self.y, self.K
        shortest = 10.0 * abs(np.nextafter(t, np.inf) - t)
        size = min(max(self.h_abs, shortest), self.max_step)
        grows = MAX_FACTOR
        K[0] = self.f
        while True:
            if size < shortest:
                return TOO_SMALL
            t_new = min(t + size, self.t_bound)
            h = size = t_new - t
            y_new = self.stages(t, y, h, K, 1, END + 1)
            norm = self._judged(error_norm(K, h, y, y_new, self.rtol, self.atol), h)
            factor = SAFETY * norm**EXPONENT if norm > 0.0 else MAX_FACTOR
            if norm < 1.0:
                break
            size *= max(MIN_FACTOR, factor)
            grows = 1.0
        self.h_previous, self.y_old = h, y
        self.t, self.y, self.f = t_new, y_new, K[END].copy()
        self.h_abs = size * min(grows, factor)
        return None

    def _judged(self, norm: float, size: float) -> float:
        """The error norm of a step of this size, or what halves it."""
        if not math.isfinite(norm):
            return math.inf  # a stage left the domain of the rate: a shorter step
        if norm < 1.0:
            condition = self._condition()
            beside = max(self.beside, GROWN * self._least)
            if self.watches and condition > beside:
                if CLOSER * self._last < beside and size > TINY * self._largest:
                    return HALVED
                raise EndsBesideSingularPosture
            self._last = condition
            self._least = min(self._least, condition)
            self._largest = max(self._largest, size)
        elif size <= FLOOR * self._largest and self._condition() > NEAR:
            raise NearSingularPosture
        return norm

    def dense_output(self) -> Polynomial:
        """The state inside the last step.

        Raises StrayStages where one of the three additional stages, which no error
        estimate sees, lies further outside the rates of the step than these are apart: in
        a stiff model such a stage may be anything while the step itself is right."""
        K, h = self.K, self.h_previous
        if self.t == self.t_old or len(self.y) == 0:
            return Polynomial(self.t_old, 1.0, self.y, np.zeros((0, len(self.y))))
        self.stages(self.t_old, self.y_old, h, K, END + 1, STAGES)
        step, added = K[: END + 1], K[END + 1 :]
        low, high = step.min(axis=0), step.max(axis=0)
        tolerance = self.atol + self.rtol * np.abs(self.y)
        slack = high - low + tolerance / abs(self.h_previous)
        if not np.all((added >= low - slack) & (added <= high + slack)):
            raise StrayStages(self.t_old, self.y_old)
        moved = self.y - self.y_old
        F = np.vstack([moved, h * K[0] - moved, 2.0 * moved - h * (self.f + K[0]), h * (DENSE @ K)])
        return Polynomial(self.t_old, h, self.y_old, F)


def error_norm(K: Any, h: float, y: Any, y_new: Any, rtol: float, atol: Any) -> float:
    """Of a step over its tolerance, from the estimates e5 and e3 of orders 5 and 3:
    |e5|^2 / sqrt(n (|e5|^2 + 0.01 |e3|^2)), each component relative to its tolerance."""
    scale = atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol
    fifth, third = (weights @ K[: END + 1] / scale for weights in (ERROR_5, ERROR_3))
    fifth, third = float(fifth @ fifth), float(third @ third)
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * len(y))


def _norm(values: Any) -> float:
    return float(np.linalg.norm(values)) / math.sqrt(len(values))


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The state between the ends of a step from (begin, y) of length h, of order 7:
    y + s (F0 + (1 - s) (F1 + s (F2 + ...)))."""

    begin: float
    h: float
    y: Any
    F: Any

    def __call__(self, t: Any) -> Any:
        """The state at t, or those at several times as columns."""
        s = ((np.asarray(t) - self.begin) / self.h)[..., None]
        total = np.zeros((*s.shape[:-1], len(self.y)))
        for i, f in enumerate(self.F[::-1]):
            total += f
            total *= s if i % 2 == 0 else 1.0 - s
        return (total + self.y).T


@dataclass(frozen=True, slots=True)
class Pieces:
    """The state inside a step by the polynomials of shorter ones: `ends` of these."""

    ends: Sequence[float]
    polynomials: Sequence[Polynomial]

    def __call__(self, t: Any) -> Any:
        """As Polynomial."""
        if np.ndim(t):
            return np.stack([self(each) for each in t], axis=-1)
        last = len(self.polynomials) - 1
        return self.polynomials[min(bisect_left(self.ends, t), last)](t)


def stages_of(rate: Evaluator) -> Stages:
    """Stages whose rates are the first outputs of a program, in compiled code."""
    from vbg.assemble.program.machine import interpreter, stages

    address, reader = interpreter(), rate.reader

    def each(t: float, y: Any, h: float, K: Any, begin: int, end: int) -> Any:
        last = np.empty_like(y)
        stages(address, reader, t, y, h, TABLEAU, NODES, K, begin, end, last)
        return last

    return each


def between_ends(solver: Any) -> Callable[[float], Any]:
    """The state inside the last step of `solver`: its polynomial, or where that leaves the
    motion those of shorter steps from the same beginning.

    Raises StrayStages where these leave it, too, or take more than MOST_RATES.
    """
    try:
        inside: Callable[[float], Any] = solver.dense_output()
        return inside
    except StrayStages as stray:
        return _in_pieces(solver, stray)


def _in_pieces(solver: SteadyDOP853, stray: StrayStages) -> Pieces:
    longest = (solver.t - solver.t_old) / PIECES
    inner = SteadyDOP853(
        solver.fun,
        stray.t,
        stray.x,
        solver.t,
        condition=_regular,
        stages=solver.compiled,
        max_step=longest,
        rtol=solver.rtol,
        atol=solver.atol,
    )
    ends: list[float] = []
    pieces: list[Polynomial] = []
    while inner.status == "running":
        inner.step()
        if inner.status == "failed" or inner.nfev > MOST_RATES:
            raise stray
        ends.append(inner.t)
        pieces.append(inner.dense_output())
    return Pieces(ends, pieces)


def _regular() -> float:
    """The condition of a posture that is not looked at."""
    return 0.0
