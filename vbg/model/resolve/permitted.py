"""What a model file may include: files of its own folder, and not without measure.

A model may come from a stranger.  Its includes read regular files below the folder of the
file that is opened, links followed first; other folders are allowed by name: `--allow-include
DIR`, or VBG_ALLOW_INCLUDE with folders as in PATH.  How many parts there will be is counted
before any is made, each file once, since files that include each other twice double at
every level.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from vbg.errors import ModelError, UsageError
from vbg.model.catalogue import TABLES
from vbg.model.text.allowed import refusal
from vbg.model.text.files import document_of, text_of

MAX_PARTS = 200_000
MAX_SUBMODELS = 20_000
MAX_DEPTH = 40


def excess(document: Mapping[str, Any], file: str) -> str:
    """What there is too much of once all files are included; empty if nothing."""
    root = os.path.realpath(file)
    parts, submodels, depth = _counted(document, root, root, {})
    if depth > MAX_DEPTH:
        return f"files include each other more than {MAX_DEPTH} deep."
    if submodels > MAX_SUBMODELS:
        return f"there are {submodels} sub-models, at most {MAX_SUBMODELS} are read."
    if parts > MAX_PARTS:
        return (
            f"there are {parts} parts with those of included files, at most {MAX_PARTS} are read."
        )
    return ""


_Count = tuple[int, int, int]  # parts, sub-models, depth


def _counted(
    document: Mapping[str, Any], file: str, root: str, known: dict[str, _Count | None]
) -> _Count:
    """What the file at `file` holds with all that it includes.  `known`: of files that have
    been counted; None for those around, whose circle is told when they are read."""
    parts = sum(len(t) for t in map(document.get, TABLES) if isinstance(t, Mapping))
    submodels, depth = 0, 0
    known[file] = None
    included = document.get("include", {})
    for entry in included.values() if isinstance(included, Mapping) else ():
        written = entry.get("file") if isinstance(entry, Mapping) else None
        if not isinstance(written, str):
            continue
        other = os.path.join(os.path.dirname(file), written)
        if refusal(written, other, root) or len(known) > MAX_SUBMODELS:
            continue
        other = os.path.realpath(other)
        if other not in known:
            inner = _document(other)
            deep = len([file for file, count in known.items() if count is None])
            if deep > MAX_DEPTH:
                return parts, submodels, deep
            known[other] = (0, 0, 0) if inner is None else _counted(inner, other, root, known)
        count = known[other]
        if count is not None:
            parts += count[0]
            submodels += 1 + count[1]
            depth = max(depth, 1 + count[2])
    return parts, submodels, depth


def _document(file: str) -> Mapping[str, Any] | None:
    """The plain data of a file; None where it cannot be read, which is told when it is."""
    try:
        return document_of(text_of(file), file)[0]
    except (UsageError, ModelError):
        return None
