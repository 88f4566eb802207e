"""What a process that is gone has left: journals with edits that were never saved.

A journal is renamed before it is read and back after it, so that one whose reading breaks
vbg is met `TRIES` times and no more; it is removed only when its edits are in
another journal or given up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vbg.edit.commands import from_plain
from vbg.errors import UsageError
from vbg.platform.locks import Hold
from vbg.tui.session.kept.document import Document
from vbg.tui.session.kept.folders import name_of, state_folder
from vbg.tui.session.kept.journal import free_name

TRIES = 3
_TRIED = tuple(f".tried{number}" for number in range(1, TRIES + 1))


@dataclass(frozen=True)
class Abandoned:
    """A journal whose process is gone, renamed: what it holds in numbers."""

    file: Path
    model: str
    base: str
    entries: tuple[dict[str, Any], ...]
    unsaved: int = 0

    def keep(self) -> None:
        """Leave it for the next time."""
        self.file.rename(free_name(Path(self.model) if self.model else None))

    @property
    def when(self) -> float:
        """Time of the last entry, seconds since the epoch."""
        return float(self.entries[-1]["at"]) if self.entries else 0.0


def replay(found: Abandoned) -> Document:
    """The document as it was when its process died, history included.

    Raises
    ------
    UsageError
        an entry cannot be done.
    """
    document = Document.opened(Path(found.model) if found.model else None, found.base)
    for entry in found.entries:
        plain = {key: value for key, value in entry.items() if key != "at"}
        if plain["do"] == "go":
            document.go(plain["position"])
        elif plain["do"] == "saved":
            document.saved = plain["hash"]
            document.file = Path(plain["model"]) if plain.get("model") else document.file
        else:
            document.apply(from_plain(plain))
    return document


def abandoned(model: Path | None) -> tuple[Abandoned, ...]:
    """Journals of `model` that no process holds and that have unsaved edits."""
    found = []
    left = state_folder().glob(f"{name_of(model)}-*")
    for file in sorted(file for file in left if file.suffix in (".journal", *_TRIED[:-1])):
        if _held(file):
            continue
        tries = 1 + _TRIED.index(file.suffix) if file.suffix in _TRIED else 0
        kept = file.with_suffix(_TRIED[tries])
        try:
            file.replace(kept)
        except OSError:
            # another vbg took it in this moment
            continue
        journal = _read(kept)
        if journal is not None:
            found.append(journal)
    return tuple(found)


def _read(file: Path) -> Abandoned | None:
    """The journal in `file`, up to the first line that is not whole."""
    entries = list(_entries(file))
    if not entries or entries[0].get("vbg_journal") != 1:
        return None
    head, rest = entries[0], tuple(entry for entry in entries[1:] if "do" in entry)
    saved = [entry["model"] for entry in rest if entry["do"] == "saved" and "model" in entry]
    journal = Abandoned(file, [head["model"], *saved][-1], head["base"], rest)
    try:
        unsaved = replay(journal).unsaved
    except UsageError:
        unsaved = sum(1 for entry in rest if entry["do"] not in ("go", "saved"))
    if unsaved:
        return replace(journal, unsaved=unsaved)
    file.unlink(missing_ok=True)
    return None


def _entries(file: Path) -> Iterator[dict[str, Any]]:
    with open(file, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                return
            if isinstance(entry, dict):
                yield entry


def _held(file: Path) -> bool:
    """Whether a living process holds the journal."""
    hold = Hold(file)
    if not hold.take():
        return True
    hold.give_back()
    return False
