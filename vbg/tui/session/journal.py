"""The journal: every edit on disk as soon as it is made, and recovery after a crash.

One file per process, JSON lines: the text that was opened first, then each
edit.  A journal whose process is gone holds what was never saved; it is
renamed before it is read and back after it, so that one whose reading breaks
vbg is met `TRIES` times and no more; it is removed only when its edits are in
another journal or given up.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vbg.edit.commands import Command, from_plain, to_plain
from vbg.errors import UsageError
from vbg.tui.session.folders import name_of, state_folder

if TYPE_CHECKING:
    from vbg.tui.session.document import Document

_SYNC_SECONDS = 2.0
TRIES = 3


_TRIED = tuple(f".tried{number}" for number in range(1, TRIES + 1))


@dataclass
class Journal:
    """The open journal of this process."""

    file: Path
    stream: IO[str]
    synced: float = 0.0

    @classmethod
    def start(cls, model: Path | None, text: str) -> Journal:
        """A new journal for the document of `model`, held by this process."""
        while True:
            file = _free_name(model)
            try:
                stream = open(file, "x", encoding="utf-8")  # noqa: SIM115 - closed by close()
                break
            except FileExistsError:
                continue
        _hold(stream)
        journal = cls(file, stream)
        journal._write({"vbg_journal": 1, "model": str(model or ""), "base": text})
        journal.sync()
        return journal

    def command(self, command: Command) -> None:
        """Note an edit."""
        self._write(to_plain(command))

    def moved(self, position: int) -> None:
        """Note an undo, redo or jump."""
        self._write({"do": "go", "position": position})

    def saved(self, digest: str, model: Path) -> None:
        """Note that the text of this hash is on disk as `model`, whose journal this is now."""
        self._write({"do": "saved", "hash": digest, "model": str(model)})
        if not self.file.name.startswith(f"{name_of(model)}-"):
            self.file = self.file.rename(_free_name(model))

    def sync(self) -> None:
        """Force what was written to the disk itself."""
        os.fsync(self.stream.fileno())
        self.synced = time.monotonic()

    def close(self) -> None:
        """Close and keep the file."""
        if not self.stream.closed:
            self.stream.close()

    def discard(self) -> None:
        """Close and remove the file: nothing in it is unsaved."""
        self.close()
        self.file.unlink(missing_ok=True)

    def _write(self, entry: dict[str, Any]) -> None:
        self.stream.write(json.dumps({**entry, "at": time.time()}) + "\n")
        self.stream.flush()
        if time.monotonic() - self.synced > _SYNC_SECONDS:
            self.sync()


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
        self.file.rename(_free_name(Path(self.model) if self.model else None))

    @property
    def when(self) -> float:
        """Time of the last entry, seconds since the epoch."""
        return float(self.entries[-1]["at"]) if self.entries else 0.0

    def replay(self) -> Document:
        """The document as it was when its process died, history included.

        Raises
        ------
        UsageError
            an entry cannot be done.
        """
        from vbg.tui.session.document import Document

        model = Path(self.model) if self.model else None
        document = Document.opened(model, self.base)
        for entry in self.entries:
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
            file.rename(kept)
        except OSError:
            # another vbg took it in this moment
            continue
        journal = _read(kept)
        if journal is not None:
            found.append(journal)
    return tuple(found)


def _free_name(model: Path | None) -> Path:
    """A name for a journal of `model` that no file has."""
    stem, number = f"{name_of(model)}-{os.getpid()}", 0
    while (file := state_folder() / f"{stem}-{number}.journal").exists():
        number += 1
    return file


def _read(file: Path) -> Abandoned | None:
    """The journal in `file`, up to the first line that is not whole."""
    entries = list(_entries(file))
    if not entries or entries[0].get("vbg_journal") != 1:
        return None
    head, rest = entries[0], tuple(entry for entry in entries[1:] if "do" in entry)
    saved = [entry["model"] for entry in rest if entry["do"] == "saved" and "model" in entry]
    journal = Abandoned(file, [head["model"], *saved][-1], head["base"], rest)
    try:
        unsaved = journal.replay().unsaved
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


def _hold(stream: IO[str]) -> None:
    """Lock the journal for as long as this process lives."""
    import fcntl

    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _held(file: Path) -> bool:
    """Whether a living process holds the journal."""
    import fcntl

    with open(file, "rb") as stream:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
