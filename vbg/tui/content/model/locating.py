"""From the place that a problem names to a part and a field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vbg.model.text.places import spelled
from vbg.tui.content.model.fields import field_rows
from vbg.tui.content.model.tree import SETTINGS, TITLES

Path = tuple[str | int, ...]


def place_of(data: Mapping[str, Any], where: str) -> tuple[Path, int]:
    """The part that `where` ("joints.hinge.axis[0]") is in, and the row of its field."""
    table, _, rest = where.partition(".")
    holder = data.get(table)
    if not isinstance(holder, Mapping):
        a_table = table in (*TITLES, *SETTINGS) and table in data
        return ((table,), 0) if a_table else ((), _row(data, (), where))
    if table in ("simulate", "outputs"):
        return (table,), _row(data, (table,), where)
    # names may contain dots in a broken file: the longest one that fits
    names = [name for name in holder if rest == name or re.match(rf"{re.escape(name)}[.\[]", rest)]
    if not names:
        return (table,), 0
    path = (table, max(names, key=len))
    return path, _row(data, path, where)


def _row(data: Mapping[str, Any], path: Path, where: str) -> int:
    """The number of the inspector's row that `where` is about."""
    best, size = 0, -1
    for number, row in enumerate(field_rows(data, path)):
        name = spelled(row.path)
        if (where == name or where.startswith((name + ".", name + "["))) and len(name) > size:
            best, size = number, len(name)
    return best
