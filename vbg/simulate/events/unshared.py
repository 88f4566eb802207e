"""Impulses beside those along G^T: on signals, and by laws that no derivation tells.

Forces of the size of 1/time alone count within no time.  Where efforts u of joints and sources act
on stores by laws that are not linear (a brake that presses with a joint's force, a source that
reads one), the steps of the stores are taken along G^T alone (`vbg.assemble.derive.impulses`).  Of
a ramp of the length 1/k the efforts are k L, and with the rates of the stores X'(u) the steps are

    lim (X'(k L) - X'(0)) / k,   k -> oo:

those along G^T where the laws are bounded or grow less than u, as behind a limit; others where
they grow as |u|; none where they grow faster, as u^2.  A signal's states that read an effort (a
filter, an integral) have such a limit as their step.

Stores are of many quantities (kg m/s, Wb, C, m^3): each step is compared with its own, and with
what rounding makes of the terms T of its rate (`vbg.blocks.rounding`).  What two steps differ by
in a law of less than |u|, a bound or a root, falls as k grows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import StateSlice, System

Array = NDArray[np.float64]

LESS = 2.0**-20  # of k, beside which what grows or falls is seen
STEEP = 2.0**80  # k [1/s]: a law of sqrt(u) leaves 1e-12
AGREE = 1e-6  # of a step
FALLS = 0.5  # of a difference, from LESS k to k: |u|^0.9 leaves a quarter
CANCELS = 1e-9  # of the terms of a rate: efforts that cancel leave as much of their last digits
ROUNDED = 64.0 * np.finfo(float).eps  # of a state, as a difference of two


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
        self._terms = Evaluator(system.programs.pushed_terms) if self._stores else None

    def strike(self, t: float, before: Array, after: Array, impulses: Array) -> None:
        """At impulses that have taken the stores from `before` to `after`, in which signals are
        stepped in place."""
        if self._pushed is None or not impulses.any():
            return
        steep, less = (self._steps(t, before, impulses, k) for k in (STEEP, LESS * STEEP))
        names = [s.state.name for s in self._signals if not _step(after, s, steep, less)]
        terms = self._terms_at(t, before, STEEP * impulses)
        for s in self._stores:
            name, held = s.state.name, before[s.first : s.last]
            moved = after[s.first : s.last] - held
            size = max(float(np.abs(steep[name]).max()), float(np.abs(moved).max()))
            rounding = CANCELS * terms[name] / STEEP + ROUNDED * (np.abs(held) + np.abs(moved))
            apart = np.abs(steep[name] - moved)
            falls = apart <= FALLS * np.abs(less[name] - moved)
            alike = falls | (apart <= AGREE * size + rounding)
            if not np.all(alike & np.isfinite(apart)):  # beyond all numbers all are alike
                names.append(name)
        self.names = self.names or ", ".join(names)

    def _steps(self, t: float, x: Array, impulses: Array, k: float) -> dict[str, Array]:
        """(X'(k L) - X'(0)) / k by state."""
        assert self._pushed is not None
        with np.errstate(all="ignore"):  # what overflows is no step
            still = self._pushed(t, x, np.zeros_like(impulses)).copy()
            return _by_state(self._pushed, (self._pushed(t, x, k * impulses) - still) / k)

    def _terms_at(self, t: float, x: Array, efforts: Array) -> dict[str, Array]:
        """T of the stores' rates."""
        if self._terms is None:
            return {}
        with np.errstate(all="ignore"):
            found = self._terms(t, x, efforts)
            return _by_state(self._terms, np.where(np.isfinite(found), found, 0.0))


def _by_state(evaluator: Evaluator, values: Array) -> dict[str, Array]:
    spans = evaluator.program.outputs.items()
    first = next(iter(evaluator.program.outputs.values()))[0]
    return {name: values[at - first : at - first + n * m] for name, (at, n, m) in spans}


def _step(x: Array, s: StateSlice, steep: dict[str, Array], less: dict[str, Array]) -> bool:
    """A state of a signal, stepped in place, unless its step has no limit."""
    step, before = steep[s.state.name], less[s.state.name]
    alike = np.abs(step - before) <= AGREE * np.abs(step)
    falls = np.abs(step) < np.abs(before)
    x[s.first : s.last] += np.where(alike, step, 0.0)
    return bool(np.all(alike | falls))
