"""Steps of Dormand and Prince's pair of order 8 with errors of orders 5 and 3, and dense output.

J. R. Dormand, P. J. Prince, J. Comp. Appl. Math. 6 (1980) 19; E. Hairer, S. P. Norsett,
G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), II.5 (step size, error
estimate) and II.6 (dense output of order 7).  All stages of a step are one call of a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vbg.plumbing.dormand_prince import DENSE, ERROR_3, ERROR_5, NODES, TABLEAU
from vbg.tmm_bridge.kernels.entries import errors
from vbg.tmm_bridge.kernels.stages import STAGES, Rules
from vbg.tmm_bridge.mechanism.mechanism import NoInertia

if TYPE_CHECKING:
    from vbg.tmm_bridge.motion.rate.plant import Plant

Array = np.ndarray[Any, Any]

SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 10.0  # of the factor between two steps
HELPED = 0.8  # of an error, at most left of it by a step that was made shorter for it, 0.43 or less
ASTRAY = 30.0  # tolerances that a polynomial may miss the motion by: 27 beside accuracy, 80 and
# more where stability sets the steps
SHORTEST = 1e3  # first step, in instants that t tells apart
PARTS = 6  # steps in the place of one whose polynomial does not follow them


def dormand_prince(n: int) -> tuple[Rules, Array]:
    """The rules for n states, and the weights of dense output (4, 16)."""
    rules = Rules(TABLEAU, NODES, ERROR_3, ERROR_5, np.zeros(n), np.zeros(1))
    return rules, DENSE


@dataclass
class Stepper:
    """An integration from (t, y) up to `end`, step by step; f is the rate at (t, y).

    `absolute` is the tolerance of every state, as it is given (`loosened` is 1).
    """

    plant: Plant
    t: float
    y: Array
    end: float
    rtol: float
    absolute: Array
    loosened: float = 1.0
    f: Array = field(init=False)
    h: float = field(init=False)
    _rules: Rules = field(init=False)
    _weights: Array = field(init=False)
    _K: Array = field(init=False)
    _before: tuple[float, Array, float] = field(init=False)
    _rough: bool = False

    def __post_init__(self) -> None:
        self._rules, self._weights = dormand_prince(len(self.y))
        self._K = np.zeros((STAGES + 4, len(self.y)))
        self.f = self.plant.rate(self.t, self.y)
        self.h = self._first_step()

    def _first_step(self) -> float:
        """Hairer, Norsett, Wanner, II.4: a step whose error at order 1 is small.

        It is a guess, which rejections make shorter, and none that t cannot tell: behind a jump a
        state is nothing beside its slope (the work of 1 nV beside the power of 1 GV), and 1e-6 s
        are none where t is 1e12 s.
        """

        def norm(x: Array) -> float:
            return float(np.sqrt(np.mean((x / scale) ** 2)))

        scale = self.absolute + self.rtol * np.abs(self.y)
        size, slope = norm(self.y), norm(self.f)
        h = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
        h = min(h, self.end - self.t)
        bend = norm(self.plant.rate(self.t + h, self.y + h * self.f) - self.f) / h
        steepest = max(slope, bend)
        longer = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** 0.125
        h = min(100.0 * h, longer, self.end - self.t)
        return max(h, SHORTEST * float(np.spacing(abs(self.t))))

    @property
    def begun(self) -> float:
        """Where the last step began."""
        return self._before[0]

    def step(self) -> str:
        """One accepted step; otherwise why there is none.  Raises NoInertia."""
        rules, K = self._rules, self._K
        largest, tried = LARGEST, np.inf
        K[0] = self.f
        while True:
            if not self.h > 10.0 * np.spacing(abs(self.t)):
                return "the step size became too small for the numbers"
            h = left = self.end - self.t
            if self.h < left:
                h = (self.t + self.h) - self.t  # as long as the time that it takes
            try:
                self.plant.stages(self.t, h, self.y, K, rules, (1, STAGES + 1))
            except NoInertia:  # a trial state far away, as long as a shorter step has none
                if h < 1e3 * np.spacing(abs(self.t)):
                    raise
                self.h, largest = SMALLEST * h, 1.0
                continue
            error = tried = self._error(h, tried)
            factor = SAFETY * error**-0.125 if error > 0.0 else LARGEST
            if error < 1.0:
                break
            self.h = h * (max(SMALLEST, factor) if np.isfinite(error) else SMALLEST)
            largest = 1.0
        self._before = (self.t, self.y, h)
        self.t = self.end if h == left else self.t + h
        self.y, self.f = rules.at.copy(), K[STAGES].copy()
        self.h = h * min(largest, max(SMALLEST, factor))
        return ""

    def _error(self, h: float, before: float) -> float:
        """The error of the step just tried over the tolerance; `before` that of a longer one.

        Where a shorter step does not help it is the rounding of the rate, as of a stiff
        spring's force, that is too large: no step is better than that.  Elsewhere rounding
        excuses nothing, fast motions have a thousand times as much of it as slow ones.
        """
        rules, K = self._rules, self._K
        limits = self.y, rules.at, self.rtol
        errors(K, rules, h, *limits, self.absolute)
        error = float(rules.error[0])
        if not 1.0 <= error < np.inf or not (self._rough or error > HELPED * before):
            self._rough &= error >= 1.0
            return error
        noise = self.plant.noise(self.t, self.y, self.f)
        errors(K, rules, h, *limits, self.absolute + h * noise)
        error = float(rules.error[0])
        self._rough = error < 1.0
        return error

    def back_to(self, t: float) -> None:
        """Take the last step again, only up to t."""
        self.t, self.y, _ = self._before
        self.f = self._K[0].copy()
        self.end, self.h = t, t - self.t

    def dense(self) -> Dense | Pieces:
        """The polynomial of the last step; those of `PARTS` shorter steps through the same time
        where it does not follow the equations of motion: a step whose length is set by the
        stability of a fast decay is right at its ends alone.  The shorter ones have to arrive
        where the step did: beside a singular posture one look, or one stage, says nothing.  Where
        they do not it may also be that what begins inside the step has been missed: that stages
        behind a contact were thrown out of it by the first, and weigh nothing.
        Raises NoInertia."""
        t, y, h = self._before
        whole = self._polynomial(t, self.t, y, self.y)
        if self._rough or self._astray(whole) <= ASTRAY:
            return whole
        K, end, parts = self._K.copy(), t, []
        for part in range(1, PARTS + 1):
            begin, end = end, self.t if part == PARTS else t + h * part / PARTS
            stages = (begin, end - begin, y, self._K, self._rules, (1, STAGES + 1))
            self.plant.stages(*stages)
            after = self._rules.at.copy()
            parts.append(self._polynomial(begin, end, y, after))
            y, self._K[0] = after, self._K[STAGES]
        self._K[:] = K
        scale = self.absolute + self.rtol * np.maximum(np.abs(y), np.abs(self.y))
        arrived = float(np.sqrt(np.mean(((y - self.y) / scale) ** 2))) <= ASTRAY
        return Pieces(tuple(parts)) if arrived else replace(whole, follows=False)

    def _polynomial(self, t: float, end: float, y: Array, after: Array) -> Dense:
        """Of the step from (t, y) to (end, after) whose stages are in K."""
        h, K = end - t, self._K
        self.plant.stages(t, h, y, K, self._rules, (STAGES + 1, STAGES + 4))
        moved = after - y
        F = [moved, h * K[0] - moved, 2.0 * moved - h * (K[0] + K[STAGES])]
        return Dense(t, end, y, np.array([*F, *(h * (self._weights @ K))]))

    def _astray(self, dense: Dense) -> float:
        """By how many tolerances a third of the way rate and slope differ, times the step."""
        x, h = 1.0 / 3.0, dense.t - dense.t_old
        misses = h * self.plant.rate(dense.t_old + x * h, dense.at(x)) - dense.slope(x)
        scale = self.absolute + self.rtol * np.maximum(np.abs(dense.y), np.abs(self.y))
        return float(np.sqrt(np.mean((misses / scale) ** 2)))


@dataclass(frozen=True)
class Dense:
    """A step's state at any time in it: y + x (F0 + (1 - x) (F1 + x (F2 + ...))); whether it is
    known to follow the equations of motion there."""

    t_old: float
    t: float
    y: Array
    F: Array
    follows: bool = True

    def __call__(self, t: float | Array) -> Array:
        """The state at t, or a row for each of several instants."""
        return self.at(np.asarray((t - self.t_old) / (self.t - self.t_old))[..., None])

    def at(self, x: float | Array) -> Array:
        """The same at the part x of the step."""
        total = np.zeros((*np.shape(x)[:-1], len(self.y)))
        for i in range(len(self.F) - 1, -1, -1):
            total = (total + self.F[i]) * (x if i % 2 == 0 else 1.0 - x)
        states: Array = self.y + total
        return states

    def slope(self, x: float) -> Array:
        """The derivative by x."""
        total, slope = np.zeros(len(self.y)), np.zeros(len(self.y))
        for i in range(len(self.F) - 1, -1, -1):
            total = total + self.F[i]
            slope = slope * x + total if i % 2 == 0 else slope * (1.0 - x) - total
            total = total * (x if i % 2 == 0 else 1.0 - x)
        return slope


class Piece(Protocol):
    """The motion up to t."""

    @property
    def t(self) -> float:
        """Where it ends."""

    def __call__(self, t: float | Array) -> Array:
        """The state at t, or a row for each of several instants."""


@dataclass(frozen=True)
class Pieces:
    """Steps behind one another, as one."""

    steps: tuple[Piece, ...]

    @property
    def t(self) -> float:
        """The end of the last one."""
        return self.steps[-1].t

    def __call__(self, t: float | Array) -> Array:
        """The state at t, or a row for each of several instants."""
        if isinstance(t, float):
            return next((s for s in self.steps if t <= s.t), self.steps[-1])(t)
        return np.array([self(float(one)) for one in t])
