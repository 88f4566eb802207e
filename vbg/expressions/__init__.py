"""Arithmetic that users write, as a small syntax tree: parsed, never executed.

Numbers, names, + - * / **, brackets and the functions of FUNCTIONS; `pi`
becomes its number and a name may be dotted (``hinge.angle``).  Functions that a file
defines (`Defined`) are expanded where the file is read.
"""

from vbg.expressions._defined import NONE, Defined, called, expanded, expanded_term
from vbg.expressions._derivative import derivative
from vbg.expressions._functions import FUNCTIONS, RESERVED
from vbg.expressions._parser import MAX_LENGTH, parse, parse_prefix, parse_terms
from vbg.expressions._tree import (
    MAX_TREE,
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Unary,
    names,
    parts,
    renamed,
    replaced,
    shown,
    substitute,
    to_text,
)
from vbg.expressions._values import evaluate

__all__ = [
    "FUNCTIONS",
    "MAX_LENGTH",
    "MAX_TREE",
    "NONE",
    "RESERVED",
    "Binary",
    "Call",
    "Defined",
    "Expression",
    "Name",
    "Number",
    "Unary",
    "called",
    "derivative",
    "evaluate",
    "expanded",
    "expanded_term",
    "names",
    "parse",
    "parse_prefix",
    "parse_terms",
    "parts",
    "renamed",
    "replaced",
    "shown",
    "substitute",
    "to_text",
]
