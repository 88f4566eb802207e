"""The edits of a document, as data: what the journal writes and undo names.

A command turns one snapshot's text into the next one's.  Each can be written
as plain JSON and read back, so a journal replays exactly what was done.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from vbg.edit import source
from vbg.edit.source import Path
from vbg.errors import UsageError


class Command(Protocol):
    """One labelled edit, a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def label(self) -> str: ...

    def change_text(self, text: str) -> str:
        """The text after the edit."""

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """The plain data after the edit, by which the new text is checked."""


@dataclass(frozen=True, slots=True)
class SetValue:
    """Give the value at `path`."""

    path: Path
    value: Any
    label: str

    def change_text(self, text: str) -> str:
        return source.with_value(text, self.path, self.value)

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        out = copy.deepcopy(data)
        holder: Any = out
        for key in self.path[:-1]:
            holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
        holder[self.path[-1]] = self.value
        return out


@dataclass(frozen=True, slots=True)
class Remove:
    """Take away the values or tables at `paths`."""

    paths: tuple[Path, ...]
    label: str

    def change_text(self, text: str) -> str:
        for path in self.paths:
            text = source.without_value(text, path)
        return text

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        out = copy.deepcopy(data)
        for path in self.paths:
            holder: Any = out
            for key in path[:-1]:
                holder = holder[key]
            holder.pop(path[-1], None)
        return out


@dataclass(frozen=True, slots=True)
class AddTable:
    """Write a new table, a part for example."""

    path: tuple[str, ...]
    values: Mapping[str, Any]
    label: str

    def change_text(self, text: str) -> str:
        return source.with_table(text, self.path, self.values)

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        out = copy.deepcopy(data)
        holder: Any = out
        for key in self.path[:-1]:
            holder = holder.setdefault(key, {})
        holder[self.path[-1]] = copy.deepcopy(dict(self.values))
        return out


def _with_key(data: dict[str, Any], path: Path, name: str) -> dict[str, Any]:
    """A copy in which the last key of `path` is `name`, at the same place."""
    out = copy.deepcopy(data)
    table: Any = out
    for key in path[:-1]:
        table = table[key]
    items = [(name if k == path[-1] else k, v) for k, v in table.items()]
    table.clear()
    table.update(items)
    return out


@dataclass(frozen=True, slots=True)
class Rename:
    """Give the table at `path` another name, and change the values that refer to it."""

    path: tuple[str, ...]
    name: str
    references: tuple[tuple[Path, Any], ...]
    label: str

    def change_text(self, text: str) -> str:
        for path, value in self.references:
            text = source.with_value(text, path, value)
        return source.with_renamed(text, self.path, self.name)

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        for path, value in self.references:
            data = SetValue(path, value, "").change_data(data)
        return _with_key(data, self.path, self.name)


@dataclass(frozen=True, slots=True)
class RenameKey:
    """Spell the key at `path` another way; its value, its comment and its place stay."""

    path: Path
    name: str
    label: str

    def change_text(self, text: str) -> str:
        return source.with_key(text, self.path, self.name)

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return _with_key(data, self.path, self.name)


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Another text altogether: reloaded from disk, or back from an editor."""

    text: str
    label: str

    def change_text(self, text: str) -> str:
        return self.text

    def change_data(self, data: dict[str, Any]) -> dict[str, Any]:
        raise UsageError("ReplaceText: the data are those of the new text.")


_KINDS: dict[str, type] = {
    "set": SetValue,
    "remove": Remove,
    "add": AddTable,
    "rename": Rename,
    "key": RenameKey,
    "text": ReplaceText,
}


def to_plain(command: Command) -> dict[str, Any]:
    """`command` as JSON data."""
    kind = next(name for name, cls in _KINDS.items() if isinstance(command, cls))
    return {"do": kind, **asdict(command)}


def from_plain(entry: Mapping[str, Any]) -> Command:
    """The command that `to_plain` wrote.

    Raises
    ------
    UsageError
        the entry is not one of these commands.
    """
    fields = {key: value for key, value in entry.items() if key != "do"}
    if "path" in fields:
        fields["path"] = tuple(fields["path"])
    if "paths" in fields:
        fields["paths"] = tuple(tuple(path) for path in fields["paths"])
    if "references" in fields:
        fields["references"] = tuple((tuple(path), value) for path, value in fields["references"])
    try:
        return _KINDS[entry["do"]](**fields)
    except (KeyError, TypeError) as error:
        raise UsageError(f"journal: {entry.get('do')!r} is no edit that vbg knows.") from error
