"""Users' expressions as block expressions."""

from __future__ import annotations

from collections.abc import Callable

from vbg.blocks import Block, call, const, divide, times
from vbg.expressions import Binary, Call, Expression, Name, Number, Unary


def block_of(node: Expression, resolve: Callable[[str], Block]) -> Block:
    """The scalar block of a parsed expression; `resolve` gives names their blocks."""
    match node:
        case Number(value):
            return const(value)
        case Name(name):
            return resolve(name)
        case Unary(operand):
            return -block_of(operand, resolve)
        case Binary(operator, left, right):
            return _binary(operator, block_of(left, resolve), block_of(right, resolve))
        case Call(function, arguments):
            args = [block_of(argument, resolve) for argument in arguments]
            result = call(function, *args[:2]) if len(args) > 1 else call(function, *args)
            for extra in args[2:]:  # min and max take any number
                result = call(function, result, extra)
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
