"""Functions that a file defines: put in place of their calls while the file is read.

A call is replaced by the function's body with the arguments in place of their names, so that
whatever computes with an expression afterwards meets the functions of FUNCTIONS only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vbg.errors import ModelError
from vbg.expressions._tree import (
    MAX_TREE,
    Binary,
    Call,
    Expression,
    Number,
    Unary,
    depth,
    replaced,
    size,
    uses,
)

MAX_SIZE = 2000  # operations and operands once all calls are replaced


@dataclass(frozen=True, slots=True)
class Defined:
    """f(arguments) = factor body + offset, in SI.

    arguments : their names; none: it is wrong itself, whatever it is called with
    body : in `unit`, of the arguments in SI; its other names are parameters
    factor, offset : from `unit` to SI; 1 and 0 where the file tells no unit, ""
    """

    arguments: tuple[str, ...]
    body: Expression
    unit: str = ""
    factor: float = 1.0
    offset: float = 0.0


NONE: Mapping[str, Defined] = MappingProxyType({})


def expanded(node: Expression, defined: Mapping[str, Defined]) -> Expression:
    """`node` with what the `defined` functions give, in SI, in place of their calls.

    Raises ModelError where so much would come out that no solver could be asked to read it:
    functions of functions double with every level.
    """
    match node:
        case Unary(operand):
            return Unary(expanded(operand, defined))
        case Binary(operator, left, right):
            return Binary(operator, expanded(left, defined), expanded(right, defined))
        case Call(function, arguments) if function in defined:
            return _in_si(_body(node, defined), defined[function])
        case Call(function, arguments):
            return Call(function, tuple(expanded(argument, defined) for argument in arguments))
    return node


def expanded_term(node: Expression, defined: Mapping[str, Defined]) -> tuple[Expression, str]:
    """`expanded`, and the unit that it is in: of one call alone that of the function, else ""."""
    match node:
        case Unary(Call(function) as call) if function in defined and defined[function].unit:
            return Unary(_body(call, defined)), defined[function].unit
        case Call(function) if function in defined and defined[function].unit:
            return _body(node, defined), defined[function].unit
    return expanded(node, defined), ""


def _in_si(value: Expression, function: Defined) -> Expression:
    if function.factor != 1.0:
        value = Binary("*", Number(function.factor), value)
    return Binary("+", value, Number(function.offset)) if function.offset else value


def _body(call: Call, defined: Mapping[str, Defined]) -> Expression:
    """The body of the function that is called, with what it is called with in it."""
    function = defined[call.function]
    given = {
        name: expanded(argument, defined)
        for name, argument in zip(function.arguments, call.arguments, strict=False)
    }
    times = uses(function.body)
    whole = size(function.body) + sum(times[name] * (size(x) - 1) for name, x in given.items())
    if whole <= MAX_SIZE:
        result = replaced(function.body, given)
        if depth(result) <= MAX_TREE:
            return result
    raise ModelError(
        f"{call.function}() comes to more than {MAX_SIZE} operations, or {MAX_TREE} in a row, "
        "with what it is called with; give that a name, as a parameter or in [signals]"
    )


def called(node: Expression) -> frozenset[str]:
    """The functions that `node` calls, those of FUNCTIONS too."""
    match node:
        case Unary(operand):
            return called(operand)
        case Binary(_, left, right):
            return called(left) | called(right)
        case Call(function, arguments):
            return frozenset((function,)).union(*map(called, arguments))
    return frozenset()
