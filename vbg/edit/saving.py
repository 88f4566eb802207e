"""A text file that is whole at every moment."""

from __future__ import annotations

import shutil
from pathlib import Path

from vbg.errors import VbgError
from vbg.platform.files import replacing, write_text


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
    try:
        if keep_old and target.exists():
            with replacing(target.with_name(target.name + ".bak"), follow=False) as temporary:
                shutil.copy2(target, temporary)
        write_text(target, text)
    except VbgError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise
