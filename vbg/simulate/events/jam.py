"""Telling a drive that jams from a run that is merely slow.

Towards the end of a driven mechanism's reach the other speeds grow without bound, like
(t* - t)^(-1/2), and the steps of a tight tolerance shrink with what is left: they come nearer to
t* for minutes and never to a posture that cannot be closed.  So a run that hardly advances is asked
whether there is one a little later, which no tolerance decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.posture import Projector

Array = NDArray[np.float64]

LOOKED = 200  # steps between two looks
SLOW = 1e-3  # of an output step: what these steps cover at least where nothing is the matter
ALONG = 10  # postures on the way to the one that is asked for
CORRECTIONS = 30  # Newton steps for each


class JamWatch:
    """Looks ahead by one output step where `LOOKED` steps have covered less than `SLOW` of it."""

    def __init__(self, projector: Projector, output_step: float):
        system = projector.system
        self._driven = any(c.labels == ("drive",) for c in system.equations.constraints)
        self._projector, self._ahead = projector, output_step
        self._steps, self._since = 0, 0.0

    def lost(self, t: float, x: Array, within: float) -> Array | None:
        """The nearest posture to one that cannot be closed at most an output step after t, None
        where there is none; `within`: gap [rad, or lengths of rows] at which one counts as
        closed."""
        self._steps += 1
        if not self._driven or self._steps % LOOKED:
            return None
        covered, self._since = t - self._since, t
        return None if covered > SLOW * self._ahead else self.ahead(t, x, within)

    def ahead(self, t: float, x: Array, within: float) -> Array | None:
        """The same without regard to how far the last steps came."""
        if not self._driven:
            return None
        x = x.copy()
        for part in range(1, ALONG + 1):
            if not self._close(t + self._ahead * part / ALONG, x, within):
                return x
        return None

    def _close(self, t: float, x: Array, within: float) -> bool:
        for _ in range(CORRECTIONS):
            self._projector.measure(t, x)
            gap = self._projector.residuals(t, x)[0]
            if not np.abs(gap / self._projector.lengths).max() > within:
                return True
            self._projector.move_posture(t, x, -gap)
        return False
