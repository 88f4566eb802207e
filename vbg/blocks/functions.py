"""The scalar functions of block expressions: value, partial derivatives, rate.

Adding a function is adding a row in `SCALARS`, one here, and an opcode in the virtual machine.
`positive` and `select` are constant in the derivative, because switching points are located as
events.  The rate of what takes one side is that of this side alone: a product with 0 would lose
its value where the other side has none (sqrt(x), x < 0), or no bounded slope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbg.blocks.calls import call
from vbg.blocks.composed import divide
from vbg.blocks.node import Block, const, linear, times
from vbg.blocks.scalars import SCALARS


@dataclass(frozen=True, slots=True)
class Function:
    """`numpy` evaluates; `partials(args)` are the derivatives by argument."""

    numpy: Callable[..., Any]
    partials: Callable[..., tuple[Block, ...]]


def _zero(*args: Block) -> tuple[Block, ...]:
    return tuple(const(0.0) for _ in args)


def _power_partials(a: Block, b: Block) -> tuple[Block, ...]:
    by_base = times(b, call("power", a, b - const(1.0)))
    if b.is_const:
        return (by_base, const(0.0))
    return (by_base, times(call("power", a, b), call("log", a)))


def _atan2_partials(y: Block, x: Block) -> tuple[Block, ...]:
    square = times(x, x) + times(y, y)
    return (divide(x, square), -divide(y, square))


PARTIALS: Mapping[str, Callable[..., tuple[Block, ...]]] = {
    "sin": lambda a: (call("cos", a),),
    "cos": lambda a: (-call("sin", a),),
    "tan": lambda a: (const(1.0) + times(call("tan", a), call("tan", a)),),
    "asin": lambda a: (divide(const(1.0), call("sqrt", const(1.0) - times(a, a))),),
    "acos": lambda a: (-divide(const(1.0), call("sqrt", const(1.0) - times(a, a))),),
    "atan": lambda a: (divide(const(1.0), const(1.0) + times(a, a)),),
    "atan2": _atan2_partials,
    "sqrt": lambda a: (divide(const(0.5), call("sqrt", a)),),
    "exp": lambda a: (call("exp", a),),
    "log": lambda a: (divide(const(1.0), a),),
    "abs": lambda a: (call("sign", a),),
    "sign": _zero,
    "positive": _zero,
    "min": lambda a, b: (call("positive", b - a), const(1.0) - call("positive", b - a)),
    "max": lambda a, b: (call("positive", a - b), const(1.0) - call("positive", a - b)),
    "power": _power_partials,
    "reciprocal": lambda a: (-times(call("reciprocal", a), call("reciprocal", a)),),
    "select": lambda c, a, b: (
        const(0.0),
        call("positive", c),
        const(1.0) - call("positive", c),
    ),
    "floor": _zero,
}

FUNCTIONS: Mapping[str, Function] = {
    name: Function(SCALARS[name], partials) for name, partials in PARTIALS.items()
}


def rate(name: str, args: Sequence[Block], dots: Sequence[Block]) -> Block:
    """What a function changes by while its arguments, scalars, change by `dots`."""
    match name, args, dots:
        case "select", (c, _, _), (_, da, db):
            return _taken(c, da, db)
        case "max", (a, b), (da, db):
            return _taken(a - b, da, db)
        case "min", (a, b), (da, db):
            return _taken(b - a, da, db)
    partials = PARTIALS[name](*args)
    return linear(*((1.0, times(p, d)) for p, d in zip(partials, dots, strict=True)))


def _taken(c: Block, a: Block, b: Block) -> Block:
    """a where c > 0, else b."""
    return a if a == b else call("select", c, a, b)
