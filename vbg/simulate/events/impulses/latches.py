"""Joints that open and close: which of them do at an event, and the impulse of closing.

Closing takes the relative speed out of the joint's directions at once.  Efforts of the size of
1/time alone count within no time, so the momenta change by G^T L with H4 L = -r, r the speeds at
which rows close: the projection of velocities in the mass metric is the impact
(`vbg.junctions.latch`).  With c the speeds that drives prescribe, G v- = c + r and G v+ = c,

    dE = L^T G (v+ + v-) / 2 = L^T c - lost,    lost = -L^T r / 2 = r^T H4^-1 r / 2 >= 0,

and L^T c is what the drives supply, each by its own L: all of them independent of E, so that the
audit sees an impulse that is wrong.  What dry friction holds is bounded and does not count: none
sticks in it (`Switches.struck`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import DISSIPATED, SUPPLIED, Constraint, taken_by
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.facing import turning
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.redundant import redundancy_of
from vbg.assemble.start.start import Start
from vbg.errors import Problem
from vbg.junctions.latch import MODE
from vbg.simulate.events.impulses.impulsive_laws import ImpulsiveLaws
from vbg.simulate.steppers.machine_size import machine_size
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
    """What was before an event: 1 for each joint that was open, what it had lost and what its
    stops held [J]."""

    open: Array
    lost: Array
    held: Array


class Latches:
    """Those of one run; `apart` says which cannot close, and why, `notes` whose efforts are not
    unique behind a closing."""

    def __init__(self, start: Start, projector: Projector, laws: ImpulsiveLaws):
        self._start, self._projector, self._laws = start, projector, laws
        self._size = machine_size(start.system)
        self._places = {s.state.name: s.first for s in start.system.slices}
        self.all = tuple(_latches(start))
        self._held = Evaluator(start.system.programs.held)
        self.apart = ""
        self._rows = RowChoice(start.system) if self.all else None
        self._told = {start.redundant}
        self.notes: tuple[Problem, ...] = ()

    def look(self, t: float, x: Array) -> Before:
        """Which are open, what each has lost so far and what its stops hold."""
        lost = x[[latch.lost for latch in self.all]]
        return Before(x[[latch.mode for latch in self.all]], lost, self._held(t, x).copy())

    def closed(self, x: Array, before: Before) -> list[Latch]:
        """Those that have closed since."""
        was_open = zip(self.all, before.open, strict=True)
        return [latch for latch, was in was_open if was > 0.5 > x[latch.mode]]

    def strike(self, t: float, x: Array, closed: list[Latch]) -> None:
        """x behind the impulses of those that have just `closed`, in place."""
        if not self._have_met(t, x, closed):
            return
        self._tell_redundant(t, x, closed)
        speeds = self._projector.residuals(t, x)[1]
        impulses = self._start.evaluator("impulse")(t, x, -speeds).copy()
        outputs = Evaluator(self._start.system.programs.output)
        outputs(t, x, impulses)  # as efforts are told
        for latch in closed:
            x[latch.impulse] += outputs.output(f"{latch.name}.force")
            x[latch.moment] += outputs.output(f"{latch.name}.torque")
        self._lose(x, closed, -0.5 * float(impulses @ speeds))
        begin = x.copy()
        self._projector.strike(t, x, -speeds)
        self._laws.strike(t, begin, x, impulses)
        self._supply(t, begin, x, impulses)

    def _tell_redundant(self, t: float, x: Array, closed: Sequence[Latch]) -> None:
        """A note where rows that hold from now on depend on others as they have not before."""
        assert self._rows is not None
        system = self._start.system
        found = redundancy_of(system, self._rows, self._rows.choose(t, x))
        if found.names and found.names not in self._told:
            self._told.add(found.names)
            told, names = found.problem(system), " and ".join(latch.name for latch in closed)
            what = f"from t = {t:.6g} s on, where {names} closes, {told.what}"
            split = f"So are the impulses there. {told.remedy}"
            self.notes += (replace(told, what=what, remedy=split),)

    def account(self, t: float, x: Array, *looks: Before) -> list[Event]:
        """The events of those that have opened or closed from one of the `looks` to the next or
        to x, be it that they are again what they were, and what each has lost since the first: in
        impacts, and what the stops of those that open held."""
        looks = *looks, self.look(t, x)
        turned: dict[Latch, list[str]] = {}
        for before, after in pairwise(looks):
            for latch, was, now in zip(self.all, before.open, after.open, strict=True):
                if (was > 0.5) != (now > 0.5):
                    turned.setdefault(latch, []).append(_verb(now))
        if not turned or self.apart:
            return []
        for latch, was, now in zip(self.all, looks[0].held, looks[-1].held, strict=True):
            if latch in turned:
                self._lose(x, [latch], float(was - now))
        lost = self.look(t, x).lost - looks[0].lost
        return [
            Event(t, latch.name, f"{' and '.join(turned[latch])}, {share:.6g} J lost")
            for latch, share in zip(self.all, lost, strict=True)
            if latch in turned
        ]

    def _supply(self, t: float, before: Array, x: Array, impulses: Array) -> None:
        """What sources bring in by impulses, in place: their powers are linear in efforts and in
        speeds, also in those that change from `before` to x."""
        brought = Evaluator(self._start.system.programs.brought)
        first, last = (self._laws.works(brought, t, at, impulses) for at in (before, x))
        found = 0.5 * (first + last)
        work = dict(zip(brought.program.outputs, found, strict=True))
        for part, supplied in work.items():
            self._add(x, taken_by(part), -supplied)
        self._add(x, SUPPLIED, sum(work.values()))

    def _lose(self, x: Array, latches: Sequence[Latch], lost: float) -> None:
        """What these lose together, in place: each has an equal share."""
        for latch in latches:
            x[latch.lost] += lost / len(latches)
            self._add(x, taken_by(latch.constraint.part), lost / len(latches))
        self._add(x, DISSIPATED, lost)

    def _add(self, x: Array, state: str, energy: float) -> None:
        """To a state, in place; energies of parts are asked for, or none."""
        if state in self._places:
            x[self._places[state]] += energy

    def _have_met(self, t: float, x: Array, closed: list[Latch]) -> bool:
        """Whether all can close: a gap would be a jump of the posture."""
        gaps = self._projector.gaps(t, x)
        for latch in closed:
            labels, own = latch.constraint.labels, gaps[latch.rows]
            turned = np.isin(np.arange(len(labels)), turning(labels))
            way = float(np.linalg.norm(own[~turned]))
            turn = float(np.linalg.norm(own[turned]))
            most = labels[int(np.argmax(np.abs(own) * ~turned))]
            apart = [f"{way:.3g} m (most along {most})"] if not way <= MET * self._size else []
            apart += [f"{turn:.3g} rad"] if not turn <= MET else []
            if apart:
                self.apart = f"{latch.name} by {' and '.join(apart)}"
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
