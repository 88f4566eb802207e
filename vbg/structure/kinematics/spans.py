"""All groups over all instants, span by span: by one thread, or by several.

A group at an instant follows from its own posture before and from the groups that carry it, so
that a span of instants of one group is a task of its own: groups of one level have the same span
solved at the same time, and a group may be some spans behind those that carry it (the parallel
execution of section 1.2 of the paper, by spans in the place of instants: a task takes long beside
what it takes to hand it over).  How tasks are shared out changes no bit of the result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.structure.kinematics.kernels import CLOSED, KERNELS
from vbg.structure.kinematics.program import Program
from vbg.structure.kinematics.solving import solve_span

Array = NDArray[np.float64]

SPAN = 64  # instants of a task: a thousand times what it takes to hand it over, or so


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Postures, velocities and accelerations, (k + 1, n, ...): row 0 before the first instant."""

    p: Array
    R: Array
    V: Array
    A: Array


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor time of one task, what it took to get it included [s]: a group, counted from 0,
    and the first instant of its span."""

    group: int
    first: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Instants that are solved, the group at which it ended or -1, how, what each task took."""

    done: int
    group: int
    ending: int
    spent: tuple[Spent, ...]


@dataclass(slots=True, eq=False)
class _Board:
    """What is solved and what may be next; threads take tasks under its lock."""

    needs: tuple[frozenset[int], ...]
    instants: int
    upto: list[int]  # instants that a group has solved
    ending: dict[int, int] = field(default_factory=dict)  # of groups that could not go on
    taken: set[int] = field(default_factory=set)
    error: BaseException | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def last(self) -> int:
        """Instants that are worth solving: up to the earliest that some group cannot solve."""
        return min((self.upto[g] for g in self.ending), default=self.instants)

    def next(self) -> tuple[int, int, int] | None:
        """The group that is farthest behind of those that may go on, and its span."""
        best: tuple[int, int, int] | None = None
        for g, first in enumerate(self.upto):
            if g in self.taken or g in self.ending:
                continue
            last = min(first + SPAN, self.last, *(self.upto[n] for n in self.needs[g]))
            whole = last == self.last or last - first == SPAN
            if last > first and whole and (best is None or first < best[1]):
                best = (g, first, last)
        return best

    @property
    def finished(self) -> bool:
        """Whether nothing is left, or something went wrong."""
        return self.error is not None or all(upto >= self.last for upto in self.upto)

    def tasks(self) -> Iterator[tuple[int, int, int]]:
        """Tasks for one thread until all is done; waits while others have what is needed."""
        while True:
            with self.changed:
                task = None
                while not self.finished and (task := self.next()) is None:
                    self.changed.wait()
                if task is None:
                    return
                self.taken.add(task[0])
            yield task

    def put(self, g: int, upto: int, ending: int) -> None:
        """Group g is solved up to an instant."""
        with self.changed:
            self.taken.discard(g)
            self.upto[g] = upto
            if ending != CLOSED:
                self.ending[g] = ending
            self.changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """A thread ended by an error of the program."""
        with self.changed:
            self.error = self.error or error
            self.changed.notify_all()


def solve_all(
    program: Program, near: Array, moves: Array, basis: Array, rows: Rows, workers: int
) -> Ended:
    """Fill `rows` by `workers` threads; `near` (k,) begins with the angles at the start.

    Where a group cannot be solved, everything ends at the earliest such instant, and the first of
    the groups that end there is told.
    """
    results = (rows.p, rows.R, rows.V, rows.A)
    compile_span(program, near, moves, basis, rows)
    board = _Board(program.needs, len(moves), [0] * len(program.needs))
    spent: list[Spent] = []

    def work() -> None:
        try:
            # of its own: a call counts the references to the arrays it passes on
            tables, given, freedoms = _copied(program.tables), moves.copy(), basis.copy()
            start = time.thread_time()
            for g, first, last in board.tasks():
                board.put(g, *solve_span(tables, g, first, last, near, given, freedoms, *results))
                end = time.thread_time()
                spent.append(Spent(g, first, end - start))
                start = end
        except BaseException as error:  # noqa: BLE001 - raised where all threads have ended
            board.fail(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(1, workers)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if board.error is not None:
        raise board.error
    at = board.last
    stopped = [g for g in sorted(board.ending) if board.upto[g] == at]
    group = stopped[0] if stopped else -1
    return Ended(at, group, board.ending.get(group, CLOSED), tuple(spent))


def compile_span(program: Program, near: Array, moves: Array, basis: Array, rows: Rows) -> None:
    """Have the kernel compiled, once, by whichever process needs it first."""
    results = (rows.p, rows.R, rows.V, rows.A)
    KERNELS.ensure(
        "span", lambda: solve_span(program.tables, 0, 0, 0, near, moves, basis, *results)
    )


def _copied(tables: Any) -> Any:
    """The same tables with arrays of their own."""
    if isinstance(tables, np.ndarray):
        return tables.copy()
    return type(tables)(*map(_copied, tables))
