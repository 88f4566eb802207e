"""DOP853 that reports a singular posture instead of creeping up to it, and that does not
trust its polynomial between the ends of a step where that leaves the motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.integrate import DOP853, OdeSolution

FLOOR = 1e-2  # a step this small, relative to the largest so far, is not due to the motion
NEAR = 1e5  # condition above which a posture counts as nearly singular
TINY = 1e-4  # a step this small is not halved
PIECES = 8  # into which a step is cut whose polynomial leaves the motion
MOST_RATES = 400  # for all pieces together: beyond that the model is stiff
BESIDE = 1e4  # condition at the end of a step that lies beside a singular posture, at least
CLOSER = 30.0  # times smaller at the beginning of the step: it is still too far away to leap
HALVED = 110.0  # error norm that makes DOP853 halve its step: 0.9 norm^(-1/8)
GROWN = 1e3  # times the least condition of the run: links without mass always have a large one


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

    def __init__(self, *args: Any, condition: Callable[[], float], **kwargs: Any):
        self._condition = condition
        self._largest, self._least, self._last = 0.0, math.inf, 1.0
        self.watches, self.beside = True, BESIDE
        super().__init__(*args, **kwargs)

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
        output = super()._dense_output_impl()
        step, added = self.K, self.K_extended[len(self.K) :]
        low, high = step.min(axis=0), step.max(axis=0)
        tolerance = self.atol + self.rtol * np.abs(self.y)
        slack = high - low + tolerance / abs(self.h_previous)
        if not np.all((added >= low - slack) & (added <= high + slack)):
            raise StrayStages(self.t_old, self.y_old)
        return output


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
    rates = 0

    def rate(t: float, x: Any) -> Any:
        nonlocal rates
        rates += 1
        if rates > MOST_RATES:
            raise stray
        return solver.fun(t, x)

    longest = (solver.t - solver.t_old) / PIECES
    tolerances = {"rtol": solver.rtol, "atol": solver.atol}
    inner = SteadyDOP853(
        rate, stray.t, stray.x, solver.t, condition=_regular, max_step=longest, **tolerances
    )
    times: list[float] = [inner.t]
    pieces: list[Any] = []
    while inner.status == "running":
        inner.step()
        if inner.status == "failed":
            raise stray
        times.append(inner.t)
        pieces.append(inner.dense_output())
    return OdeSolution(times, pieces)


def _regular() -> float:
    """The condition of a posture that is not looked at."""
    return 0.0
