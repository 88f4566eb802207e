"""Inputs of the embedded solver as functions of time, with two derivatives for drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
    """A field of the model that may be a number, a signal's name or an expression of `t`."""
    if isinstance(value, str):
        if value in model.signals:
            raise UsageError(
                f"signals.{value}: the embedded solver has no twin of a"
                f" {model.signals[value].kind} signal."
            )
        return of_expression(value, model.parameters)
    return constant(float(value))
