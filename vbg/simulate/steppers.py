"""Integrators behind one small face: step, state, dense output, restart.

The adaptive methods are scipy's; a fixed-step Runge-Kutta runs in compiled code.
A stepper never knows what it integrates; `run` moves its state onto the
constraints between steps through `reset`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rate = Callable[[float, Array], Array]


class Stepper(Protocol):
    """t, x: where the integration stands; `step()` makes one accepted step and
    returns a sentence if it could not; `between(t)` is the state inside that step;
    `reset(x)` goes on from another state (`restart` where the motion has a kink)."""

    t: float
    x: Array
    t_before: float
    rates: int

    def step(self) -> str | None: ...
    def between(self, t: float) -> Array: ...
    def reset(self, x: Array) -> None: ...
    def restart(self, t: float, x: Array) -> None: ...


class Adaptive:
    """A scipy OdeSolver: DOP853 or Radau."""

    def __init__(
        self,
        kind: str,
        rate: Rate,
        t: float,
        x: Array,
        t_end: float,
        rtol: float,
        atol: float,
        jacobian: Callable[[float, Array], Array] | None,
        max_step: float,
    ):
        self._make = lambda t0, x0, first: _solver(
            kind, self._counted, t0, x0, t_end, rtol, atol, jacobian, max_step, first
        )
        self._rate = rate
        self.rates = 0
        self._dense: Any = None
        self._solver = self._make(t, x, None)
        self.t, self.x, self.t_before = t, x, t

    def _counted(self, t: float, x: Array) -> Array:
        self.rates += 1
        return self._rate(t, x).copy()

    def step(self) -> str | None:
        self._dense = None
        message = self._solver.step()
        if self._solver.status == "failed":
            return str(message)
        self.t, self.x, self.t_before = self._solver.t, self._solver.y, self._solver.t_old
        if not np.all(np.isfinite(self.x)):
            return "The state is not finite any more."
        return None

    def between(self, t: float) -> Array:
        if self._dense is None:
            self._dense = self._solver.dense_output()
        return np.asarray(self._dense(t))

    def reset(self, x: Array) -> None:
        self.x = x
        self._solver.y = x
        if hasattr(self._solver, "f"):
            self._solver.f = self._counted(self.t, x)

    def restart(self, t: float, x: Array) -> None:
        self._dense = None
        self.t, self.x, self.t_before = t, x, t
        self._solver = self._make(t, x, None)


def _solver(
    kind: str,
    rate: Rate,
    t: float,
    x: Array,
    t_end: float,
    rtol: float,
    atol: float,
    jacobian: Callable[[float, Array], Array] | None,
    max_step: float,
    first: float | None,
) -> Any:
    from scipy.integrate import DOP853, Radau

    common = {"rtol": rtol, "atol": atol, "first_step": first, "max_step": max_step}
    if kind == "radau":
        return Radau(rate, t, x, t_end, jac=jacobian, **common)
    return DOP853(rate, t, x, t_end, **common)


class FixedStep:
    """Classical Runge-Kutta of order 4 with the step `h`, in compiled code."""

    def __init__(self, evaluator: Any, t: float, x: Array, t_end: float, h: float):
        self._evaluator = evaluator
        self._t_end, self._h = t_end, h
        self._before = x.copy()
        self.t, self.x, self.t_before = t, x.copy(), t
        self.rates = 0

    def step(self) -> str | None:
        from vbg.assemble.machine import rk4_step

        h = min(self._h, self._t_end - self.t)
        if self._t_end - (self.t + h) < 1e-9 * self._h:
            h = self._t_end - self.t
        e = self._evaluator
        p = e.program
        self._before = self.x.copy()
        first = next(iter(p.outputs.values()))[0]
        rk4_step(
            e.work, p.segments, p.operands, p.factors, p.stream, first, self.t, h, self.x
        )
        self.t_before, self.t = self.t, self.t + h
        self.rates += 4
        return None if np.all(np.isfinite(self.x)) else "The state is not finite any more."

    def between(self, t: float) -> Array:
        """Cubic Hermite inside the step."""
        h = self.t - self.t_before
        s = (t - self.t_before) / h if h > 0.0 else 1.0
        if s >= 1.0:
            return self.x.copy()
        f0 = self._evaluator(self.t_before, self._before).copy()
        f1 = self._evaluator(self.t, self.x).copy()
        x0, x1 = self._before, self.x
        return (
            (1 + 2 * s) * (1 - s) ** 2 * x0
            + s * s * (3 - 2 * s) * x1
            + h * s * (1 - s) * ((1 - s) * f0 - s * f1)
        )

    def reset(self, x: Array) -> None:
        self.x = x

    def restart(self, t: float, x: Array) -> None:
        self.t, self.x, self.t_before = t, x.copy(), t
        self._before = x.copy()
