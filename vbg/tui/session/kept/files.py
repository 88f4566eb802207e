"""The model file on disk, watched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vbg.edit.saving import save

__all__ = ["Stamp", "save", "stamp"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what a change of a file is noticed; all 0 if there is no file."""

    modified: int = 0
    size: int = 0
    inode: int = 0


def stamp(file: Path | None) -> Stamp:
    """The stamp of `file` now."""
    if file is None:
        return Stamp()
    try:
        found = os.stat(file)
    except OSError:
        return Stamp()
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
