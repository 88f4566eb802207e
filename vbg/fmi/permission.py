"""Whether the native code of an FMU may run.

A model may come from a stranger, and an FMU is a program that runs with the rights of whoever
starts it.  None runs before its user has named it: `--allow-fmu FILE` (or a folder), or
VBG_ALLOW_FMU with files and folders as in PATH.
"""

from __future__ import annotations

import os

from vbg.errors import UsageError

ALLOWED = "VBG_ALLOW_FMU"


def allow_fmu(path: str | os.PathLike[str]) -> None:
    """Let the FMU at `path`, or every FMU below that folder, run in this process and in those that
    it starts.  Raises UsageError where there is nothing."""
    real = os.path.realpath(path)
    if not os.path.exists(real):
        raise UsageError(f"--allow-fmu: there is no file or folder {os.fspath(path)}")
    told = [os.environ.get(ALLOWED, ""), real]
    os.environ[ALLOWED] = os.pathsep.join(filter(None, told))


def is_allowed(path: str) -> bool:
    """Whether somebody has said that this FMU may run; links are followed first."""
    real = os.path.realpath(path)
    allowed = map(os.path.realpath, filter(None, os.environ.get(ALLOWED, "").split(os.pathsep)))
    return any(real == one or _is_below(real, one) for one in allowed)


def _is_below(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # another drive
        return False
