"""What rounding leaves of switching functions: below it they have no sign.

The pressure over an open check valve through which nothing flows is the difference of two
pressures of 100 bar: zero, or a rounding of them on either side.  A valve that turned over with
that sign would do so without end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.start import Start

Array = NDArray[np.float64]

ROUNDED = 2.0 * np.finfo(float).eps  # of its terms (vbg.blocks.rounding)
ITERATED = 16.0  # roundings of what a residual is computed from, at which its iteration ends


class Rounding:
    """Of the switching functions `names`, those of `which` alone, each time they are asked for:
    there is no need before one seems to change its sign."""

    def __init__(self, start: Start, names: list[str], which: NDArray[np.intp]):
        self._start, self._names, self._which = start, names, which
        self._evaluate: Evaluator | None = None

    def __call__(self, t: float, x: Array) -> Array:
        """Sizes below which the functions are rounding, at state x; 0 of the others."""
        sizes = np.zeros(len(self._names))
        if not self._which.size:
            return sizes
        if self._evaluate is None:
            asked = tuple(self._names[i] for i in self._which)
            modes = {mode.name for mode in self._start.system.causal.graph.modes}
            program = self._start.system.programs.switch_terms(asked, modes, ITERATED)
            self._evaluate = Evaluator(program, kept=self._start.kept)
        terms = self._evaluate(t, x)[: self._which.size]
        sizes[self._which] = ROUNDED * np.where(np.isfinite(terms), terms, 0.0)
        return sizes
