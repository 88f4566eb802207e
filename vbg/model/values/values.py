"""Numbers within bounds, lists and vectors: what the forms of fields are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from vbg import units
from vbg.fields import Field
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, described


def read_quantity(reading: Reading, path: Path, raw: Any, declared: Field) -> float | None:
    """A number in the field's unit and within its bounds."""
    value = reading.number(path, raw, declared.unit)
    return value if value is not None and in_bounds(reading, path, value, declared) else None


def in_bounds(reading: Reading, path: Path, value: float, declared: Field) -> bool:
    """Whether `value` keeps the bounds of its field; notes a problem if not."""
    for bound, fits, words in (
        (declared.above, _above, "greater than"),
        (declared.minimum, _at_least, "at least"),
        (declared.below, _below, "less than"),
        (declared.maximum, _at_most, "at most"),
    ):
        if bound is not None and not fits(value, bound):
            unit = units.in_brackets(declared.unit)
            reading.fail(path, f"must be {words} {bound:g}{unit}, found {value:.6g}.")
            return False
    return True


def _above(value: float, bound: float) -> bool:
    return value > bound


def _at_least(value: float, bound: float) -> bool:
    return value >= bound


def _below(value: float, bound: float) -> bool:
    return value < bound


def _at_most(value: float, bound: float) -> bool:
    return value <= bound


def read_list(reading: Reading, path: Path, raw: Any, size: int, what: str) -> Any:
    """`raw` if it is a list of `size` entries (0: of any number but none)."""
    if not isinstance(raw, (list, tuple)):
        reading.fail(path, f"expected a list of {size or 'some'} {what}, found {described(raw)}.")
    elif size and len(raw) != size:
        reading.fail(path, f"expected {size} {what}, found {len(raw)}.")
    elif not raw:
        reading.fail(path, f"expected a list of {what}, found an empty one.")
    else:
        return raw
    return None


def read_vector(
    reading: Reading, path: Path, raw: Any, unit: str | tuple[str, ...] = "1", size: int = 3
) -> tuple[float, ...] | None:
    """A list of `size` numbers in `unit`, or each in its own of as many units."""
    entries = read_list(reading, path, raw, size, "numbers")
    if entries is None:
        return None
    given = (unit,) if isinstance(unit, str) else unit
    units_of = given * len(entries) if len(given) == 1 else given
    values = [
        reading.number((*path, i), entry, its)
        for i, (entry, its) in enumerate(zip(entries, units_of, strict=True))
    ]
    return None if None in values else tuple(values)  # type: ignore[arg-type]


def read_direction(reading: Reading, path: Path, raw: Any) -> tuple[float, ...] | None:
    """A list of three numbers, not all zero, scaled to length 1."""
    vector = read_vector(reading, path, raw)
    if vector is None:
        return None
    length = math.hypot(*vector)
    if length < 1e-12 or not math.isfinite(length):
        reading.fail(
            path, f"a direction must not vanish, found {list(vector)}.", "For example [0, 0, 1]."
        )
        return None
    if abs(length - 1) < 4e-16:  # so that a resolved direction reads as itself
        return vector
    return tuple(component / length for component in vector)


def unknown_keys(
    reading: Reading,
    path: Path,
    table: Mapping[str, Any],
    known: Any,
    whose: str,
    deeper: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Note every key of `table` that is not `known`, with the nearest one; a `deeper` one with
    the key of the table that it stands in."""
    for key in table:
        if key in known:
            continue
        if key in deeper:
            remedy = f"Write {deeper[key]} = {{ {key} = ... }}."
        else:
            remedy = reading.hint(key, known, "keys")
        reading.fail_key((*path, key), f"unknown key {key!r} of {whose}.", remedy)
