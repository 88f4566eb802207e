"""Inputs of the transfer-matrix solver as functions of time, with two derivatives for drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vbg.elements.signals.chirp import Chirp
from vbg.elements.signals.curve import Curve
from vbg.elements.signals.expression import Expression as SignalExpression
from vbg.elements.signals.gain import Gain
from vbg.elements.signals.limiter import Limiter
from vbg.elements.signals.motion import Motion
from vbg.elements.signals.pulse import Pulse
from vbg.elements.signals.ramp import Ramp
from vbg.elements.signals.sine import Sine
from vbg.elements.signals.step import Step
from vbg.elements.signals.sum import Sum
from vbg.elements.signals.table import Table
from vbg.errors import UsageError
from vbg.expressions import (
    Binary,
    Call,
    Expression,
    Name,
    Unary,
    derivative,
    evaluate,
    names,
    parse,
    substitute,
)
from vbg.expressions import Number as Literal
from vbg.model import Model
from vbg.tmm_bridge.formulas.characteristics import pieces_of
from vbg.tmm_bridge.formulas.recorded import recorded_pieces
from vbg.tmm_bridge.formulas.switches import Switch, conditions, timed_conditions
from vbg.tmm_bridge.formulas.tape import (
    FUNCTIONS,
    OPERATIONS,
    Number,
    Played,
    Tape,
    choose,
    cos,
    floor,
    least,
    most,
    sin,
)
from vbg.tmm_bridge.kernels.entries import play

Array = np.ndarray[Any, Any]
Record = Callable[[Tape, Number, int], Number]
Break = tuple[float, float]  # instants first, first + period, ...; one where the period is 0


@dataclass(frozen=True)
class TimeFunction:
    """f, f', f'' on a tape: `record(tape, t, order)` is the derivative of that order at t;
    `breaks` are the instants where one of them jumps; f there is the value after the jump.
    Where one of `switches` changes its sign they may jump, too."""

    record: Record
    breaks: tuple[Break, ...] = ()
    switches: tuple[Switch, ...] = ()

    @cached_property
    def _played(self) -> tuple[Played, list[int]]:
        """A tape with the time in its first place, and the places of f, f', f''."""
        tape = Tape()
        t = tape.place()
        places = [tape.slot(self.record(tape, t, order)).place for order in range(3)]
        return tape.played([""]), places

    def rates(self, t: float) -> tuple[float, float, float]:
        """f, f', f'' at t."""
        tape, (value, slope, bend) = self._played
        m = tape.memory
        m[0] = t
        play(tape.code, m, tape.curves, 0, len(tape.code))
        return float(m[value]), float(m[slope]), float(m[bend])

    def value(self, t: float) -> float:
        """f(t)."""
        return self.rates(t)[0]


def constant(value: float) -> TimeFunction:
    """f = value."""
    return TimeFunction(lambda tape, t, order: 0.0 if order else value)


def recorded_tree(node: Expression, lookup: Callable[[str], Number]) -> Number:
    """An expression on a tape; `lookup` explains its names."""
    match node:
        case Literal(value):
            return value
        case Name(name):
            return lookup(name)
        case Unary(operand):
            return -recorded_tree(operand, lookup)
        case Binary(operator, left, right):
            a, b = recorded_tree(left, lookup), recorded_tree(right, lookup)
            return OPERATIONS[operator](a, b)
        case Call(function, arguments):
            return FUNCTIONS[function](*(recorded_tree(a, lookup) for a in arguments))


def of_expression(text: str, parameters: Mapping[str, float]) -> TimeFunction:
    """An expression of `t` and the parameters.

    Raises UsageError if it names anything else.
    """
    node = parse(text)
    strange = sorted(names(node) - set(parameters) - {"t"})
    if strange:
        raise UsageError(
            f"The transfer-matrix solver knows functions of time only; '{text}' also uses"
            f" {', '.join(strange)}. Replay the effort that the other solver recorded."
        )
    return of_tree(_with_parameters(node, parameters))


def _with_parameters(node: Expression, parameters: Mapping[str, float]) -> Expression:
    return substitute(node, {name: parameters[name] for name in names(node) if name in parameters})


def of_tree(node: Expression) -> TimeFunction:
    """A syntax tree whose only name is `t`."""
    if "t" not in names(node):
        return constant(evaluate(node, {}))
    first = derivative(node, "t")
    trees = (node, first, derivative(first, "t"))
    return TimeFunction(
        lambda tape, t, order: recorded_tree(trees[order], lambda name: t),
        switches=tuple(
            _switch(condition, lambda name, tape, t: t) for condition in conditions(node)
        ),
    )


def _switch(condition: Expression, inner: Callable[[str, Tape, Number], Number]) -> Switch:
    """What changes its sign with a condition, whose names `inner` explains."""
    return lambda tape, t: recorded_tree(condition, lambda name: inner(name, tape, t))


def function_of(model: Model, value: float | str) -> TimeFunction:
    """A field of the model that may be a number, a signal's name or an expression of `t`.

    An expression may also name signals that are functions of time themselves.
    Raises UsageError for what depends on the motion.
    """
    if not isinstance(value, str):
        return constant(float(value))
    if value in model.signals:
        return of_signal(model, value)
    named = {
        n for n in names(parse(value)) if n in model.signals or n.partition(".")[0] in model.fmu
    }
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

    def record(tape: Tape, t: Number, order: int) -> Number:
        def inner(x: str, k: int) -> Number:
            return (t, 1.0, 0.0)[k] if x == "t" else signals[x].record(tape, t, k)

        at = {x: inner(x, 0) for x in every}
        if order == 0:
            return recorded_tree(node, at.__getitem__)
        slopes = {x: inner(x, 1) for x in every}
        if order == 1:
            return _total(recorded_tree(first[x], at.__getitem__) * slopes[x] for x in every)
        bend = _total(recorded_tree(first[x], at.__getitem__) * inner(x, 2) for x in every)
        for (x, y), tree in second.items():
            bend = bend + recorded_tree(tree, at.__getitem__) * slopes[x] * slopes[y]
        return bend

    def named_at(name: str, tape: Tape, t: Number) -> Number:
        return t if name == "t" else signals[name].record(tape, t, 0)

    own = tuple(_switch(condition, named_at) for condition in conditions(node))
    return _with_edges(record, signals.values(), own)


def switches_of(model: Model, text: str) -> tuple[Switch, ...]:
    """Where the time alone changes the branch of an expression that reads the motion, too."""
    node = _with_parameters(parse(text), model.parameters)
    timed: dict[str, TimeFunction] = {}
    for name in names(node) & set(model.signals):
        with suppress(UsageError):  # it reads the motion itself
            timed[name] = of_signal(model, name)

    def named_at(name: str, tape: Tape, t: Number) -> Number:
        return t if name == "t" else timed[name].record(tape, t, 0)

    found = timed_conditions(node, {"t", *timed})
    return tuple(_switch(condition, named_at) for condition in found)


def _total(terms: Iterable[Number]) -> Number:
    found: Number = 0.0
    for term in terms:
        found = found + term
    return found


def of_signal(model: Model, name: str) -> TimeFunction:
    """The signal `name` of the model if it is a function of time.

    Raises UsageError for feedback and filters: their value depends on the motion
    or on states of their own.
    """
    if name not in model.signals:
        return of_unit(model, name)
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
        case Motion() as part:
            return of_motion(part)
        case Gain() as part:
            return _weighted([(part.k, function_of(model, part.input))])
        case Sum() as part:
            weights = part.weights or (1.0,) * len(part.inputs)
            inner = [function_of(model, value) for value in part.inputs]
            return _weighted(list(zip(weights, inner, strict=True)))
        case Limiter() as part:
            return _limited(part, function_of(model, part.input))
        case Curve() as part:
            return _characteristic(part, function_of(model, part.input))
    raise UsageError(
        f"signals.{name}: a {model.signals[name].kind} is no function of time alone; the"
        " transfer-matrix solver replays what it drives."
    )


def of_unit(model: Model, name: str) -> TimeFunction:
    """An output of an FMU as another solver's run has recorded it; UsageError without a record."""
    times, pieces = recorded_pieces(model, name)
    behind = [math.nextafter(t, -math.inf) for t in times]
    return of_curve(behind, pieces, ((times[0], times[1] - times[0]),) if len(times) > 1 else ())


def _once(*instants: float) -> tuple[Break, ...]:
    return tuple((t, 0.0) for t in instants)


def of_curve(starts: Sequence[float], pieces: Array, breaks: tuple[Break, ...]) -> TimeFunction:
    """A piecewise cubic: piece k in t - starts[k] from starts[k] < t on, the first also before;
    pieces (k, 4), coefficients from the constant on."""
    c = np.asarray(pieces, dtype=float)
    zero = np.zeros(len(c))
    slope = np.column_stack([c[:, 1], 2.0 * c[:, 2], 3.0 * c[:, 3], zero])
    bend = np.column_stack([2.0 * c[:, 2], 6.0 * c[:, 3], zero, zero])
    orders = (c, slope, bend)
    return TimeFunction(lambda tape, t, order: tape.curve(t, starts, orders[order]), breaks)


def of_spline(spline: Any) -> TimeFunction:
    """A scipy CubicSpline, continued by its last pieces."""
    return of_curve(spline.x[:-1], spline.c[::-1].T, ())


def _pieces(steps: list[tuple[float, float]]) -> TimeFunction:
    """Piecewise constant: (from, value), each value from its instant on."""
    starts = [start for start, _ in steps[1:]]
    # a piece of a curve begins behind its start
    behind = [math.nextafter(start, -math.inf) for start in starts]
    pieces = np.array([[value, 0.0, 0.0, 0.0] for _, value in steps])
    return of_curve([behind[0], *behind], pieces, _once(*starts))


def _ramp(part: Ramp) -> TimeFunction:
    end, slope = part.start + part.duration, part.height / part.duration

    def record(tape: Tape, t: Number, order: int) -> Number:
        elapsed = t - part.start
        if order == 0:
            return part.offset + slope * least(most(elapsed, 0.0), part.duration)
        inside = choose(elapsed, choose(end - t, slope, 0.0), 0.0)
        return inside if order == 1 else 0.0

    return TimeFunction(record, _once(part.start, end))


def _sine(part: Sine) -> TimeFunction:
    w, a = part.frequency, part.amplitude
    held = (part.offset + a * math.sin(part.phase), 0.0, 0.0)

    def record(tape: Tape, t: Number, order: int) -> Number:
        # With a start in the past (0 or before) the sine counts from t = 0.
        angle = w * (t - max(part.start, 0.0)) + part.phase
        if order == 0:
            value = part.offset + a * sin(angle)
        else:
            value = a * w * cos(angle) if order == 1 else -a * w * w * sin(angle)
        return choose(part.start - t, held[order], value) if part.start > 0.0 else value

    return TimeFunction(record, _once(part.start) if part.start > 0.0 else ())


def _chirp(part: Chirp) -> TimeFunction:
    slope = (part.last - part.first) / part.duration

    def record(tape: Tape, t: Number, order: int) -> Number:
        inside = least(t, part.duration)
        angle = part.first * inside + 0.5 * slope * inside * inside + part.last * (t - inside)
        a = part.amplitude
        if order == 0:
            return part.offset + a * sin(angle)
        before = part.duration - t
        w = choose(before, part.first + slope * t, part.last)
        if order == 1:
            return a * w * cos(angle)
        return a * (choose(before, slope, 0.0) * cos(angle) - w * w * sin(angle))

    return TimeFunction(record, _once(part.duration))


def _pulse(part: Pulse) -> TimeFunction:
    def record(tape: Tape, t: Number, order: int) -> Number:
        if order:
            return 0.0
        elapsed = t - part.start
        phase = elapsed - part.period * floor(elapsed / part.period)
        high = choose(-elapsed, 0.0, choose(part.width - phase, part.height, 0.0))
        return part.offset + high

    edges = (part.start, part.start + part.width)
    return TimeFunction(record, tuple((edge, part.period) for edge in edges))


def _table(part: Table) -> TimeFunction:
    """Held, on straight lines, or on the cubic spline, natural or at rest at its ends; constant
    outside."""
    times, values = [row[0] for row in part.rows], [row[1] for row in part.rows]
    if part.interpolation == "previous":
        return _pieces([(-math.inf, values[0]), *zip(times[1:], values[1:], strict=True)])
    resting = part.ends == "rest"
    if part.interpolation == "cubic" and (len(times) > 2 or (resting and len(times) == 2)):
        from scipy.interpolate import CubicSpline

        given = (1, 0.0) if resting else (2, 0.0)  # order of the derivative at both ends, its value
        inside = CubicSpline(times, values, bc_type=(given, given)).c[::-1].T
    else:
        slopes = np.diff(values) / np.diff(times)
        inside = np.column_stack([values[:-1], slopes, 0.0 * slopes, 0.0 * slopes])
    ends = [[value, 0.0, 0.0, 0.0] for value in (values[0], values[-1])]
    starts = [times[0], *times[:-1], times[-1]]
    return of_curve(starts, np.vstack([ends[0], inside, ends[1]]), _once(*times))


def of_motion(part: Motion) -> TimeFunction:
    """Moves from rest to rest: constant jerk piece by piece, or a smooth law of t/T."""
    moves, at, rest = [], part.start, part.stops[0]
    for stop in part.stops[1:]:
        if stop != rest:
            widths = part.widths(stop - rest)
            smooth = part.law in ("polynomial", "cycloid")
            move = _smooth_move if smooth else _jerked_move
            moves.append((1.0, move(part.law, at, stop - rest, widths)))
            at += sum(widths)
        at, rest = at + part.dwell, stop
    return _weighted([(part.stops[0], constant(1.0)), *moves])


def _jerked_move(law: str, begin: float, distance: float, widths: Sequence[float]) -> TimeFunction:
    """A trapezoid of speed (two widths) or of acceleration (three): position by integration
    from corner to corner of what is piecewise constant."""
    ramp, hold = widths[1], widths[0] - widths[1]
    peak = distance / widths[0]
    if len(widths) == 2:
        spans = [(ramp, peak / ramp, 0.0), (hold, 0.0, 0.0), (ramp, -peak / ramp, 0.0)]
    else:
        jerk_time = widths[2]
        a = peak / ramp
        j, flat = a / jerk_time, ramp - jerk_time
        up = [(jerk_time, 0.0, j), (flat, a, 0.0), (jerk_time, a, -j)]
        spans = [*up, (hold - jerk_time, 0.0, 0.0), *((s, -b, -c) for s, b, c in up)]
    starts, pieces, s, v, t = [begin], [[0.0] * 4], 0.0, 0.0, begin
    for span, acceleration, jerk in spans:
        if span > 0.0:
            starts.append(t)
            pieces.append([s, v, acceleration / 2.0, jerk / 6.0])
            s += span * (v + span * (acceleration / 2.0 + span * jerk / 6.0))
            v += span * (acceleration + span * jerk / 2.0)
            t += span
    starts.append(t)
    pieces.append([distance, 0.0, 0.0, 0.0])
    # a piece of a curve begins behind its start: the value after a jump is wanted at it
    behind = [math.nextafter(start, -math.inf) for start in starts]
    return of_curve(behind, np.array(pieces), _once(*starts[1:]))


def _smooth_move(law: str, begin: float, distance: float, widths: Sequence[float]) -> TimeFunction:
    """D (10 - 15 u + 6 u^2) u^3 or D (u - sin(2 pi u)/(2 pi)), and their derivatives."""
    T, D = widths[0], distance

    def record(tape: Tape, t: Number, order: int) -> Number:
        u = least(most((t - begin) / T, 0.0), 1.0)
        if law == "cycloid":
            angle = 2.0 * math.pi * u
            if order == 0:
                return D * (u - sin(angle) / (2.0 * math.pi))
            if order == 1:
                return D / T * (1.0 - cos(angle))
            return 2.0 * math.pi * D / (T * T) * sin(angle)
        if order == 0:
            return D * ((6.0 * u - 15.0) * u + 10.0) * u * u * u
        if order == 1:
            return 30.0 * D / T * u * u * (1.0 - u) * (1.0 - u)
        return 60.0 * D / (T * T) * u * (1.0 - u) * (1.0 - 2.0 * u)

    return TimeFunction(record, _once(begin, begin + T))


def _limited(part: Limiter, inner: TimeFunction) -> TimeFunction:
    """A function of time between two bounds, at rest on either."""

    def record(tape: Tape, t: Number, order: int) -> Number:
        value, bound = inner.record(tape, t, 0), (part.lower, part.upper)
        if order == 0:
            return least(most(value, bound[0]), bound[1])
        rate = inner.record(tape, t, order)
        return choose(value - bound[0], choose(bound[1] - value, rate, 0.0), 0.0)

    return _with_edges(record, [inner], _crossings(inner, [part.lower, part.upper]))


def _characteristic(part: Curve, inner: TimeFunction) -> TimeFunction:
    """y(x(t)):  y' = y_x x',  y'' = y_xx x'^2 + y_x x''."""
    x, y = np.array(part.rows).T
    starts, pieces = pieces_of(x, y, part.interpolation, part.outside)
    laws = of_curve(starts.tolist(), pieces, ())

    def record(tape: Tape, t: Number, order: int) -> Number:
        at = inner.record(tape, t, 0)
        if order == 0:
            return laws.record(tape, at, 0)
        slope, rate = laws.record(tape, at, 1), inner.record(tape, t, 1)
        if order == 1:
            return slope * rate
        bend = laws.record(tape, at, 2) * rate * rate
        return bend + slope * inner.record(tape, t, 2)

    return _with_edges(record, [inner], _crossings(inner, starts[1:].tolist()))


def _crossings(inner: TimeFunction, values: Iterable[float]) -> tuple[Switch, ...]:
    """What changes its sign where a function passes one of the values."""
    return tuple(lambda tape, t, at=at: inner.record(tape, t, 0) - at for at in values)


def _weighted(terms: list[tuple[float, TimeFunction]]) -> TimeFunction:
    """A weighted sum of functions of time."""

    def record(tape: Tape, t: Number, order: int) -> Number:
        return _total(weight * f.record(tape, t, order) for weight, f in terms)

    return _with_edges(record, [f for _, f in terms])


def _with_edges(
    record: Record, inner: Iterable[TimeFunction], own: tuple[Switch, ...] = ()
) -> TimeFunction:
    """A function with the edges of those that it is made of, and its own."""
    inner = tuple(inner)
    breaks = tuple(b for f in inner for b in f.breaks)
    return TimeFunction(record, breaks, (*(s for f in inner for s in f.switches), *own))
