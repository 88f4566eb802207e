"""What efforts of constraints lose beside a posture in which constraints hold too weakly.

At the distance theta from a singular posture the smallest pivot of the constraint matrix is theta^2
of a usual one, and its condition K goes with theta^-2.  A gap c of the joints turns the vanishing
direction by c / theta, makes it go at c / theta^2, and the load along it, which theta^2 holds,
moves by c / theta^4: by `share` c K^2 of the largest.  Rounding alone (c = 1e-16) costs 1e-3 of it
at theta = 6e-4.  In the posture itself the efforts are those of the rows that are left.

The share depends on the machine (1e-4 to 70 were seen), so it is looked at: joints are opened by
rounding, at random, and the efforts computed again.  That is done where a usual share would be too
much and the condition is FARTHER than the least of the run, and, since the law holds near the
posture only, wherever condition or load are FARTHER than at the last look.  Rows that lose more
than a part of what the audit allows by what they are open by are closed to rounding before their
efforts are computed; those that lose so much all the same are taken from beside, if they are smooth
there (docs/derivations/redundancy.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import (
    FAR,
    LARGEST,
    LIMIT,
    LOADED,
    LOST,
    NEAR,
    PACE,
    REGULAR,
    ROUNDING,
    SHARE,
    Gate,
)
from vbg.assemble.start.constraints.conditioning import Conditioning
from vbg.assemble.start.constraints.posture import Projector
from vbg.assemble.start.constraints.rounding import is_open
from vbg.assemble.start.remarks import by_part
from vbg.errors import Problem
from vbg.simulate.record.audit import closer, limits_of
from vbg.simulate.record.dependent import dependent_units
from vbg.simulate.record.told import CONCERNED, POSTURE
from vbg.simulate.settings import Settings

Array = NDArray[np.float64]

SHARES = 1.0  # of what no look has been at, FARTHER than the least condition of the run,
REGULAR_AT_MOST = 100.0  # which is no more: a run may begin beside such a posture
FARTHER = 10.0  # times condition and load of the last look: what was seen there says no more
SAFE = 3.0  # times what few random openings of the joints find
DRAWS = 3  # of these
MENDED = 0.1  # of what the audit allows, relative to the largest effort: less is let be
HALVINGS = 9  # of the distance to times beside from which efforts are taken
SIDES = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, 4.0, 4.0, -1.0]) / 6.0  # cubic at 0
ONE_SIDE = np.array([-4.0, -3.0, -2.0, -1.0]), np.array([-1.0, 4.0, -6.0, 4.0])
ONE = 0.4  # of the longer way to an end of the step: a shorter one gives one side only
TINY = float(np.finfo(float).tiny)
VOID = 1e-2  # of efforts
NAMED = 5  # rows that a warning tells the times of


class Step(Protocol):
    """A step that is made: its ends and the states inside it."""

    @property
    def t(self) -> float: ...
    @property
    def t_before(self) -> float: ...
    def between_each(self, times: Array) -> Array: ...


@dataclass(frozen=True, slots=True)
class Lost:
    """A row whose efforts, `size` at their largest, lose `loss`, each in its unit; `mended`: they
    are taken from beside, which may miss by that."""

    t: float
    loss: Array
    size: float
    mended: bool = False


class WeakRows:
    """The rows of one run whose efforts lose something, and how much.

    `gate`: what tells of rows that are to be looked at, as `Gate` has it.  Efforts times lengths
    of the constraint rows count as torques, with one another; not those of rows that hold no speed,
    `scale` is 0 there."""

    def __init__(self, projector: Projector, scale: Array, gate: Gate):
        self.system, self.projector, self.scale = projector.system, projector, scale
        self.gate, self._pace = np.array(gate), gate.pace
        self.found: list[Lost] = []

    def told(self, condition: float, gap: float, efforts: Array) -> bool:
        """Whether a row is still one of those by what is known now."""
        near, loaded, share, limit = self.gate[[NEAR, LOADED, SHARE, LIMIT]]
        size = self._sizes(efforts)
        lost = share * gap * condition > limit / condition  # whose square may be no number
        lost = lost and condition > self.gate[FAR] * self.gate[REGULAR]
        return bool(size > 0.0 and (condition > near or size > loaded or lost))

    def _is_known(self, condition: float, efforts: Array) -> bool:
        """Whether a look has been at such a row."""
        near, loaded = self.gate[[NEAR, LOADED]]
        return bool(condition <= near < np.inf and self._sizes(efforts) <= loaded)

    def looked_between(self) -> Array:
        """A gate for states between rows: of those of whose efforts VOID is lost."""
        gate = self.gate.copy()
        gate[NEAR], gate[LOADED], gate[LIMIT] = np.inf, np.inf, VOID
        return gate

    def closed(self, t: float, x: Array) -> Array:
        """x with its joints closed to rounding."""
        moved = x.copy()
        for _ in range(2):
            self._move(t, moved, -self.projector.residuals(t, moved)[0])
        return moved

    def look(
        self,
        t: float,
        x: Array,
        row: tuple[float, float, Array],
        rate: Evaluator,
        step: Step | None,
    ) -> Array | None:
        """Better efforts at (t, x) inside `step` than those of the row, as `told` has it, of closed
        joints or from beside; None where these will do.  Keeps what they lose."""
        if not self._is_known(row[0], row[2]):
            self._looked(t, x, row[2], row[0], rate)
            if not self.told(*row):
                return None
        x = self.closed(t, x)
        efforts = self._efforts(t, x, rate)
        condition = Conditioning(rate).worst()
        if not self.told(condition, float(self.gate[ROUNDING]), efforts):
            return efforts
        closed = self._looked(t, x, efforts, condition, rate)
        if self._part(closed) <= self.gate[LIMIT]:
            return efforts
        better = self._from_beside(t, rate, step) if step is not None else None
        if better is not None:
            mended = Lost(t, better[1], float(self._sizes(better[0])), mended=True)
            if self._part(mended) < self._part(closed):
                self.found.append(mended)
                return better[0]
        self.found.append(closed)
        return efforts

    def _efforts(self, t: float, x: Array, rate: Evaluator) -> Array:
        return rate(t, x)[self.system.size :].copy()

    def void(self, t: float, x: Array, rate: Evaluator) -> bool:
        """Whether rounding alone makes VOID of the efforts at (t, x), closed here in place."""
        x[:] = self.closed(t, x)
        efforts = self._efforts(t, x, rate)
        row = self._looked(t, x, efforts, Conditioning(rate).worst(), rate)
        return bool(self._sizes(row.loss) > VOID * row.size)

    def _looked(
        self, t: float, x: Array, efforts: Array, condition: float, rate: Evaluator
    ) -> Lost:
        size = float(self._sizes(efforts))
        if condition >= LOST:
            return Lost(t, np.where(self.scale > 0.0, np.inf, 0.0), size)
        random, lost = np.random.default_rng(5), np.zeros((2, len(efforts)))
        opened = self.gate[ROUNDING] * self.projector.lengths
        for _ in range(DRAWS):
            opening = opened * random.choice([-1.0, 1.0], len(opened))
            moved = [x.copy(), x.copy()]
            self._move(t, moved[0], opening)
            self.projector.move_velocity(t, moved[1], opening / self._pace)
            for k in (0, 1):
                lost[k] = np.maximum(lost[k], np.abs(self._efforts(t, moved[k], rate) - efforts))
        lost = np.nan_to_num(lost, nan=np.inf)
        row = Lost(t, lost[0], size)
        part = self._part(row)
        if part <= self.gate[LIMIT]:
            self.gate[LARGEST] = max(self.gate[LARGEST], size)
        if part < VOID:  # beyond, rounding decides what rounding does
            self.gate[SHARE] = SAFE * part / self.gate[ROUNDING] / condition**2
            faster = min(float(self._sizes(lost[1]) / (self._sizes(lost[0]) or 1.0)), 1.0)
            self.gate[PACE] = self._pace * faster
            self.gate[NEAR] = FARTHER * condition
            self.gate[FAR] = 0.0
            self.gate[LOADED] = FARTHER * self._largest_at(row)
        return row

    def _from_beside(self, t: float, rate: Evaluator, step: Step) -> tuple[Array, Array] | None:
        """Efforts at t by the cubic through four times beside it, SIDES h away, or on ONE_SIDE
        where t is next to an end of the step, and what they may miss by: h is halved, and the
        middle of three that agree best is taken.  None where they come apart as h gets smaller,
        as beside a pole; an odd one shows in the difference of both sides.  What is lost beside,
        too, as in a short step, is no better there."""
        before, after = t - step.t_before, step.t - t
        nodes, weights = SIDES if ONE < before / max(after, TINY) < 1.0 / ONE else ONE_SIDE
        room = min(before, after) if nodes is SIDES[0] else max(before, after)
        sign = 1.0 if nodes is SIDES[0] or after < before else -1.0
        h = room / np.abs(nodes).max() * 0.5 ** np.arange(HALVINGS)
        times = (t + sign * np.outer(h, nodes)).ravel()
        states = zip(times, step.between_each(times), strict=True)
        each = [self._efforts(at, self.closed(at, x), rate) for at, x in states]
        values = np.array(each).reshape(HALVINGS, len(nodes), -1)
        limits = np.einsum("n,hnr->hr", weights, values)
        apart = np.abs(np.diff(limits, axis=0))
        misses = np.maximum(apart[1:], apart[:-1])  # one difference may be small by luck
        best = int(np.argmin(self._sizes(misses)))
        jumps = self._sizes(values[best : best + 2, -1] - values[best : best + 2, 0])
        if not jumps[1] <= jumps[0] + self.gate[LIMIT] * self.gate[LARGEST]:
            return None
        nearest = t + sign * h[best + 1] * nodes[-1]
        x = self.closed(nearest, step.between_each(np.array([nearest]))[0])
        efforts = self._efforts(nearest, x, rate)
        there = self._looked(nearest, x, efforts, Conditioning(rate).worst(), rate)
        return limits[best + 1], misses[best] + there.loss

    def _sizes(self, efforts: Array) -> Array:
        held = self.scale > 0.0
        sizes = np.nan_to_num(np.abs(efforts), nan=np.inf)[..., held]
        with np.errstate(over="ignore"):  # of what is lost in the posture itself
            return np.asarray((sizes * self.scale[held]).max(axis=-1))

    def _part(self, row: Lost) -> float:
        """Of the largest effort, its own beside a pole."""
        return float(self._sizes(row.loss)) / self._largest_at(row)

    def _largest_at(self, row: Lost) -> float:
        return max(float(self.gate[LARGEST]), row.size) or 1.0

    def _move(self, t: float, x: Array, step: Array) -> None:
        """Opens the joints by `step`, in place, at velocities that they allow there."""
        self.projector.move_posture(t, x, step)
        self.projector.measure(t, x)
        self.projector.move_velocity(t, x, -self.projector.residuals(t, x)[1])

    def lost(self, limit: float) -> tuple[tuple[float, float, NDArray[np.bool_], bool], ...]:
        """Time, largest loss in parts of the largest effort, the efforts concerned, and whether
        they are mended, of the rows that lose more than `limit` or did before."""
        return tuple(
            (
                row.t,
                self._part(row),
                row.loss * self.scale > limit * self._largest_at(row),
                row.mended,
            )
            for row in self.found
            if row.mended or self._part(row) > limit
        )


def weak_rows(
    projector: Projector, settings: Settings, position: float, velocity: float, rounding: float
) -> WeakRows | None:
    """What looks at the rows of a run that keeps its constraints to `position` and `velocity`, with
    gaps of which `rounding` is noise.  None for a machine without loops, whose constraints are
    independent at every posture."""
    system, s = projector.system, settings
    scale = np.where(dependent_units(system) == 0.0, projector.lengths, 0.0)
    if not scale.any() or is_open(system):
        return None
    limit = MENDED * limits_of(s.method, s.rtol, position, velocity).energy
    pace = closer(s.rtol) / velocity  # a velocity at its tolerance is off by so much of itself
    far = {"far": FARTHER, "regular": REGULAR_AT_MOST}
    gate = Gate(share=SHARES, rounding=rounding, pace=pace, limit=limit, **far)
    return WeakRows(projector, scale, gate)


def lost_efforts(weak: WeakRows, limit: float) -> Iterator[Problem]:
    """What is told of rows whose efforts lose more than the `limit` of the audit, and of those
    that are taken from beside."""
    lost = weak.lost(limit)
    every = weak.system.constraint_names
    mended = [row for row in lost if row[3] and row[1] <= limit]
    if mended:
        yield Problem(
            "note",
            "simulate",
            f"{POSTURE}, at t = {_times(mended)}: joint forces there are the limit from the"
            " motion beside; what that may miss in parts of the largest stands with them.",
            "The motion is not concerned.",
        )
    lost = tuple(row for row in lost if row[1] > limit)
    if not lost:
        return
    where = np.any([rows for _, _, rows, _ in lost], axis=0)
    names = tuple(n for n, here in zip(every, where, strict=True) if here)
    yield Problem(
        "warning",
        "simulate",
        f"{POSTURE}, and takes digits of the joint forces away: at t = {_times(lost)}, in parts of"
        f" the largest; the limit is {limit:.0e}.{CONCERNED} {by_part(names, every)}.",
        "The motion is not concerned. Read these forces from the rows beside where they are"
        " smooth, or move the rows (output_step, initial) off the posture.",
    )


def _times(rows: Sequence[tuple[float, float, NDArray[np.bool_], bool]]) -> str:
    shown = [
        f"{t:.6g} s ({'all' if part >= 1.0 else f'{part:.1g}'})" for t, part, *_ in rows[:NAMED]
    ]
    return ", ".join(shown) + (f" and {len(rows) - NAMED} rows more" if len(rows) > NAMED else "")
