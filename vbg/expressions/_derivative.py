"""The derivative of an expression, as an expression."""

from __future__ import annotations

from vbg.expressions._tree import Binary, Call, Expression, Name, Number, Unary

ZERO, ONE = Number(0.0), Number(1.0)


def _add(a: Expression, b: Expression) -> Expression:
    return b if a == ZERO else a if b == ZERO else Binary("+", a, b)


def _subtract(a: Expression, b: Expression) -> Expression:
    return a if b == ZERO else Unary(b) if a == ZERO else Binary("-", a, b)


def _times(a: Expression, b: Expression) -> Expression:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Binary("*", a, b)


def _over(a: Expression, b: Expression) -> Expression:
    return ZERO if a == ZERO else a if b == ONE else Binary("/", a, b)


def _raised(a: Expression, b: Expression) -> Expression:
    return ONE if b == ZERO else a if b == ONE else Binary("**", a, b)


def derivative(node: Expression, name: str) -> Expression:
    """d node / d name, other names held; `sign` and the condition of `if` count as constant, and
    min, max and abs have the derivative of the branch that is taken (at a tie min and max that of
    the later argument, abs none), whatever that of the other is."""
    match node:
        case Name(own):
            return ONE if own == name else ZERO
        case Unary(operand):
            inner = derivative(operand, name)
            return ZERO if inner == ZERO else Unary(inner)
        case Binary(operator, left, right):
            return _binary_derivative(operator, left, right, name)
        case Call("atan2", (y, x)):
            dy, dx = derivative(y, name), derivative(x, name)
            square = _add(_times(x, x), _times(y, y))
            return _over(_subtract(_times(x, dy), _times(y, dx)), square)
        case Call("min" | "max" as function, arguments):
            return _extreme_derivative(function, arguments, name)
        case Call("if", (condition, yes, no)):
            da, db = derivative(yes, name), derivative(no, name)
            return da if da == db else Call("if", (condition, da, db))
        case Call(function, (x,)):
            dx = derivative(x, name)
            return ZERO if dx == ZERO else _call_derivative(function, x, dx)
    return ZERO


def _binary_derivative(operator: str, a: Expression, b: Expression, name: str) -> Expression:
    da, db = derivative(a, name), derivative(b, name)
    match operator:
        case "+":
            return _add(da, db)
        case "-":
            return _subtract(da, db)
        case "*":
            return _add(_times(da, b), _times(a, db))
        case "/":
            return _subtract(_over(da, b), _over(_times(a, db), _times(b, b)))
    if db == ZERO:
        reduced = Number(b.value - 1) if isinstance(b, Number) else Binary("-", b, ONE)
        return _times(_times(b, _raised(a, reduced)), da)
    # (a**b)' = a**b (b' log a + b a'/a)
    inner = _add(_times(db, Call("log", (a,))), _over(_times(b, da), a))
    return _times(Binary("**", a, b), inner)


def _call_derivative(function: str, x: Expression, dx: Expression) -> Expression:
    one_less_square = _subtract(ONE, _times(x, x))
    match function:
        case "sin":
            return _times(Call("cos", (x,)), dx)
        case "cos":
            return Unary(_times(Call("sin", (x,)), dx))
        case "tan":
            return _over(dx, Binary("**", Call("cos", (x,)), Number(2.0)))
        case "asin":
            return _over(dx, Call("sqrt", (one_less_square,)))
        case "acos":
            return Unary(_over(dx, Call("sqrt", (one_less_square,))))
        case "atan":
            return _over(dx, _add(ONE, _times(x, x)))
        case "sqrt":
            return _over(dx, _times(Number(2.0), Call("sqrt", (x,))))
        case "exp":
            return _times(Call("exp", (x,)), dx)
        case "log":
            return _over(dx, x)
        case "abs":
            return _times(Call("sign", (x,)), dx)
    return ZERO


def _extreme_derivative(function: str, arguments: tuple[Expression, ...], name: str) -> Expression:
    """max(a, b)' = if(a - b, a', b'); min(a, b)' = if(b - a, a', b')."""
    a = arguments[0] if len(arguments) == 2 else Call(function, arguments[:-1])
    b = arguments[-1]
    da, db = derivative(a, name), derivative(b, name)
    lead = Binary("-", a, b) if function == "max" else Binary("-", b, a)
    return da if da == db else Call("if", (lead, da, db))
