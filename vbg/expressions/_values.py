"""The value of an expression."""

from __future__ import annotations

import math
from collections.abc import Mapping

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
    except (ValueError, TypeError):
        raise ModelError(
            f"argument outside the function's domain in {shown(to_text(node))}: look at its values"
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
            return float(FUNCTIONS[function][0](*(_value(a, env) for a in arguments)))
        case Binary(operator, left, right):
            return _operate(operator, _value(left, env), _value(right, env))
    raise TypeError(f"not an expression: {node!r}")


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
    return math.pow(a, b)
