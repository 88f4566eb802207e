"""From text to a tree, by recursive descent.

Grammar, loosest binding first (`**` and `^` are the same, right associative,
and bind tighter than a sign on their left)::

    sum     = product (("+" | "-") product)*
    product = sign (("*" | "/") sign)*
    sign    = ("+" | "-") sign | power
    power   = atom (("**" | "^") sign)?
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
            | "if" "(" sum ("<" | ">" | "<=" | ">=") sum "," sum "," sum ")"

A name may be dotted (``hinge.angle``) and then have a component (``rod.position[0]``).
`pi` becomes its number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from vbg.errors import ModelError, counted
from vbg.expressions._defined import NONE, Defined
from vbg.expressions._functions import FUNCTIONS
from vbg.expressions._tree import (
    MAX_TREE,
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Unary,
    depth,
    shown,
)

MAX_LENGTH = 4000
MAX_DEPTH = 100  # of brackets
SHORTER = "name parts of it as parameters"

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*(?:(?:\.[^\W\d]\w*)+(?:\[[0-9]+\])?)?)"
    r"|(?P<operator>\*\*|[<>]=?|[-+*/^(),]))"
)


class _Parser:
    """Recursive descent over one text; private to one call of `parse`."""

    def __init__(self, text: str, defined: Mapping[str, Defined]):
        self.text = text
        self.defined = defined
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

    def fail(self, what: str, remedy: str = "") -> ModelError:
        told = f"{what} at character {self.start + 1} of {shown(self.text)}"
        return ModelError(f"{told}; {remedy}" if remedy else told)

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"brackets nested deeper than {MAX_DEPTH}", SHORTER)
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
            raise self.fail(f"more than {MAX_DEPTH} signs or powers in a row", SHORTER)
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
            raise self.fail(f"more than {MAX_DEPTH} signs or powers in a row", SHORTER)
        self._take()
        node = Binary("**", node, self.sign())
        self.depth -= 1
        return node

    def atom(self) -> Expression:
        if self.kind == "number":
            if math.isinf(float(self.value)):
                what = f"the number {shown(self.value)} is too large, at most 1e308 can be written"
                raise self.fail(what, "look at its exponent")
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
        if name not in FUNCTIONS and name not in self.defined:
            self._take()
            if self._is("("):
                there = ", ".join(sorted((*FUNCTIONS, *self.defined)))
                raise self.fail(f"{shown(name)} is not a function; there are {there}")
            return Number(math.pi) if name == "pi" else Name(name)
        self._take()
        if not self._is("("):
            raise self.fail(f"the function {name} needs its argument in brackets")
        self._take()
        if name == "if":
            return self.choice()
        arguments = [self.expression()]
        while self._is(","):
            self._take()
            arguments.append(self.expression())
        least, most = self._counts(name)
        if not least <= len(arguments) <= most:
            fewest = "" if least == most else "at least "
            wanted = f"{fewest}{counted(least, 'argument')}"
            raise self.fail(f"{name} takes {wanted}, got {len(arguments)}")
        self._close()
        return Call(name, tuple(arguments))

    def _counts(self, name: str) -> tuple[int, int]:
        """Least and greatest number of arguments of a function."""
        if name in self.defined:
            count = len(self.defined[name].arguments)
            return (count, count) if count else (1, MAX_LENGTH)
        return FUNCTIONS[name][1:]

    def choice(self) -> Expression:
        """if(a > b, x, y) as if(a - b > 0, x, y); a >= b is not(b > a)."""
        left = self.expression()
        if not self._is("<", ">", "<=", ">="):
            raise self.fail("if() begins with a comparison, as in if(a > b, x, y); expected < or >")
        comparison = self._take()
        right = self.expression()
        branches = []
        for _ in range(2):
            if not self._is(","):
                raise self.fail("if() takes a comparison and two values: if(a > b, x, y)")
            self._take()
            branches.append(self.expression())
        self._close()
        yes, no = branches
        if comparison in ("<", ">="):
            left, right = right, left
        if comparison in ("<=", ">="):
            yes, no = no, yes
        condition = left if right == Number(0.0) else Binary("-", left, right)
        return Call("if", (condition, yes, no))


def parse_prefix(text: str, defined: Mapping[str, Defined] = NONE) -> tuple[Expression, str]:
    """The longest expression at the start of `text`, and what follows it (a unit).

    Calls of the `defined` functions stand in it as they are written, see `expanded`.
    Raises ModelError, with the character's position, where there is none.
    """
    if len(text) > MAX_LENGTH:
        raise ModelError(f"expression longer than {MAX_LENGTH} characters; {SHORTER}")
    parser = _Parser(text, defined)
    node = parser.expression()
    if depth(node) > MAX_TREE:
        raise ModelError(f"more than {MAX_TREE} operations in a row in {shown(text)}; {SHORTER}")
    return node, text[parser.end :].strip()


# up to the sign of the next term; a sign after ^ or ** belongs to an exponent
_UNIT = re.compile(r"(?:[^-+]|(?<=[\^*])[-+])*")


def parse_terms(
    text: str, defined: Mapping[str, Defined] = NONE
) -> tuple[tuple[Expression, str], ...]:
    """The terms of a sum, each with what follows it (a unit): ``"24 V + 2*u mV"`` has two.

    A subtracted term has its minus.  Raises ModelError, with the character's position,
    where a term is no expression.
    """
    whole, rest = parse_prefix(text, defined)
    if not rest:
        return ((whole, ""),)
    parser = _Parser(text, defined)
    terms = []
    negative = False
    while True:
        node = parser.product()
        unit = ""
        if parser.end < len(text) and not parser._is("+", "-"):
            match = _UNIT.match(text, parser.end)
            assert match is not None  # it matches the empty text
            unit = match[0].strip()
            parser.end = match.end()
            parser._look()
        terms.append((Unary(node) if negative else node, unit))
        if not parser._is("+", "-"):
            return tuple(terms)
        negative = parser._take() == "-"


def parse(text: str, defined: Mapping[str, Defined] = NONE) -> Expression:
    """The syntax tree of `text`; raises ModelError with the character's position."""
    node, rest = parse_prefix(text, defined)
    if rest:
        position = text.rindex(rest) + 1
        raise ModelError(
            f"expected an operator at character {position} of {shown(text)}, found {shown(rest)}"
        )
    return node
