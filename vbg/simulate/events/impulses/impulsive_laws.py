"""Impulses beside those along G^T: on signals, and by laws that no derivation tells.

Forces of the size of 1/time alone count within no time.  Where efforts u of joints and sources act
on stores by laws that are not linear (a brake that presses with a joint's force, a source that
reads one), the steps of the stores are taken along G^T alone (`vbg.assemble.derive.impulses`).  Of
a ramp of the length 1/k the efforts are k L, and with the rates of the stores X'(u) the steps are

    lim (X'(k L) - X'(0)) / k,   k -> oo:

those along G^T where the laws are bounded or grow less than u, as behind a limit; others where
they grow as |u|; none where they grow faster, as u^2.

A signal's states s that read an effort (a filter, an integral) are stepped by the impulses dL of
all places of a jump, from the stores X- before it to X+ behind it, L in proportion to X - X-:

    int lim (s'(X, k dL) - s'(X, 0)) / k,   k -> oo:

what reads F v takes m (v+^2 - v-^2) / 2.  Not known it is where the limit changes along the way and
L is in no proportion to X, where it changes with what jumps as a function of time, whose own way is
not told, or with signals that are stepped themselves.

A coordinate of what has no mass, a node between a spring and a damper, has a rate of the efforts
themselves: an impulse would move it at once, by infinite power.  Where they grow as u it is not
known, as a store that G^T does not move.

Stores are of many quantities (kg m/s, Wb, C, m^3): each step is compared with its own, and with
what rounding makes of the terms T of its rate (`vbg.blocks.rounding`).  What two steps differ by
in a law of less than |u|, a bound or a root, falls as k grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.system import System

Array = NDArray[np.float64]

LESS = 2.0**-20  # of k, beside which what grows or falls is seen
STEEP = 2.0**80  # k [1/s]: a law of sqrt(u) leaves 1e-12
AGREE = 1e-6  # of a step
FALLS = 0.5  # of a step or a difference, from LESS k to k: |u|^0.9 leaves a quarter
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)  # from -1 to 1
CANCELS = 1e-9  # of the terms of a rate: efforts that cancel leave as much of their last digits
GROWS = 1.0 + AGREE  # of T / k, from LESS k to k: more is faster than u
ROUNDED = 64.0 * np.finfo(float).eps  # of a state, as a difference of two


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """What jumps as a function of time: time and state `earlier`, and the `mean` of the impulses
    along the way; where nothing does, half of them."""

    earlier: tuple[float, Array] | None = None
    mean: Array | None = None

    def is_straight(self, impulses: Array) -> bool:
        """Whether impulses grow in proportion to the way."""
        if self.mean is None:
            return True
        half = 0.5 * impulses
        return bool(np.abs(self.mean - half).max() <= AGREE * np.abs(half).max())


_NOTHING = Jump()
_Steps = dict[str, tuple[Array, Array]]  # by state a step, and by how much another may differ


class ImpulsiveLaws:
    """Of one run: what impulses do to signals, and the works of sources."""

    def __init__(self, system: System):
        self._unlike = self._endless = ""
        found = [s for s in system.slices if s.state.leaf in system.equations.pushed]
        self._stores = [s for s in found if s.state.kind != "signal"]
        self._signals = [s for s in found if s.state.kind == "signal"]
        self._pushed = Evaluator(system.programs.pushed) if found else None
        self._system = system

    @cached_property
    def _terms(self) -> Evaluator:
        return Evaluator(self._system.programs.pushed_terms)

    @property
    def undetermined(self) -> str:
        """Names of states whose steps follow from how the efforts grow, or else of parts whose
        works have no end."""
        return self._unlike or self._endless

    def works(self, brought: Evaluator, t: float, x: Array, impulses: Array) -> Array:
        """Of each part with sources, at the speeds at t [J]: of a ramp as steep as that above,
        which leaves out what a bounded law gives.  Parts whose work is beyond all numbers are
        undetermined, and theirs is 0 here."""
        with np.errstate(all="ignore"):
            still = brought(t, x, np.zeros_like(impulses)).copy()
            found = (brought(t, x, STEEP * impulses) - still) / STEEP
        has_value = np.isfinite(found)
        parts = zip(brought.program.outputs, has_value, strict=True)
        self._endless = self._endless or ", ".join(name for name, has in parts if not has)
        return np.where(has_value, found, 0.0)

    def strike(
        self, t: float, before: Array, after: Array, impulses: Array, jump: Jump = _NOTHING
    ) -> None:
        """At impulses that have taken the stores from `before` to `after`, in which signals are
        stepped in place."""
        if self._pushed is None or not impulses.any():
            return
        with np.errstate(invalid="ignore"):  # beyond all numbers none is like another
            names = self._step_signals(t, before, after, impulses, jump) if self._signals else []
            names += self._apart(t, before, after, impulses) if self._stores else []
        self._unlike = self._unlike or ", ".join(names)

    def _apart(self, t: float, before: Array, after: Array, impulses: Array) -> list[str]:
        """Stores and coordinates that have not been moved as steep ramps move them."""
        names = []
        steep, less = (self._steps(t, before, impulses, k) for k in (STEEP, LESS * STEEP))
        terms = self._terms_at(t, before, impulses, STEEP)
        for s in self._stores:
            name, held = s.state.name, before[s.first : s.last]
            moved = after[s.first : s.last] - held
            size = max(float(np.abs(steep[name]).max()), float(np.abs(moved).max()))
            rounding = CANCELS * terms[name] + ROUNDED * (np.abs(held) + np.abs(moved))
            apart = np.abs(steep[name] - moved)
            falls = np.isfinite(less[name]) & (apart <= FALLS * np.abs(less[name] - moved))
            alike = falls | (apart <= AGREE * size + rounding)
            if not np.all(alike & np.isfinite(apart)):  # beyond all numbers all are alike
                names.append(name)
        return names

    def _step_signals(
        self, t: float, before: Array, after: Array, impulses: Array, jump: Jump
    ) -> list[str]:
        """Steps in place of those that are known, and the names of the others."""
        way = after - before
        ways = [self._along(t, before, way, impulses, parts) for parts in (1, 2)]
        if jump.earlier is not None:
            ways.append(self._along(*jump.earlier, way, impulses, 1))
        if not jump.is_straight(impulses):
            ways += [self._along(t, x, 0.0 * way, impulses, 1) for x in (before, after)]
        for s in self._signals:
            after[s.first : s.last] += ways[0][s.state.name][0]
        ways.append(self._along(t, before, after - before, impulses, 1))
        return [s.state.name for s in self._signals if not _known(s.state.name, ways)]

    def _along(self, t: float, x: Array, way: Array, impulses: Array, parts: int) -> _Steps:
        """Of signals from x along `way`, by Gauss's rule in that many parts; not a number where
        they have no limit."""
        names = [s.state.name for s in self._signals]
        steep, less, most, least = (dict.fromkeys(names, np.zeros(1)) for _ in range(4))
        for place, weight in zip(*_gauss(parts), strict=True):
            there = x + place * way
            for total, k in ((steep, STEEP), (less, LESS * STEEP)):
                steps = self._steps(t, there, impulses, k)
                for name in names:
                    total[name] = total[name] + weight * steps[name]
                    most[name] = np.maximum(most[name], np.abs(steps[name]))
            for name, rounding in self._rounding(t, there, impulses).items():
                least[name] = np.maximum(least[name], rounding)
        return {
            name: (_limit(steep[name], less[name], least[name]), AGREE * most[name] + least[name])
            for name in names
        }

    def _rounding(self, t: float, x: Array, impulses: Array) -> dict[str, Array]:
        """What rounding makes of the steps of signals, whose terms cancel: of terms that grow as
        efforts do, as of those that grow faster a rounded rest may be any step."""
        terms, less = (self._terms_at(t, x, impulses, k) for k in (STEEP, LESS * STEEP))
        names = [s.state.name for s in self._signals]
        return {n: np.where(terms[n] <= GROWS * less[n], CANCELS * terms[n], 0.0) for n in names}

    def _steps(self, t: float, x: Array, impulses: Array, k: float) -> dict[str, Array]:
        """(X'(k L) - X'(0)) / k by state."""
        assert self._pushed is not None
        with np.errstate(all="ignore"):  # what overflows is no step
            still = self._pushed(t, x, np.zeros_like(impulses)).copy()
            return _by_state(self._pushed, (self._pushed(t, x, k * impulses) - still) / k)

    def _terms_at(self, t: float, x: Array, impulses: Array, k: float) -> dict[str, Array]:
        """T / k of the rates at k L by state, none where it is beyond all numbers."""
        with np.errstate(all="ignore"):
            found = self._terms(t, x, k * impulses) / k
            return _by_state(self._terms, np.where(np.isfinite(found), found, 0.0))


def _by_state(evaluator: Evaluator, values: Array) -> dict[str, Array]:
    spans = evaluator.program.outputs.items()
    first = next(iter(evaluator.program.outputs.values()))[0]
    return {name: values[at - first : at - first + n * m] for name, (at, n, m) in spans}


def _gauss(parts: int) -> tuple[Array, Array]:
    """Places and weights over 0 to 1 in that many equal parts."""
    first = np.arange(parts)[:, None]
    return ((first + 0.5 + 0.5 * NODES) / parts).ravel(), np.tile(0.5 * WEIGHTS / parts, parts)


def _limit(steep: Array, less: Array, rounding: Array) -> Array:
    """Of steps as k grows from `less` to `steep`: one of them, none, or not a number."""
    alike = np.abs(steep - less) <= AGREE * np.abs(steep) + rounding
    falls = np.isfinite(less) & (np.abs(steep) <= FALLS * np.abs(less))  # exp(k) does not
    return np.where(alike, steep, np.where(falls, 0.0, np.nan))


def _known(name: str, ways: Sequence[_Steps]) -> bool:
    """Whether a step is the same on all ways."""
    (step, near), *others = (way[name] for way in ways)
    return all(bool(np.all(np.abs(step - other) <= near)) for other, _ in others)
