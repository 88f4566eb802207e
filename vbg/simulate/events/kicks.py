"""Drives whose speed jumps: the impulse that moves the machine, and its work.

Efforts of the size of 1/time alone count within no time: those of constraints that hold without a
bound.  What the projection of velocities on the rows of the drives behind the jump changes in the
stored energy is work of the drives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import SUPPLIED, taken_by
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System
from vbg.simulate.events.events import Switches
from vbg.simulate.instants.drives import Kink
from vbg.solution import Event

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kick:
    """The jumps in speed of drives at one instant [s]."""

    system: System
    at: float
    kinks: Sequence[Kink]

    def strike(
        self, switches: Switches, t: float, x: Array, project: Callable[[float, Array], object]
    ) -> list[Event]:
        """x right behind it at t, in place, and what it did; `project` moves a state onto the
        constraints."""
        stored = Evaluator(self.system.programs.energy)
        before = float(stored(t, x)[0])
        turned = switches.struck(self.at, t, x, project)
        work = float(stored(t, x)[0]) - before
        kicking = {taken_by(kink.part) for kink in self.kinks}
        for s in self.system.slices:
            if s.state.name == SUPPLIED:
                x[s.first] += work
            elif s.state.name in kicking:  # several at once: each has its share
                x[s.first] -= work / len(kicking)
        return [self._told(kink) for kink in self.kinks] + turned

    def _told(self, kink: Kink) -> Event:
        return Event(self.at, kink.part, f"jumps in speed by {kink.slope:.3g}: an impulse")
