"""Steps of Radau IIA with five stages, order 9, for motions with fast modes that die out.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8, and
Stiff differential equations solved by Radau methods, J. Comp. Appl. Math. 111 (1999) 93.
The stages y + z_i solve  z_i = h sum_j A_ij f(t + c_j h, y + z_j)  by Newton's method with
one Jacobian, in the eigenvectors of A^-1: one real and two complex systems of n equations.
The nodes are those of Radau's quadrature, A integrates the polynomials through them.  The
error is estimated by an embedded formula of order 5, which is why tolerances are widened to
0.1 rtol^(3/5) as Hairer and Wanner do: the result is far better than its estimate.  Steps end
at given marks, so that no polynomial stands between a step and an output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vbg.plumbing.one_thread import load_scipy_on_one_thread
from vbg.tmm_bridge.mechanism.mechanism import NoInertia

if TYPE_CHECKING:
    from vbg.tmm_bridge.motion.rate.plant import Plant

Array = np.ndarray[Any, Any]

STAGES = 5
NEWTON = 10  # iterations of Newton's method before the step is halved
CLOSER = 0.5  # by the last iteration but one; else the Jacobian may be that of a steeper law: of a
# stop that was left, in whose place changes are nothing and the motion stands still
SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 8.0  # of the factor between two steps
LEAST = 1e-150  # [s]: of a shorter step the inverse has no square
SHORT, MOMENT = 1e4, 1e6  # distances of two numbers at t: what is told of a step, and when
KEPT = 1.2  # a step that could grow by less keeps its size, and its factored matrices


class Rule(NamedTuple):
    """Nodes c, A, its inverse's eigenvalues (the real one first, one of each complex pair)
    with vectors T (s, 3) and rows of the inverse (3, s), weights `embedded` of the z in the
    error."""

    c: Array
    A: Array
    values: Array
    vectors: Array
    inverse: Array
    embedded: Array


def radau_rule(s: int = STAGES) -> Rule:
    """Radau's nodes are the zeros of d^(s-1)/dx^(s-1) [x^(s-1) (x - 1)^s] in (0, 1]."""
    from numpy.polynomial import Polynomial

    x = Polynomial([0.0, 1.0])
    zeros = (x ** (s - 1) * (x - 1.0) ** s).deriv(s - 1).roots()
    c = np.sort(np.real(zeros))
    c[-1] = 1.0
    powers = np.arange(1, s + 1)
    V = c[:, None] ** (powers - 1)
    A = (c[:, None] ** powers / powers) @ np.linalg.inv(V)
    values, vectors = np.linalg.eig(np.linalg.inv(A))
    order = np.argsort(np.abs(values.imag))
    keep = [k for k in order if values[k].imag >= -1e-9]
    rows = np.linalg.inv(vectors)
    gamma = 1.0 / values[keep[0]].real
    first = np.zeros(s)
    first[0] = -gamma
    embedded = np.linalg.solve(V.T, first) @ np.linalg.inv(A)
    return Rule(c, A, values[keep], vectors[:, keep], rows[keep], embedded)


def decayed(J: Array, duration: float, w: Array) -> Array:
    """w after w' = J w over a duration [s]: steps of Euler's implicit method, so short that what
    grows grows, by squares of the first one's matrix.  NaN where J has no value."""
    size = duration * float(np.abs(J).sum(axis=1).max(initial=0.0))
    if not np.isfinite(size):
        return np.full_like(w, np.nan)
    doublings = max(0, int(np.ceil(np.log2(size + 1e-300))) + 2)
    step = np.linalg.inv(np.eye(len(w)) - duration / 2.0**doublings * J)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(doublings):
            step = step @ step
        left: Array = step @ w
    return left


def displaced(c: Array, z: Array, x: Array) -> Array:
    """Displacements at the fractions x of a step: 0 at 0, z_i at c_i."""
    nodes = np.concatenate([[0.0], c])
    weights = np.array(
        [
            np.prod((x[:, None] - others) / (nodes[i] - others), axis=1)
            for i in range(1, len(nodes))
            for others in [np.delete(nodes, i)]
        ]
    )
    values: Array = weights.T @ z
    return values


def _size(x: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(x**2)))


@dataclass
class StiffStepper:
    """An integration from (t, y) up to `end`, step by step; f is the rate at (t, y).

    `absolute` is the tolerance of every state, kept `loosened` times as large; `marks` are
    ascending times at which steps end.
    """

    plant: Plant
    t: float
    y: Array
    end: float
    rtol: float
    absolute: Array
    marks: Array
    h: float
    f: Array = field(init=False)
    loosened: float = field(init=False)
    _rule: Rule = field(init=False)
    _J: Array | None = None
    _factored: tuple[float, list[Any]] | None = None
    _before: tuple[float, Array, float] = field(init=False)
    _noise: Array = field(init=False)
    _z: Array | None = None
    _missed: Array = field(init=False)
    _begins: bool = True
    _growth: float = LARGEST

    def __post_init__(self) -> None:
        load_scipy_on_one_thread()
        self._rule = radau_rule()
        widened = 0.1 * self.rtol ** ((STAGES + 1) / (2 * STAGES))
        self.loosened = widened / self.rtol
        self.absolute = self.absolute * self.loosened
        self.rtol = widened
        self.f = self.plant.rate(self.t, self.y)
        self._noise = self.plant.noise(self.t, self.y, self.f)

    @property
    def begun(self) -> float:
        """Where the last step began."""
        return self._before[0]

    def step(self) -> str:
        """One accepted step; otherwise why there is none.  Raises NoInertia."""
        rejected, fresh = False, self._J is None
        while True:
            if not self.h > max(10.0 * np.spacing(abs(self.t)), LEAST):
                return "the step size became too small for the numbers"
            h, landing = self._next()
            if self._J is None:
                self._J = self._differentiated(self.t, self.y, self.f)
                fresh = True
            # differences at the beginning may be across the contact that was just left
            found = self._stages(h, fresh and not self._begins)
            if found is None:
                if fresh:
                    self.h = 0.5 * h
                    self._growth = 1.0
                self._J, self._factored = None, None
                continue
            z, iterations = found
            error = self._error(h, z, rejected)
            safety = SAFETY * (2 * NEWTON + 1) / (2 * NEWTON + iterations)
            factor = safety * error ** (-1.0 / (STAGES + 1)) if error > 0.0 else LARGEST
            if error < 1.0 or self._dies_at_once(h, z):
                break
            rejected = True
            self.h = h * max(SMALLEST, factor)
        self._accept(h, landing, z)
        self._renew(iterations, h, factor, rejected)
        return ""

    def _next(self) -> tuple[float, float]:
        """Length of the next step and where it ends."""
        k = int(np.searchsorted(self.marks, self.t, side="right"))
        target = min(self.end, float(self.marks[k])) if k < len(self.marks) else self.end
        left = target - self.t
        if left <= self.h * (1.0 + 1e-9):
            return left, target
        # two equal steps rather than a long and a tiny one
        h = 0.5 * left if left < 2.0 * self.h else self.h
        return h, self.t + h

    def _accept(self, h: float, landing: float, z: Array) -> None:
        self._before = (self.t, self.y, h)
        self._z = z
        self.t, self.y = landing, self.y + z[-1]
        self.f = self.plant.rate(self.t, self.y)

    def _renew(self, iterations: int, h: float, factor: float, rejected: bool) -> None:
        """The size of the next step; a Jacobian that no longer serves is forgotten."""
        factor = min(1.0 if rejected else self._growth, max(SMALLEST, factor))
        self._growth = min(LARGEST, 1.2 * self._growth)
        # a step cut short by a mark says nothing against the length before it
        grown = max(h * factor, self.h if h < self.h and factor >= 1.0 else 0.0)
        self.h = h if 1.0 <= factor < KEPT and h >= self.h else grown
        if iterations > 4 or self._begins:
            self._J, self._factored = None, None
        self._begins = False

    def _dies_at_once(self, h: float, z: Array) -> bool:
        """Whether an error that was just found in a short step is below the tolerance MOMENT
        instants on: t tells instants apart by their distance, and what diodes end in a leak
        lasts hardly longer."""
        instant = float(np.spacing(abs(self.t)))
        if h > SHORT * instant:
            return False
        end, y = self.t + h, self.y + z[-1]
        try:
            J = self._differentiated(end, y, self.plant.rate(end, y))
        except NoInertia:  # there, though not where the step begins: the step is too long
            return False
        scale = self.absolute + self.rtol * np.maximum(np.abs(self.y), np.abs(y))
        left = decayed(J, MOMENT * instant, self._missed)
        return _size(left / scale) < 1.0

    def _differentiated(self, t: float, y: Array, f: Array) -> Array:
        """The Jacobian of the rate at (t, y), where it is f, by differences along the motion, which
        stay away from the stop that it has just left, or where they are larger than the state away
        from zero: 1e-20 A back through a diode is a current that it blocks.  Modes stand still and
        have no column."""
        size = np.maximum(np.maximum(np.abs(y), self.h * np.abs(f)), self.plant.typical)
        small = 1.5e-8 * size
        ahead = (np.abs(y) > 2.0 * small) & (f != 0.0)
        steps = y + np.copysign(small, np.where((y == 0.0) | ahead, f, y)) - y
        going = np.delete(np.arange(len(y)), self.plant.discrete)
        moved = np.diag(steps)[going]
        slopes = np.zeros((len(y), len(y)))
        rates = self.plant.rates(t, np.zeros(len(going)), y, moved)
        slopes[:, going] = ((rates - f) / steps[going, None]).T
        return slopes

    def _matrices(self, h: float) -> list[Any]:
        """Factors of values / h - J."""
        from scipy.linalg.lapack import zgetrf

        assert self._J is not None
        if self._factored is None or self._factored[0] != h:
            one = np.eye(len(self.y))
            made = [zgetrf(v / h * one - self._J)[:2] for v in self._rule.values]
            self._factored = (h, made)
        return self._factored[1]

    def _solve(self, factors: Any, right: Array) -> Array:
        """The solution of a factored system."""
        from scipy.linalg.lapack import zgetrs

        found: Array = zgetrs(*factors, right)[0]
        return found

    def _guess(self, h: float) -> Array:
        """The stages on the polynomial of the last step."""
        if self._z is None or self._before[0] + self._before[2] < self.t - 1e-9 * h:
            return np.zeros((STAGES, len(self.y)))
        ahead = 1.0 + self._rule.c * h / self._before[2]
        return displaced(self._rule.c, self._z, ahead) - self._z[-1]

    def _stages(self, h: float, sure: bool) -> tuple[Array, int] | None:
        """z (s, n) and how many iterations it took; None where Newton's method fails.  With a
        Jacobian that is `sure` to be that of the law at y, what comes no closer is rounding."""
        rule, made = self._rule, self._matrices(h)
        scale = self.absolute + h * self._noise + self.rtol * np.abs(self.y)
        enough = max(1e-15 / self.rtol, min(0.03, self.rtol**0.5))
        z = self._guess(h)
        last, rate, miss = 0.0, 0.0, np.full(len(self.y), np.inf)
        for k in range(1, NEWTON + 1):
            F = self._rates(h, z)
            if not np.isfinite(F).all():
                return None
            before, miss = miss, np.abs((z - h * rule.A @ F) / scale).max(axis=0)
            right = rule.inverse @ F - (rule.values / h)[:, None] * (rule.inverse @ z)
            change = np.zeros_like(z)
            for i, factors in enumerate(made):
                solved = self._solve(factors, right[i])
                change += (1 if i == 0 else 2) * np.real(np.outer(rule.vectors[:, i], solved))
            change[:, self.plant.discrete] = 0.0  # rounding: a mode of 1e-40 is another than 0
            z += change
            size = _size(change / scale)
            if k > 1:
                rate = size / last
                left = NEWTON - k
                if rate >= 0.99 and size < enough and self._misses(h, z, scale) < enough:
                    return z, k  # stages on both sides of a jump, that near it
                if rate >= 0.99 or rate**left / (1.0 - rate) * size > enough:
                    return None
            settled = size == 0.0 or (k > 1 and rate / (1.0 - rate) * size < enough)
            if settled and (miss <= np.maximum(1.0 if sure else enough, CLOSER * before)).all():
                return z, k
            last = size
        return None

    def _misses(self, h: float, z: Array, scale: Array) -> float:
        """How far z is from h A f: where the Jacobian is that of a steeper law (a diode that
        blocks, and conducts at the stages) iterations change next to nothing far from there."""
        return _size((z - h * self._rule.A @ self._rates(h, z)) / scale)

    def _rates(self, h: float, z: Array) -> Array:
        """Rates at the stages, NaN where an iteration went astray."""
        try:
            return self.plant.rates(self.t, self._rule.c * h, self.y, z)
        except NoInertia:
            return np.full_like(z, np.nan)

    def _error(self, h: float, z: Array, rejected: bool) -> float:
        """Estimate over the tolerance: (v / h - J)^-1 (f + v / h sum embedded_i z_i)."""
        factors = self._matrices(h)[0]
        along = (self._rule.values[0].real / h) * (self._rule.embedded @ z)
        largest = np.maximum(np.abs(self.y), np.abs(self.y + z[-1]))
        scale = self.absolute + h * self._noise + self.rtol * largest
        found = self._solve(factors, self.f + along).real
        size = _size(found / scale)
        if size >= 1.0 and (rejected or self._z is None):
            again = self._rates(0.0, found[None, :].repeat(STAGES, axis=0))[0]
            found = self._solve(factors, again + along).real
            size = _size(found / scale)
        self._missed = found
        return size if np.isfinite(size) else 1e10

    def back_to(self, t: float) -> None:
        """Take the last step again, only up to t."""
        begun, y, _ = self._before
        self.t, self.y, self.f = begun, y, self.plant.rate(begun, y)
        self.end, self.h, self._z = t, t - begun, None

    def dense(self) -> Collocation:
        """The polynomial of the last step."""
        begun, y, _ = self._before
        assert self._z is not None
        return Collocation(begun, self.t, y, self._rule.c, self._z)


@dataclass(frozen=True)
class Collocation:
    """A step's state at any time in it: the polynomial of degree 5 through its stages, which moved
    the state y by z (s, n) at the nodes c."""

    t_old: float
    t: float
    y: Array
    c: Array
    z: Array

    def __call__(self, t: float | Array) -> Array:
        """The state at t, or a row for each of several instants."""
        x = np.atleast_1d((np.asarray(t) - self.t_old) / (self.t - self.t_old))
        states: Array = self.y + displaced(self.c, self.z, x)
        return states if np.ndim(t) else states[0]
