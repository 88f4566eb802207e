"""Measures of a run: one number from its signals, written as an expression.

    max(abs(A.force))      final(crank.angle)     rms(A.force.x)      max(A.speed) - min(A.speed)

Names are signals (with components by letter or [index]); a vector signal (n, k) stays a
vector for `norm`; its rms is that of its length, its max, min and range are those of all
components.  mean and rms are integrals over the time (trapezoidal rule on the rows), so that
they do not depend on where the rows stand.  The text is parsed and only what is listed here
is evaluated.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vbg.errors import UsageError
from vbg.solution import Solution


def _mean(a: Any, t: Any) -> Any:
    """1/T times the integral over the time; of a constant or a single row its value."""
    a = np.asarray(a)
    if a.ndim == 0 or len(a) == 1 or t[-1] == t[0]:
        return a if a.ndim == 0 else a[-1]
    return np.tensordot(np.diff(t), 0.5 * (a[1:] + a[:-1]), axes=1) / (t[-1] - t[0])


def _rms(a: Any, t: Any) -> Any:
    squares = np.square(a)
    return np.sqrt(_mean(squares.sum(axis=1) if squares.ndim == 2 else squares, t))


# of the values of a signal and their times
FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "max": lambda a, _: np.max(a),
    "min": lambda a, _: np.min(a),
    "mean": _mean,
    "rms": _rms,
    "range": lambda a, _: np.ptp(a),
    "first": lambda a, _: np.asarray(a)[0],
    "final": lambda a, _: np.asarray(a)[-1],
    "abs": lambda a, _: np.abs(a),
    "norm": lambda a, _: np.linalg.norm(np.atleast_2d(np.asarray(a).T).T, axis=1),
    "sqrt": lambda a, _: np.sqrt(a),
    "log": lambda a, _: np.log(a),
    "exp": lambda a, _: np.exp(a),
}
MOST = sys.float_info.max
OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}


def parse(text: str) -> ast.expr:
    """The expression of a measure.

    Raises UsageError for anything but numbers, signals, + - * / ** and the functions above.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree, text)
    except SyntaxError as error:
        raise UsageError(f"measure {text!r}: {error.msg} at column {error.offset}.") from None
    except ValueError as error:  # a NUL, or more digits than Python reads
        raise UsageError(f"measure {text!r}: {error}.") from None
    except (RecursionError, MemoryError):
        raise UsageError(f"measure {text[:40]!r}...: is nested too deeply.") from None
    return tree


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if value > MOST:
                raise UsageError(f"measure {text!r}: a number is above {MOST:.3g}.")
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            _check(left, text)
            _check(right, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            if name not in FUNCTIONS:
                raise UsageError(
                    f"measure {text!r}: no function {name!r}; there are {', '.join(FUNCTIONS)}."
                )
            _check(argument, text)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            _signal(node, text)
        case _:
            raise UsageError(
                f"measure {text!r}: {ast.unparse(node)!r} is not allowed; use signals, numbers, "
                f"+ - * / ** and {', '.join(FUNCTIONS)} of one argument."
            )


def _signal(node: ast.expr, text: str) -> str:
    """The name of a signal from A.force, A.force.x or A.force[2]."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inside, attr=name):
            return f"{_signal(inside, text)}.{name}"
        case ast.Subscript(value=inside, slice=ast.Constant(value=int() as index)):
            return f"{_signal(inside, text)}[{index}]"
    raise UsageError(f"measure {text!r}: {ast.unparse(node)!r} is no signal.")


def evaluate(measure: ast.expr, solution: Solution) -> float:
    """The measure of a run.

    All arithmetic is that of floating-point numbers, also of those written without a point.
    NaN or infinite where it has no value (a root of a negative number, an overflow).

    Raises UsageError for an unknown signal, signals of different shapes, or if what comes out
    is not one number.
    """
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(_value(measure, solution))
    except ValueError as error:
        raise UsageError(f"measure {ast.unparse(measure)!r}: {error}.") from None
    if value.size != 1:
        raise UsageError(
            f"measure {ast.unparse(measure)!r} gives {value.size} numbers; take max, min, mean, "
            "rms, first or final of it."
        )
    return float(value.reshape(()))


def _value(node: ast.expr, solution: Solution) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return np.float64(value)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, solution), _value(right, solution))
        case ast.UnaryOp(operand=operand):
            return -_value(operand, solution)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](_value(argument, solution), solution.time)
        case _:
            return solution[_signal(node, ast.unparse(node))]
