"""Collocation at Radau's points with 3, 5 or 7 stages: orders 5, 9 and 13, stiffly accurate.

Stages x + Z of a step h from (t, x) solve Z = h A F(Z) (`collocation`), by Newton's iteration with
one Jacobian J for all of them,

    (1 - h A x J) dZ = h A F(Z) - Z,

which the eigenvectors of A^-1 cut into a real and s // 2 complex systems (z / h - J) dU = z / h U
of the size of x.  The right side is the defect itself: rounding of the eigenvectors leaves no trace
in the result.  J is that of the middle of a step, as the polynomial of the one before foretells it,
and kept until the iterations that its age costs are more work than itself.

The error is that of a formula of order s, through (1 - h / z_0 J)^-1, which makes it as small in
stiff directions as it is there; steps follow it with the controller of K. Gustafsson (ACM Trans.
Math. Softw. 20, 1994), and get no longer than the iteration converges for.  There are more stages
where the error sets their length, fewer where the iteration does.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8; J. Comput. Appl. Math. 111
(1999) 93.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.simulate.steppers.beginning import TOO_SMALL, first_step
from vbg.simulate.steppers.implicit.collocation import Inside, radau
from vbg.simulate.steppers.implicit.ending import DENSE, MOST
from vbg.simulate.steppers.implicit.forgetting import BRIEF, SOON, is_forgotten
from vbg.simulate.steppers.implicit.iteration import Attempt, ByNumpy, Compiled
from vbg.simulate.steppers.implicit.shifted import Singular, columns
from vbg.simulate.steppers.rounding import newton_end
from vbg.simulate.steppers.work import Counts

Array = NDArray[np.float64]

STAGES = (3, 5, 7)
EPS = float(np.finfo(float).eps)
FEW = 2  # that it takes in any case
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0  # of the step from its error
KEPT = 1.2  # factor up to which a step keeps its length, and with it the factors of its matrices
ASKED = 0.5  # contraction that a new Jacobian is to give
NEARER = (0.1, 0.5)  # factor of a step that a new Jacobian does not converge for
WORTH = 0.5  # stages of superfluous iterations that cost as much as a column of a Jacobian
LONGER = 1.25  # steps that a Jacobian is tried for, of those that the one before was fit for
MORE, FEWER = 0.5, 2.0  # step by its error, over that by the iteration, for more or fewer stages
LOOSE = 1e-5  # relative tolerance from which on three stages stay: more damp fast waves, which such
# steps stir up, less
LEAST_ERROR = 1e-2  # that the controller remembers


class Implicit:
    """t, y, f: where it stands, and the rate there; t_old: where the last step began; h_abs:
    length of the next one; J: the Jacobian that it works with; newton_tol: part of the tolerance
    at which Newton's iteration ends.  Otherwise as scipy's solvers."""

    def __init__(
        self,
        rate: Callable[[float, Array], Array],
        rates: Callable[[Array, Array], Array],
        jacobian: Callable[[float, Array], Any],
        t: float,
        y: Array,
        t_bound: float,
        *,
        max_step: float,
        rtol: Any,
        atol: Any,
        counts: Counts | None = None,
        newton: Compiled | None = None,
    ):
        """`rate(t, y)` of one state, `rates(times, states)` of several, as rows; `jacobian(t, y)`,
        dense or sparse; `counts` goes on counting what is done; `newton`: compiled steps of the
        same rates, where there are some.

        Raises ZeroDivisionError where the Jacobian has no value, here and in `step`."""
        self._rate, self._jacobian = rate, jacobian
        self.counts = Counts() if counts is None else counts
        self.t, self.y, self.t_bound, self.t_old = float(t), np.array(y, dtype=float), t_bound, t
        self.rtol, self.atol, self.max_step = rtol, atol, max_step
        self.newton_tol = newton_end(rtol)
        self.status = "running"
        self.f: Array = rate(self.t, self.y)
        self.method = radau(STAGES[0])
        scale, span = atol + rtol * np.abs(self.y), self.t_bound - self.t
        order = self.method.stages + 1
        self.h_abs = first_step(rate, self.t, self.y, self.f, span, scale, order)
        self.inside: Inside | None = None
        self._before: tuple[float, float] | None = None  # length and error of the step before
        self._count, self._contraction = 0, 0.0  # of the last iteration
        self._lives = math.inf  # steps that a Jacobian is fit for
        self._reach = math.inf  # length of a step for which a new one contracts as asked
        self._renew()
        self._by_numpy = ByNumpy(rate, rates, self.counts)
        large = isinstance(self.J, np.ndarray) and len(self.y) > DENSE
        self._newton: ByNumpy | Compiled = self._by_numpy if newton is None or large else newton
        self._before_this = self._newton.staged

    @property
    def staged(self) -> int:
        """Rates that `newton` has evaluated."""
        return self._newton.staged - self._before_this

    def _renew(self, h: float = 0.0) -> None:
        """The Jacobian in the middle of the step h ahead, or where it stands if it has no value
        there."""
        found, before = None, self.inside
        if before is not None and h > 0.0:
            half = min(0.5 * min(h, self.t_bound - self.t), before.h)
            ahead = self.y + before.beyond(np.array([1.0 + half / before.h]))[0]
            found = self._finite_jacobian(self.t + half, ahead)
        if found is None:
            found = self._finite_jacobian(self.t, self.y)
        if found is None:
            raise ZeroDivisionError
        self.J = found
        self._age, self._spent = 0, 0

    def _finite_jacobian(self, t: float, y: Array) -> Any:
        """None where it has no value."""
        self.counts.jacobians += 1
        try:
            J = self._jacobian(t, y)
        except ZeroDivisionError:
            return None
        values = J if isinstance(J, np.ndarray) else J.data
        return J if np.isfinite(values).all() else None

    def step(self) -> str | None:
        """One accepted step, or why there is none: then the status is "failed"."""
        before = self.t
        if len(self.y) == 0 or before == self.t_bound:
            self.t = self.t_bound
        else:
            message = self._accepted()
            if message is not None:
                self.status = "failed"
                return message
        self.t_old = before
        if self.t >= self.t_bound:
            self.status = "finished"
        return None

    def dense_output(self) -> Inside:
        """The state inside the last step."""
        if self.inside is None or self.inside.begin != self.t_old:
            return Inside(self.t_old, 1.0, self.y, np.zeros((1, len(self.y))), self.y)
        return self.inside

    def _accepted(self) -> str | None:
        t = self.t
        spacing = math.nextafter(t, math.inf) - t
        shortest = 10.0 * spacing
        h = min(max(self.h_abs, shortest), self.max_step)
        again = False
        while h >= shortest:
            end = min(t + h, self.t_bound)
            h = end - t
            found = self._attempt(end, again or self._before is None)
            self._count, self._contraction = found.count, found.contraction
            if found.Z is None and self._age > 0:
                self._lives = float(self._age)
                self._renew(h)
                continue
            if found.Z is None and self.inside is not None:
                # a polynomial of the step before magnifies what its tolerance left of stiff modes
                self.inside = None
                self._renew()
                continue
            if found.Z is None:
                least, most = NEARER
                h *= min(most, max(least, ASKED / max(self._contraction, EPS)))
                self._reach, again = h, True
                continue
            if found.f is not None:
                self._accept(end, h, found.Z, found.f, found.error, again)
                return None
            if h < BRIEF * spacing and self._is_forgotten(end, h, found.Z, SOON * spacing):
                f = self._rate(end, self.y + found.Z[-1])
                self._accept(end, h, found.Z, f, 1.0, again)
                return None
            h *= max(LEAST_FACTOR, self._safe(found.error))
            again = True
        return TOO_SMALL

    def _attempt(self, end: float, again: bool) -> Attempt:
        for newton in (self._newton, self._by_numpy):  # whose pivots bear any matrix
            with suppress(Singular):
                return newton.attempt(self, end, again)
        return Attempt(None, 0, 0.0)

    def _is_forgotten(self, end: float, h: float, Z: Array, soon: float) -> bool:
        """Whether what the step errs by is gone before the time can tell."""
        y = self.y + Z[-1]
        ahead = self._finite_jacobian(end, y)
        if ahead is None:
            return False
        scale = self.atol + self.rtol * np.maximum(np.abs(self.y), np.abs(y))
        return is_forgotten(self.method, h, self.f, Z, self.J, ahead, soon, scale)

    def _safe(self, error: float) -> float:
        """Factor of the step that would err by a little less than the tolerance."""
        safety = SAFETY * (2 * MOST + 1) / (2 * MOST + self._count)
        power = -1.0 / (self.method.stages + 1)
        return float(safety * error**power) if error > 0.0 else MOST_FACTOR

    def _accept(self, end: float, h: float, Z: Array, f: Array, error: float, again: bool) -> None:
        factor = self._safe(error)
        if self._before is not None and error > 0.0:
            length, was = self._before
            factor *= min(1.0, h / length * (was / error) ** (1.0 / (self.method.stages + 1)))
        factor = min(1.0 if again else MOST_FACTOR, max(LEAST_FACTOR, factor))
        start, t = self.y, self.t
        self.t, self.y = end, start + Z[-1]
        self.inside = Inside(t, h, start, self.method.inverse @ Z, self.y)
        self._before = h, max(error, LEAST_ERROR)
        self.f = f
        reach = h * ASKED / self._contraction if self._contraction > 0.0 else math.inf
        self._reach = reach if self._age == 0 else max(self._reach, reach)
        changed = self._choose_stages(h * factor)
        if 1.0 <= factor < KEPT and not changed:
            factor = 1.0
        self.h_abs = min(h * factor, max(h, self._reach))
        self._grow_older()

    def _grow_older(self) -> None:
        """Another Jacobian for the next step, if this one has served long enough."""
        self._age += 1
        self._spent += self.method.stages * max(0, self._count - FEW)
        if self._age >= self._lives:
            self._lives *= LONGER
            self._renew(self.h_abs)
        elif self._spent > WORTH * columns(self.J):
            self._renew(self.h_abs)

    def _choose_stages(self, length: float) -> bool:
        """Whether another number of stages is better for steps that are to have this length by
        their error."""
        place = STAGES.index(self.method.stages)
        if length < MORE * self._reach:
            place = min(place + 1, len(STAGES) - 1 if np.max(self.rtol) < LOOSE else 0)
        elif length > FEWER * self._reach:
            place = max(place - 1, 0)
        if STAGES[place] == self.method.stages:
            return False
        self.method, self._before = radau(STAGES[place]), None
        return True
