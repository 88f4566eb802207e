"""Inputs of the embedded solver as functions of time, with two derivatives for drives."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vbg.elements.signals.chirp import Chirp
from vbg.elements.signals.expression import Expression as SignalExpression
from vbg.elements.signals.gain import Gain
from vbg.elements.signals.pulse import Pulse
from vbg.elements.signals.ramp import Ramp
from vbg.elements.signals.sine import Sine
from vbg.elements.signals.step import Step
from vbg.elements.signals.sum import Sum
from vbg.elements.signals.table import Table
from vbg.errors import UsageError
from vbg.expressions import Expression, derivative, evaluate, names, parse, substitute
from vbg.model import Model

Rates = Callable[[float], tuple[float, float, float]]


@dataclass(frozen=True)
class TimeFunction:
    """f, f', f'' at a time; `breaks` are the instants where one of them jumps."""

    rates: Rates
    breaks: tuple[float, ...] = ()

    def value(self, t: float) -> float:
        """f(t)."""
        return self.rates(t)[0]


def constant(value: float) -> TimeFunction:
    """f = value."""
    return TimeFunction(lambda t: (value, 0.0, 0.0))


def of_expression(text: str, parameters: Mapping[str, float]) -> TimeFunction:
    """An expression of `t` and the parameters.

    Raises UsageError if it names anything else.
    """
    node = parse(text)
    strange = sorted(names(node) - set(parameters) - {"t"})
    if strange:
        raise UsageError(
            f"The embedded solver knows functions of time only; '{text}' also uses"
            f" {', '.join(strange)}. Replay the effort that the other solver recorded."
        )
    return of_tree(_with_parameters(node, parameters))


def _with_parameters(node: Expression, parameters: Mapping[str, float]) -> Expression:
    return substitute(node, {name: parameters[name] for name in names(node) if name in parameters})


def of_tree(node: Expression) -> TimeFunction:
    """A syntax tree whose only name is `t`."""
    first = derivative(node, "t")
    second = derivative(first, "t")
    if "t" not in names(node):
        return constant(evaluate(node, {}))

    def rates(t: float) -> tuple[float, float, float]:
        at = {"t": t}
        return evaluate(node, at), evaluate(first, at), evaluate(second, at)

    return TimeFunction(rates)


def function_of(model: Model, value: float | str) -> TimeFunction:
    """A field of the model that may be a number, a signal's name or an expression of `t`.

    An expression may also name signals that are functions of time themselves.
    Raises UsageError for what depends on the motion.
    """
    if not isinstance(value, str):
        return constant(float(value))
    if value in model.signals:
        return of_signal(model, value)
    named = names(parse(value)) & set(model.signals)
    if named:
        return _mixed(model, value, sorted(named))
    return of_expression(value, model.parameters)


def _mixed(model: Model, text: str, named: list[str]) -> TimeFunction:
    """An expression of t and of signals, by the chain rule in t and the signals."""
    node = _with_parameters(parse(text), model.parameters)
    signals = {name: of_signal(model, name) for name in named}
    every = ("t", *named)
    strange = sorted(names(node) - set(every))
    if strange:
        raise UsageError(f"'{text}' depends on {', '.join(strange)}, which is no function of time.")
    first = {x: derivative(node, x) for x in every}
    second = {(x, y): derivative(first[x], y) for x in every for y in every}

    def rates(t: float) -> tuple[float, float, float]:
        inner = {"t": (t, 1.0, 0.0), **{name: f.rates(t) for name, f in signals.items()}}
        at = {x: values[0] for x, values in inner.items()}
        slope = sum(evaluate(first[x], at) * inner[x][1] for x in every)
        bend = sum(evaluate(first[x], at) * inner[x][2] for x in every)
        bend += sum(evaluate(second[x, y], at) * inner[x][1] * inner[y][1] for x, y in second)
        return evaluate(node, at), slope, bend

    breaks = tuple(b for f in signals.values() for b in f.breaks)
    return TimeFunction(rates, breaks)


def of_signal(model: Model, name: str) -> TimeFunction:
    """The signal `name` of the model if it is a function of time.

    Raises UsageError for feedback and filters: their value depends on the motion
    or on states of their own.
    """
    match model.signals[name]:
        case Step() as part:
            return _pieces([(-math.inf, part.offset), (part.start, part.offset + part.height)])
        case Ramp() as part:
            return _ramp(part)
        case Sine() as part:
            return _sine(part)
        case Chirp() as part:
            return _chirp(part)
        case Pulse() as part:
            return _pulse(part)
        case Table() as part:
            return _table(part)
        case SignalExpression() as part:
            return function_of(model, part.expression)
        case Gain() as part:
            return _weighted([(part.k, function_of(model, part.input))])
        case Sum() as part:
            weights = part.weights or (1.0,) * len(part.inputs)
            inner = [function_of(model, value) for value in part.inputs]
            return _weighted(list(zip(weights, inner, strict=True)))
    raise UsageError(
        f"signals.{name}: a {model.signals[name].kind} is no function of time alone; the embedded"
        " solver replays what it drives."
    )


def _pieces(steps: list[tuple[float, float]]) -> TimeFunction:
    """Piecewise constant: (from, value), each value behind its instant."""

    def rates(t: float) -> tuple[float, float, float]:
        value = steps[0][1]
        for start, level in steps[1:]:
            value = level if t > start else value
        return value, 0.0, 0.0

    return TimeFunction(rates, tuple(start for start, _ in steps[1:]))


def _ramp(part: Ramp) -> TimeFunction:
    end, slope = part.start + part.duration, part.height / part.duration

    def rates(t: float) -> tuple[float, float, float]:
        inside = part.start < t < end
        elapsed = min(max(t - part.start, 0.0), part.duration)
        return part.offset + slope * elapsed, slope if inside else 0.0, 0.0

    return TimeFunction(rates, (part.start, end))


def _sine(part: Sine) -> TimeFunction:
    w, a = part.frequency, part.amplitude

    def rates(t: float) -> tuple[float, float, float]:
        if part.start > 0.0 and t < part.start:
            return part.offset + a * math.sin(part.phase), 0.0, 0.0
        # With a start in the past (0 or before) the sine counts from t = 0.
        angle = w * (t - max(part.start, 0.0)) + part.phase
        s, c = math.sin(angle), math.cos(angle)
        return part.offset + a * s, a * w * c, -a * w * w * s

    return TimeFunction(rates, (part.start,) if part.start > 0.0 else ())


def _chirp(part: Chirp) -> TimeFunction:
    slope = (part.last - part.first) / part.duration

    def rates(t: float) -> tuple[float, float, float]:
        inside = min(t, part.duration)
        angle = part.first * inside + 0.5 * slope * inside**2 + part.last * (t - inside)
        w, growth = (part.first + slope * t, slope) if t < part.duration else (part.last, 0.0)
        s, c = math.sin(angle), math.cos(angle)
        a = part.amplitude
        return part.offset + a * s, a * w * c, a * (growth * c - w * w * s)

    return TimeFunction(rates, (part.duration,))


LONGEST = 1e4  # [s]: edges of a pulse are listed up to here, and at most so many
MOST_EDGES = 20000


def _pulse(part: Pulse) -> TimeFunction:
    count = min(MOST_EDGES, math.ceil(LONGEST / part.period))
    edges = [
        part.start + k * part.period + more for k in range(count) for more in (0.0, part.width)
    ]

    def rates(t: float) -> tuple[float, float, float]:
        elapsed = t - part.start
        phase = elapsed - part.period * math.floor(elapsed / part.period)
        high = elapsed > 0.0 and phase < part.width
        return part.offset + (part.height if high else 0.0), 0.0, 0.0

    return TimeFunction(rates, tuple(edges))


def _table(part: Table) -> TimeFunction:
    """Held, on straight lines, or on the natural cubic spline; constant outside."""
    times, values = [row[0] for row in part.rows], [row[1] for row in part.rows]
    if part.interpolation == "previous":
        return _pieces([(-math.inf, values[0]), *zip(times[1:], values[1:], strict=True)])
    if part.interpolation == "cubic" and len(times) > 2:
        from scipy.interpolate import CubicSpline

        curve: Any = CubicSpline(times, values, bc_type="natural")
    else:
        curve = _lines(times, values)

    def rates(t: float) -> tuple[float, float, float]:
        if t <= times[0] or t >= times[-1]:
            return values[0] if t <= times[0] else values[-1], 0.0, 0.0
        return float(curve(t)), float(curve(t, 1)), float(curve(t, 2))

    return TimeFunction(rates, tuple(times))


def _lines(times: list[float], values: list[float]) -> Any:
    def curve(t: float, order: int = 0) -> float:
        k = min(max(bisect.bisect_right(times, t) - 1, 0), len(times) - 2)
        slope = (values[k + 1] - values[k]) / (times[k + 1] - times[k])
        return (values[k] + slope * (t - times[k]), slope, 0.0)[order]

    return curve


def _weighted(terms: list[tuple[float, TimeFunction]]) -> TimeFunction:
    """A weighted sum of functions of time."""

    def rates(t: float) -> tuple[float, float, float]:
        parts = [(weight, f.rates(t)) for weight, f in terms]
        value, slope, bend = (sum(w * r[k] for w, r in parts) for k in range(3))
        return value, slope, bend

    return TimeFunction(rates, tuple(b for _, f in terms for b in f.breaks))
