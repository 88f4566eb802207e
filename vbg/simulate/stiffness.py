"""Whether an explicit method is held back by stability: the choice of method = "auto"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.simulate.jacobian import complex_step_jacobian

WATCH = 400  # steps between two looks
PATIENCE = 20_000  # steps for the whole run below which nothing is looked at
BOUND = 1.5  # |eigenvalue| * step beyond which stability, not accuracy, sets the step
LARGEST = 1500  # states up to which the Jacobian's eigenvalues are computed


class StiffnessWatch:
    """Counts steps and, where too many are needed, compares the mean step with the fastest
    decaying eigenvalue of the exact Jacobian."""

    def __init__(self, system: System, t_end: float):
        self._system, self._t_end = system, t_end
        self._steps, self._since = 0, 0.0

    def is_stiff(self, t: float, x: NDArray[np.float64]) -> bool:
        """To be asked once after each step."""
        self._steps += 1
        if self._steps < WATCH:
            return False
        mean, steps = (t - self._since) / self._steps, self._steps
        self._steps, self._since = 0, t
        if mean <= 0.0 or (self._t_end - t) / mean < PATIENCE or len(x) > LARGEST or steps == 0:
            return False
        values = np.linalg.eigvals(complex_step_jacobian(self._system)(t, x))
        decaying = values[(values.real < 0.0) & (np.abs(values.real) >= np.abs(values.imag))]
        return bool(decaying.size and np.abs(decaying).max() * mean > BOUND)
