"""Drives whose speed jumps: the impulse that moves the machine, and its work.

Efforts of the size of 1/time alone count within no time: those of constraints that hold without a
bound.  What the projection of velocities on the rows of the drives behind the jump changes in the
stored energy is work of the drives.  Each source that impulses L act on, be it that it jumps or
keeps a speed, supplies L (v0 + v1)/2 as its speed goes from v0 to v1: exact where the energy is
quadratic in what jumps, as that of masses is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import SUPPLIED, taken_by
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start
from vbg.simulate.events.events import Switches
from vbg.simulate.instants.drives import Kink
from vbg.simulate.instants.samples import Instant
from vbg.solution import Event

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kick:
    """The jumps in speed of drives at one instant [s]."""

    start: Start
    at: float
    kinks: Sequence[Kink]

    def strike(
        self,
        switches: Switches,
        projector: Projector,
        instant: Instant,
        x: Array,
        project: Callable[[float, Array], object],
    ) -> list[Event]:
        """x right behind it, in place, and what it did; `project` moves a state onto the
        constraints."""
        system, t, shares = self.start.system, instant.after, dict[str, float]()
        brought, stored = Evaluator(system.programs.brought), Evaluator(system.programs.energy)

        def impulse(t: float, x: Array) -> None:
            impulses = self.start.evaluator("impulse")(t, x, -projector.residuals(t, x)[1]).copy()
            works = _works(brought, instant.before, x, impulses)
            project(t, x)
            works = 0.5 * (works + _works(brought, t, x, impulses))
            shares.update(zip(brought.program.outputs, works.tolist(), strict=True))

        before = float(stored(t, x)[0])
        turned = switches.struck(self.at, t, x, impulse)
        work = float(stored(t, x)[0]) - before
        kicking = list(dict.fromkeys(kink.part for kink in self.kinks))
        left = (work - sum(shares.values())) / len(kicking)  # of stores that are not quadratic
        taken = {
            taken_by(p): shares.get(p, 0.0) + left * (p in kicking) for p in {*shares, *kicking}
        }
        for s in system.slices:
            if s.state.name == SUPPLIED:
                x[s.first] += work
            elif s.state.name in taken:
                x[s.first] -= taken[s.state.name]
        return [self._told(kink) for kink in self.kinks] + turned

    def _told(self, kink: Kink) -> Event:
        return Event(self.at, kink.part, f"jumps in speed by {kink.slope:.3g}: an impulse")


def _works(brought: Evaluator, t: float, x: Array, impulses: Array) -> Array:
    """Of each part with sources, at the speeds at t [J]: their powers are linear in efforts."""
    without = brought(t, x, np.zeros_like(impulses)).copy()
    return np.asarray(brought(t, x, impulses) - without)
