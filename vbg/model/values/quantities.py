"""Numbers with units as they are written: ``"2*l mm"``, ``"24 V + 1 V"``, ``"swing + 10 deg"``.

A unit belongs to the product before it.  In a sum every term may have its own; a term with
names and without a unit is in SI, and a bare number beside a term with a unit is refused,
since it may be meant in either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, reduce

from vbg import expressions, units
from vbg.errors import ModelError
from vbg.expressions import NONE, Binary, Defined, Expression, Number, to_text

Terms = tuple[tuple[Expression, str], ...]

_FACTORS = re.compile(r"\s*([*/])\s*")


def quantity(text: str, unit: str, defined: Mapping[str, Defined] = NONE) -> tuple[Expression, str]:
    """What `text` writes as an expression whose value is in `unit`, and the (first) unit
    written in it, "" for none.

    `unit` is as in `vbg.units.conversion`; "" is SI of any dimension.  Calls of `defined`
    functions are expanded; one that is a term by itself counts in the function's unit.

    Raises
    ------
    ModelError
        no expression, no unit, one of another dimension, or terms that cannot be added.
    """
    return _quantity(text, unit, defined) if defined else _without_functions(text, unit)


@lru_cache(maxsize=4096)
def _without_functions(text: str, unit: str) -> tuple[Expression, str]:
    """Of a text that calls no function of the model; the same ones are read in every run of a
    sweep."""
    return _quantity(text, unit, NONE)


def _quantity(text: str, unit: str, defined: Mapping[str, Defined]) -> tuple[Expression, str]:
    found = expressions.parse_terms(text, defined)
    terms = tuple(_told(node, there, defined) for node, there in found)
    written = next((there for _, there in terms if there), "")
    if not written:
        return terms[0][0], ""
    scaled = [_scaled(node, there, unit) for node, there in terms]
    if len(terms) > 1:
        _require_addable(terms, written)
    return reduce(lambda a, b: Binary("+", a, b), scaled), written


def _told(node: Expression, written: str, defined: Mapping[str, Defined]) -> tuple[Expression, str]:
    """The term without calls of `defined` functions, and its unit."""
    term, unit = expressions.expanded_term(node, defined)
    if unit and written:
        raise ModelError(
            f"{to_text(node)} is in {unit} already and is followed by {written}: between them must"
            " stand *, / or the sign of a sum"
        )
    return term, unit or written


def _scaled(node: Expression, written: str, unit: str) -> Expression:
    """`node`, which is in the unit `written`, in `unit`; one without a unit is in it."""
    if not written:
        return node
    factor, offset = units.conversion(written, unit)
    if factor != 1.0:
        node = Binary("*", Number(factor), node)
    return Binary("+", node, Number(offset)) if offset else node


def _require_addable(terms: Terms, written: str) -> None:
    """Raises ModelError where one of the `terms` has another dimension than the unit
    `written`, an offset, or neither a unit nor a name."""
    for node, there in terms:
        if not there and not expressions.names(node):
            whole = " + ".join(to_text(term) for term, _ in terms).replace("+ -", "- ")
            raise ModelError(
                f"{to_text(node)} has no unit beside one in {written}; give each number its"
                f" unit, or write ({whole}) {written} for the whole sum"
            )
        if there and units.parse(there).offset:
            raise ModelError(
                f"{there} does not begin at zero and cannot stand in a sum; write it in K"
            )
        if there:
            units.conversion(there, written)


def moved_to_the_end(
    text: str, names: frozenset[str], defined: Mapping[str, Defined] = NONE
) -> str:
    """`text` with its unit after the product that it stands in the middle of:
    ``"30 deg*sin(2*t)"`` gives ``"30*sin(2*t) deg"``; "" where that is not what is wrong.

    `names` are those that values may use, so that ``t`` is the time, no tonne.
    """
    node, rest = expressions.parse_prefix(text, defined)
    pieces = _FACTORS.split(rest)
    factors = list(zip(["", *pieces[1::2]], pieces[::2], strict=True))
    kept = 0
    while kept < len(factors) and factors[kept][1] not in names and _is_unit(factors[kept][1]):
        kept += 1
    unit = "".join(operator + factor for operator, factor in factors[:kept])
    moved = "".join(operator + factor for operator, factor in factors[kept:])
    if not unit or not moved:
        return ""
    try:
        product, behind = expressions.parse_prefix(f"{to_text(node)}{moved}", defined)
    except ModelError:
        return ""
    return "" if behind else f"{to_text(product)} {unit}"


def _is_unit(text: str) -> bool:
    try:
        units.parse(text)
    except ModelError:
        return False
    return bool(text.strip())
