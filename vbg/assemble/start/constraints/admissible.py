"""States whose velocities the constraints allow, next to one where they do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector

Array = NDArray[np.float64]

AT_REST = 1e-14  # velocity residual that no step makes smaller [part of the largest]
NEAR = 1e-9  # of the largest: what is left by a step that was not short enough, not rounding
SHORTEST = 1e-6  # part of a step: the laws of stores may end shortly behind where they stand


def admissible(projector: Projector, x: Array, scale: float, lengths: Array) -> Array:
    """The state nearest to x, in the energy metric, whose velocities the constraints allow;
    residuals count over `lengths` (m,), beside `scale`.

    Newton; with laws of stores that are not linear (a gas, behind whose volume there is nothing)
    a step is halved until it makes the residual smaller.
    """
    result = x.copy()
    velocity = projector.residuals(0.0, result)[1]
    left, before = _size(velocity / lengths), np.inf
    while AT_REST * scale < left < (before if before > NEAR * scale else 0.5 * before):
        trial, beyond = _moved(projector, result, -velocity)
        length = 1.0
        while not _size(beyond / lengths) < left and NEAR * scale < left and length > SHORTEST:
            length *= 0.5
            trial, beyond = _moved(projector, result, -length * velocity)
        if not _size(beyond / lengths) <= left:
            break
        result, velocity = trial, beyond
        left, before = _size(velocity / lengths), left
    return result


def _moved(projector: Projector, x: Array, step: Array) -> tuple[Array, Array]:
    """The state after a step, and its velocity residual."""
    trial = x.copy()
    projector.move_velocity(0.0, trial, step)
    return trial, projector.residuals(0.0, trial)[1]


def _size(values: Array) -> float:
    """The largest magnitude; infinite where one has no value."""
    size = float(np.abs(values).max(initial=0.0))
    return size if np.isfinite(size) else np.inf
