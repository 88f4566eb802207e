"""What constraint rows hold: speeds of joints, or what ties stores of circuits and oil."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.ties import Ties, tied_rows
from vbg.assemble.system import System
from vbg.simulate.steppers.tolerances import UNITS

Array = NDArray[np.float64]

STEPS = 1e3  # what a tie may leave, in rtol of the run, of its largest terms
CLOSEST, LOOSEST = 1e-8, 1e-4  # and its bounds
ROUNDED = 1e3 * float(np.finfo(float).eps)  # of the largest terms of all ties: rounding


def dependent_units(system: System) -> Array:
    """For each constraint row the unit of what must vanish (V, A, 1e5 Pa, ...) where it ties
    stores of circuits and oil to others; 0 for a velocity [m/s or rad/s]."""
    units = []
    for domain, dual in tied_rows(system):
        effort, flow = UNITS.get(domain, (1.0, 1.0))
        units.append((effort if dual else flow) if domain else 0.0)
    return np.array(units)


class TiesOfRun:
    """The ties of circuits and oil in one run: `lengths` of all rows, in which its projections
    count what rows leave, follow a `share` of their terms; `apart` is the most that one was off by
    behind a step, in its terms [1], but for rounding of the largest, which they are solved with."""

    def __init__(self, system: System, lengths: Array, share: float):
        self._ties, self._lengths, self._share = Ties(system), lengths, share
        units = dependent_units(system)[self._ties.places]
        self._followed = units > 0.0  # velocities have limits of their own
        self._places, self._units = self._ties.places[self._followed], units[self._followed]
        self.apart = 0.0

    def look(self, t: float, x: Array) -> Array:
        """What they leave at (t, x), of whose terms note is taken."""
        if not len(self._places):
            return np.zeros(0)
        left = self._ties.look(t, x)[self._followed]
        self._lengths[self._places] = self._share * np.minimum(self._largest, 1.0)
        return left

    def judge(self, t: float, x: Array) -> None:
        """Takes note of what a projection left at (t, x)."""
        left, largest = self.look(t, x), self._largest
        if len(left):
            rounding = ROUNDED * self._units * (largest / self._units).max()
            apart = np.maximum(left - rounding, 0.0) / largest
            self.apart = max(self.apart, float(apart.max()))

    @property
    def _largest(self) -> Array:
        """Their terms so far, in units of the rows."""
        return self._ties.largest[self._followed]

    def untied(self, rtol: float) -> tuple[str, ...]:
        """In words that stores are apart by more than a run with `rtol` may leave; none if not."""
        limit = float(np.clip(STEPS * rtol, CLOSEST, LOOSEST))
        if self.apart <= limit:
            return ()
        return (
            f"its dependent stores are {self.apart:.2g} of their largest values apart from what"
            f" ties them (limit {limit:.1g})",
        )
