"""FMUs that are parts of a machine, in one run: when they step and what they exchange.

At an instant of their clock all units that are due step up to it, each from what it read at the
one before.  Then values are exchanged until no input changes any more: an output may follow an
input of the same instant, through the machine and through other units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.fmi.running import FmuFailed, Running
from vbg.graph.bondgraph import Clock
from vbg.solution import Status

Array = NDArray[np.float64]
Read = Callable[[], Mapping[str, Array]]

ROUNDS = 50  # of an exchange at one instant


@contextmanager
def units_begin() -> Iterator[None]:
    """What fails while a unit is initialized is no run: a UsageError."""
    try:
        yield
    except FmuFailed as failed:
        raise UsageError(str(failed)) from None


class Units:
    """The FMUs of a system in one run, each in a process of its own from `start` to `close`."""

    def __init__(self, system: System):
        places = {s.state.name: slice(s.first, s.last) for s in system.slices}
        self._parts = [(e, places[e.name]) for e in system.causal.graph.exchanged]
        self._running: dict[str, Running] = {}
        self.told: dict[str, list[Array]] = {e.unit.part: [] for e, _ in self._parts}

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def begun(self) -> bool:
        """Whether the first communication is over."""
        return any(self.told.values())

    def start(self, tolerance: float) -> None:
        """Load them all.  Raises UsageError where one may not run, or cannot."""
        for e, _ in self._parts:
            self._running[e.name] = Running(e.unit, tolerance)

    def through(self, go: Callable[[], Status]) -> Status:
        """How a run ends that `go` makes, its units with it; one that gives up ends it."""
        try:
            return go()
        except FmuFailed as failed:
            remedy = "Look at what it reads there, or give it a shorter step."
            return Status("failed", f"The simulation stopped: {failed}", remedy)
        finally:
            self.close()

    def close(self) -> None:
        """End their processes."""
        for unit in self._running.values():
            unit.close()

    def due(self, clocks: set[Clock]) -> dict[str, slice]:
        """Places of what the units hold whose clocks these are."""
        return {e.name: at for e, at in self._parts if e.clock in clocks}

    def step(self, x: Array, due: Mapping[str, slice], read: Read) -> None:
        """Up to this instant: the held values of all that are due, in place; `read` gives what
        each reads while x holds.  The first time they are initialized.

        Raises FmuFailed where one gives up."""
        inputs = read() if self._follows or not self.begun else {}
        for name in due:
            self._running[name].go_on(inputs.get(name))
        for name, at in due.items():
            x[at] = self._running[name].held

    def agree(self, x: Array, due: Mapping[str, slice], read: Read) -> None:
        """Exchange values at this instant until they agree, in place.

        Raises FmuFailed where they do not, or where one gives up."""
        for _ in range(ROUNDS):
            inputs = read()
            changed = [name for name in due if self._running[name].hear(inputs[name])]
            for name in changed:
                x[due[name]] = self._running[name].held
            if not changed:
                break
        else:
            unit = self._running[changed[0]]
            raise FmuFailed(
                f"{unit.part}: at t = {unit.t:.6g} s what it tells and what it reads follow each "
                "other without end. Break the loop: let it read a sample_and_hold, or outputs "
                "that follow from states alone."
            )
        for name, at in due.items():
            self.told[self._running[name].part].append(x[at].copy())
            self._running[name].keep()

    def exchanged(self) -> dict[str, Array]:
        """What each unit told, a row for each communication: its time, then the coefficients of
        its outputs, see `Running.held`."""
        return {part: np.array(rows) for part, rows in self.told.items() if rows}

    @property
    def _follows(self) -> bool:
        """Whether any unit follows its inputs between communications."""
        return any(e.unit.order > 0 for e, _ in self._parts)
