"""Of which quantity a measure is: its unit in SI, and mistakes such as a kilonewton beside a metre.

What has a unit is checked: signals, parameters and numbers that are written with one.  A bare
number beside them is SI of any quantity; a product with one has a unit that only its writer knows.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from vbg import units
from vbg.display import unit_of
from vbg.errors import ModelError, UsageError
from vbg.measures.functions import FUNCTIONS
from vbg.measures.language import CONSTANTS, signal_name, spelled, unit_written
from vbg.plumbing.components import vector_of

Unit = str | None  # None: of any quantity, for all that can be known

PLAIN = "1"
LIKE = "as x"  # the quantity of the first argument
# of the arguments behind the first one, and of what comes out where it is not that of the first
_ASKED: Mapping[str, tuple[Unit, ...]] = {
    "at": ("s",),
    "over": ("s", "s"),
    "after": ("s",),
    "before": ("s",),
    "settle": (PLAIN,),
    "count": (LIKE,),
    "share": (LIKE, LIKE),
    "damage": (LIKE, PLAIN, PLAIN),
    "equivalent": (PLAIN, None),
    "bearing_life": ("rad/s", LIKE, PLAIN),
}
_GIVEN: Mapping[str, Unit] = {
    **dict.fromkeys(("settle", "rise", "bearing_life"), "s"),
    **dict.fromkeys(("overshoot", "count", "share", "cycles", "damage"), PLAIN),
    "frequency": "1/s",
    "log": None,
    "exp": None,
}


def unit_told(
    measure: ast.expr, signals: Mapping[str, str], parameters: Mapping[str, str], wanted: str = ""
) -> str:
    """The unit of SI that a measure comes out in, "" where it cannot be known, or is 1.

    signals, parameters : name -> unit;  wanted : the unit in which it is to be told.

    Raises UsageError where what is added, compared or told is of different quantities.
    """
    try:
        found = _unit(measure, signals, parameters)
        if wanted and found is not None:
            _require(wanted, found, "its value", f"it cannot be told in {wanted}")
    except UsageError as error:
        raise UsageError(f"measure {spelled(measure)!r}: {error}") from None
    return "" if found is None or found == PLAIN else _in_si(found)


def _unit(node: ast.expr, signals: Mapping[str, str], parameters: Mapping[str, str]) -> Unit:
    match node:
        case ast.Constant():
            return _known(unit_written(node))
        case ast.UnaryOp(operand=operand):
            return _unit(operand, signals, parameters)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            _unit(right, signals, parameters)
            return _power(_unit(left, signals, parameters), right)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = (_unit(one, signals, parameters) for one in (left, right))
            if isinstance(op, ast.Mult | ast.Div):
                return _product(first, second, 1 if isinstance(op, ast.Mult) else -1)
            _require(second, first, spelled(left), f"{spelled(right)} is [{second}]")
            return first or second
        case ast.Call(func=ast.Name(id=name), args=[first_one, *others]):
            x = _unit(first_one, signals, parameters)
            found = [_unit(one, signals, parameters) for one in others]
            return _called(name, x, [spelled(first_one), *map(spelled, others)], found)
        case ast.Call():
            return None
        case ast.Name(id=name) if name not in signals and (name in parameters or name in CONSTANTS):
            return _known(parameters.get(name, ""))
    name = signal_name(node, "")
    return _known(signals.get(name) or signals.get(vector_of(name), ""))


def _called(name: str, x: Unit, words: list[str], found: list[Unit]) -> Unit:
    """What a function gives, its arguments checked; `words` say them."""
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    for k, (unit, asked) in enumerate(zip(found, _ASKED.get(name, ()), strict=False), 1):
        called, wanted = function.arguments[k][0], x if asked == LIKE else asked
        shown = f"{called} of {name}()"
        _require(unit, wanted, shown, f"{words[k]} is [{unit}]")
    if name == "integral":
        found_one = _product(x, "s", 1)
        return "J" if found_one == "N*m" else found_one  # of a power, not an arm and a force
    if name == "sqrt":
        return None if x is None else _to(x, Fraction(1, 2))
    return _GIVEN.get(name, x)


def _known(unit: str) -> Unit:
    """The unit; None where there is none, or one that says nothing: signals of any quantity are
    in 1, residuals in "m or rad"."""
    if unit == "%":
        return PLAIN
    try:
        units.parse(unit)
    except ModelError:
        return None
    return unit if unit not in ("", PLAIN) else None


def _in_si(unit: str) -> str:
    """Of the same quantity, in SI; a signal's own name for it stays. Hz counts as 1/s."""
    parsed = units.parse(unit)
    if parsed.cycles:
        return "1/s" if parsed.dimension == units.parse("Hz").dimension else ""
    return unit if parsed.factor == 1.0 and not parsed.offset else unit_of(parsed.dimension)


def _require(unit: Unit, wanted: Unit, what: str, why: str) -> None:
    """Raises UsageError where both are known and not of one quantity; radians count as 1."""
    if unit is None or wanted is None:
        return
    try:
        units.conversion(unit, wanted)
    except ModelError:
        quantity = units.described(units.parse(wanted)) + units.in_brackets(wanted)
        raise UsageError(f"{what} is {quantity}, but {why}.") from None


def _product(first: Unit, second: Unit, power: int) -> Unit:
    if first is None or second is None:
        return None
    one, other = units.parse(first).dimension, units.parse(second).dimension
    kg, m, s, ampere, kelvin, rad = (a + power * b for a, b in zip(one, other, strict=True))
    return unit_of((kg, m, s, ampere, kelvin, rad))


def _power(base: Unit, exponent: ast.expr) -> Unit:
    match exponent:
        case ast.Constant(value=int() | float() as value) if base is not None:
            return _to(base, Fraction(value).limit_denominator(12))
    return None


def _to(base: str, power: Fraction) -> Unit:
    """base^power; None where this is no product of whole powers."""
    found = [power * one for one in units.parse(base).dimension]
    if any(one.denominator != 1 for one in found):
        return None
    kg, m, s, ampere, kelvin, rad = (int(one) for one in found)
    return unit_of((kg, m, s, ampere, kelvin, rad))
