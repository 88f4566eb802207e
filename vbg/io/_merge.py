"""Changing a TOML text in place: only what differs, so that comments and order stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from vbg.io._emit import PART_TABLES, inline


def merged(text: str, document: Mapping[str, Any]) -> str:
    """The TOML `text` changed to say `document`; "" where tomlkit cannot do it in place."""
    try:
        container = tomlkit.parse(text)
        _merge(container, document)
        return tomlkit.dumps(container)
    except TOMLKitError:
        return ""


def _merge(container: Any, document: Mapping[str, Any], path: tuple[str, ...] = ()) -> None:
    """Make the tomlkit table `container` say `document`."""
    for key in [key for key in container if key not in document]:
        del container[key]
    for key, value in document.items():
        if key not in container:
            _add(container, key, value, (*path, key))
            continue
        old = container[key]
        tables = isinstance(old, Mapping) and isinstance(value, Mapping)
        if tables and not (len(path) > 1 and _shrinks(old, value)):
            _merge(old, value, (*path, key))
        elif not _same(old, value):
            if isinstance(old, OutOfOrderTableProxy):
                del container[key]
            container[key] = _item(value)


def _shrinks(old: Any, value: Mapping[str, Any]) -> bool:
    """A table inside a part that loses keys is written anew: an inline one holds no
    comments, and of dotted keys (points.A, points.B) tomlkit removes only the first."""
    inside = isinstance(old, InlineTable | OutOfOrderTableProxy)
    return inside and any(key not in value for key in old)


def _add(container: Any, key: str, value: Any, path: tuple[str, ...]) -> None:
    """Add an entry: parts as [table.name], everything inside them inline, and plain
    keys of the document before its first table."""
    if isinstance(value, Mapping) and not isinstance(container, InlineTable) and _is_table(path):
        table = tomlkit.table(is_super_table=len(path) == 1 and path[0] in PART_TABLES)
        for entry, inner in value.items():
            _add(table, entry, inner, (*path, entry))
        container[key] = table
    else:
        container[key] = _item(value)


def _is_table(path: tuple[str, ...]) -> bool:
    return len(path) == 1 or (len(path) == 2 and path[0] in PART_TABLES)


def _item(value: Any) -> Any:
    return tomlkit.value(inline(value))


def _same(old: Any, value: Any) -> bool:
    """Equal, and of the same type: 1 and 1.0 are written differently, and so are 1 and true."""
    old = old.unwrap() if hasattr(old, "unwrap") else old
    if isinstance(old, list) and isinstance(value, list):
        return len(old) == len(value) and all(map(_same, old, value))
    if isinstance(old, Mapping) and isinstance(value, Mapping):
        return old.keys() == value.keys() and all(_same(old[key], value[key]) for key in old)
    return type(old) is type(value) and bool(old == value)
