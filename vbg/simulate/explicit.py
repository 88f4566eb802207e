"""DOP853 that reports a singular posture instead of creeping up to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scipy.integrate import DOP853

FLOOR = 1e-2  # a step this small, relative to the largest so far, is not due to the motion
NEAR = 1e5  # condition above which a posture counts as nearly singular


class NearSingularPosture(Exception):
    """The step shrinks only because the constraint matrix is nearly singular."""


class SteadyDOP853(DOP853):
    """scipy's DOP853 (E. Hairer, S. Norsett, G. Wanner, Solving ODEs I, II.5) that
    raises NearSingularPosture where error control follows a singular posture.

    The motion through such a posture is smooth, but the rate beside the constraint
    manifold is not: a velocity residual c of the stages makes the acceleration err by
    c / theta^2 at the distance theta.  Steps would shrink to zero with theta.
    """

    def __init__(self, *args: Any, condition: Callable[[], float], **kwargs: Any):
        self._condition = condition
        self._largest = 0.0
        super().__init__(*args, **kwargs)

    def _estimate_error_norm(self, K: Any, h: float, scale: Any) -> float:
        norm = float(super()._estimate_error_norm(K, h, scale))
        if not math.isfinite(norm):
            return math.inf  # a stage left the domain of the rate: a shorter step
        size = abs(h)
        if norm < 1.0:
            self._largest = max(self._largest, size)
        elif size <= FLOOR * self._largest and self._condition() > NEAR:
            raise NearSingularPosture
        return norm
