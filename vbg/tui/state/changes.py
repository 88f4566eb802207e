"""What changed in a model from one run to the next, in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_IGNORED = ("name", "description", "note")


def changes(old: Mapping[str, Any], new: Mapping[str, Any], *, most: int = 2) -> str:
    """``L 0.5 → 0.51, rod.mass 1 → 2``: up to `most` changes, and how many more there are."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    words = []
    for path in dict.fromkeys((*before, *after)):
        if before.get(path) != after.get(path):
            was, now = (_said(values.get(path)) for values in (before, after))
            words.append(f"{_short(path)} {was} → {now}")
    more = f", {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def _leaves(data: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in _IGNORED:
                yield from _leaves(value, (*path, str(key)))
    else:
        yield path, data


def _short(path: tuple[str, ...]) -> str:
    """The path without its table: names are unique."""
    return ".".join(path[1:] if len(path) > 1 else path).removesuffix(".value")


def _said(value: Any) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
