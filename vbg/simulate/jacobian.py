"""Exact Jacobian of the rate by complex steps through the compiled machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System

Array = NDArray[np.float64]
STEP = 1e-40  # any size below rounding is exact: nothing is subtracted


def complex_step_jacobian(system: System) -> Callable[[float, Array], Array]:
    """d rate / d x as a function of (t, x): (n, n), column i from one evaluation at
    x + 1j * STEP * e_i (W. Squire, G. Trapp, SIAM Rev. 40, 1998)."""
    evaluate = system.evaluator("rate", complex_valued=True)

    def jacobian(t: float, x: Array) -> Array:
        z = x.astype(np.complex128)
        result = np.empty((len(x), len(x)))
        for i in range(len(x)):
            z[i] += 1j * STEP
            result[:, i] = evaluate(t, z)[: len(x)].imag / STEP
            z[i] = x[i]
        return result

    return jacobian
