"""Impulses by laws that no derivation tells: whether there are any.

Forces of the size of 1/time alone count within no time.  Where efforts u of joints and sources act
on stores by laws that are not linear (a brake that presses with a joint's force, a source that
reads one), the steps of the stores are taken along G^T alone (`vbg.assemble.derive.impulses`).  Of
a ramp of the length 1/k the efforts are k L, and with the rates of the stores X'(u) the steps are

    lim (X'(k L) - X'(0)) / k,   k -> oo:

those along G^T where the laws are bounded or grow less than u, as behind a limit; others where
they grow as |u|; none where they grow faster, as u^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System

Array = NDArray[np.float64]

STEEP = 2.0**80  # k [1/s]: a law of sqrt(u) leaves 1e-12
AGREE = 1e-6  # of the largest step of a store


def works(brought: Evaluator, t: float, x: Array, impulses: Array) -> Array:
    """Of each part with sources, at the speeds at t [J]: of a ramp as steep as that above, which
    leaves out what a bounded law gives."""
    still = brought(t, x, np.zeros_like(impulses)).copy()
    return np.asarray((brought(t, x, STEEP * impulses) - still) / STEEP)


class Unshared:
    """Of one run: in which stores impulses are other ones than those along G^T."""

    def __init__(self, system: System):
        self.names = ""
        self._stores = [s for s in system.slices if s.state.leaf in system.equations.pushed]
        self._pushed = Evaluator(system.programs.pushed) if self._stores else None

    def look(self, t: float, before: Array, after: Array, impulses: Array) -> None:
        """At impulses that have taken the stores from `before` to `after`."""
        if self._pushed is None or not impulses.any():
            return
        with np.errstate(all="ignore"):  # what overflows is no step
            still = self._pushed(t, before, np.zeros_like(impulses)).copy()
            steep = (self._pushed(t, before, STEEP * impulses) - still) / STEEP
        at, found = 0, []
        step = (after - before)[[i for s in self._stores for i in range(s.first, s.last)]]
        least = AGREE * float(np.abs(step).max(initial=0.0))
        for s in self._stores:
            own = slice(at, at := at + s.last - s.first)
            if not np.all(np.abs(steep[own] - step[own]) <= least):
                found.append(s.state.name)
        self.names = self.names or ", ".join(found)
