"""What rounding leaves of an implicit step's tolerances.

A rate f(x) is known to eps |J| |x|: a stiff spring K that is measured at places x gives a force to
eps K |x|.  Over the time that the state takes to answer, 1 / sqrt(sum_j |J_ij J_ji|), this is

    d_i = eps (|J| |x|)_i / sqrt(sum_j |J_ij J_ji|),

eps K |x| / w = m w eps |x| of a momentum, below which no step can tell states apart: Newton's
iteration does not settle there, the error that is estimated does not fall with the step, and steps
shrink until h f is below the tolerance (1e-7 s for waves of 4000 rad/s).  So a tolerance is at
least BEARS d_i, and the iteration ends at what rounding lets it reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BEARS = 100.0  # times what rounding moves a state: less is no tolerance
SETTLED = 5.0  # times the changes by rounding at which Newton's iteration ends
SLOWEST = 1e-3  # of the fastest rate: what answers slower is given no more
EPS = float(np.finfo(float).eps)


def rounding_of(J: Any, x: Array) -> Array:
    """d of every state, (n,), for a dense or sparse Jacobian."""
    size = abs(J)
    back = size.multiply(size.T) if hasattr(size, "multiply") else size * size.T
    rate = np.sqrt(np.asarray(back.sum(axis=1), dtype=float).ravel())
    fastest = float(rate.max(initial=0.0))
    if not np.isfinite(fastest) or fastest == 0.0:
        return np.zeros(len(x))
    noise = EPS * np.asarray(size @ np.abs(x)).ravel()
    return np.asarray(noise / np.maximum(rate, SLOWEST * fastest))


def bear_rounding(solver: Any, atol: Array) -> None:
    """`atol` and the end of Newton's iteration of scipy's Radau above rounding where it stands."""
    d = rounding_of(solver.J, solver.y)
    if not np.isfinite(d).all():
        return
    solver.atol = np.maximum(atol, BEARS * d)
    left = d / (solver.atol + solver.rtol * np.abs(solver.y))
    size = SETTLED * float(np.sqrt(np.mean(left**2)))
    solver.newton_tol = max(_asked(solver.rtol), size)


def _asked(rtol: Any) -> float:
    """Where scipy ends the iteration: E. Hairer, G. Wanner, Solving Ordinary Differential
    Equations II, IV.8."""
    return max(10.0 * EPS / float(np.min(rtol)), min(0.03, float(np.max(rtol)) ** 0.5))
