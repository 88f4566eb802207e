"""Measures as text: read, checked and evaluated, never executed.

Names are signals (with components by letter or [index]); a vector signal (n, k) stays a
vector for `norm`.  A number may carry a unit, `1 s`, `19.5 kN`, `2 %`; what comes out is in SI.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from vbg import expressions, units
from vbg.errors import ModelError, UsageError, counted
from vbg.expressions import NONE, Defined
from vbg.measures.functions import COURSE, EITHER, FUNCTIONS, NUMBER, WORDS
from vbg.measures.series import Series, Value, combined
from vbg.solution import Solution

MOST = sys.float_info.max
OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
CONSTANTS: dict[str, float] = {"pi": np.pi}

# a number and the unit behind it, neither within a name nor within quotes
_WITH_UNIT = re.compile(
    r"'[^']*'|\"[^\"]*\"|"
    r"(?<![\w.\]])(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*(?P<unit>%|(?<=\s)[^\W\d]\w*(?:\^\d|[*/][^\W\d]\w*(?:\^\d)?)*)"
    r"|(?P<power>\^)"
)
_QUANTITY = "in_unit"  # of the parser's text: in_unit(1000.0, "1 kN"), which becomes a constant


def parse(text: str, functions: Mapping[str, Defined] = NONE) -> ast.expr:
    """The expression of a measure; `functions` are those of the model file.

    Raises UsageError for anything but numbers, signals, + - * / **, the functions of
    measures and those of the file.
    """
    return _parsed(text, tuple((name, len(f.arguments)) for name, f in functions.items()))


@lru_cache(maxsize=256)
def _parsed(text: str, own: tuple[tuple[str, int], ...]) -> ast.expr:
    """`own`: names of the file's functions, with how many arguments each takes."""
    try:
        tree = ast.parse(_in_si(text.strip()), mode="eval").body
        tree = _Quantities().visit(tree)
        _check(tree, text, dict(own))
    except SyntaxError as error:
        raise UsageError(f"measure {text!r}: {error.msg} at column {error.offset}.") from None
    except (ModelError, ValueError) as error:  # a wrong unit; a NUL, too many digits
        raise UsageError(f"measure {text!r}: {error}.") from None
    except (RecursionError, MemoryError):
        raise UsageError(f"measure {text[:40]!r}...: is nested too deeply.") from None
    return tree


def _in_si(text: str) -> str:
    """The text with numbers in SI in the place of those with units; Hz counts as 1/s.  A power
    may be written ^, as in the model file."""

    def number(match: re.Match[str]) -> str:
        if match["power"]:
            return "**"
        if match["number"] is None:
            return match[0]
        factor, offset = units.conversion(match["unit"], "")
        written = f"{match['number']} {match['unit']}"
        return f"{_QUANTITY}({float(match['number']) * factor + offset!r}, {written!r})"

    return _WITH_UNIT.sub(number, text)


class _Quantities(ast.NodeTransformer):
    """Constants in the place of in_unit(1000.0, "1 kN"): the value in SI, what was written as
    their `kind`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(
                func=ast.Name(id=name),
                args=[ast.Constant(value=float() as value), ast.Constant(value=str() as written)],
            ) if name == _QUANTITY:
                return ast.copy_location(ast.Constant(value, kind=written), node)
        self.generic_visit(node)
        return node


class _Written(ast.NodeTransformer):
    """The other way: constants with a unit as they were written."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name(node.kind) if node.kind else node


def spelled(measure: ast.expr) -> str:
    """The text of a measure, for messages."""
    return ast.unparse(_Written().visit(copy.deepcopy(measure)))


def unit_written(node: ast.Constant) -> str:
    """The unit behind a number; empty for a bare one."""
    return node.kind.partition(" ")[2] if node.kind else ""


def _check(node: ast.expr, text: str, own: Mapping[str, int]) -> None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if value > MOST:
                raise UsageError(f"measure {text!r}: a number is above {MOST:.3g}.")
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            _check(left, text, own)
            _check(right, text, own)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text, own)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            _check_call(name, arguments, text, own)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            signal_name(node, text)
        case _:
            raise UsageError(
                f"measure {text!r}: {spelled(node)!r} is not allowed; use signals, numbers, "
                f"+ - * / ** and the functions {', '.join(FUNCTIONS)}."
            )


def _check_call(name: str, arguments: list[ast.expr], text: str, own: Mapping[str, int]) -> None:
    function = FUNCTIONS.get(name)
    if function is None and name in own:
        if len(arguments) != own[name]:
            found = f"{name}() takes {counted(own[name], 'argument')}, found {len(arguments)}"
            raise UsageError(f"measure {text!r}: {found}.")
        for argument in arguments:
            _check(argument, text, own)
        return
    if function is None:
        raise UsageError(
            f"measure {text!r}: no function {name!r}; there are {', '.join((*FUNCTIONS, *own))}."
        )
    if not function.least <= len(arguments) <= len(function.arguments):
        raise UsageError(
            f"measure {text!r}: it is {function.spelled(name)}, found {len(arguments)} in brackets."
        )
    for argument, (called, kind) in zip(arguments, function.arguments, strict=False):
        words = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        if words != (kind == WORDS):
            raise UsageError(f"measure {text!r}: {called} of {name}() is {kind}.")
        if not words:
            _check(argument, text, own)


def signal_name(node: ast.expr, text: str) -> str:
    """The name of a signal from A.force, A.force.x or A.force[2]."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inside, attr=name):
            return f"{signal_name(inside, text)}.{name}"
        case ast.Subscript(value=inside, slice=ast.Constant(value=int() as index)):
            return f"{signal_name(inside, text)}[{index}]"
    raise UsageError(f"measure {text!r}: {spelled(node)!r} is no signal.")


def names_in(measure: ast.expr) -> tuple[str, ...]:
    """The names of signals and parameters that a measure reads, in order."""
    found: list[str] = []
    match measure:
        case ast.Call(args=arguments):
            found += [name for one in arguments for name in names_in(one)]
        case ast.BinOp(left=left, right=right):
            found += [*names_in(left), *names_in(right)]
        case ast.UnaryOp(operand=operand):
            found += names_in(operand)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            found.append(signal_name(measure, ""))
    return tuple(dict.fromkeys(found))


def evaluate(
    measure: ast.expr,
    solution: Solution,
    parameters: Mapping[str, float] | None = None,
    functions: Mapping[str, Defined] = NONE,
) -> float:
    """The measure of a run; names that are no signals are those of `parameters`, functions that
    measures do not have those of `functions`, with numbers for parameters, row by row.

    All arithmetic is that of floating-point numbers, also of those written without a point.
    NaN or infinite where it has no value (a root of a negative number, an overflow).

    Raises UsageError for an unknown signal, signals of different shapes or windows, or if what
    comes out is not one number.
    """
    value = value_of(measure, solution, parameters, functions)
    found = np.asarray(value.values if isinstance(value, Series) else value)
    if found.size != 1:
        raise UsageError(
            f"measure {spelled(measure)!r} gives {found.size} numbers; take max, min, mean, "
            "rms, first or final of it."
        )
    return float(found.reshape(()))


def value_of(
    measure: ast.expr,
    solution: Solution,
    parameters: Mapping[str, float] | None = None,
    functions: Mapping[str, Defined] = NONE,
) -> Value:
    """The number or the course that a measure gives.

    Raises UsageError as `evaluate` does.
    """
    if not len(solution.time):
        raise UsageError("a run without rows has no measures.")
    try:
        with np.errstate(all="ignore"):
            return _value(measure, solution, CONSTANTS | dict(parameters or {}), functions)
    except (UsageError, ModelError, ValueError) as error:
        said = str(error).removesuffix(".")
        raise UsageError(f"measure {spelled(measure)!r}: {said}.") from None


def _value(
    node: ast.expr,
    solution: Solution,
    numbers: Mapping[str, float],
    own: Mapping[str, Defined],
) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Constant(value=words):
            return words
        case ast.BinOp(left=left, op=op, right=right):
            first, second = (_value(one, solution, numbers, own) for one in (left, right))
            return combined(OPERATORS[type(op)], _float(first), second)
        case ast.UnaryOp(operand=operand):
            return combined(np.multiply, -1.0, _value(operand, solution, numbers, own))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            values = [_value(one, solution, numbers, own) for one in arguments]
            return _called(name, values) if name in FUNCTIONS else _by_rows(own[name], values)
        case ast.Name(id=name) if name in numbers and name not in solution:
            return float(numbers[name])
        case _:
            name = signal_name(node, ast.unparse(node))
            return Series(solution.time, solution[name], solution.audit.events)


def _by_rows(function: Defined, values: list[Any]) -> Any:
    """A function of the file, of numbers or row by row of scalar courses over one window."""
    courses = [value for value in values if isinstance(value, Series)]
    for course in courses:
        course.require_scalar("a function of the file")
        combined(np.add, courses[0], course)  # over the same window

    def at(row: int) -> float:
        given = [v.values[row] if isinstance(v, Series) else v for v in values]
        named = dict(zip(function.arguments, map(float, given), strict=True))
        return function.factor * expressions.evaluate(function.body, named) + function.offset

    if not courses:
        return at(0)
    first = courses[0]
    return first.mapped(lambda rows: np.array([at(row) for row in range(len(rows))]))


def _float(value: Any) -> Any:
    """Powers of negative numbers are NaN, divisions by zero infinite: numpy's, not Python's."""
    return np.float64(value) if isinstance(value, float) else value


def _called(name: str, values: list[Any]) -> Any:
    function = FUNCTIONS[name]
    for k, (called, kind) in enumerate(function.arguments[: len(values)]):
        if kind == NUMBER and isinstance(values[k], Series):
            if values[k].values.size != 1:
                raise UsageError(f"{called} of {name}() is one number, not a course over time")
            values[k] = float(values[k].values.reshape(()))
        if kind == COURSE and not isinstance(values[k], Series):
            raise UsageError(f"{called} of {name}() is {kind} over time, found a number")
        assert kind in (COURSE, NUMBER, WORDS, EITHER)
    found = function.call(*values)
    if isinstance(found, (Series, float, str)):
        return found
    found = np.asarray(found, dtype=float)
    return float(found) if found.ndim == 0 else Series(np.zeros(1), found[None, :])
