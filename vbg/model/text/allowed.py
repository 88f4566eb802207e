"""Which files a model file may name: those below its own folder, and of folders allowed by name."""

from __future__ import annotations

import os

from vbg.platform.files import is_other_than_file

ALLOWED = "VBG_ALLOW_INCLUDE"
LONGEST_NAME = 1000


def refusal(written: str, file: str, root: str) -> str:
    """Why the opened model at `root` may not include `file`; empty where it may."""
    if "\0" in written or len(written) > LONGEST_NAME:
        return f"the name of a file has no NUL and at most {LONGEST_NAME} characters."
    real = os.path.realpath(file)
    folders = [os.path.dirname(root), *filter(None, os.environ.get(ALLOWED, "").split(os.pathsep))]
    if not any(_is_below(real, os.path.realpath(folder)) for folder in folders):
        return f"{file} is not below the folder of the model that is opened."
    found = is_other_than_file(real)
    return f"{file} is {found}, no file." if found else ""


def _is_below(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # another drive
        return False
