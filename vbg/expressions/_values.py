"""The value of an expression."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vbg.errors import ModelError
from vbg.expressions._functions import FUNCTIONS
from vbg.expressions._tree import Binary, Call, Expression, Name, Number, Unary, shown, to_text


def evaluate(node: Expression, env: Mapping[str, float]) -> float:
    """Value of `node` with names from `env`.

    Raises ModelError for a name that is not in `env`, a division by zero, an
    argument outside a function's domain, and a result that is not finite.
    """
    try:
        value = _value(node, env)
    except KeyError as error:
        raise ModelError(f"unknown name {error.args[0]!r}") from None
    except ZeroDivisionError:
        raise ModelError(
            f"division by zero in {shown(to_text(node))}: look at its values"
        ) from None
    except (ValueError, TypeError) as error:
        told = f"{error} has no value" if isinstance(error, _NoValue) else "look at its values"
        raise ModelError(
            f"argument outside the function's domain in {shown(to_text(node))}: {told}"
        ) from None
    except OverflowError:
        raise ModelError(
            f"result too large in {shown(to_text(node))}: look at its values"
        ) from None
    if not math.isfinite(value):
        raise ModelError(
            f"result is not a finite number in {shown(to_text(node))}: look at its values"
        )
    return value


def _value(node: Expression, env: Mapping[str, float]) -> float:
    match node:
        case Number(value):
            return value
        case Name(name):
            return float(env[name])
        case Unary(operand):
            return -_value(operand, env)
        case Call("if", (condition, yes, no)):  # the other branch may have no value
            c = _value(condition, env)
            return c if math.isnan(c) else _value(yes if c > 0.0 else no, env)
        case Call(function, arguments):
            return _called(function, [_value(a, env) for a in arguments])
        case Binary(operator, left, right):
            return _operate(operator, _value(left, env), _value(right, env))
    raise TypeError(f"not an expression: {node!r}")


class _NoValue(ValueError):
    """A function at arguments at which it has no value, as it would be written."""


def _called(function: str, arguments: Sequence[float]) -> float:
    try:
        return float(FUNCTIONS[function][0](*arguments))
    except ValueError:
        written = ", ".join(map(_exactly, arguments))
        raise _NoValue(f"{function}({written})") from None


def _exactly(value: float) -> str:
    """All digits: asin(1.0000000000000002) has no value, asin(1) has one."""
    return repr(value).removesuffix(".0")


def _operate(operator: str, a: float, b: float) -> float:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
    # math.pow refuses a negative base with a broken exponent, where ** turns complex
    try:
        return math.pow(a, b)
    except ValueError:
        raise _NoValue(f"({_exactly(a)})**({_exactly(b)})") from None
