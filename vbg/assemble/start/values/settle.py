"""Start values of stores that follow from the posture once it is assembled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System


def settle(system: System, x: NDArray[np.float64]) -> None:
    """The content of a cylinder's chamber at the start pressure, and the like, in place.

    Posture and momenta do not depend on these stores.
    """
    if all(s.state.settled is None for s in system.slices):
        return
    evaluate = Evaluator(system.programs.settled)
    evaluate(0.0, x)
    for s in system.slices:
        if s.state.settled is not None:
            x[s.first : s.last] = evaluate.output(s.state.name).ravel()
