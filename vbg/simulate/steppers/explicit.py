"""DOP853 that reports a singular posture instead of creeping up to it, and that does not
trust its polynomial between the ends of a step where that leaves the motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.integrate import DOP853, DenseOutput, OdeSolution

from vbg.assemble.program.evaluator import Evaluator

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

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10.0  # of the step from its error, as scipy's


def _tableau() -> tuple[Any, Any]:
    """Coefficients and nodes of all 16 stages: twelve of the step, its end, and three that only
    the polynomial needs."""
    number = len(DOP853.B)
    A = np.zeros((DOP853.D.shape[1], DOP853.D.shape[1]))
    A[:number, :number], A[number, :number] = DOP853.A, DOP853.B
    A[number + 1 :] = DOP853.A_EXTRA
    return A, np.concatenate([DOP853.C, [1.0], DOP853.C_EXTRA])


TABLEAU, NODES = _tableau()


class NearSingularPosture(Exception):
    """The step shrinks only because the constraint matrix is nearly singular."""


class EndsBesideSingularPosture(Exception):
    """A step that error control accepts ends where the rate is not to be trusted."""


class StrayStages(Exception):
    """The stages that only the polynomial needs leave the motion, in the step from (t, x)."""

    def __init__(self, t: float, x: Any):
        super().__init__(f"stages stray behind t = {t:.6g} s")
        self.t, self.x = t, x


class SteadyDOP853(DOP853):
    """scipy's DOP853 (E. Hairer, S. Norsett, G. Wanner, Solving ODEs I, II.5) that
    raises NearSingularPosture where error control follows a singular posture.

    The motion through such a posture is smooth, but the rate beside the constraint
    manifold is not: a velocity residual c of the stages makes the acceleration err by
    c / theta^2 at the distance theta.  Steps would shrink to zero with theta.  A step that
    ends beside such a posture is halved until it begins beside it, too, and then raises
    EndsBesideSingularPosture, as long as it `watches`; `beside` is the condition that says so.
    """

    t: float
    y: Any
    f: Any
    h_abs: float

    def __init__(
        self,
        *args: Any,
        condition: Callable[[], float],
        stages: Stages | None = None,
        **kwargs: Any,
    ):
        """`stages` computes stages of the method in compiled code."""
        self._condition = condition
        self._largest, self._least, self._last = 0.0, math.inf, 1.0
        self.watches, self.beside = True, BESIDE
        super().__init__(*args, **kwargs)
        self.compiled = stages

    def stages(self, t: float, y: Any, h: float, K: Any, begin: int, end: int) -> Any:
        """Fills rows begin to end - 1 of K; the state of the last one."""
        if self.compiled is not None:
            self.nfev += end - begin
            return self.compiled(t, y, h, K, begin, end)
        at = y
        for s in range(begin, end):
            at = y + h * (TABLEAU[s, :s] @ K[:s])
            K[s] = self.fun(t + h * NODES[s], at)
        return at

    def _step_impl(self) -> tuple[bool, str | None]:
        """One accepted step; the control of its length as scipy's."""
        t, y, K = self.t, self.y, self.K
        shortest = 10.0 * abs(np.nextafter(t, np.inf) - t)
        size = min(max(self.h_abs, shortest), self.max_step)
        grows = MAX_FACTOR
        K[0] = self.f
        while True:
            if size < shortest:
                return False, self.TOO_SMALL_STEP
            t_new = min(t + size, self.t_bound)
            h = size = t_new - t
            y_new = self.stages(t, y, h, K, 1, len(K))
            scale = self.atol + np.maximum(np.abs(y), np.abs(y_new)) * self.rtol
            norm = self._estimate_error_norm(K, h, scale)
            factor = SAFETY * norm**self.error_exponent if norm > 0.0 else MAX_FACTOR
            if norm < 1.0:
                break
            size *= max(MIN_FACTOR, factor)
            grows = 1.0
        self.h_previous, self.y_old = h, y
        self.t, self.y, self.f = t_new, y_new, K[-1].copy()
        self.h_abs = size * min(grows, factor)
        return True, None

    def _estimate_error_norm(self, K: Any, h: float, scale: Any) -> float:
        norm = float(super()._estimate_error_norm(K, h, scale))
        if not math.isfinite(norm):
            return math.inf  # a stage left the domain of the rate: a shorter step
        size = abs(h)
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

    def _dense_output_impl(self) -> Any:
        """Raises StrayStages where one of the three additional stages, which no error
        estimate sees, lies further outside the rates of the step than these are apart: in
        a stiff model such a stage may be anything while the step itself is right."""
        K, h, n = self.K_extended, self.h_previous, len(self.K)
        self.stages(self.t_old, self.y_old, h, K, n, len(K))
        step, added = K[:n], K[n:]
        low, high = step.min(axis=0), step.max(axis=0)
        tolerance = self.atol + self.rtol * np.abs(self.y)
        slack = high - low + tolerance / abs(self.h_previous)
        if not np.all((added >= low - slack) & (added <= high + slack)):
            raise StrayStages(self.t_old, self.y_old)
        moved = self.y - self.y_old
        F = np.vstack(
            [moved, h * K[0] - moved, 2.0 * moved - h * (self.f + K[0]), h * (self.D @ K)]
        )
        return Polynomial(self.t_old, self.t, self.y_old, F)


class Polynomial(DenseOutput):
    """The state between the ends of a step, of order 7."""

    def __init__(self, t_old: float, t: float, y_old: Any, F: Any):
        super().__init__(t_old, t)
        self._h, self._F, self._y_old = t - t_old, F, y_old

    def _call_impl(self, t: Any) -> Any:
        s = ((t - self.t_old) / self._h)[..., None]
        y = np.zeros((*t.shape, len(self._y_old)))
        for i, f in enumerate(self._F[::-1]):
            y += f
            y *= s if i % 2 == 0 else 1.0 - s
        return (y + self._y_old).T


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
        return cast(Callable[[float], Any], solver.dense_output())
    except StrayStages as stray:
        return _in_pieces(solver, stray)


def _in_pieces(solver: Any, stray: StrayStages) -> OdeSolution:
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
    times: list[float] = [inner.t]
    pieces: list[Any] = []
    while inner.status == "running":
        inner.step()
        if inner.status == "failed" or inner.nfev > MOST_RATES:
            raise stray
        times.append(inner.t)
        pieces.append(inner.dense_output())
    return OdeSolution(times, pieces)


def _regular() -> float:
    """The condition of a posture that is not looked at."""
    return 0.0
