"""Where vbg keeps what is not the user's work: caches, journals, settings."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import platformdirs

OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """For what can be made again, as the system has it (~/.cache/vbg, ...); not made."""
    return _known(platformdirs.user_cache_path)


def state_folder() -> Path:
    """For journals and kept runs (~/.local/state/vbg, ...); not made."""
    return _known(platformdirs.user_state_path)


def config_folder() -> Path:
    """For settings (~/.config/vbg, ...); not made."""
    return _known(platformdirs.user_config_path)


def _known(path: Callable[..., Path]) -> Path:
    """The folder, or a temporary one of this process where the user has no home."""
    try:
        folder = path("vbg", appauthor=False)
    except RuntimeError:
        return temporary_folder() / "vbg"
    return folder if folder.is_absolute() else temporary_folder() / "vbg"


@cache
def temporary_folder() -> Path:
    """A folder of this process alone, removed at its end."""
    folder = tempfile.mkdtemp(prefix="vbg-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_private(folder: Path) -> bool:
    """Whether `folder` is there (made if it is not), is the user's own, closed to everybody
    else, no link, and stands where nobody else can put another in its place.

    What is run from a folder must have come from its owner.  A folder that others could
    only read is closed; one that they could write may hold anything and is refused.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
            return False
        if not hasattr(os, "geteuid"):
            return True  # the rights of the user's profile hold
        if found.st_uid != os.geteuid() or found.st_mode & WRITABLE_BY_OTHERS:
            return False
        if found.st_mode & OPEN_TO_OTHERS:
            os.chmod(folder, 0o700)
        return _stands_safely(folder.parent.resolve())
    except OSError:
        return False


def _stands_safely(folder: Path) -> bool:
    """Whether only the user and the administrator can move what is in `folder`."""
    for around in (folder, *folder.parents):
        found = os.stat(around)
        sticky = found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()) or (
            found.st_mode & WRITABLE_BY_OTHERS and not sticky
        ):
            return False
    return True
