"""The table [display]: the units in which results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vbg import units
from vbg.display import QUANTITIES, Display, Rule, same_quantity
from vbg.errors import ModelError
from vbg.model.catalogue import TABLES
from vbg.model.text.places import Path, Places
from vbg.model.values.reading import Reading, Scope

_SIGN_OF_PATTERN = "*?"


def read_display(reading: Reading, scope: Scope, raw: Any) -> Display:
    """Its rules: ``QUANTITY = "UNIT"``, or ``"SIGNAL" = "UNIT"`` with ``*`` for any letters."""
    table = reading.table(("display",), raw) or {}
    found = []
    for name, entry in table.items():
        path: Path = ("display", name)
        unit = reading.text(path, entry)
        if unit is None or not _is_unit(reading, path, unit):
            continue
        si = QUANTITIES.get(name)
        if si is None and _names_signals(reading, scope, path, name):
            found.append(Rule(unit, name))
        elif si is not None and same_quantity(unit, si):
            found.append(Rule(unit))
        elif si is not None:
            usual = ", ".join(u for u in units.fitting(si) if same_quantity(u, si))
            its = next((q for q, other in QUANTITIES.items() if same_quantity(unit, other)), "")
            meant = f" {unit} is a unit of {its}: {its} = {unit!r}." if its else ""
            reading.fail(path, f"{unit!r} is no unit of {name}.", f"There are {usual}.{meant}")
    return tuple(found)


def display_of(document: Mapping[str, Any]) -> Display:
    """The rules of a document's [display] whose problems are told elsewhere."""
    named = (document.get(table) for table in TABLES)
    objects = {str(name): "" for table in named if isinstance(table, Mapping) for name in table}
    return read_display(Reading("", Places()), Scope(objects=objects), document.get("display", {}))


def _is_unit(reading: Reading, path: Path, unit: str) -> bool:
    try:
        units.parse(unit)
    except ModelError as error:
        reading.fail(path, f"{error}.", 'For example pressure = "bar".')
        return False
    return True


def _names_signals(reading: Reading, scope: Scope, path: Path, name: str) -> bool:
    """Whether the key may name signals: those of a part, or of any."""
    owner, dot, _ = name.partition(".")
    if any(sign in name for sign in _SIGN_OF_PATTERN) or (dot and owner in scope.objects):
        return True
    what = f"{name!r} is neither a quantity nor a signal of a part."
    remedy = reading.hint(name, (*QUANTITIES, *scope.objects), "quantities or parts")
    reading.fail_key(path, what, remedy or f"Quantities are {', '.join(QUANTITIES)}.")
    return False
