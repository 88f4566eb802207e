"""Drives and sources whose speed jumps: the impulse that moves the machine, and its work.

Efforts of the size of 1/time alone count within no time: those of constraints that hold without a
bound.  What the projection of velocities on the rows of the drives behind the jump changes in the
stored energy is work of the drives.  Each source that impulses L act on, be it that it jumps or
keeps a speed, supplies L (v0 + v1)/2 as its speed goes from v0 to v1: exact where the energy is
quadratic in what jumps, as that of masses is.  What is left where it is not goes to these sources
by their parts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

JUMPING = {  # by tables; of others it is a speed
    "electric": "voltage or current",
    "hydraulic": "pressure or flow",
    "bondgraph": "effort or flow",
}


@dataclass(frozen=True, slots=True)
class Kick:
    """The jumps in speed of drives at one instant, `kinks` those of functions of time."""

    start: Start
    instant: Instant
    kinks: Sequence[Kink]

    def strike(
        self,
        switches: Switches,
        projector: Projector,
        before: Array,
        x: Array,
        project: Callable[[float, Array], object],
    ) -> list[Event]:
        """x right behind it, in place, and what it did; `before`: x before anything was sampled
        there; `project` moves a state onto the constraints."""
        system, at, shares = self.start.system, self.instant.at, dict[str, float]()
        brought, stored = Evaluator(system.programs.brought), Evaluator(system.programs.energy)

        def impulse(t: float, x: Array) -> None:
            impulses = self.start.evaluator("impulse")(t, x, -projector.residuals(t, x)[1]).copy()
            works = _works(brought, self.instant.before, before, impulses)
            project(t, x)
            works = 0.5 * (works + _works(brought, t, x, impulses))
            shares.update(zip(brought.program.outputs, works.tolist(), strict=True))

        held = float(stored(self.instant.after, x)[0])
        turned = switches.struck(at, self.instant.after, x, impulse)
        work = float(stored(self.instant.after, x)[0]) - held
        taken = {taken_by(part): share for part, share in self._whole(shares, work).items()}
        for s in system.slices:
            if s.state.name == SUPPLIED:
                x[s.first] += work
            elif s.state.name in taken:
                x[s.first] -= taken[s.state.name]
        return [self._told(kink) for kink in self.kinks] + turned

    def _whole(self, shares: Mapping[str, float], work: float) -> dict[str, float]:
        """The shares of parts [J], with what they lack of the work."""
        left, size = work - sum(shares.values()), sum(map(abs, shares.values()))
        if size > 0.0:
            return {part: share + left * abs(share) / size for part, share in shares.items()}
        kicking = {kink.part for kink in self.kinks}
        return {part: left / len(kicking) for part in kicking}

    def _told(self, kink: Kink) -> Event:
        what = JUMPING.get(kink.part.partition(".")[0], "speed")
        told = f"its {what} jumps by {kink.slope:.3g} (SI): an impulse"
        return Event(self.instant.at, kink.part, told)


def _works(brought: Evaluator, t: float, x: Array, impulses: Array) -> Array:
    """Of each part with sources, at the speeds at t [J]: their powers are linear in efforts."""
    without = brought(t, x, np.zeros_like(impulses)).copy()
    return np.asarray(brought(t, x, impulses) - without)
