"""Where the terminal interface keeps what is not the user's: journals, runs, settings."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def state_folder() -> Path:
    """`$XDG_STATE_HOME/vbg`, made if it is missing."""
    root = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    folder = Path(root) / "vbg"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def config_folder() -> Path:
    """`$XDG_CONFIG_HOME/vbg`; it may not exist."""
    root = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(root) / "vbg"


def name_of(model: Path | None) -> str:
    """A file name for what belongs to `model`, the same from every folder."""
    if model is None:
        return "untitled"
    path = model.resolve()
    return f"{path.stem}-{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
