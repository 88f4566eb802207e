"""A unit of Model Exchange, integrated between communications in its own process.

x' = f(t, x, u) by DOP853, or by Radau once a span has taken too many steps; events are state
events (indicators that change sign, found on the dense output), time events and step events.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.fmi.interface import REALS, Access, Slopes, Values, loaded

Array = NDArray[np.float64]

STIFF = 300  # steps between two communications from which on they are implicit
MOST_STEPS = 100_000  # in one span
MOST_EVENTS = 1000  # in one span, or in one iteration
ATOL = 1e-2  # of the relative tolerance, times each state's nominal value
DISCARD = 2  # status of both versions
LOOKS = 4  # places of a step at which indicators are looked at


class ModelExchange:
    """See `vbg.fmi.interface.Unit`."""

    def __init__(self, job: Mapping[str, Any], folder: str):
        self._job, self._version = job, job["version"]
        self._nx, self._nz = job["states"], job["indicators"]
        self._fmu = loaded(job, folder, "Model")
        self._fmu.instantiate()
        self._access = Access(self._fmu, self._version)
        self._reals = [n for n, (kind, _, _) in enumerate(_spread(job["inputs"])) if kind in REALS]
        self._method = "DOP853"
        self._next = np.inf  # time event
        self._line: tuple[float, Array] = (0.0, np.zeros((1, 0)))  # inputs, their derivatives

    def begin(self, u: Values) -> None:
        self._access.begin(self._job, u)
        self._update()
        self._fmu.enterContinuousTimeMode()

    def set(self, u: Values) -> None:
        """Inputs that jump are an event."""
        if u:
            self._event(u)

    def outputs(self) -> Values:
        return self._access.get(self._job["outputs"])

    def step(self, t: float, h: float, u: Values, slopes: Slopes) -> None:
        end, events = t + h, 0
        self._line = t, np.array([u, *slopes])
        while t < end - 1e-12 * max(end, h):
            t, happened = self._integrated(t, min(end, max(self._next, t)))
            if happened or t >= self._next - 1e-12 * max(end, h):
                self._event([])
                events += 1
            if events > MOST_EVENTS:
                raise RuntimeError(f"more than {MOST_EVENTS} events before t = {end:g} s")

    def _event(self, u: Values) -> None:
        self._fmu.enterEventMode()
        if u:
            self._access.set(self._job["inputs"], u)
        self._update()
        self._fmu.enterContinuousTimeMode()

    def _update(self) -> None:
        update = (
            self._fmu.newDiscreteStates if self._version == 2 else self._fmu.updateDiscreteStates
        )
        for _ in range(MOST_EVENTS):
            again, ends, _, _, defined, at = update()
            if ends:
                raise RuntimeError("it asks to end the simulation")
            self._next = at if defined else np.inf
            if not again:
                return
        raise RuntimeError("its discrete states are updated without end")

    def _integrated(self, t: float, end: float) -> tuple[float, bool]:
        """Up to `end`, or to the first event; the time there, and whether there was one."""
        from scipy import integrate

        if self._nx == 0:
            self._put(end, np.zeros(0))
            return end, self._completed()
        x, signs = self._states(), np.sign(self._indicators(t, self._states()))
        rtol = max(self._job["tolerance"], 1e-12)
        given = {"rtol": rtol, "atol": ATOL * rtol * self._nominals()}
        solver = getattr(integrate, self._method)(self._rate, t, x, end, **given)
        for steps in range(MOST_STEPS):
            if solver.status != "running":
                return float(solver.t), False
            if steps == STIFF and self._method == "DOP853":
                self._method = "Radau"
                solver = integrate.Radau(self._rate, solver.t, solver.y, end, **given)
            told = solver.step()
            if solver.status == "failed":
                raise RuntimeError(f"its integration stopped at t = {solver.t:g} s: {told}")
            root = self._root(solver, signs)
            if root is not None:
                self._put(root, solver.dense_output()(root))
                self._completed()
                return root, True
            self._put(float(solver.t), solver.y)
            if self._completed():
                return float(solver.t), True
        raise RuntimeError(f"more than {MOST_STEPS} steps before t = {end:g} s")

    def _root(self, solver: Any, signs: Array) -> float | None:
        """Just behind the first place of the last step at which an indicator changes its sign."""
        if self._nz == 0:
            return None
        dense, before = solver.dense_output(), float(solver.t_old)
        for after in np.linspace(before, float(solver.t), LOOKS + 1)[1:]:
            if self._changed(after, dense(after), signs):
                while after - before > 4e-16 * max(abs(after), 1e-3):
                    middle = 0.5 * (before + after)
                    if not before < middle < after:
                        break
                    if self._changed(middle, dense(middle), signs):
                        after = middle
                    else:
                        before = middle
                return float(after)
            before = float(after)
        return None

    def _changed(self, t: float, x: Array, signs: Array) -> bool:
        now = np.sign(self._indicators(t, x))
        return bool(np.any((now != signs) & (signs != 0.0)))

    def _completed(self) -> bool:
        """Whether the unit wants an event behind the step that was put."""
        wants, ends = self._fmu.completedIntegratorStep()
        if ends:
            raise RuntimeError("it asks to end the simulation")
        return bool(wants)

    def _put(self, t: float, x: Array) -> None:
        self._fmu.setTime(t)
        begin, derivatives = self._line
        if len(derivatives) > 1:
            now = derivatives[0].copy()
            for k, row in enumerate(derivatives[1:], 1):
                now[self._reals] += row[self._reals] * (t - begin) ** k / factorial(k)
            self._access.set(self._job["inputs"], now.tolist())
        if self._nx:
            self._fmu.setContinuousStates((ctypes.c_double * self._nx)(*x), self._nx)

    def _rate(self, t: float, x: Array) -> Array:
        """x'; not a number where the unit discards the trial, which makes the step shorter."""
        self._put(t, x)
        fmu = self._fmu
        try:
            get = fmu.getDerivatives if self._version == 2 else fmu.getContinuousStateDerivatives
            return self._row(get, self._nx)
        except Exception as error:
            if getattr(error, "status", None) != DISCARD:
                raise
            return np.full(self._nx, np.nan)

    def _indicators(self, t: float, x: Array) -> Array:
        self._put(t, x)
        return self._row(self._fmu.getEventIndicators, self._nz) if self._nz else np.zeros(0)

    def _states(self) -> Array:
        return self._row(self._fmu.getContinuousStates, self._nx)

    def _nominals(self) -> Array:
        return np.abs(self._row(self._fmu.getNominalsOfContinuousStates, self._nx))

    @staticmethod
    def _row(get: Any, size: int) -> Array:
        values = (ctypes.c_double * size)()
        get(values, size)
        return np.array(values)


def _spread(places: Any) -> list[Any]:
    return [place for place in places for _ in range(place[2])]
