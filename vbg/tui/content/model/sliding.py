"""Numbers of the model as sliders: which, between which ends, and what a place on one means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vbg.tui.content.model.fields import FieldRow, as_typed, field_rows, unit_of

STEPS = 50  # of a slider from end to end, about
_MEASURED = re.compile(r"\s*([+-]?\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)(\s*[^\W\d].*)?")


class Ends(NamedTuple):
    """The least and the greatest value of a slider."""

    low: float
    high: float


def number_of(value: Any) -> float | None:
    """The number that `value` is, or that stands before its unit; None for an expression."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    found = _MEASURED.fullmatch(value) if isinstance(value, str) else None
    return float(found[1].replace("_", "")) if found is not None else None


def with_number(value: Any, number: float) -> Any:
    """`value` with another number; its unit stays, and so does that it is whole."""
    if isinstance(value, str):
        found = _MEASURED.fullmatch(value)
        assert found is not None
        return f"{number:.9g}{found[2] or ''}"
    return int(number) if isinstance(value, int) and number == int(number) else number


def ends_about(value: float) -> Ends:
    """From a tenth of a value to twice as much; about zero from -1 to 1."""
    if value == 0.0:
        return Ends(-1.0, 1.0)
    low, high = sorted((0.1 * value, 2.0 * value))
    return Ends(low, high)


def widened(ends: Ends, value: float) -> Ends:
    """The ends with `value` between them."""
    return Ends(min(ends.low, value), max(ends.high, value))


def step_of(ends: Ends) -> float:
    """A round step, 1, 2 or 5 times a power of ten, of which about `STEPS` fill the slider."""
    raw = (ends.high - ends.low) / STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    return power * max(m for m in (1, 2, 5) if m * power <= raw * (1 + 1e-9))


def at_place(ends: Ends, part: float) -> float:
    """The round value nearest to a part, 0 to 1, of the slider."""
    value = ends.low + min(max(part, 0.0), 1.0) * (ends.high - ends.low)
    return rounded(ends, value)


def rounded(ends: Ends, value: float) -> float:
    """`value` to a whole number of steps, without a tail of a binary fraction."""
    step = step_of(ends)
    return float(f"{round(value / step) * step:.9g}")


def place_of(ends: Ends, value: float) -> float:
    """The part, 0 to 1, of the slider at which `value` is."""
    return (value - ends.low) / (ends.high - ends.low)


def told(data: Mapping[str, Any], row: FieldRow) -> str:
    """The value with its unit, which a parameter may have beside it."""
    held: Any = data
    for key in row.path[:-1]:
        held = held.get(key, {}) if isinstance(held, Mapping) else {}
    beside = held.get("unit", "") if row.path[0] == "parameters" and len(row.path) > 2 else ""
    unit = "" if isinstance(row.value, str) else beside or unit_of(row.declared)
    return f"{as_typed(row.declared, row.value)} {unit}".rstrip()


def slider_rows(data: Mapping[str, Any], marked: FieldRow | None) -> tuple[FieldRow, ...]:
    """The parameters that are numbers, and before them the marked number of another part."""
    found = [
        row
        for name in data.get("parameters", {})
        for row in field_rows(data, ("parameters", name))
        if row.label == "value" and row.written and number_of(row.value) is not None
    ]
    paths = [row.path for row in found]
    first = marked is not None and marked.path not in paths and number_of(marked.value) is not None
    return (*([marked] if marked is not None and marked.written and first else []), *found)
