"""The rows that a run eliminates with: chosen anew where others have become better."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start

Array = NDArray[np.float64]

WEAKEST = 1e-4  # row of length 1 that nearly depends on others
GROWN = 100.0  # condition, of that at the last choice, from which on rows are chosen anew


class KeptRows:
    """Changes the kept rows of the run's start in place: rates and motion do not depend on the
    choice, so that no integrator need know of it.

    Where rows depend on others, those that were independent enough at the start may nearly
    lose their grip later, others would do.  Their number stays; where rows come and go with dry
    friction it is found anew by `renew`.
    """

    def __init__(self, start: Start):
        self._system, self._kept = start.system, start.kept
        self._rows = len(start.system.constraint_names)
        self._comes_and_goes = start.sticks
        self._least = np.inf

    @cached_property
    def _choice(self) -> RowChoice:
        return RowChoice(self._system)

    def look(self, t: float, x: Array, condition: float) -> None:
        """At an accepted state, where the constraint matrix has this `condition`."""
        self._least = min(self._least, condition)
        if condition <= GROWN * self._least or self._comes_and_goes:
            return
        self._least = condition
        kept = self._kept[: self._rows]
        if np.all(kept != 0.0):
            return
        found = self._choice.choose_number(t, x, int(np.count_nonzero(kept)))
        if found is not None:
            kept[:] = found.kept

    def weak(self, t: float, x: Array, grip: float) -> bool:
        """Whether some row keeps less than this share of its length at (t, x), whatever the
        masses."""
        if not np.all(np.isfinite(x)):
            return True
        found = self._choice.choose(t, x, grip)
        return int(np.count_nonzero(found.kept)) < int(np.count_nonzero(self._kept[: self._rows]))

    def on_strong_rows(self, t: float, x: Array) -> Array:
        """x projected on the rows but for those that have nearly lost their grip at it: on these an
        error would grow with the inverse distance to the singular posture."""
        strong, found = self._kept.copy(), self._choice.choose(t, x, WEAKEST)
        if np.count_nonzero(found.kept) < np.count_nonzero(self._kept[: self._rows]):
            strong[: self._rows] = self._choice.kept(found)
        moved, projector = x.copy(), Projector(self._system, strong)
        projector.normalise(moved)
        projector.measure(t, moved)
        for _ in range(2):
            position, _ = projector.residuals(t, moved)
            projector.move_posture(t, moved, -position)
        projector.measure(t, moved)
        projector.move_velocity(t, moved, -projector.residuals(t, moved)[1])
        return moved

    def renew(self, t: float, x: Array) -> None:
        """Behind an event that may have changed which rows hold."""
        if self._comes_and_goes:
            found = self._choice.choose(t, x)
            self._kept[: self._rows] = self._choice.kept(found)
