"""Parameters between which the numbers of a model choose: max(a, b), abs(a), if(a > b, c, d).

A formula for what such a call gives holds on one side of it only, so that its parameters keep
their numbers; whichever other values are tried, all of them may lie on the same side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vbg.errors import ModelError
from vbg.expressions import Call, Defined, Expression, expanded, names, parse_terms, parts
from vbg.model import Model
from vbg.model.values.functions import functions_of

CHOOSING = ("abs", "min", "max", "sign", "if")
APART = ("parameters", "functions", "measures", "simulate")  # that give no number of a part


def choosing(model: Model) -> frozenset[str]:
    """The parameters that stand in a call of `CHOOSING` without a signal: calls with one are
    formulas themselves."""
    given, functions = frozenset(model.parameters), functions_of(model.document)
    tables = [value for key, value in model.document.items() if key not in APART]
    found: set[str] = set()
    for text in set(_texts(tables)):
        for node in _terms(text, functions):
            calls = (part for part in parts(node) if isinstance(part, Call))
            read = (names(call) for call in calls if call.function in CHOOSING)
            found |= {name for one in read if one <= given for name in one}
    return frozenset(found)


def _texts(value: Any) -> Iterator[str]:
    """Every text in tables and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Sequence):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def _terms(text: str, functions: Mapping[str, Defined]) -> Sequence[Expression]:
    """The terms of a text with the `functions` put in; none of what is no expression."""
    try:
        return [expanded(node, functions) for node, _ in parse_terms(text, functions)]
    except ModelError:
        return ()
