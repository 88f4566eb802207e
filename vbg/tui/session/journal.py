"""The journal: every edit on disk as soon as it is made, and recovery after a crash.

One file per process, JSON lines: the text that was opened first, then each
edit.  A journal whose process is gone holds what was never saved; it is
renamed before it is read, so that one that cannot be replayed is not met again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vbg.errors import UsageError
from vbg.tui.session.commands import Command, from_plain, to_plain
from vbg.tui.session.folders import name_of, state_folder

if TYPE_CHECKING:
    from vbg.tui.session.document import Document

_SYNC_SECONDS = 2.0


@dataclass
class Journal:
    """The open journal of this process."""

    file: Path
    stream: IO[str]
    synced: float = 0.0

    @classmethod
    def start(cls, model: Path | None, text: str) -> Journal:
        """A new journal for the document of `model`, held by this process."""
        folder = state_folder()
        number = 0
        while True:
            file = folder / f"{name_of(model)}-{os.getpid()}-{number}.journal"
            try:
                stream = open(file, "x", encoding="utf-8")  # noqa: SIM115 - closed by close()
                break
            except FileExistsError:
                number += 1
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

    def saved(self, digest: str) -> None:
        """Note that the text of this hash is on disk."""
        self._write({"do": "saved", "hash": digest})

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

    @property
    def edits(self) -> int:
        return sum(1 for entry in self.entries if entry["do"] not in ("go", "saved"))

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
            else:
                document.apply(from_plain(plain))
        return document


def abandoned(model: Path | None) -> tuple[Abandoned, ...]:
    """Journals of `model` that no process holds and that have unsaved edits."""
    found = []
    for file in sorted(state_folder().glob(f"{name_of(model)}-*.journal")):
        if _held(file):
            continue
        kept = file.with_suffix(f".recovered-{time.time_ns()}")
        try:
            file.rename(kept)
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
    journal = Abandoned(file, head["model"], head["base"], rest)
    try:
        unsaved = journal.replay().dirty
    except UsageError:
        unsaved = True
    if unsaved:
        return journal
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
