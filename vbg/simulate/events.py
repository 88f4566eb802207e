"""Switching functions: their zero crossings are located and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.solution import Event

if TYPE_CHECKING:
    from vbg.simulate.steppers import Stepper

Array = NDArray[np.float64]


class Switches:
    """The switching functions of one run and their signs."""

    def __init__(self, system: System, x: Array):
        graph = system.causal.graph
        self._switches = {s.name: s for s in graph.switches}
        self._parts = [s.what for s in graph.switches]
        self._names = list(system.switch_program.outputs)
        self._evaluate = system.evaluator("switch")
        self._signs = np.sign(self._values(0.0, x))

    def _values(self, t: float, x: Array) -> Array:
        return self._evaluate(t, x).copy() if self._names else np.zeros(0)

    def find(self, stepper: Stepper) -> tuple[float, list[Event]] | None:
        """The first crossing inside the last step, to the root, and its events."""
        if not self._names:
            return None
        after = np.sign(self._values(stepper.t, stepper.x))
        crossed = np.flatnonzero((after != self._signs) & (self._signs != 0.0))
        if crossed.size == 0:
            self._signs = after
            return None
        from scipy.optimize import brentq

        times = {}
        for i in crossed:
            times[i] = float(
                brentq(
                    lambda t, i=i: self._values(t, stepper.between(t))[i],
                    stepper.t_before,
                    stepper.t,
                    xtol=1e-14,
                    rtol=1e-14,
                )
            )
        first = min(times.values())
        events = [
            Event(first, self._names[i], self._switches[self._names[i]].what)
            for i, t in times.items()
            if t == first
        ]
        self._pending = {i for i, t in times.items() if t == first}
        return first, events

    def passed(self, t: float, x: Array) -> None:
        """The signs beyond the event at t: those that crossed are turned over."""
        signs = np.sign(self._values(t, x))
        for i in self._pending:
            signs[i] = -self._signs[i]
        self._signs = signs
