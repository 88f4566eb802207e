"""Arithmetic that users write, as a small syntax tree: parsed, never executed.

Numbers, names, + - * / **, brackets and the functions of FUNCTIONS; `pi`
becomes its number and a name may be dotted (``hinge.angle``).
"""

from vbg.expressions._derivative import derivative
from vbg.expressions._functions import FUNCTIONS, RESERVED
from vbg.expressions._parser import MAX_LENGTH, MAX_TREE, parse, parse_prefix, parse_terms
from vbg.expressions._tree import (
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Unary,
    names,
    renamed,
    shown,
    substitute,
    to_text,
)
from vbg.expressions._values import evaluate

__all__ = [
    "FUNCTIONS",
    "MAX_LENGTH",
    "MAX_TREE",
    "RESERVED",
    "Binary",
    "Call",
    "Expression",
    "Name",
    "Number",
    "Unary",
    "derivative",
    "evaluate",
    "names",
    "parse",
    "parse_prefix",
    "parse_terms",
    "renamed",
    "shown",
    "substitute",
    "to_text",
]
