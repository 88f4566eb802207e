"""The nodes of an expression, and what can be said of a tree without its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_TREE = 150  # levels: a derivative's derivative is four times as deep


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
    return replaced(node, {name: _number(values[name]) for name in names(node) & values.keys()})


def renamed(node: Expression, new: Mapping[str, str]) -> Expression:
    """`node` with every name in `new` replaced by another."""
    return replaced(node, {old: Name(name) for old, name in new.items()})


def replaced(node: Expression, new: Mapping[str, Expression]) -> Expression:
    """`node` with every name in `new` replaced by an expression, all at once."""
    match node:
        case Name(name):
            return new.get(name, node)
        case Unary(operand):
            return Unary(replaced(operand, new))
        case Binary(operator, left, right):
            return Binary(operator, replaced(left, new), replaced(right, new))
        case Call(function, arguments):
            return Call(function, tuple(replaced(a, new) for a in arguments))
    return node


def _number(value: float) -> Expression:
    return Number(value) if value >= 0 else Unary(Number(-value))


def uses(node: Expression) -> Counter[str]:
    """How often `node` mentions each of its names."""
    return Counter(part.name for part in parts(node) if isinstance(part, Name))


def size(node: Expression) -> int:
    """Operations, names and numbers of the tree."""
    return sum(1 for _ in parts(node))


def parts(node: Expression) -> Iterator[Expression]:
    """`node` and everything below it."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += _children(part)


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
