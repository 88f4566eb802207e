"""Newton's way onto the constraints, with the rows that are independent there.

Beside the constraints, at a gap g, rows that depend on others on them are independent after all,
of the size g: what is smaller than some times the gap does not count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.derive.equations import HeldStart
from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.rows.independent import TOLERANCE, Independent
from vbg.assemble.start.constraints.choice import RowChoice
from vbg.assemble.start.constraints.posture import Projector, Steps
from vbg.assemble.system import System

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CLOSED = 1e-11  # gap of an assembled mechanism, in sizes of its bodies or rad
NEARLY = 1e3  # times that, where no step makes it smaller
ITERATIONS = 60
BESIDE = 10.0  # times the gap: size of a row that may depend on others where the gap is closed
LOOSEST = 1e-3
NEWTON = 20  # steps to written speeds, at most
NEARER = 0.1  # part of the gap at the last choice, at which rows are chosen anew


class HeldRows:
    """Newton steps with written start coordinates (or speeds) as further rows."""

    def __init__(self, held: HeldStart, evaluate: Evaluator, system: System):
        self.rows = held.rows
        self._evaluate = evaluate
        self._steps = Steps(system, evaluate, "step ")
        self._silent = np.zeros(held.size)

    def misses(self, x: Array) -> Array:
        """target - value of each row."""
        self._evaluate(0.0, x, self._silent)
        return np.array(
            [row.target - self._evaluate.output(f"value {row.name}")[0] for row in self.rows]
        )

    def move(self, x: Array, step: Array) -> None:
        self._evaluate(0.0, x, step)
        self._steps.add(x)


def tolerance_at(gap: float) -> float:
    """Size of a row that counts as dependent at a gap."""
    return min(LOOSEST, max(TOLERANCE, BESIDE * gap))


class Closer:
    """Closes postures; holds the workspaces, and the kept rows that it changes in place.

    `among`: rows to be closed (None: all)."""

    def __init__(self, system: System, kept: Array, among: Mask | None = None):
        self.kept, self.among = kept, among
        self.rows = RowChoice(system)
        self.projector = Projector(system, kept)

    def choose(self, t: float, x: Array, gap: float = 0.0) -> Independent:
        """The rows that are independent at x, kept from now on."""
        found = self.rows.choose(t, x, tolerance_at(gap), self.among)
        self.kept[: len(found.kept)] = self.rows.kept(found)
        return found

    def gap(self, position: Array) -> float:
        """The largest of these position residuals, in sizes of bodies or rad."""
        scaled = np.abs(position / self.rows.lengths)
        if self.among is not None:
            scaled = scaled[self.among]
        return float(scaled.max(initial=0.0))

    def close(self, t: float, written: Array, held: HeldRows | None = None) -> Array | None:
        """The posture from `written` by Newton, halving steps that do not help; None where that
        does not close."""
        projector, x = self.projector, written.copy()
        projector.measure(t, x)
        self.rows.rows_at(t, x)
        position = projector.gaps(t, x)
        misfit, chosen = self._misfit(x, position, held), np.inf
        for _ in range(ITERATIONS):
            if misfit <= CLOSED:
                return x
            gap = self.gap(position)
            if gap < NEARER * chosen:
                self.choose(t, x, gap)
                chosen = gap
            length = 1.0
            while True:
                trial = x.copy()
                self._move(t, trial, length, position, held)
                beyond = projector.gaps(t, trial)
                left = self._misfit(trial, beyond, held)
                if left < misfit or length < 1e-3:
                    break
                length *= 0.5
            x, position, misfit = trial, beyond, left
        return x if misfit <= NEARLY * CLOSED else None

    def damped(self, t: float, written: Array) -> tuple[Array, Array]:
        """The posture of the smallest gap on a way of half steps from `written`, and its position
        residuals."""
        projector, x = self.projector, written.copy()
        projector.measure(t, x)
        position = projector.gaps(t, x)
        best, least = x.copy(), position
        for _ in range(ITERATIONS):
            projector.move_posture(t, x, -0.5 * position)
            projector.measure(t, x)
            position = projector.gaps(t, x)
            if self.gap(position) < self.gap(least):
                best, least = x.copy(), position
        return best, least

    def _misfit(self, x: Array, position: Array, held: HeldRows | None) -> float:
        gap = self.gap(position)
        return gap if held is None else max(gap, float(np.abs(held.misses(x)).max()))

    def _move(
        self, t: float, x: Array, length: float, position: Array, held: HeldRows | None
    ) -> None:
        if held is None:
            self.projector.move_posture(t, x, -length * position)
        else:
            held.move(x, length * np.concatenate([-position, held.misses(x)]))
            self.projector.normalise(x)
        self.projector.measure(t, x)


def with_held_speeds(projector: Projector, held: HeldRows, x: Array, sizes: Array) -> Array:
    """Newton on the velocities of the constraints and the written speeds, in `sizes`: two steps
    where stores are linear, more behind an energy that is not quadratic, as long as they help."""
    trial, missed, left, before = x.copy(), missed_speeds(projector, held, x), np.inf, np.inf
    for step in range(NEWTON):
        if step >= 2 and not left < 0.5 * before:
            break
        held.move(trial, missed)
        missed = missed_speeds(projector, held, trial)
        left, before = float(np.abs(missed / sizes).max(initial=0.0)), left
    return trial


def missed_speeds(projector: Projector, held: HeldRows, x: Array) -> Array:
    """By how much velocities of the constraints and written speeds are missed."""
    return np.concatenate([-projector.residuals(0.0, x)[1], held.misses(x)])
