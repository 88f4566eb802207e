"""The scalar functions of block expressions: value and partial derivatives.

Adding a function is adding a row here and an opcode in the virtual machine.
Comparisons are data: `positive(x)` is 1 where x > 0, else 0, and
`select(c, a, b)` is a where c > 0, else b; both are constant in the
derivative, because switching points are located as events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.blocks.node import Block, call, const, divide, times


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


def _select(c: Any, a: Any, b: Any) -> Any:
    return np.where(np.real(c) > 0.0, a, b)


def _smaller(a: Any, b: Any) -> Any:
    return np.where(np.real(a) <= np.real(b), a, b)


def _larger(a: Any, b: Any) -> Any:
    return np.where(np.real(a) >= np.real(b), a, b)


def _atan2_partials(y: Block, x: Block) -> tuple[Block, ...]:
    square = times(x, x) + times(y, y)
    return (divide(x, square), -divide(y, square))


def _arctan2(y: Any, x: Any) -> Any:
    """atan2 that also takes complex steps."""
    y, x = np.asarray(y), np.asarray(x)
    real = np.arctan2(y.real, x.real)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return real
    step = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return real + 1j * step


def _abs(a: Any) -> Any:
    return np.where(np.real(a) < 0.0, -a, a)


FUNCTIONS: dict[str, Function] = {
    "sin": Function(np.sin, lambda a: (call("cos", a),)),
    "cos": Function(np.cos, lambda a: (-call("sin", a),)),
    "tan": Function(np.tan, lambda a: (const(1.0) + times(call("tan", a), call("tan", a)),)),
    "asin": Function(
        np.arcsin, lambda a: (divide(const(1.0), call("sqrt", const(1.0) - times(a, a))),)
    ),
    "acos": Function(
        np.arccos, lambda a: (-divide(const(1.0), call("sqrt", const(1.0) - times(a, a))),)
    ),
    "atan": Function(np.arctan, lambda a: (divide(const(1.0), const(1.0) + times(a, a)),)),
    "atan2": Function(_arctan2, _atan2_partials),
    "sqrt": Function(np.sqrt, lambda a: (divide(const(0.5), call("sqrt", a)),)),
    "exp": Function(np.exp, lambda a: (call("exp", a),)),
    "log": Function(np.log, lambda a: (divide(const(1.0), a),)),
    "abs": Function(_abs, lambda a: (call("sign", a),)),
    "sign": Function(lambda a: np.sign(np.real(a)), _zero),
    "positive": Function(lambda a: 1.0 * (np.real(a) > 0.0), _zero),
    "min": Function(
        _smaller, lambda a, b: (call("positive", b - a), const(1.0) - call("positive", b - a))
    ),
    "max": Function(
        _larger, lambda a, b: (call("positive", a - b), const(1.0) - call("positive", a - b))
    ),
    "power": Function(np.power, _power_partials),
    "reciprocal": Function(
        lambda a: 1.0 / a, lambda a: (-times(call("reciprocal", a), call("reciprocal", a)),)
    ),
    "select": Function(
        _select,
        lambda c, a, b: (
            const(0.0),
            call("positive", c),
            const(1.0) - call("positive", c),
        ),
    ),
    "floor": Function(lambda a: np.floor(np.real(a)), _zero),
}
