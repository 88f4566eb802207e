"""The document: an unchangeable text, and every text it has been, by name.

Each edit makes a new snapshot with a label; undo and redo move along the
line of snapshots.  Reloads from disk and the visits to an external editor are
edits like any other.  Nothing here knows of a screen.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from vbg.edit.commands import Command, ReplaceText
from vbg.errors import Problem, UsageError
from vbg.tui.session.kept.journal import Journal


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One state of the model file: its text, what it says, and the edit that made it.

    `broken` says why the text is not TOML; then `data` is the last that was.
    """

    text: str
    data: Mapping[str, Any]
    label: str = ""
    broken: Problem | None = None

    @property
    def hash(self) -> str:
        """A name of the text."""
        return digest(self.text)


def digest(text: str) -> str:
    """SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_text(
    text: str, file: str, label: str = "", last: Mapping[str, Any] | None = None
) -> Snapshot:
    """The snapshot of `text`; broken TOML keeps the data of `last`."""
    try:
        return Snapshot(text, tomllib.loads(text), label)
    except tomllib.TOMLDecodeError as error:
        line, column = _place(str(error))
        what = str(error).split(" (at ")[0]
        problem = Problem(
            "error",
            "file",
            f"not TOML: {what}.",
            "Write it right in the text (t), or in your editor (ctrl+e).",
            file,
            line,
            column,
        )
        return Snapshot(text, last or {}, label, problem)


def _place(message: str) -> tuple[int, int]:
    """Line and column that a message of tomllib names."""
    _, _, rest = message.partition("(at line ")
    numbers = [word for word in rest.replace(",", " ").rstrip(")").split() if word.isdigit()]
    return (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else (1, 1)


@dataclass
class Document:
    """The line of snapshots of one file, and where in it we are.

    `saved` is the hash of the text on disk; `file` is None until the first
    save of a new model.
    """

    file: FilePath | None
    snapshots: list[Snapshot]
    saved: str
    journal: Journal | None = None
    position: int = 0
    listeners: list[Any] = field(default_factory=list)

    @classmethod
    def opened(cls, file: FilePath | None, text: str, journal: Journal | None = None) -> Document:
        """The document of a file just read."""
        return cls(file, [read_text(text, str(file or ""))], digest(text), journal)

    @property
    def now(self) -> Snapshot:
        return self.snapshots[self.position]

    @property
    def dirty(self) -> bool:
        """Whether the text differs from the one on disk."""
        return self.now.hash != self.saved

    @property
    def unsaved(self) -> int:
        """Steps between this text and the nearest one that is on disk; 0 if it is."""
        on_disk = [i for i, s in enumerate(self.snapshots) if s.hash == self.saved]
        if self.now.hash == self.saved:
            return 0
        return min((abs(self.position - i) for i in on_disk), default=max(self.position, 1))

    @property
    def undo_label(self) -> str:
        """What `undo` would take back; empty if nothing."""
        return self.now.label if self.position else ""

    @property
    def redo_label(self) -> str:
        """What `redo` would do again; empty if nothing."""
        later = self.position + 1
        return self.snapshots[later].label if later < len(self.snapshots) else ""

    def apply(self, command: Command, *, instead: bool = False) -> None:
        """Do `command`; what had been undone is forgotten.

        instead : the last edit and this one are one, with the label of this one.

        Raises
        ------
        UsageError
            the edit cannot be written into the text so that it says what the
            command says; the document is as before.
        """
        text = command.change_text(self.now.text)
        snapshot = read_text(text, str(self.file or ""), command.label, self.now.data)
        if not isinstance(command, ReplaceText):
            expected = command.change_data(dict(self.now.data))
            if snapshot.broken or _without_empty(snapshot.data) != _without_empty(expected):
                raise UsageError(
                    f"{command.label}: this edit would not leave the file as meant."
                    " Open it in your editor (ctrl+e) instead."
                )
        replaces = instead and self.position > 0
        if replaces:
            self.position -= 1
        del self.snapshots[self.position + 1 :]
        self.snapshots.append(snapshot)
        self.position += 1
        if self.journal is not None:
            self.journal.command(command, at=self.position - 1 if replaces else None)
        self._tell()

    def undo(self) -> str:
        """Go back one step; the label of what was taken back, empty if nothing."""
        label = self.undo_label
        if label:
            self.go(self.position - 1)
        return label

    def redo(self) -> str:
        """Go forward one step; the label of what was done again, empty if nothing."""
        label = self.redo_label
        if label:
            self.go(self.position + 1)
        return label

    def go(self, position: int) -> None:
        """Be at another snapshot of the line."""
        self.position = max(0, min(position, len(self.snapshots) - 1))
        if self.journal is not None:
            self.journal.moved(self.position)
        self._tell()

    def mark_saved(self, file: FilePath) -> None:
        """Note that the text is on disk as `file`."""
        self.file = file
        self.saved = self.now.hash
        if self.journal is not None:
            self.journal.saved(self.saved, file)
        self._tell()

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()


def _without_empty(data: Any) -> Any:
    """`data` without empty tables, which the text may or may not have a header for."""
    if not isinstance(data, Mapping):
        return data
    kept = {key: _without_empty(value) for key, value in data.items()}
    return {key: value for key, value in kept.items() if value != {}}
