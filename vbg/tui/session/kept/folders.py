"""Where the terminal interface keeps what is not the user's: journals, runs, settings."""

from __future__ import annotations

import hashlib
from pathlib import Path

from vbg.platform import folders


def state_folder() -> Path:
    """For journals and runs, made if it is missing."""
    folder = folders.state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def config_folder() -> Path:
    """For settings; it may not exist."""
    return folders.config_folder()


def name_of(model: Path | None) -> str:
    """A file name for what belongs to `model`, the same from every folder."""
    if model is None:
        return "untitled"
    path = model.resolve()
    return f"{path.stem}-{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
