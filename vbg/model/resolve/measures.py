"""The table [measures]: what a run is to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vbg import units
from vbg.errors import ModelError, UsageError
from vbg.measures import Measure, parse
from vbg.model.text.names import is_name
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.model.values.values import unknown_keys

_KEYS = ("expression", "unit")


def read_measures(reading: Reading, raw: Any) -> dict[str, Measure]:
    """The measures by name: each a text, or { expression, unit }."""
    table = reading.table(("measures",), raw)
    found = {}
    for name, entry in (table or {}).items():
        path: Path = ("measures", name)
        if not is_name(name):
            remedy = "Use letters, digits, _ and -, a letter first."
            reading.fail_key(path, f"{name!r} cannot name a measure.", remedy)
            continue
        measure = _measure(reading, path, entry)
        if measure is not None:
            found[name] = measure
    return found


def _measure(reading: Reading, path: Path, entry: Any) -> Measure | None:
    unit = ""
    if isinstance(entry, Mapping):
        unknown_keys(reading, path, entry, _KEYS, "a measure")
        if "expression" not in entry:
            remedy = 'Write { expression = "max(A.angle)", unit = "deg" }.'
            reading.fail_key(path, "the measure has no expression.", remedy)
            return None
        unit = entry.get("unit", "")
        if unit and not _is_unit(reading, (*path, "unit"), unit):
            return None
        path, entry = (*path, "expression"), entry["expression"]
    text = reading.text(path, entry)
    if text is None:
        return None
    try:
        parse(text, reading.defined)
    except UsageError as error:
        reading.fail(path, str(error), "`vbg parts measures` lists the functions.")
        return None
    return Measure(text, unit)


def _is_unit(reading: Reading, path: Path, raw: Any) -> bool:
    text = reading.text(path, raw)
    if text is None:
        return False
    try:
        units.parse(text)
    except ModelError as error:
        reading.fail(path, f"{error}.")
        return False
    return True
