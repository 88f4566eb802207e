"""What a step that is as short as the time can tell may leave out.

The current of a coil that a diode ends goes on in its leakage: L Gmin = 1e-14 s, which a step
behind t = 0.05 s can hardly tell from nothing.  Whatever such a step misses of that transient is
gone before anybody can look: a deviation d of the end of the step is exp(H J) d after H, J being
the Jacobian there.  A step that is shorter than `BRIEF` times what separates two instants may err
by what is below the tolerances after `SOON` times that.  Nothing is let go that stays or grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.beginning import norm
from vbg.simulate.steppers.implicit.collocation import Method

Array = NDArray[np.float64]

BRIEF = 1e4  # distances of two numbers at the time t: 1e-12 t
SOON = 1e6
LARGEST = 300  # states of which an exponential is taken


def is_forgotten(
    method: Method, h: float, f: Array, Z: Array, J: Any, ahead: Any, soon: float, scale: Array
) -> bool:
    """Whether what a step h errs by is less than `scale` after the time `soon` [s].

    f: rate where the step begins, Z: its stages, J: the Jacobian it was taken with, `ahead`: that
    where it ends; dense or sparse.  The error is that of the embedded formula, as for any step.
    """
    from scipy.linalg import expm

    if len(f) > LARGEST:
        return False
    here, there = (one.toarray() if hasattr(one, "toarray") else one for one in (J, ahead))
    shift = method.shifts[0].real / h
    matrix = shift * np.eye(len(f)) - here
    try:
        missed = np.linalg.solve(matrix, f + shift * (method.error @ Z))
    except np.linalg.LinAlgError:  # something grows as fast as the step is short
        return False
    if not np.isfinite(missed).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(norm(expm(soon * there) @ missed, scale) < 1.0)
