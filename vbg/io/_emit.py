"""Plain data as TOML text: one [table.name] per part, one key per line, nested data inline."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vbg.errors import UsageError
from vbg.model.catalogue import TABLES
from vbg.model.text.syntax import quoted

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
PART_TABLES = ("functions", "include", *TABLES)  # tables of tables, one [TABLE.NAME] each
_ORDER = (
    "parameters",
    "functions",
    "include",
    *TABLES,
    "ports",
    "simulate",
    "outputs",
    "measures",
    "display",
)


def emitted(document: Mapping[str, Any]) -> str:
    """`document` as the text of a model file."""
    lines: list[str] = []
    head = [key for key in document if not isinstance(document[key], Mapping)]
    for key in head:
        lines.append(f"{quoted_key(key)} = {inline(document[key])}")
    tables = [key for key in document if key not in head]
    for name in sorted(tables, key=lambda key: _ORDER.index(key) if key in _ORDER else -1):
        lines.extend(_table(name, document[name]))
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    parts = name in PART_TABLES
    if not parts or not table:
        yield f"\n[{quoted_key(name)}]"
    for key, value in table.items():
        if parts and isinstance(value, Mapping):
            yield f"\n[{quoted_key(name)}.{quoted_key(key)}]"
            for entry in value:
                yield f"{quoted_key(entry)} = {inline(value[entry])}"
        else:
            yield f"{quoted_key(key)} = {inline(value)}"


def quoted_key(key: str) -> str:
    """`key` bare where TOML allows it, in quotes otherwise."""
    return key if _BARE.match(key) else quoted(key)


def inline(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        entries = ", ".join(f"{quoted_key(key)} = {inline(value[key])}" for key in value)
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(inline, value))}]"
    raise UsageError(f"a model file cannot hold a {type(value).__name__}")
