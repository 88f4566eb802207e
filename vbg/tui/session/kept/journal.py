"""The journal: every edit on disk as soon as it is made.

One file per process, JSON lines: the text that was opened first, then each
edit.  What a process that is gone has left: `vbg.tui.session.kept.recovery`.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from vbg.edit.commands import Command, to_plain
from vbg.platform.locks import Hold
from vbg.tui.session.kept.folders import name_of, state_folder

_SYNC_SECONDS = 2.0


@dataclass
class Journal:
    """The open journal of this process."""

    file: Path
    stream: IO[str]
    hold: Hold
    synced: float = 0.0

    @classmethod
    def start(cls, model: Path | None, text: str) -> Journal:
        """A new journal for the document of `model`, held by this process."""
        while True:
            file = free_name(model)
            try:
                stream = open(file, "x", encoding="utf-8")  # noqa: SIM115 - closed by close()
                break
            except FileExistsError:
                continue
        hold = Hold(file)
        hold.take()
        journal = cls(file, stream, hold)
        journal.note({"vbg_journal": 1, "model": str(model or ""), "base": text})
        journal.sync()
        return journal

    def command(self, command: Command, *, at: int | None = None) -> None:
        """Note an edit, from the position `at` where it takes the place of what follows there:
        both in one writing, so that no end comes between them."""
        moved = () if at is None else ({"do": "go", "position": at},)
        self.note(*moved, to_plain(command))

    def moved(self, position: int) -> None:
        """Note an undo, redo or jump."""
        self.note({"do": "go", "position": position})

    def saved(self, digest: str, model: Path) -> None:
        """Note that the text of this hash is on disk as `model`, whose journal this is now."""
        self.note({"do": "saved", "hash": digest, "model": str(model)})
        if not self.file.name.startswith(f"{name_of(model)}-"):
            file = free_name(model)
            hold = Hold(file)
            hold.take()
            self.close()  # some systems move no file that is open
            self.file = self.file.rename(file)
            self.stream = open(file, "a", encoding="utf-8")  # noqa: SIM115 - closed by close()
            self.hold = hold

    def sync(self) -> None:
        """Force what was written to the disk itself."""
        os.fsync(self.stream.fileno())
        self.synced = time.monotonic()

    def close(self) -> None:
        """Close and keep the file."""
        if not self.stream.closed:
            self.stream.close()
            self.hold.give_back()

    def discard(self) -> None:
        """Close and remove the file: nothing in it is unsaved."""
        self.close()
        self.file.unlink(missing_ok=True)

    def note(self, *entries: dict[str, Any]) -> None:
        """Write entries at once, with the time."""
        at = time.time()
        self.stream.write("".join(json.dumps({**entry, "at": at}) + "\n" for entry in entries))
        self.stream.flush()
        if time.monotonic() - self.synced > _SYNC_SECONDS:
            self.sync()


def free_name(model: Path | None) -> Path:
    """A name for a journal of `model` that no file has."""
    stem, number = f"{name_of(model)}-{os.getpid()}", 0
    while (file := state_folder() / f"{stem}-{number}.journal").exists():
        number += 1
    return file
