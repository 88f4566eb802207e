"""The unknowns of a network by Newton's method, instant by instant."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbg.tmm_bridge.cuts import point_motion
from vbg.tmm_bridge.onedim.mechanical import JOINT, PAIR
from vbg.tmm_bridge.onedim.network import Network, balance
from vbg.tmm_bridge.onedim.working import Working
from vbg.tmm_bridge.rotation import Array
from vbg.tmm_bridge.tables import Scratch

STEP = 1e-7  # of a forward difference, relative to the unknown's size
EXACT = 1e-13  # relative change of the unknowns that counts as none
SLOW = 0.1  # contraction of two steps above which the Jacobian is renewed
MOST = 300


class NoBalance(ArithmeticError):
    """The unknowns of the network were not found; carries the time."""

    def __init__(self, t: float):
        self.t = t
        super().__init__(f"t = {t}")


@dataclass
class NetworkRun:
    """A network with the instant it stands at; the unknowns of the last instant start the
    next search, and its Jacobian serves as long as it contracts."""

    network: Network
    w: Working = field(init=False)
    _solver: Any = None

    def __post_init__(self) -> None:
        self.w = self.network.working()

    def motion(self, s: Scratch) -> None:
        """Take coordinates and distances from a mechanism whose posture was just found."""
        w = self.w
        for i, shaft in enumerate(self.network.shafts):
            if shaft.kind == JOINT:
                w.positions[i] = float(s.coordinate[shaft.place, 0])
                w.speeds[i] = float(s.coordinate[shaft.place, 1])
            elif shaft.kind == PAIR:
                pair = self.network.pairs[shaft.place]
                pa, va = point_motion(s.work, pair.nodes[0], *pair.first)
                pb, vb = point_motion(s.work, pair.nodes[1], *pair.second)
                d = [b - a for a, b in zip(pa, pb, strict=True)]
                size = float(np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]))
                w.positions[i] = size
                w.speeds[i] = sum(e * (b - a) for e, a, b in zip(d, va, vb, strict=True)) / size

    def solve(self, t: float, x: Array) -> None:
        """Everything at (t, x).  Where a law has no value or the balance no solution, as in a
        step that is too long, rates and efforts are NaN: error control shortens the step."""
        w = self.w
        w.t, w.x = t, x.tolist()
        # after a wild trial step the last unknowns may lead nowhere: then from rest
        for guess in (list(w.z), [0.0] * len(w.z)):
            w.z[:] = guess
            try:
                self._search()
            except (ArithmeticError, ValueError):
                self._solver = None
                w.z[:] = [0.0] * len(w.z)
            else:
                return
        w.rates[:] = [math.nan] * len(w.rates)
        w.efforts[:] = [math.nan] * len(w.efforts)

    def _search(self) -> None:
        """The unknowns at (t, x).  Raises NoBalance, or what a law outside its domain raises."""
        w = self.w
        balance(self.network, w)
        if not w.z:
            return
        last = np.inf
        for _ in range(MOST):
            if self._solver is None:
                self._solver = self._linearised()
            size = self._apply(self._solver(w.residual))
            if not np.isfinite(size):
                raise NoBalance(w.t)
            # the next step would be smaller by as much as this one was
            if size <= EXACT or size * size <= EXACT * last < np.inf:
                return
            if size > SLOW * last:
                self._solver = None
            last = size
        raise NoBalance(w.t)

    def _apply(self, step: Array) -> float:
        """Take a step and evaluate; its size relative to the unknowns."""
        w = self.w
        size = 0.0
        for k, change in enumerate(step.tolist()):
            w.z[k] += change
            size = max(size, abs(change) / (abs(w.z[k]) + self.network.scales[k]))
        balance(self.network, w)
        return size

    def _linearised(self) -> Any:
        """Solver of J step = -residual, J by forward differences with rows of equal size."""
        w, n = self.w, len(self.w.z)
        balance(self.network, w)
        base, z = np.array(w.residual), list(w.z)
        J = np.zeros((n, n))
        for k in range(n):
            h = STEP * (abs(z[k]) + self.network.scales[k])
            w.z[k] = z[k] + h
            balance(self.network, w)
            J[:, k] = (np.array(w.residual) - base) / (w.z[k] - z[k])
            w.z[k] = z[k]
        balance(self.network, w)
        columns = np.array(self.network.scales)
        rows = np.abs(J * columns).max(axis=1)
        if not np.isfinite(base).all() or not np.isfinite(J).all() or not rows.all():
            raise NoBalance(w.t)
        inverse = columns[:, None] * np.linalg.inv(J * columns / rows[:, None]) / rows
        return lambda residual: -(inverse @ np.array(residual))

    def switch(self, *, first: bool) -> Array:
        """The state at the instant that was solved with the modes that hold from there on."""
        w = self.w
        for friction in self.network.frictions:
            friction.stop(w, first=first)
        if self.network.frictions:
            self.solve(w.t, np.array(w.x))
        for friction in self.network.frictions:
            friction.release(w)
        return np.array(w.x)

    def fill(self, inputs: Array) -> None:
        """Put efforts of shafts and values of signals among the mechanism's inputs."""
        for place, shaft, sign in self.network.efforts:
            inputs[place] = sign * self.w.efforts[shaft]
        for place, value in self.network.feeds:
            inputs[place] = value(self.w)

    def changes(self) -> list[float]:
        """What changes sign at the kinks of the laws, at the instant that was solved."""
        return [value for _, _, read in self.network.changes for value in read(self.w)]

    def outputs(self) -> list[float]:
        """All outputs at the instant that was solved."""
        return [read(self.w) for _, _, read in self.network.outputs]
