"""DOP853 that reports a singular posture instead of creeping up to it, and that does not
trust its polynomial between the ends of a step where that leaves the motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from vbg.plumbing.dormand_prince import END
from vbg.simulate.steppers.beginning import TOO_SMALL
from vbg.simulate.steppers.beginning import first_step as beginning
from vbg.simulate.steppers.dormand_prince import Pieces, Polynomial, inside_still


class Step(Protocol):
    """What makes a step, as `Compiled` does."""

    K: Any
    x: Any
    end: Any
    atol: Any
    rtol: Any
    staged: int

    def attempt(self, t: float, h: float) -> tuple[float, float]: ...
    def polynomial(self, t: float, h: float) -> Polynomial | None: ...
    def unwatched(self) -> Step: ...


FLOOR = 1e-2  # a step this small, relative to the largest so far, is not due to the motion
NEAR = 1e5  # condition above which a posture counts as nearly singular
TINY = 1e-4  # a step this small is not halved
PIECES = 8  # into which a step is cut whose polynomial leaves the motion
MOST_RATES = 400  # for all pieces together: beyond that the model is stiff
HIGHEST = (4 / 7) ** 4 * (3 / 7) ** 3  # of s^4 (1 - s)^3, what the last term goes with, in a step
RESOLVED = 1e-7  # of an integral that begins in a step: less than any audit asks for
BESIDE = 1e4  # condition at the end of a step that lies beside a singular posture, at least
CLOSER = 30.0  # times smaller at the beginning of the step: it is still too far away to leap
HALVED = 110.0  # error norm that makes DOP853 halve its step: 0.9 norm^(-1/8)
GROWN = 1e3  # times the least condition of the run: links without mass always have a large one
GRIP = 0.03  # of a row, of its length, below which its posture is singular and not its links light
LOOSER = 0.1  # the same where steps have become small: they begin further from the posture
DOUBLES = 4  # steps behind one that was a tenth of what it should have been, until they are as long

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10.0  # of the step from its error
ERROR_ORDER = 8  # the error of a step goes with h^8


class NearSingularPosture(Exception):
    """The step shrinks only because the constraint matrix is nearly singular."""


class EndsBesideSingularPosture(Exception):
    """A step that error control accepts ends where the rate is not to be trusted."""


class StrayStages(Exception):
    """The stages that only the polynomial needs leave the motion, in the step from (t, x)."""

    def __init__(self, t: float, x: Any):
        super().__init__(f"stages stray behind t = {t:.6g} s")
        self.t, self.x = t, x


class SteadyDOP853:
    """The method of order 8 of Dormand and Prince (E. Hairer, S. Norsett, G. Wanner, Solving
    ODEs I, II.5) that raises NearSingularPosture where error control follows a singular posture.

    The motion through such a posture is smooth, but the rate beside the constraint
    manifold is not: a velocity residual c of the stages makes the acceleration err by
    c / theta^2 at the distance theta.  Steps would shrink to zero with theta.  A step that
    ends beside such a posture is halved until it begins beside it, too, and then raises
    EndsBesideSingularPosture, as long as it `watches`; `beside` is the condition that says so.
    The condition has masses in it: where a light link makes it large, `weak(t, y, grip)` says
    whether geometry, too, leaves some row with less than that share of its length.

    t, y, f: where it stands, and the rate there; t_old: where the last step began; h_abs: length
    of the next one; `maker` makes steps.  Otherwise as scipy's solvers.
    """

    def __init__(
        self,
        fun: Callable[[float, Any], Any],
        t0: float,
        y0: ArrayLike,
        t_bound: float,
        *,
        step: Step,
        first_step: float | None = None,
        weak: Callable[[float, Any, float], bool] = lambda t, y, grip: True,
        max_step: float = math.inf,
        rtol: Any = 1e-3,
        atol: Any = 1e-6,
    ):
        self.fun, self.maker, self._weak = fun, step, weak
        self.t, self.t_bound = float(t0), t_bound
        self.y: Any = np.array(y0, dtype=float)
        self.rtol, self.atol, self.max_step = rtol, atol, max_step
        self.status = "running"
        self.t_old, self.h_previous = self.t, 0.0
        self._largest, self._least, self._last = 0.0, math.inf, 1.0
        self.watches, self.beside = True, BESIDE
        self._doubles = 0  # steps that are at most twice as long as the one before
        self.f: Any = fun(self.t, self.y)
        scale = self.atol + np.abs(self.y) * self.rtol
        span = self.t_bound - self.t
        of = self.fun, self.t, self.y, self.f, span, scale
        self.h_abs = (
            min(beginning(*of, ERROR_ORDER), self.max_step) if first_step is None else first_step
        )

    def step(self) -> str | None:
        """One accepted step, or why there is none: then the status is "failed"."""
        before = self.t
        message = None
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

    def go_back(self, t: float, y: Any, f: Any, length: float) -> None:
        """To (t, y) with the rate f, where the last step began: the next one is of this length."""
        self.t = self.t_old = t
        self.y, self.f, self.h_abs, self.status = y, f, length, "running"
        self._doubles = DOUBLES

    @property
    def staged(self) -> int:
        """Rates of all stages so far."""
        return self.maker.staged

    def _accepted(self) -> str | None:
        t, step = self.t, self.maker
        shortest = 10.0 * (math.nextafter(t, math.inf) - t)
        size = min(max(self.h_abs, shortest), self.max_step)
        grows = MAX_FACTOR if self._doubles == 0 else 2.0
        step.x[:], step.K[0] = self.y, self.f
        step.atol[:], step.rtol[:] = self.atol, self.rtol
        while True:
            if size < shortest:
                return TOO_SMALL
            t_new = min(t + size, self.t_bound)
            h = size = t_new - t
            norm = self._judged(*step.attempt(t, h), t_new, h)
            factor = SAFETY * norm ** (-1.0 / ERROR_ORDER) if norm > 0.0 else MAX_FACTOR
            if norm < 1.0:
                break
            size *= max(MIN_FACTOR, factor)
            grows = 1.0
        self.h_previous = h
        self._doubles = max(self._doubles - 1, 0)
        self.t, self.y, self.f = t_new, step.end.copy(), step.K[END].copy()
        self.h_abs = size * min(grows, factor)
        return None

    def _judged(self, norm: float, condition: float, t: float, size: float) -> float:
        """The error norm of a step of this size to t, or what halves it."""
        if not math.isfinite(norm):
            return math.inf  # a stage left the domain of the rate: a shorter step
        if norm < 1.0:
            beside = max(self.beside, GROWN * self._least)
            if self.watches and condition > beside and self._weak(t, self.maker.end, GRIP):
                if CLOSER * self._last < beside and size > TINY * self._largest:
                    return HALVED
                raise EndsBesideSingularPosture
            self._last = condition
            self._least = min(self._least, condition)
            self._largest = max(self._largest, size)
        elif (
            size <= FLOOR * self._largest
            and condition > NEAR
            and self._weak(self.t, self.y, LOOSER)
        ):
            raise NearSingularPosture
        return norm

    def dense_output(self) -> Polynomial:
        """The state inside the last step.  Raises StrayStages where that is not to be trusted
        (`Compiled.polynomial`)."""
        if self.t == self.t_old or len(self.y) == 0:
            return inside_still(self.t_old, self.y)
        found = self.maker.polynomial(self.t_old, self.h_previous)
        if found is None:
            raise StrayStages(self.t_old, self.maker.x.copy())
        return found


def between_ends(solver: Any, sums: Sequence[int] = ()) -> Callable[[float], Any]:
    """The state inside the last step of `solver`: its polynomial, or where that leaves the
    motion, or one of the `sums` begins in the step (`_begins`), those of shorter steps from the
    same beginning.

    Raises StrayStages where the polynomial leaves the motion and these do, too, or take more than
    MOST_RATES.
    """
    try:
        inside: Callable[[float], Any] = solver.dense_output()
    except StrayStages as stray:
        pieces = _in_pieces(solver, stray.t, stray.x)
        if pieces is None:
            raise
        return pieces
    if isinstance(inside, Polynomial) and len(sums) > 0 and _begins(inside, solver.y, sums):
        return _in_pieces(solver, inside.begin, inside.x) or inside
    return inside


def _begins(inside: Polynomial, end: Any, sums: Sequence[int]) -> bool:
    """Whether the integrals of the rate at the places `sums` are of this step alone, and known
    there to no more than RESOLVED of themselves.

    A machine that sets out from rest takes up energy with a high power of time, t^8 under a
    torque that grows with t^3.  Of what is far below its tolerance a first step may be as long
    as it likes: its end is right, but a polynomial of order 7 misses 1e-4 of t^8 inside, however
    short the step is.  Its last term says by how much.
    """
    before, after = (max(abs(x[i]) for i in sums) for x in (inside.x, end))
    if not after > 2.0 * before:
        return False
    return HIGHEST * max(abs(inside.F[-1, i]) for i in sums) > RESOLVED * after


def _in_pieces(solver: SteadyDOP853, t: float, x: Any) -> Pieces | None:
    """The last step of the solver, which began at (t, x), in shorter ones; None where one of them
    fails, strays, or all take more than MOST_RATES."""
    longest = (solver.t - solver.t_old) / PIECES
    settings = {"max_step": longest, "rtol": solver.rtol, "atol": solver.atol}
    step = solver.maker.unwatched()
    inner = SteadyDOP853(solver.fun, t, x, solver.t, step=step, **settings)
    ends: list[float] = []
    pieces: list[Polynomial] = []
    while inner.status == "running":
        inner.step()
        if inner.status == "failed" or inner.staged > MOST_RATES:
            return None
        ends.append(inner.t)
        try:
            pieces.append(inner.dense_output())
        except StrayStages:
            return None
    solver.maker.staged += inner.staged
    return Pieces(ends, pieces)
