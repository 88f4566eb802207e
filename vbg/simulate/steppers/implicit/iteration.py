"""Newton's iteration of a step and the step's error: by numpy for any rates and any Jacobian, in
compiled code where the rates are a program's and the Jacobian is small, or sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vbg.assemble.program.evaluator import Evaluator
from vbg.assemble.program.machine import interpreter
from vbg.simulate.steppers.beginning import norm
from vbg.simulate.steppers.implicit.collocation import Inside, Method
from vbg.simulate.steppers.implicit.ending import CONVERGED, MOST, SINGULAR
from vbg.simulate.steppers.implicit.entries import NO_FILL, Step, attempt
from vbg.simulate.steppers.implicit.fill import fill_of
from vbg.simulate.steppers.implicit.shifted import Singular, Solve, shifted
from vbg.simulate.steppers.work import Counts

Array = NDArray[np.float64]
NO_STEP_BEFORE = np.zeros((0, 0))


class Standing(Protocol):
    """Where a step begins, and by what: t, y, f: time, state and rate; J; `inside`: the step
    before; the method; tolerances, and the part of them at which the iteration ends."""

    t: float
    y: Array
    f: Array
    J: Any
    inside: Inside | None
    method: Method
    atol: Any
    rtol: Any
    newton_tol: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """Of a step: its stages Z, None where the iteration has not converged; iterations and their
    `contraction`; its error over the tolerance; the rate at its end where that is below 1."""

    Z: Array | None
    count: int
    contraction: float
    error: float = math.inf
    f: Array | None = None


class ByNumpy:
    """`rate` of a state, `rates` of several; what is done is counted in `counts`."""

    staged = 0

    def __init__(
        self,
        rate: Callable[[float, Array], Array],
        rates: Callable[[Array, Array], Array],
        counts: Counts,
    ):
        self._rate, self._rates, self._counts = rate, rates, counts
        self._solves: list[Solve] = []
        self._of: tuple[Any, ...] = (None, 0.0, None)  # J, step and method that they are for

    def attempt(self, at: Standing, end: float, again: bool) -> Attempt:
        """A step to `end`; its error is looked at `again` through the rates where it is large.

        Raises Singular where z / h - J cannot be factored."""
        h, method = end - at.t, at.method
        if self._of[0] is not at.J or self._of[1:] != (h, method.stages):
            self._of = None, 0.0, None
            self._counts.factorisations += len(method.shifts)
            self._solves = [shifted(at.J, z / h) for z in method.shifts]
            self._of = at.J, h, method.stages
        with np.errstate(over="ignore", invalid="ignore"):  # of stages that lead nowhere
            Z, count, contraction = self._stages(at, h)
            if Z is None:
                return Attempt(None, count, contraction)
            error = self._error(at, h, Z, again)
        f = self._rate(end, at.y + Z[-1]) if error < 1.0 else None
        return Attempt(Z, count, contraction, error, f)

    def _stages(self, at: Standing, h: float) -> tuple[Array | None, int, float]:
        method, scale = at.method, at.atol + at.rtol * np.abs(at.y)
        times, Z = at.t + h * method.c, _guess(at, h)
        last, left, contraction = 0.0, math.inf, 0.0
        for k in range(MOST):
            self._counts.iterations += 1
            F = self._rates(times, at.y + Z)
            change = self._change(method, h, h * (method.A @ F) - Z)
            size = norm(change, scale)
            if not math.isfinite(size):
                return None, k + 1, contraction
            if k > 0:
                theta = size / last
                contraction = theta if k == 1 else math.sqrt(theta * contraction)
                left = theta / (1.0 - theta) if theta < 1.0 else math.inf
                if theta >= 1.0 or left * size * theta ** (MOST - 2 - k) > at.newton_tol:
                    return None, k + 1, contraction
            Z = Z + change
            if size == 0.0 or left * size < at.newton_tol:
                return Z, k + 1, contraction
            last = size
        return None, MOST, contraction

    def _change(self, method: Method, h: float, defect: Array) -> Array:
        """dZ."""
        U = (method.shifts / h)[:, None] * (method.into @ defect)
        found = np.empty_like(U)
        found[0] = self._solves[0](U[0].real)
        for k in range(1, len(U)):
            found[k] = self._solves[k](U[k])
        return np.asarray((method.back @ found).real)

    def _error(self, at: Standing, h: float, Z: Array, again: bool) -> float:
        """Of the step, over the tolerance: below 1 where it is accepted."""
        method = at.method
        scale = at.atol + at.rtol * np.maximum(np.abs(at.y), np.abs(at.y + Z[-1]))
        embedded = (method.shifts[0].real / h) * (method.error @ Z)
        found = self._solves[0](at.f + embedded)
        error = norm(found, scale)
        if error >= 1.0 and again:
            found = self._solves[0](self._rate(at.t, at.y + found) + embedded)
            error = norm(found, scale)
        return error if math.isfinite(error) else math.inf


def _guess(at: Standing, h: float) -> Array:
    """Stages by the polynomial of the step before."""
    before, method = at.inside, at.method
    if before is None:
        return np.zeros((method.stages, len(at.y)))
    return before.beyond(1.0 + method.c * (h / before.h))


class Compiled:
    """The same for the first outputs of a program, a step in one call of a kernel."""

    def __init__(self, rate: Evaluator, n: int, counts: Counts):
        self._rate, self.counts, self._address = rate, counts, interpreter()
        names = ["y", "f", "atol", "rtol", "scale", "u_re", "u_im", "embedded", "row_re", "row_im"]
        self._vectors: dict[str, Any] = dict(zip(names, np.zeros((len(names), n)), strict=True))
        self._J, self._fill = np.zeros(0), NO_FILL
        self._places: tuple[Any, ...] = ()  # of the entries of a sparse J, by compressed columns
        self._steps: dict[int, Step] = {}
        self._of: tuple[Any, ...] = (None, 0.0, None)
        self.staged = 0

    def attempt(self, at: Standing, end: float, again: bool) -> Attempt:
        """As that of ByNumpy; pivots are chosen anew where those from before do not bear.

        Raises Singular where none do."""
        method, h = at.method, end - at.t
        fresh = self._of[0] is not at.J or self._of[1:] != (h, method.stages)
        self.counts.factorisations += len(method.shifts) if fresh else 0
        if self._of[0] is not at.J:
            self._take(at.J, method.shifts[0].real / h)
        said, step = self._said(at, end, again, fresh)
        if said == SINGULAR and not isinstance(at.J, np.ndarray):
            self._order(at.J, method.shifts[0].real / h)
            said, step = self._said(at, end, again, True)
        if said == SINGULAR:
            self._of = None, 0.0, None
            raise Singular
        count, contraction, error, more = step.found.tolist()
        self._of = at.J, h, method.stages
        self.counts.iterations += int(count)
        self.staged += int(count) * method.stages + int(more)
        if said != CONVERGED:
            return Attempt(None, int(count), contraction)
        f = step.f.copy() if error < 1.0 else None
        return Attempt(step.Z.copy(), int(count), contraction, error, f)

    def _said(self, at: Standing, end: float, again: bool, fresh: bool) -> tuple[int, Step]:
        """What the kernel says of a step, which holds all else."""
        step, before = self._step(at.method), at.inside
        step.y[:], step.f[:], step.atol[:], step.rtol[:] = at.y, at.f, at.atol, at.rtol
        K, part = NO_STEP_BEFORE, 0.0
        if before is not None:
            K, part = before.K, (end - at.t) / before.h
        how = int(fresh), int(again), at.newton_tol, part
        return attempt(self._address, step, K, at.t, end, *how), step

    def _take(self, J: Any, z: float) -> None:
        """Another Jacobian."""
        if isinstance(J, np.ndarray):
            if not self._J.size:
                self._J = np.zeros(J.size)
            self._J.reshape(J.shape)[:] = J.T
            return
        if self._is_ordered(J):
            self._J[:] = J.data
        else:
            self._order(J, z)

    def _is_ordered(self, J: Any) -> bool:
        """Whether the entries of a sparse J stand where those of the one before stood."""
        pairs = zip(self._places, (J.indices, J.indptr), strict=False)
        return bool(self._places) and all(np.array_equal(*pair) for pair in pairs)

    def _order(self, J: Any, z: float) -> None:
        """Pivots for z - J, J sparse.  Raises Singular."""
        self._fill, self._places = fill_of(J, z), (J.indices, J.indptr)
        self._J = J.data.copy()
        self._steps.clear()

    def _step(self, method: Method) -> Step:
        s, n = method.stages, len(self._vectors["y"])
        if s not in self._steps:
            m = len(method.shifts)
            parts = {"shifts": method.shifts, "into": method.into, "back": method.back}
            names = ("Z", "F", "defect", "change")
            given: dict[str, Any] = dict(zip(names, np.zeros((len(names), s, n)), strict=True))
            for name, part in parts.items():
                given |= {f"{name}_re": part.real.copy(), f"{name}_im": part.imag.copy()}
            size = len(self._fill.column) or n * n
            given |= dict(zip(("re", "im"), np.zeros((2, m * size)), strict=True))
            given |= {"pivots": np.zeros((m, n), dtype=np.int64), "found": np.zeros(4)}
            given |= {"c": method.c, "A": method.A, "error": method.error}
            given |= {"rate": self._rate.reader, "fill": self._fill, "J": self._J}
            self._steps[s] = Step(**self._vectors, **given)
        return self._steps[s]
