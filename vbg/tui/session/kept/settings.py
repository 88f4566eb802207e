"""What the user chose once and meets again: the theme."""

from __future__ import annotations

import json
from pathlib import Path

from vbg.platform.files import write_text
from vbg.tui.session.kept.folders import state_folder


def _file() -> Path:
    return state_folder() / "settings.json"


def kept(name: str) -> str:
    """The setting; empty if there is none, or its file cannot be read."""
    try:
        found = json.loads(_file().read_text("utf-8"))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError):
        return ""
    value = found.get(name, "") if isinstance(found, dict) else ""
    return value if isinstance(value, str) else ""


def keep(name: str, value: str) -> None:
    """Keep a setting for the next time."""
    try:
        found = json.loads(_file().read_text("utf-8"))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError):
        found = {}
    content = {**(found if isinstance(found, dict) else {}), name: value}
    write_text(_file(), json.dumps(content))
