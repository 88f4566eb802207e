"""Joints that open and close: which of them do at an event, and the impulse of closing.

Closing takes the relative speed out of the joint's directions at once.  Efforts of the size of
1/time alone count within no time, so the momenta change by G^T L with H4 L = -G v: the projection
of velocities in the mass metric is the impact (`vbg.junctions.latch`).  What dry friction holds is
bounded and does not count: none sticks in it (`Switches.struck`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import DISSIPATED, Constraint, taken_by
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start
from vbg.junctions.latch import MODE
from vbg.simulate.steppers.tolerances import machine_size
from vbg.solution import Event

Array = NDArray[np.float64]

MET = 1e-6  # of the machine's size, and angle [rad], within which frames have met


@dataclass(frozen=True, slots=True, eq=False)
class Latch:
    """A joint that opens and closes, and the places of its mode and of what closing cost."""

    constraint: Constraint
    mode: int
    impulse: slice
    moment: slice
    lost: int

    @property
    def name(self) -> str:
        return self.constraint.name

    @property
    def rows(self) -> slice:
        return slice(self.constraint.first, self.constraint.first + self.constraint.unknown.rows)


@dataclass(frozen=True, slots=True)
class Before:
    """What was before an event: 1 for each joint that was open, the stored energy [J]."""

    open: Array
    energy: float


class Latches:
    """Those of one run; `apart` says which cannot close, and why."""

    def __init__(self, start: Start, projector: Projector):
        self._start, self._projector = start, projector
        self._size = machine_size(start.system)
        self._energy = Evaluator(start.system.programs.energy)
        self.all = tuple(_latches(start))
        self.apart = ""

    def look(self, t: float, x: Array) -> Before:
        """Which are open, and the energy that is stored."""
        held = float(self._energy(t, x)[0]) if self.all else 0.0
        return Before(x[[latch.mode for latch in self.all]], held)

    def closed(self, x: Array, before: Before) -> list[Latch]:
        """Those that have closed since."""
        was_open = zip(self.all, before.open, strict=True)
        return [latch for latch, was in was_open if was > 0.5 > x[latch.mode]]

    def strike(self, t: float, x: Array, closed: list[Latch]) -> None:
        """x behind the impulses of those that have just `closed`, in place."""
        if not self._have_met(t, x, closed):
            return
        speeds = self._projector.residuals(t, x)[1]
        impulses = self._start.evaluator("impulse")(t, x, -speeds)
        outputs = Evaluator(self._start.system.programs.output)
        outputs(t, x, impulses)  # as efforts are told
        for latch in closed:
            x[latch.impulse] += outputs.output(f"{latch.name}.force")
            x[latch.moment] += outputs.output(f"{latch.name}.torque")
        self._projector.move_velocity(t, x, -speeds)

    def account(self, t: float, x: Array, *looks: Before) -> list[Event]:
        """The events of those that have opened or closed from one of the `looks` to the next or
        to x, be it that they are again what they were; the energy that is gone since the first
        look is lost in them: in the impact, or with what the stops of those that open held."""
        modes = [look.open for look in looks] + [x[[latch.mode for latch in self.all]]]
        turned: dict[Latch, list[str]] = {}
        for before, after in pairwise(modes):
            for latch, was, now in zip(self.all, before, after, strict=True):
                if (was > 0.5) != (now > 0.5):
                    turned.setdefault(latch, []).append(_verb(now))
        if not turned or self.apart:
            return []
        lost = looks[0].energy - float(self._energy(t, x)[0])
        share = lost / len(turned)
        for latch in turned:
            x[latch.lost] += share
        takers = [taken_by(latch.constraint.part) for latch in turned]
        for s in self._start.system.slices:
            if s.state.name == DISSIPATED:
                x[s.first] += lost
            elif s.state.name in takers:
                x[s.first] += share
        return [
            Event(t, latch.name, f"{' and '.join(verbs)}, {share:.6g} J lost")
            for latch, verbs in turned.items()
        ]

    def _have_met(self, t: float, x: Array, closed: list[Latch]) -> bool:
        """Whether all can close: a gap would be a jump of the posture."""
        gaps = np.abs(self._projector.residuals(t, x)[0])
        for latch in closed:
            for label, gap in zip(latch.constraint.labels, gaps[latch.rows], strict=True):
                turns = label.startswith("torque")
                if not gap <= (MET if turns else MET * self._size):
                    unit = "rad" if turns else "m"
                    self.apart = f"{latch.name} by {gap:.3g} {unit} along its {label}"
                    return False
        return True


def _verb(mode: float) -> str:
    return "opens" if mode > 0.5 else "closes"


def _latches(start: Start) -> Iterator[Latch]:
    places = {s.state.name: slice(s.first, s.last) for s in start.system.slices}
    for c in start.system.equations.constraints:
        if c.latches:
            impulse, moment = places[f"{c.name}.impulse"], places[f"{c.name}.moment"]
            mode, lost = places[f"{c.name}.{MODE}"].start, places[f"{c.name}.lost"].start
            yield Latch(c, mode, impulse, moment, lost)
