"""Modes of dry frictions on what has no inertia: their speeds follow from their efforts at once.

Between a spring and a damper on a node without mass friction sets no acceleration but the speed
itself, v = B f + v0 with B that of the dampers, symmetric and not negative.  Which of them slip
solves the same problem as for accelerations (`vbg.simulate.events.sticking`),

    v > 0 with f = -ahead,   v < 0 with f = back,   v = 0 with f between,

here at one state and time, however fast everything was before.  Where v, or what a friction that
holds lacks to its limit, is zero but for rounding, its growth says on which side it is next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.system import System
from vbg.blocks import dependencies
from vbg.physics.stiction import most_held

Array = NDArray[np.float64]
Values = Callable[[float, Array], Array]  # of all switching functions at (t, x)

BRIEF = 64.0 * np.finfo(float).eps  # of the time: so late or early a root may be found
EXCHANGES = 20  # for each friction


@dataclass(frozen=True, slots=True)
class Massless:
    """Such frictions of a system: `ways` (n, 2) the switching functions of their modes forward and
    backward, `places` (n, 2) of these modes in the state; `values`, `growth` and `rounding` of the
    switching functions."""

    ways: NDArray[np.intp]
    places: NDArray[np.intp]
    values: Values
    growth: Values
    rounding: Values

    def agree(self, t: float, x: Array, brief: float) -> NDArray[np.intp]:
        """Modes in place, by exchanges of the last that is wrong (K. Murty, Opsearch 11, 1974), and
        the switching functions of those that have changed.  Times below `brief` [s] are known as
        that is.

        Of several on one motion one holds, which then has no speed that another could set: those
        stay at their limits."""
        before = x[self.places].copy()
        for _ in range(EXCHANGES * len(self.ways)):
            wrong = self._wrong(t, x, brief)
            if wrong is None:
                break
            friction, modes = wrong
            x[self.places[friction]] = modes
        return self.ways[(x[self.places] != before).any(axis=1), 0]

    def _wrong(self, t: float, x: Array, brief: float) -> tuple[int, Array] | None:
        """The last whose mode does not agree with its switching functions, and what it does next:
        what holds slips where it is overloaded; what slips holds where its speed is not above zero
        any more, or slips the other way if it cannot set that speed."""
        values, growth = (f(t, x)[self.ways] for f in (self.values, self.growth))
        known = BRIEF * max(abs(t), brief) * np.abs(growth)
        at_zero = np.abs(values) <= np.maximum(known, self.rounding(t, x)[self.ways])
        above = np.where(at_zero, growth > 0.0, values > 0.0)
        below = np.where(at_zero, growth < 0.0, values < 0.0)
        modes = x[self.places] > 0.5
        for i in reversed(range(len(modes))):
            if not modes[i].any():
                if above[i].any():
                    return i, np.array([above[i, 0], not above[i, 0]], dtype=float)
            elif (modes[i] & below[i]).any():
                held, sets = self._alone(t, x, i)
                if sets:
                    return i, np.zeros(2)
                if held == 0.0 or not at_zero[i, modes[i]].all():
                    return i, (~modes[i]).astype(float)
        return None

    def _alone(self, t: float, x: Array, i: int) -> tuple[float, bool]:
        """What it can hold, and whether its effort changes its speed, as the others are."""
        trial, speeds, known, held = x.copy(), 0.0, 0.0, 0.0
        for way in (0, 1):
            trial[self.places[i]] = np.eye(2)[way]
            values, other = self.values(t, trial), self.ways[i, 1 - way]
            speeds -= values[self.ways[i, way]]
            known += self.rounding(t, trial)[self.ways[i, way]]
            held += float(most_held(values[other]))
        return held, bool(speeds > known)


def massless_ways(system: System, names: list[str]) -> NDArray[np.intp]:
    """(n, 2): of the frictions whose efforts follow without a derivative the modes among `names`,
    forward and backward."""
    found = []
    for vertex in system.causal.graph.vertices.values():
        mode, direct = vertex.active, vertex.state in system.equations.direct
        if mode is not None and vertex.position is None and direct:
            leaves = {b.data for b in dependencies([mode]) if b.op == "leaf"}
            found.append([i for i, name in enumerate(names) if name in leaves])
    return np.array(found, dtype=np.intp).reshape(-1, 2)
