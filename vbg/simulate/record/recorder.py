"""Signals on the output grid, and the audit, while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import (
    NO_PIVOTS,
    SHARE,
    Gate,
    Pivots,
    Signals,
    interpreter,
    write_rows,
)
from vbg.assemble.start.constraints.conditioning import pivot_places
from vbg.assemble.system import System
from vbg.errors import Problem
from vbg.simulate.record.dependent import dependent_units
from vbg.simulate.record.peaks import Peaks, between_rows
from vbg.simulate.record.weak import VOID, Step, WeakRows, lost_efforts
from vbg.simulate.steppers.stepper import FixedStep

Array = NDArray[np.float64]
Sink = Callable[[Array, Mapping[str, Array]], None]

BLOCK = 256  # rows handed to the sink at once
FIRST_ROWS = 4096  # of memory; doubled when full, so that a run cut short stays small
SECONDS = 0.5  # or after this time
SUMMED = 1e300  # a few numbers below it have a sum


class Recorder:
    """Evaluates all signals at output times; keeps them and feeds the sink."""

    def __init__(
        self,
        system: System,
        rate: Evaluator,
        grid: Array,
        sink: Sink | None,
        lengths: Array | None = None,
        weak: WeakRows | None = None,
    ):
        """`rate` gives the rates and behind them the efforts; `lengths`: those of the constraint
        rows, in which `worst` counts (None: in m, rad and seconds); `weak`: what looks at rows
        where constraints hold too weakly."""
        self.grid = grid
        self._rate = rate
        self._size = system.size
        self._outputs = Evaluator(system.programs.output)
        self._shapes = self._outputs.program.outputs
        self._constrained = bool(system.equations.constraints)
        units = dependent_units(system)
        self._moving = bool(np.all(units == 0.0))
        residual = Evaluator(system.programs.residual)
        self.worst = np.zeros(2)  # gap and speed of all rows so far
        lengths = np.ones(len(units)) if lengths is None else lengths
        self._weak = weak
        gate = weak.gate if weak is not None else np.array(Gate())
        programs = rate.reader, self._outputs.reader, residual.reader, self._pivots()
        self._layout = Signals(*programs, units, lengths, self.worst, gate)
        self._columns: dict[str, int] = {}  # where each signal begins in a row
        width = 0
        for name, (_, rows, cols) in self._shapes.items():
            self._columns[name] = width
            width += rows * cols
        gravity = float(np.linalg.norm(system.model.gravity))
        self.peaks = Peaks(self._look, width, gravity, system.discrete)
        self._data = np.empty((min(len(grid), FIRST_ROWS), width + 5))
        self._width = width
        self._sink = sink
        self._sent = 0
        self._sent_at = time.monotonic()
        self.count = 0

    def evaluate_by(self, rate: Evaluator) -> None:
        """Other rates and efforts from the next row on."""
        self.peaks.pause()
        self._rate = rate
        self._layout = self._layout._replace(rate=rate.reader, pivots=self._pivots())

    def _pivots(self) -> Pivots:
        return pivot_places(self._rate) if self._weak is not None else NO_PIVOTS

    def add(self, t: float, x: Array, efforts: Array | None = None, condition: float = 1.0) -> None:
        """The next row: signals at (t, x), with the constraint `efforts` there if they are
        known otherwise, and the `condition` of what they come from."""
        known = None if efforts is None else efforts[None, :]
        self.add_each(np.array([t]), x[None, :], known, condition=condition)

    def add_end(self, stepper: FixedStep, condition: float) -> None:
        """The next row: where the stepper stands, whose rates, from which it goes on, have the
        efforts behind them unless rows are recorded by another program; `condition`: of the
        constraint matrix there."""
        known = self._constrained and stepper.program is self._rate.program
        efforts = stepper.outputs()[self._size :] if known else None
        self.add(stepper.t, stepper.x, efforts, condition)

    def add_each(
        self,
        times: Array,
        states: Array,
        efforts: Array | None = None,
        condition: float = 1.0,
        step: Step | None = None,
    ) -> None:
        """The next rows, with the states as rows, those inside `step`."""
        last = self.count + len(times)
        while last > len(self._data):
            self._data = np.resize(self._data, (2 * len(self._data), self._data.shape[1]))
        data = self._data[self.count : last]
        known = 0.0 if efforts is None else condition
        if efforts is None:
            rows = self._rate.size - self._size if self._constrained else 0
            efforts = np.empty((len(times), rows))
        told = write_rows(interpreter(), self._layout, times, states, efforts, known, data)
        if told and self._weak is not None:
            self._better(self._weak, times, states, efforts, data, step)
        self.count = last
        if self.count - self._sent >= BLOCK or time.monotonic() - self._sent_at > SECONDS:
            self.flush()

    def _better(
        self,
        weak: WeakRows,
        times: Array,
        states: Array,
        efforts: Array,
        data: Array,
        step: Step | None,
    ) -> None:
        """Rows again of those that lose too much as they are."""
        for k in range(len(times)):
            found = *data[k, -2:], efforts[k]
            if not weak.told(*found):
                continue
            better = weak.look(times[k], states[k], found, self._rate, step)
            if better is not None:
                row, layout = slice(k, k + 1), self._layout._replace(worst=np.zeros(2))
                again = times[row], states[row], better[None, :]
                write_rows(interpreter(), layout, *again, 1.0, data[row])

    def _look(self, times: Array, states: Array) -> Array:
        """Signals at states that are no rows; none where rounding decides them, which is no
        peak."""
        rows, weak = self._rate.size - self._size if self._constrained else 0, self._weak
        data = np.empty((len(times), self._data.shape[1]))
        efforts = np.empty((len(times), rows))
        layout = self._layout._replace(worst=np.zeros(2))
        if weak is not None:
            layout = layout._replace(gate=weak.looked_between())
        told = write_rows(interpreter(), layout, times, states, efforts, 0.0, data)
        if told and weak is not None:
            condition, gap = data[:, -2:].T
            for k in np.flatnonzero(layout.gate[SHARE] * gap * condition > VOID / condition):
                x, row = states[k].copy(), slice(k, k + 1)
                void = weak.void(times[k], x, self._rate)
                again = times[row], x[None, :], efforts[row]
                write_rows(interpreter(), layout, *again, 0.0, data[row])
                if void:
                    data[k] = np.nan
        return data[:, : self._width]

    def lost(self, limit: float) -> tuple[tuple[float, float], ...]:
        """As spans [s, s], rows whose efforts lose more than `limit` of the largest, or are taken
        from beside."""
        rows = self._weak.lost(limit) if self._weak is not None else ()
        return tuple((t, t) for t, *_ in rows)

    def remarks(self, units: Mapping[str, str], limit: float) -> Iterator[Problem]:
        """On these rows, and what the motion does between rows and they do not show."""
        if self._weak is not None:
            yield from lost_efforts(self._weak, limit)
        if self.count > 1:
            step, end = float(self.grid[1] - self.grid[0]), float(self.grid[-1])
            missed = self.peaks.missed(self._shapes, self._reached[:, : self._width], units)
            yield from between_rows(missed, step, end)

    @cached_property
    def _reached(self) -> Array:
        """The largest values in all rows, of minus the signals and of these, and likewise of the
        residuals behind them: (2, width + 3)."""
        rows = self._data[: self.count, : self._width + 3]
        return np.stack([-rows.min(axis=0), rows.max(axis=0)])

    @property
    def has_values(self) -> bool:
        """Whether every signal of a run that has ended is a number, sums of energies too."""
        return bool(np.all(np.abs(self._reached) < SUMMED))

    def amounts(self) -> dict[str, float]:
        """The largest amount of each signal in all rows of a run that has ended."""
        largest = np.abs(self._reached[:, : self._width]).max(axis=0)
        each = np.maximum.reduceat(largest, list(self._columns.values()))
        return dict(zip(self._columns, each.tolist(), strict=True))

    def finished(self) -> tuple[dict[str, Array], Array, dict[str, tuple[float, float]]]:
        """Signals of all rows, which the sink has seen then, their worst residuals, and the least
        and largest value of each scalar signal inside the steps that were looked into."""
        self.flush()
        least, most = self.peaks.reached()
        scalars = [name for name, (_, rows, cols) in self._shapes.items() if rows * cols == 1]
        places = [self._columns[name] for name in scalars]
        ranges = zip(least[places].tolist(), most[places].tolist(), strict=True)
        inside = dict(zip(scalars, ranges, strict=True))
        return self.signals(), self.worst, inside

    def end_at(self, t: float, x: Array) -> None:
        """The last row of a run that is cut off at t, between two output instants or on one:
        what was reached is kept."""
        if self.count < len(self.grid) and t > self.grid[self.count - 1]:
            self.grid = np.append(self.grid[: self.count], min(t, self.grid[self.count]))
            self.add(t, x)

    @property
    def time(self) -> Array:
        """Instants of the rows."""
        return self.grid[: self.count]

    def flush(self) -> None:
        """Hands the rows that the sink has not seen to it."""
        if self._sink is not None and self.count > self._sent:
            span = slice(self._sent, self.count)
            self._sink(self.grid[span], self._signals(span))
        self._sent = self.count
        self._sent_at = time.monotonic()

    def signals(self) -> dict[str, Array]:
        return self._signals(slice(0, self.count))

    def _signals(self, span: slice) -> dict[str, Array]:
        """Columns of the rows in `span` by name, with energy and constraint residuals."""
        data = self._data[span]
        result: dict[str, Array] = {}
        for name, (_, rows, cols) in self._shapes.items():
            at, size = self._columns[name], rows * cols
            result[name] = data[:, at] if size == 1 else data[:, at : at + size]
        # from the first row on: what happens at t = 0 has cost its energy there
        stored, lost, brought = (
            result[name] - self._data[0, self._columns[name]]
            for name in ("energy.stored", "energy.dissipated", "energy.supplied")
        )
        result["energy.residual"] = stored + lost - brought
        result["residual.position"] = data[:, self._width]
        result["residual.velocity"] = data[:, self._width + 1]
        if not self._moving:
            result["residual.dependent"] = data[:, self._width + 2]
        return result


ENERGY_UNITS = {
    f"energy.{name}": "J"
    for name in ("kinetic", "potential", "stored", "supplied", "dissipated", "residual")
} | {
    "residual.position": "m or rad",
    "residual.velocity": "m/s or rad/s",
    "residual.dependent": "V, A, 1e5 Pa or 1e-5 m^3/s",
}
