"""A program with a private workspace: fill inputs, run, read outputs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.program import Program

if TYPE_CHECKING:
    from vbg.assemble.program.machine import Reader


def tape(program: Program, kept: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    """What the compiled machine reads: segments, operands (flat), factors, stream, kept rows."""
    return program.segments, program.operands.ravel(), program.factors, program.stream, kept


def all_rows(program: Program) -> NDArray[np.float64]:
    """Every row of the program's constraint matrices as one that is kept."""
    return np.ones(max((s.unknowns for s in program.schedules), default=0))


class Evaluator:
    """Runs one Program.  Inputs stand first in its workspace (states, time, then
    others), outputs last in their order; one evaluator belongs to one run.

    `kept`: 1 for each constraint row to eliminate with, 0 for those that depend on these
    (None: all are kept); as long as the largest constraint matrix or longer.  It is read at
    each run, so that who owns it may change it.
    """

    def __init__(
        self,
        program: Program,
        *,
        kept: NDArray[np.float64] | None = None,
        complex_valued: bool = False,
    ):
        from vbg.assemble.program.machine import complex_run, run

        wanted = all_rows(program)
        self.kept = wanted if kept is None else kept
        if len(self.kept) < len(wanted):
            raise ValueError(f"{len(self.kept)} constraint rows are given, {len(wanted)} wanted")
        self.tape = tape(program, self.kept)
        self.program = program
        kind = np.complex128 if complex_valued else np.float64
        self.work: NDArray[Any] = program.workspace.astype(kind)
        how = (self.work, *self.tape)
        self._run = (complex_run if complex_valued else run).bound(*how)
        self._first = self._last = len(self.work)
        if program.outputs:
            spans = list(program.outputs.values())
            self._first = spans[0][0]
            at, rows, cols = spans[-1]
            self._last = at + rows * cols

    def __call__(self, t: Any, x: NDArray[Any], *others: NDArray[Any]) -> NDArray[Any]:
        """All outputs one behind the other (a view: copy to keep)."""
        work = self.work
        at = len(x)
        work[:at] = x
        work[at] = t
        at += 1
        for other in others:
            work[at : at + len(other)] = other
            at += len(other)
        self._run()
        return work[self._first : self._last]

    @property
    def size(self) -> int:
        """Of all outputs together."""
        return self._last - self._first

    @cached_property
    def reader(self) -> Reader:
        """The program and this workspace for compiled code that runs it."""
        from vbg.assemble.program.machine import Reader

        segments, operands, factors, stream, kept = self.tape
        spans = self._first, self._last
        return Reader(self.work, segments, operands, factors, stream, kept, *spans)

    @cached_property
    def _width(self) -> int:
        """Of a state: what stands before the time."""
        at, _, _ = self.program.inputs["t"]
        return at

    def each(self, times: NDArray[np.float64], states: NDArray[np.float64]) -> NDArray[np.float64]:
        """All outputs at each time and state, a row for each; inputs behind the time stay.

        Raises ValueError where the states are not as long as the program's, TypeError where
        times and states are not contiguous arrays of floats: compiled code reads them.
        """
        from vbg.assemble.program.machine import evaluate_each, interpreter

        width = self._width
        if states.shape != (len(times), width):
            raise ValueError(
                f"states of shape {states.shape} are given, {(len(times), width)} wanted"
            )
        values = np.empty((len(times), self.size))
        evaluate_each(interpreter(), self.reader, times, states, values)
        return values

    def output(self, name: str) -> NDArray[Any]:
        """One output of the last run, as matrix or column."""
        at, rows, cols = self.program.outputs[name]
        value = self.work[at : at + rows * cols]
        return value if cols == 1 else value.reshape(rows, cols)

    def inverse_pivots(self, schedule: int = 0) -> NDArray[Any]:
        """1/D of the last factorisation by unknown; zero marks a dependent row."""
        if not self.program.schedules:
            return np.zeros(0)
        plan = self.program.schedules[schedule]
        result = np.zeros(plan.unknowns, dtype=self.work.dtype)
        for p in plan.pivots:
            diagonal = self.work[p.block : p.block + p.size * p.size : p.size + 1]
            result[p.first : p.first + p.size] = diagonal
        return result
