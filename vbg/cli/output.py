"""Files that a verb writes: refused before the work is done, named after it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from vbg.errors import UsageError
from vbg.platform.files import is_other_than_file
from vbg.platform.text import escaped

PICTURES = (".svg", ".png", ".pdf")
DRAWINGS = (*PICTURES, ".dot")


def require_output(path: str | None, endings: Sequence[str], option: str = "-o") -> None:
    """Raises UsageError where the file `path`, the value of `option`, could not be written:
    another ending, no folder to put it in, a folder in its place, or no permission."""
    if path is None:
        return
    if not path.endswith(tuple(endings)):
        raise UsageError(f"{option} {path}: the name must end in {', '.join(endings)}.")
    target = Path(path)
    found = is_other_than_file(path)
    if found:
        raise UsageError(f"{option} {path}: cannot be written: it is {found}.")
    require_folder_of(path, option)
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise UsageError(
            f"{option} {path}: cannot be written: no permission. Name another file or folder."
        )


def require_folder_of(path: str, option: str = "-o") -> None:
    """Raises UsageError where the folder that is to hold `path` is missing."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(
            f"{option} {path}: cannot be written: there is no folder {folder}."
            f" Make it first: mkdir -p '{folder}'."
        )


def require_folder(path: str, option: str = "-o") -> None:
    """Raises UsageError where `path` can be no folder to write into, new or there."""
    if Path(path).exists() and not Path(path).is_dir():
        raise UsageError(f"{option} {path}: is a file; name a folder to write into.")


def wrote(path: str | Path, what: str) -> None:
    """One line on standard error: the file that was written, what it is, its size."""
    print(
        f"wrote {escaped(str(path))} ({what}, {size(Path(path).stat().st_size)})", file=sys.stderr
    )


def size(number: int) -> str:
    """A number of bytes as one reads it: 812 B, 42 kB, 1.3 MB."""
    if number < 1000:
        return f"{number} B"
    value, unit = number / 1000.0, "kB"
    for larger in ("MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000.0, larger
    return f"{value:.2g} {unit}" if value < 99.5 else f"{value:.0f} {unit}"
