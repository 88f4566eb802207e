"""Arithmetic that users write, as a small syntax tree: parsed, never executed.

Grammar, loosest binding first (`**` and `^` are the same, right associative,
and bind tighter than a sign on their left)::

    sum     = product (("+" | "-") product)*
    product = sign (("*" | "/") sign)*
    sign    = ("+" | "-") sign | power
    power   = atom (("**" | "^") sign)?
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

A name may be dotted (``hinge.angle``).  `pi` becomes its number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vbg.errors import ModelError

MAX_LENGTH = 4000
MAX_DEPTH = 100  # of brackets
MAX_TREE = 150  # of the tree: a derivative's derivative is four times as deep


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, `t`, a signal or an output such as ``hinge.angle``."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """-operand."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """left operator right, operator one of + - * / **."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """One of FUNCTIONS applied to its arguments."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Number | Name | Unary | Binary | Call


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


# name: (numeric function, least and greatest number of arguments)
FUNCTIONS: Mapping[str, tuple[Callable[..., float], int, int]] = {
    "sin": (math.sin, 1, 1),
    "cos": (math.cos, 1, 1),
    "tan": (math.tan, 1, 1),
    "asin": (math.asin, 1, 1),
    "acos": (math.acos, 1, 1),
    "atan": (math.atan, 1, 1),
    "atan2": (math.atan2, 2, 2),
    "sqrt": (math.sqrt, 1, 1),
    "exp": (math.exp, 1, 1),
    "log": (math.log, 1, 1),
    "abs": (abs, 1, 1),
    "min": (min, 2, 100),
    "max": (max, 2, 100),
    "sign": (_sign, 1, 1),
}
RESERVED = frozenset(FUNCTIONS) | {"pi", "t"}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<operator>\*\*|[-+*/^(),]))"
)


class _Parser:
    """Recursive descent over one text; private to one call of `parse`."""

    def __init__(self, text: str):
        self.text = text
        self.depth = 0
        self.end = 0  # end of the last token taken
        self.kind = self.value = ""
        self.start = self.after = 0
        self._look()

    def _look(self) -> None:
        """Read the token after the last one taken without taking it."""
        match = _TOKEN.match(self.text, self.end)
        if match is None:
            self.kind, self.value, self.start = "", "", self.end
            return
        self.kind = match.lastgroup or ""
        self.value = match[self.kind]
        self.start, self.after = match.start(self.kind), match.end()

    def _take(self) -> str:
        value = self.value
        self.end = self.after
        self._look()
        return value

    def _is(self, *operators: str) -> bool:
        return self.kind == "operator" and self.value in operators

    def fail(self, what: str) -> ModelError:
        return ModelError(f"{what} at character {self.start + 1} of {shown(self.text)}")

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"brackets nested deeper than {MAX_DEPTH}")
        node = self.product()
        while self._is("+", "-"):
            node = Binary(self._take(), node, self.product())
        self.depth -= 1
        return node

    def product(self) -> Expression:
        node = self.sign()
        while self._is("*", "/"):
            node = Binary(self._take(), node, self.sign())
        return node

    def sign(self) -> Expression:
        if not self._is("+", "-"):
            return self.power()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} signs or powers in a row")
        negative = self._take() == "-"
        node = self.sign()
        self.depth -= 1
        return Unary(node) if negative else node

    def power(self) -> Expression:
        node = self.atom()
        if not self._is("**", "^"):
            return node
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} signs or powers in a row")
        self._take()
        node = Binary("**", node, self.sign())
        self.depth -= 1
        return node

    def atom(self) -> Expression:
        if self.kind == "number":
            if math.isinf(float(self.value)):
                raise self.fail(f"the number {shown(self.value)} is too large")
            return Number(float(self._take()))
        if self.kind == "name":
            return self.name()
        if self._is("("):
            self._take()
            node = self.expression()
            self._close()
            return node
        found = shown(self.value) if self.kind else "the end"
        if not self.kind and self.text[self.start :].strip():
            found = shown(self.text[self.start :].strip()[0])
        raise self.fail(f"expected a number, a name or '(', found {found}")

    def _close(self) -> None:
        if not self._is(")"):
            raise self.fail("expected ')'")
        self._take()

    def name(self) -> Expression:
        name = self.value
        if name not in FUNCTIONS:
            self._take()
            if self._is("("):
                raise self.fail(
                    f"{shown(name)} is not a function; there are {', '.join(sorted(FUNCTIONS))}"
                )
            return Number(math.pi) if name == "pi" else Name(name)
        self._take()
        if not self._is("("):
            raise self.fail(f"the function {name} needs its argument in brackets")
        self._take()
        arguments = [self.expression()]
        while self._is(","):
            self._take()
            arguments.append(self.expression())
        _, least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            count = f"{least}" if least == most else f"at least {least}"
            raise self.fail(f"{name} takes {count} argument(s), got {len(arguments)}")
        self._close()
        return Call(name, tuple(arguments))


def shown(text: str) -> str:
    """`text` in quotes, shortened, for messages."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse_prefix(text: str) -> tuple[Expression, str]:
    """The longest expression at the start of `text`, and what follows it (a unit).

    Raises ModelError, with the character's position, where there is none.
    """
    if len(text) > MAX_LENGTH:
        raise ModelError(f"expression longer than {MAX_LENGTH} characters")
    parser = _Parser(text)
    node = parser.expression()
    if _depth(node) > MAX_TREE:
        raise ModelError(
            f"more than {MAX_TREE} operations in a row in {shown(text)}; "
            "name parts of it as parameters"
        )
    return node, text[parser.end :].strip()


def _depth(node: Expression) -> int:
    """Levels of the tree, counted without recursion."""
    level, depth = [node], 0
    while level:
        depth += 1
        level = [child for parent in level for child in _children(parent)]
    return depth


def _children(node: Expression) -> tuple[Expression, ...]:
    match node:
        case Unary(operand):
            return (operand,)
        case Binary(_, left, right):
            return left, right
        case Call(_, arguments):
            return arguments
    return ()


def parse(text: str) -> Expression:
    """The syntax tree of `text`; raises ModelError with the character's position."""
    node, rest = parse_prefix(text)
    if rest:
        position = text.rindex(rest) + 1
        raise ModelError(
            f"expected an operator at character {position} of {shown(text)}, found {shown(rest)}"
        )
    return node


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
        raise ModelError(f"division by zero in {shown(to_text(node))}") from None
    except (ValueError, TypeError):
        raise ModelError(
            f"argument outside the function's domain in {shown(to_text(node))}"
        ) from None
    except OverflowError:
        raise ModelError(f"result too large in {shown(to_text(node))}") from None
    if not math.isfinite(value):
        raise ModelError(f"result is not a finite number in {shown(to_text(node))}")
    return value


def _value(node: Expression, env: Mapping[str, float]) -> float:
    match node:
        case Number(value):
            return value
        case Name(name):
            return float(env[name])
        case Unary(operand):
            return -_value(operand, env)
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


def names(node: Expression) -> frozenset[str]:
    """All names that `node` mentions."""
    match node:
        case Name(name):
            return frozenset((name,))
        case Unary(operand):
            return names(operand)
        case Binary(_, left, right):
            return names(left) | names(right)
        case Call(_, arguments):
            return frozenset().union(*(names(a) for a in arguments))
    return frozenset()


def substitute(node: Expression, values: Mapping[str, float]) -> Expression:
    """`node` with every name of `values` replaced by its number."""
    match node:
        case Name(name) if name in values:
            value = values[name]
            return Number(value) if value >= 0 else Unary(Number(-value))
        case Unary(operand):
            return Unary(substitute(operand, values))
        case Binary(operator, left, right):
            return Binary(operator, substitute(left, values), substitute(right, values))
        case Call(function, arguments):
            return Call(function, tuple(substitute(a, values) for a in arguments))
    return node


_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}


def to_text(node: Expression) -> str:
    """A text that parses to `node` again."""
    return _text(node, 0)


def _text(node: Expression, outer: int) -> str:
    """`node` as text, in brackets where it binds more loosely than `outer`."""
    match node:
        case Number(value):
            whole = value == int(value) and abs(value) < 1e15
            text, own = repr(int(value)) if whole else repr(value), 5 if value >= 0 else 3
        case Name(name):
            return name
        case Call(function, arguments):
            return f"{function}({', '.join(_text(a, 0) for a in arguments)})"
        case Unary(operand):
            text, own = "-" + _text(operand, 3), 3
        case Binary("**", left, right):
            text, own = f"{_text(left, 5)}**{_text(right, 3)}", 4
        case Binary(operator, left, right):
            own = _BINDING[operator]
            gap = " " if own == 1 else ""
            text = f"{_text(left, own)}{gap}{operator}{gap}{_text(right, own + 1)}"
    return f"({text})" if own < outer else text


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
    """d node / d name, other names held; `sign` counts as constant, and min, max
    and abs have the derivative of the branch that is taken (the mean at a tie)."""
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
    """max(a, b)' = (a' + b')/2 + sign(a - b) (a' - b')/2; min with the other sign."""
    a = arguments[0] if len(arguments) == 2 else Call(function, arguments[:-1])
    b = arguments[-1]
    da, db = derivative(a, name), derivative(b, name)
    half = Number(0.5)
    mean = _times(half, _add(da, db))
    lead = _times(half, _times(Call("sign", (_subtract(a, b),)), _subtract(da, db)))
    return _add(mean, lead) if function == "max" else _subtract(mean, lead)
