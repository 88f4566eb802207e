"""Users' expressions as block expressions."""

from __future__ import annotations

from collections.abc import Callable

from vbg.blocks import Block, call, const, dependencies, divide, times
from vbg.expressions import Binary, Call, Expression, Name, Number, Unary

FALLIBLE = ("sqrt", "log", "asin", "acos", "power", "reciprocal")  # have no value everywhere


def block_of(
    node: Expression,
    resolve: Callable[[str], Block],
    at_kink: Callable[[Block], object] | None = None,
    at_edge: Callable[[Block], object] | None = None,
) -> Block:
    """The scalar block of a parsed expression; `resolve` gives names their blocks.

    `at_kink` is told every block at whose zeros abs, sign, min, max, if or atan2 is not smooth;
    `at_edge` every block that may touch the end of where asin, acos, sqrt or a power has values.
    """
    match node:
        case Number(value):
            return const(value)
        case Name(name):
            return resolve(name)
        case Unary(operand):
            return -block_of(operand, resolve, at_kink, at_edge)
        case Binary(operator, left, right):
            a, b = (block_of(side, resolve, at_kink, at_edge) for side in (left, right))
            if operator == "**" and at_edge is not None and not _is_whole(b):
                at_edge(a)
            return _with_losses(operator, a, b, _binary(operator, a, b))
        case Call(function, arguments):
            args = [block_of(argument, resolve, at_kink, at_edge) for argument in arguments]
            if function in ("asin", "acos", "sqrt") and at_edge is not None:
                at_edge(args[0])
            return _called(function, args, at_kink)


def _with_losses(operator: str, a: Block, b: Block, result: Block) -> Block:
    """The result of an operator, which has no value where its sides have none: of 0 sqrt(x) and of
    sqrt(x) - sqrt(x) nothing is left, for negative x, too."""
    if operator in ("+", "-"):
        folded = _terms(result) < _terms(a) + _terms(b)
    else:
        folded = operator != "**" and (a.is_zero or b.is_zero)  # any x**0 is 1
    if not folded:
        return result
    left = {block.key for block in dependencies([result])}
    made = [call("reciprocal", b)] if operator == "/" else []
    for lost in dependencies([a, b, *made]):
        if lost.op == "call" and lost.data in FALLIBLE and lost.key not in left:
            result = result + call("select", call("sin", lost), const(0.0), const(0.0))
    return result


def _terms(block: Block) -> int:
    return len(block.args) if block.op == "sum" else 0 if block.is_zero else 1


def _is_whole(b: Block) -> bool:
    return b.is_const and float(b.data[0, 0]).is_integer()


def _called(function: str, args: list[Block], at_kink: Callable[[Block], object] | None) -> Block:
    if function in ("abs", "sign", "if", "atan2") and at_kink is not None:
        at_kink(args[0])  # atan2(y, x) jumps by 2 pi at y = 0 where x < 0
    if function == "if":
        return call("select", *args)
    if function not in ("min", "max"):
        return call(function, *args)
    result = args[0]
    for other in args[1:]:
        if at_kink is not None:
            at_kink(result - other)
        result = call(function, result, other)
    return result


def _binary(operator: str, a: Block, b: Block) -> Block:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return times(a, b)
        case "/":
            return divide(a, b)
        case _:
            return _power(a, b)


def _power(a: Block, b: Block) -> Block:
    """Small whole powers as products: exact, and differentiable at zero."""
    if b.is_const and float(b.data[0, 0]) in (0.0, 1.0, 2.0, 3.0):
        result = const(1.0)
        for _ in range(int(b.data[0, 0])):
            result = times(a, result)
        return result
    return call("power", a, b)
