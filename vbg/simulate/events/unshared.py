"""Impulses beside those along G^T: on signals, and by laws that no derivation tells.

Forces of the size of 1/time alone count within no time.  Where efforts u of joints and sources act
on stores by laws that are not linear (a brake that presses with a joint's force, a source that
reads one), the steps of the stores are taken along G^T alone (`vbg.assemble.derive.impulses`).  Of
a ramp of the length 1/k the efforts are k L, and with the rates of the stores X'(u) the steps are

    lim (X'(k L) - X'(0)) / k,   k -> oo:

those along G^T where the laws are bounded or grow less than u, as behind a limit; others where
they grow as |u|; none where they grow faster, as u^2.  A signal's states that read an effort (a
filter, an integral) have such a limit as their step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import StateSlice, System

Array = NDArray[np.float64]

LESS = 2.0**-20  # of k, beside which what grows or falls is seen
STEEP = 2.0**80  # k [1/s]: a law of sqrt(u) leaves 1e-12
AGREE = 1e-6  # of the largest step of a store


def works(brought: Evaluator, t: float, x: Array, impulses: Array) -> Array:
    """Of each part with sources, at the speeds at t [J]: of a ramp as steep as that above, which
    leaves out what a bounded law gives."""
    still = brought(t, x, np.zeros_like(impulses)).copy()
    return np.asarray((brought(t, x, STEEP * impulses) - still) / STEEP)


class Unshared:
    """Of one run: what impulses do to signals; `names` of states in which they are not known."""

    def __init__(self, system: System):
        self.names = ""
        found = [s for s in system.slices if s.state.leaf in system.equations.pushed]
        self._stores = [s for s in found if s.state.kind == "store"]
        self._signals = [s for s in found if s.state.kind != "store"]
        self._pushed = Evaluator(system.programs.pushed) if found else None

    def strike(self, t: float, before: Array, after: Array, impulses: Array) -> None:
        """At impulses that have taken the stores from `before` to `after`, in which signals are
        stepped in place."""
        if self._pushed is None or not impulses.any():
            return
        steep, less = (self._steps(t, before, impulses, k) for k in (STEEP, LESS * STEEP))
        names = [s.state.name for s in self._signals if not _step(after, s, steep, less)]
        moved = [after[s.first : s.last] - before[s.first : s.last] for s in self._stores]
        least = AGREE * max((float(np.abs(step).max()) for step in moved), default=0.0)
        for s, step in zip(self._stores, moved, strict=True):
            if not np.all(np.abs(steep[s.state.name] - step) <= least):
                names.append(s.state.name)
        self.names = self.names or ", ".join(names)

    def _steps(self, t: float, x: Array, impulses: Array, k: float) -> dict[str, Array]:
        """(X'(k L) - X'(0)) / k by state."""
        assert self._pushed is not None
        spans = self._pushed.program.outputs.items()
        with np.errstate(all="ignore"):  # what overflows is no step
            still = self._pushed(t, x, np.zeros_like(impulses)).copy()
            steps = (self._pushed(t, x, k * impulses) - still) / k
        first = next(iter(self._pushed.program.outputs.values()))[0]
        return {name: steps[at - first : at - first + n * m] for name, (at, n, m) in spans}


def _step(x: Array, s: StateSlice, steep: dict[str, Array], less: dict[str, Array]) -> bool:
    """A state of a signal, stepped in place, unless its step has no limit."""
    step, before = steep[s.state.name], less[s.state.name]
    alike = np.abs(step - before) <= AGREE * np.abs(step)
    falls = np.abs(step) < np.abs(before)
    x[s.first : s.last] += np.where(alike, step, 0.0)
    return bool(np.all(alike | falls))
