"""Signals that depend on the motion: expressions, controllers, filters.

Functions of time alone are those of `timefunctions`; everything else is a closure over
the instant being solved.  PID: K. Astrom, T. Hagglund, Advanced PID Control, 2006, ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.expressions import Binary, Call, Expression, Name, Unary
from vbg.expressions import Number as Literal
from vbg.tmm_bridge.formulas.characteristics import Curve, pieces_of, surface_of
from vbg.tmm_bridge.formulas.tape import FUNCTIONS, OPERATIONS, Number, least, most
from vbg.tmm_bridge.formulas.timefunctions import Break
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.onedim.laws.working import Output, Value, Working


def closure(node: Expression, lookup: Callable[[str], Value]) -> Value:
    """The value of an expression as a function of the instant; `lookup` explains its names."""
    match node:
        case Literal(value):
            return lambda w: value
        case Name(name):
            return lookup(name)
        case Unary(operand):
            inner = closure(operand, lookup)
            return lambda w: -inner(w)
        case Binary(operator, left, right):
            a, b, apply = closure(left, lookup), closure(right, lookup), OPERATIONS[operator]
            return lambda w: apply(a(w), b(w))
        case Call(function, arguments):
            f = FUNCTIONS[function]
            inside = [closure(argument, lookup) for argument in arguments]
            return lambda w: f(*(value(w) for value in inside))


@dataclass(frozen=True)
class Held:
    """The value of an input at the last of the instants first, first + period, ...: a state that
    stands still between them."""

    input: Value
    state: int
    clock: Break

    def act(self, w: Working) -> None:
        w.rates[self.state] = 0.0

    def outputs(self) -> Iterator[Output]:
        return iter(())

    def value(self, w: Working) -> Number:
        """What is held."""
        return w.x[self.state]

    def due(self, early: float, late: float) -> bool:
        """Whether the clock strikes between two times."""
        first, period = self.clock
        n = max(0, round((late - first) / period))
        return early <= first + n * period <= late


def within(value: Number, lower: float | None, upper: float | None) -> Number:
    """value between the bounds that are given."""
    value = value if lower is None else most(value, lower)
    return value if upper is None else least(value, upper)


def weighted(weights: Any, values: Sequence[Number]) -> Number:
    """Sum of weight times value, without those that weigh nothing."""
    total: Number = 0.0
    for weight, value in zip(weights, values, strict=True):
        if weight:
            total = total + float(weight) * value
    return total


@dataclass(frozen=True)
class StateOf:
    """What a controller keeps, as a signal."""

    place: int

    def value(self, w: Working) -> Number:
        """The state."""
        return w.x[self.place]


def places_of(name: str, count: int) -> tuple[str, ...]:
    """The outputs that are the places of a vector."""
    return (name,) if count == 1 else tuple(f"{name}[{i}]" for i in range(count))


@dataclass(frozen=True)
class PID:
    """kp e + integral + kd (e - filtered) / filter within bounds, back-calculation against
    windup; states -1 where a part is missing."""

    demand: Value
    measured: Value
    gains: tuple[float, float, float]
    filter: float
    bounds: tuple[float | None, float | None]
    tracking: float
    filtered: int
    integral: int

    def wanted(self, w: Working) -> tuple[Number, Number]:
        """(error, output without bounds)."""
        kp, _, kd = self.gains
        error = self.demand(w) - self.measured(w)
        value = kp * error
        if self.filtered >= 0:
            value += kd / self.filter * (error - w.x[self.filtered])
        if self.integral >= 0:
            value += w.x[self.integral]
        return error, value

    def value(self, w: Working) -> Number:
        """The output."""
        return within(self.wanted(w)[1], *self.bounds)

    def act(self, w: Working) -> None:
        error, wanted = self.wanted(w)
        if self.filtered >= 0:
            w.rates[self.filtered] = (error - w.x[self.filtered]) / self.filter
        if self.integral >= 0:
            excess = (within(wanted, *self.bounds) - wanted) / self.tracking
            w.rates[self.integral] = self.gains[1] * error + excess

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Distance from each bound."""
        wanted = self.wanted(w)[1]
        return tuple(wanted - bound for bound in self.bounds if bound is not None)

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class Limiter:
    """An input between two bounds."""

    input: Value
    lower: float
    upper: float

    def value(self, w: Working) -> Number:
        """The output."""
        return within(self.input(w), self.lower, self.upper)

    def act(self, w: Working) -> None:
        """Nothing: it has no state."""

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Distance from each bound."""
        value = self.input(w)
        return value - self.lower, value - self.upper

    def outputs(self) -> Iterator[Output]:
        return iter(())


@dataclass(frozen=True)
class Characteristic:
    """y = f(x), a piecewise cubic."""

    input: Value
    starts: Array
    pieces: Array
    kinks: Sequence[float]

    @classmethod
    def of(cls, part: Any, read: Value) -> Characteristic:
        """The curve of a part that reads `read`."""
        x, y = np.array(part.rows).T
        return cls(read, *pieces_of(x, y, part.interpolation, part.outside), bent(part, x))

    def value(self, w: Working) -> Number:
        """The output."""
        return w.tape.curve(self.input(w), self.starts.tolist(), self.pieces)

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Distance from each knot with a kink."""
        value = self.input(w)
        return tuple(value - knot for knot in self.kinks)


@dataclass(frozen=True)
class Patches:
    """z = f(x, y), a sum of products of curves."""

    x: Value
    y: Value
    products: Sequence[tuple[Curve, Curve]]
    kinks: tuple[Sequence[float], Sequence[float]]

    @classmethod
    def of(cls, part: Any, x: Value, y: Value) -> Patches:
        """The surface of a part that reads `x` and `y`."""
        if part.points is None:
            lines = np.array(part.x_values), np.array(part.y_values)
            z = np.array(part.rows)
        else:
            at = {(x, y): value for x, y, value in part.points}
            lines = np.array(sorted({x for x, _ in at})), np.array(sorted({y for _, y in at}))
            z = np.array([[at[x, y] for y in lines[1].tolist()] for x in lines[0].tolist()])
        products = surface_of(*lines, z, part.interpolation, part.outside)
        return cls(x, y, products, (bent(part, lines[0]), bent(part, lines[1])))

    def value(self, w: Working) -> Number:
        """The output."""
        x, y = self.x(w), self.y(w)
        return weighted(
            np.ones(len(self.products)),
            [_drawn(w, x, across) * _drawn(w, y, along) for across, along in self.products],
        )

    def changes(self, w: Working) -> tuple[Number, ...]:
        """Distance from each line with a kink."""
        return tuple(
            value - line
            for value, lines in zip((self.x(w), self.y(w)), self.kinks, strict=True)
            for line in lines
        )


def _drawn(w: Working, value: Number, curve: Curve) -> Number:
    return w.tape.curve(value, curve[0].tolist(), curve[1])


def bent(part: Any, lines: Array) -> Sequence[float]:
    """Of the knots of a characteristic those at which its slope jumps."""
    if part.interpolation == "linear":
        return [float(line) for line in lines]
    return (float(lines[0]), float(lines[-1])) if part.outside == "hold" else ()


@dataclass(frozen=True)
class LinearSystem:
    """x' = A x + B u, value = C x + D u."""

    inputs: tuple[Value, ...]
    A: Array
    B: Array
    C: Array
    D: Array
    state: int

    def value(self, w: Working) -> Number:
        """The output."""
        direct = [(gain, u) for gain, u in zip(self.D, self.inputs, strict=True) if gain]
        x = w.x[self.state : self.state + len(self.A)]
        return weighted(self.C, x) + weighted([g for g, _ in direct], [u(w) for _, u in direct])

    def act(self, w: Working) -> None:
        n = len(self.A)
        x = w.x[self.state : self.state + n]
        u = [value(w) for value in self.inputs] if n else []
        for i in range(n):
            w.rates[self.state + i] = weighted(self.A[i], x) + weighted(self.B[i], u)

    def outputs(self) -> Iterator[Output]:
        return iter(())


def companion(numerator: Sequence[float], denominator: Sequence[float]) -> tuple[Array, ...]:
    """(A, B, C, D) of numerator(s) / denominator(s), controllable canonical form."""
    order = len(denominator) - 1
    a = np.array(denominator[1:], dtype=float) / denominator[0]
    b = np.zeros(order + 1)
    b[order + 1 - len(numerator) :] = np.array(numerator, dtype=float) / denominator[0]
    A = np.eye(order, k=-1)
    A[:1] = -a
    return A, np.eye(order, 1), b[1:] - b[0] * a, b[:1]


def dead_time(order: int) -> tuple[list[float], list[float]]:
    """Numerator and denominator of the diagonal Pade fraction of exp(-s), s in units of the dead
    time: c_k = (2n - k)! / (k! (n - k)!), alternating signs above."""
    from math import factorial as f

    n = order
    c = [f(2 * n - k) / (f(k) * f(n - k)) for k in range(n + 1)]
    return [(-1.0) ** k * c[k] for k in range(n, -1, -1)], c[::-1]
