"""The nodes of an expression, and what can be said of a tree without its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


def renamed(node: Expression, new: Mapping[str, str]) -> Expression:
    """`node` with every name in `new` replaced by another."""
    match node:
        case Name(name):
            return Name(new.get(name, name))
        case Unary(operand):
            return Unary(renamed(operand, new))
        case Binary(operator, left, right):
            return Binary(operator, renamed(left, new), renamed(right, new))
        case Call(function, arguments):
            return Call(function, tuple(renamed(a, new) for a in arguments))
    return node


def depth(node: Expression) -> int:
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
        case Call("if", (condition, yes, no)):
            return f"if({_text(condition, 0)} > 0, {_text(yes, 0)}, {_text(no, 0)})"
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


def shown(text: str) -> str:
    """`text` in quotes, shortened, for messages."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
