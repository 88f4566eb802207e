"""Drives and sources whose speed jumps: the impulse that moves the machine, and its work.

Efforts of the size of 1/time alone count within no time: those of constraints that hold without a
bound.  What rows prescribe goes from v0 to v1 along v(s) = v0 + s (v1 - v0), 0 <= s <= 1, the limit
of a ramp: the impulses L(s) until s move the stores onto it in the mass metric, and a source
supplies

    int_0^1 v dL = v0 M + v1 (L(1) - M),    M = int_0^1 L ds,

each that impulses act on, be it that it jumps or keeps a speed.  L is linear in s, and M half of
it, where momenta are linear in speeds; of a gas, or a coil that saturates, it is integrated
by Gauss's rule, in parts until the works in each have the sum of what the stored energy changes
by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import SUPPLIED, taken_by
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.start import Start
from vbg.simulate.events.events import Switches
from vbg.simulate.events.impulses.impulsive_laws import ImpulsiveLaws, Jump
from vbg.simulate.instants.drives import Kink
from vbg.simulate.steppers.stepper import Stepper
from vbg.solution import Event

Array = NDArray[np.float64]
Moved = tuple[Array, Array, Array]  # a state behind impulses, these and their integral over s
Ends = tuple[float, float]  # of a part of a jump, s

JUMPING = {  # by tables; of others it is a speed
    "electric": "voltage or current",
    "hydraulic": "pressure or flow",
    "bondgraph": "effort or flow",
}
MIDDLE = np.array([0.5]), np.array([1.0])  # places and weights: exact where L is linear
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
GAUSS = 0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS
HALVED = 40  # times, a part of a jump at most: a law may have a vertical slope inside
PARTS, SURE = 1000, 4  # at most; halvings of all parts before what they lack is rounding
STEPS, HALVINGS = 100, 40  # of Newton, onto speeds inside a jump
EXACT = 1e-13  # of the jump: what is left of it is rounding
AGREE = 1e-11  # of the works: the sum that they have
LACKS = 1e-7  # of the works: what they lack at most where a path is followed to its end
ROUNDED = 64.0 * np.finfo(float).eps  # of a stored energy, as a difference of two
DRIFT = 1e-7  # of the terms of a speed, that a step may leave its rows by
SEEN = 1e-10  # of the terms of a speed: a smaller jump is rounding,
STEEP = 4.0  # and so is one by as often the change in the time before: a ramp of last digits


class Jumps:
    """Whether what rows prescribe has jumped in a run."""

    def __init__(self, start: Start, projector: Projector):
        self._system, self._projector = start.system, projector
        self._least: Evaluator | None = None
        self.laws = ImpulsiveLaws(start.system)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """Of constraints that hold always, of systems whose sources may jump: those that begin to
        hold do not jump, they close."""
        equations = self._system.equations
        ties = equations.constraints if equations.brought else ()
        always = [range(c.first, c.first + c.unknown.rows) for c in ties if c.active is None]
        return np.array([i for one in always for i in one], dtype=np.intp)

    @property
    def may(self) -> bool:
        """Whether it ever can."""
        return bool(self._rows.size)

    def __call__(self, before: tuple[float, Array], t: float, x: Array) -> bool:
        """Whether it has from `before`, a time and a state, to (t, x), which moves smoothly."""
        if not self.may:
            return False
        there = self._missing(*before)
        change = np.abs(self._missing(t, x) - there)
        if not change.any():
            return False
        earlier = self._missing(2.0 * before[0] - t, before[1])
        least = np.maximum(SEEN * self._terms(t, x), STEEP * np.abs(there - earlier))
        return bool((change > least).any())

    def unseen(self, stepper: Stepper, end: float) -> float | None:
        """Right behind the first jump inside the last step, up to `end`, that no switching function
        tells of (an angle that passes behind the origin, a choice that a delay hands on): the state
        of a step is smooth, and what is prescribed leaves it there.  A slope, however steep, has no
        two instants next to one another between which it changes."""
        found = None
        while self.may and (behind := self._largest(stepper, end)) is not None:
            found, end = behind, float(np.nextafter(behind, -np.inf))
        return found

    def _largest(self, stepper: Stepper, end: float) -> float | None:
        """Right behind what leaves the step most, up to `end`; None if nothing does at once."""

        def missing(t: float) -> Array:
            return self._missing(t, stepper.smooth(t))

        before, after = stepper.t_before, end
        first, last = missing(before), missing(after)
        least = DRIFT * self._terms(after, stepper.smooth(after))
        part = int(np.argmax(np.abs(last - first) - least))
        early, late = float(first[part]), float(last[part])
        while abs(late - early) > least[part]:
            middle = 0.5 * (before + after)
            if not before < middle < after:
                return after
            value = float(missing(middle)[part])
            if abs(value - early) > abs(late - value):
                after, late = middle, value
            else:  # as where it has no value, 0/0 in its jump
                before, early = middle, early if np.isnan(value) else value
        return None

    def _missing(self, t: float, x: Array) -> Array:
        """What rows that may jump leave of the speeds that they prescribe."""
        missing: Array = self._projector.residuals(t, x)[1][self._rows]
        return missing

    def _terms(self, t: float, x: Array) -> Array:
        """How large the terms of these are."""
        if self._least is None:
            self._least = Evaluator(self._system.programs.residual_terms)
        terms: Array = self._least(t, x)[self._rows]
        return terms


@dataclass(frozen=True, slots=True)
class Kick:
    """The jumps in speed of drives at one instant, `kinks` those of functions of time."""

    start: Start
    at: float
    laws: ImpulsiveLaws
    kinks: Sequence[Kink] = ()

    def strike(
        self,
        switches: Switches,
        projector: Projector,
        before: tuple[float, Array],
        t: float,
        x: Array,
        project: Callable[[float, Array], object],
    ) -> list[Event]:
        """x right behind it, at t, in place, and what it did; `before`: time and state before
        anything has jumped; `project` moves a state onto the constraints."""
        system, told = self.start.system, dict[str, float]()
        brought, stored = Evaluator(system.programs.brought), Evaluator(system.programs.energy)

        def impulse(t: float, x: Array) -> None:
            held, begin = float(stored(t, x)[0]), x.copy()

            works = self.laws.works

            def work(s: float, x: Array, impulses: Array) -> Array:
                past = before[1] + (x - begin)  # what chooses as it did, what is struck as it is
                at_first = works(brought, before[0], past, impulses)
                return (1.0 - s) * at_first + s * works(brought, t, x, impulses)

            path = _Path(self.start.evaluator("impulse"), projector, stored, work)
            x[:], whole, mean = path.follow(t, x)
            self.laws.strike(t, begin, x, whole, Jump(before, mean))
            project(t, x)
            found = works(brought, *before, mean) + works(brought, t, x, whole - mean)
            lack = float(stored(t, x)[0]) - held - float(found.sum())
            size = float(np.abs(found).sum())
            if 0.0 < abs(lack) <= LACKS * size:  # more is for the audit to tell
                found += lack * np.abs(found) / size
            told.update(zip(brought.program.outputs, found.tolist(), strict=True))

        turned = switches.struck(self.at, t, x, impulse)
        taken = {taken_by(part): work for part, work in told.items()}
        for s in system.slices:
            if s.state.name == SUPPLIED:
                x[s.first] += sum(told.values())
            elif s.state.name in taken:
                x[s.first] -= taken[s.state.name]
        return [self._told(kink) for kink in self.kinks] + turned

    def _told(self, kink: Kink) -> Event:
        what = JUMPING.get(kink.part.partition(".")[0], "speed")
        told = f"its {what} jumps by {kink.slope:.3g} (SI): an impulse"
        return Event(self.at, kink.part, told)


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A part of a jump from the state `begin`, and what its works lack [J]."""

    ends: Ends
    begin: Array
    moved: Moved
    lack: float


@dataclass(frozen=True, slots=True)
class _Path:
    """From speeds before a jump to those behind it; `work(s, x, L)` is that of impulses L
    at the speeds of x and those prescribed at s, by source [J]."""

    impulse: Evaluator
    projector: Projector
    stored: Evaluator
    work: Callable[[float, Array, Array], Array]

    def follow(self, t: float, x: Array) -> Moved:
        """The end of it, and the impulses: the whole and their integral over s.  Where most parts
        lack something, however short, and less in longer ones, it is what their impulses are
        rounded by."""
        missing = self.projector.residuals(t, x)[1]
        moved, lack, size = self._part(t, x, missing, (0.0, 1.0), MIDDLE)
        least = AGREE * size + ROUNDED * abs(float(self.stored(t, x)[0]))
        if lack <= least:
            return moved
        parts = [self._piece(t, x, missing, (0.0, 1.0))]
        best, fewest = parts, np.inf
        for level in range(HALVED):
            lacks = [part.lack for part in parts if part.lack > least]
            if sum(lacks) < fewest:
                best, fewest = parts, sum(lacks)
            noise = level > SURE and best is not parts and 2 * len(lacks) > len(parts)
            if not lacks or noise or len(parts) > PARTS:
                break
            parts = [
                half
                for part in parts
                for half in (self._halves(t, part, missing) if part.lack > least else (part,))
            ]
        return _composed(best)

    def _piece(self, t: float, x: Array, missing: Array, ends: Ends) -> _Piece:
        moved, lack, _ = self._part(t, x, missing, ends, GAUSS)
        return _Piece(ends, x, moved, lack)

    def _halves(self, t: float, part: _Piece, missing: Array) -> tuple[_Piece, _Piece]:
        middle = 0.5 * (part.ends[0] + part.ends[1])
        first = self._piece(t, part.begin, missing, (part.ends[0], middle))
        return first, self._piece(t, first.moved[0], missing, (middle, part.ends[1]))

    def _part(
        self, t: float, x: Array, missing: Array, ends: Ends, rule: tuple[Array, Array]
    ) -> tuple[Moved, float, float]:
        """The same in one, what its works lack [J], and the largest of these."""
        held, begin, length = float(self.stored(t, x)[0]), x, ends[1] - ends[0]
        x = begin.copy()
        whole, mean = np.zeros_like(missing), np.zeros_like(missing)
        exact, moving = EXACT * float(np.abs(missing).max()), (self.impulse, self.projector)
        for place, weight in zip(*rule, strict=True):
            s = ends[0] + place * length
            whole += move(*moving, t, x, (1.0 - s) * missing, exact)
            mean += weight * length * whole
        whole += move(*moving, t, x, (1.0 - ends[1]) * missing, exact)
        slope = (self.work(ends[1], x, mean) - self.work(ends[0], begin, mean)) / length
        works = self.work(ends[1], x, whole) - slope
        rise = float(self.stored(t, x)[0]) - held
        size = float(np.abs(works).max(initial=abs(rise)))
        return (x, whole, mean), abs(rise - float(works.sum())), size


def _composed(parts: Sequence[_Piece]) -> Moved:
    """One part from those that follow one another."""
    whole = np.zeros_like(parts[0].moved[1])
    mean = np.zeros_like(whole)
    for part in parts:
        _, more, within = part.moved
        mean += (part.ends[1] - part.ends[0]) * whole + within
        whole += more
    return parts[-1].moved[0], whole, mean


def move(
    impulse: Evaluator, projector: Projector, t: float, x: Array, left: Array, exact: float
) -> Array:
    """x to where what rows prescribe is `left` of its velocity residuals, to `exact`, in place, by
    Newton's method, damped where momenta are no linear functions of speeds; the impulses of it."""
    gap = projector.residuals(t, x)[1] - left
    impulses = np.zeros_like(gap)
    for _ in range(STEPS):
        if not float(np.abs(gap).max(initial=0.0)) > exact:
            break
        step = impulse(t, x, -gap)[: len(gap)].copy()
        for k in range(HALVINGS):
            moved = x.copy()
            projector.strike(t, moved, -(0.5**k) * gap)
            found = projector.residuals(t, moved)[1] - left
            if np.abs(found).max() < np.abs(gap).max():
                break
        else:  # what is left of it is rounding
            break
        x[:], gap = moved, found
        impulses += 0.5**k * step
    return impulses
