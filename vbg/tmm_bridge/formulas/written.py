"""Expressions and signals as a model writes them: functions of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress

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
from vbg.tmm_bridge.formulas.recorded import recorded_pieces
from vbg.tmm_bridge.formulas.switches import Switch, conditions, timed_conditions
from vbg.tmm_bridge.formulas.tape import (
    FUNCTIONS,
    OPERATIONS,
    Number,
    Tape,
)
from vbg.tmm_bridge.formulas.timefunctions import (
    TimeFunction,
    constant,
    of_characteristic,
    of_chirp,
    of_curve,
    of_limiter,
    of_motion,
    of_pulse,
    of_ramp,
    of_sine,
    of_steps,
    of_sum,
    of_table,
    total_of,
    with_edges,
)


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
            return total_of(recorded_tree(first[x], at.__getitem__) * slopes[x] for x in every)
        bend = total_of(recorded_tree(first[x], at.__getitem__) * inner(x, 2) for x in every)
        for (x, y), tree in second.items():
            bend = bend + recorded_tree(tree, at.__getitem__) * slopes[x] * slopes[y]
        return bend

    def named_at(name: str, tape: Tape, t: Number) -> Number:
        return t if name == "t" else signals[name].record(tape, t, 0)

    own = tuple(_switch(condition, named_at) for condition in conditions(node))
    return with_edges(record, signals.values(), own)


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


def of_signal(model: Model, name: str) -> TimeFunction:
    """The signal `name` of the model if it is a function of time.

    Raises UsageError for feedback and filters: their value depends on the motion
    or on states of their own.
    """
    if name not in model.signals:
        return of_unit(model, name)
    match model.signals[name]:
        case Step() as part:
            return of_steps([(-math.inf, part.offset), (part.start, part.offset + part.height)])
        case Ramp() as part:
            return of_ramp(part)
        case Sine() as part:
            return of_sine(part)
        case Chirp() as part:
            return of_chirp(part)
        case Pulse() as part:
            return of_pulse(part)
        case Table() as part:
            return of_table(part)
        case SignalExpression() as part:
            return function_of(model, part.expression)
        case Motion() as part:
            return of_motion(part)
        case Gain() as part:
            return of_sum([(part.k, function_of(model, part.input))])
        case Sum() as part:
            weights = part.weights or (1.0,) * len(part.inputs)
            inner = [function_of(model, value) for value in part.inputs]
            return of_sum(list(zip(weights, inner, strict=True)))
        case Limiter() as part:
            return of_limiter(part, function_of(model, part.input))
        case Curve() as part:
            return of_characteristic(part, function_of(model, part.input))
    raise UsageError(
        f"signals.{name}: a {model.signals[name].kind} is no function of time alone; the"
        " transfer-matrix solver replays what it drives."
    )


def of_unit(model: Model, name: str) -> TimeFunction:
    """An output of an FMU as another solver's run has recorded it; UsageError without a record."""
    times, pieces = recorded_pieces(model, name)
    behind = [math.nextafter(t, -math.inf) for t in times]
    return of_curve(behind, pieces, ((times[0], times[1] - times[0]),) if len(times) > 1 else ())
