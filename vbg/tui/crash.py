"""The report that an unexpected error leaves."""

from __future__ import annotations

import platform
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.tui.session.kept.folders import state_folder

if TYPE_CHECKING:
    from vbg.tui.state.workspace import Workspace


def write_report(error: Exception, work: Workspace) -> Path:
    """Write what happened as plain text; the path.  The model's text is not in it."""
    lines = [
        f"vbg {_version('vbg')}, textual {_version('textual')}, python {platform.python_version()}",
        f"{platform.platform()}",
        f"view {work.view}, {len(work.document.snapshots)} snapshots, {len(work.runs)} runs",
        "",
        *traceback.format_exception(error),
    ]
    stem, number = f"crash-{time.strftime('%Y%m%d-%H%M%S')}", 0
    while (file := state_folder() / f"{stem}-{number}.txt").exists():
        number += 1
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "from source"
