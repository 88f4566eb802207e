"""A text file that is whole at every moment."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def save(file: Path, text: str, *, keep_old: bool) -> None:
    """Write `text` to `file` so that it is the old or the new one, whole, at every moment.

    A temporary file in the same folder takes the place of the old one in one
    step; links are followed, permissions kept.  `keep_old` leaves the old text
    as ``NAME.bak``.

    Raises
    ------
    OSError
        the folder cannot be written; the file is as before.
    """
    target = file.resolve()
    if keep_old and target.exists():
        shutil.copy2(target, target.with_name(target.name + ".bak"))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
