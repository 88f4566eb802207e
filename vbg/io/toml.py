"""Model files: read with the place of every mistake, written without losing a comment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from vbg.errors import ModelError, Problem
from vbg.io._emit import emitted
from vbg.model.model import Model
from vbg.model.resolve.resolve import resolve
from vbg.model.text.files import document_of, refused, text_of
from vbg.model.text.places import Places
from vbg.model.text.plain import thaw
from vbg.platform.files import write_text


def read(path: str | os.PathLike[str]) -> Model:
    """The model in the file at `path`.

    Raises ModelError, which lists every problem with file, line and column, and
    UsageError where there is no such file.
    """
    name = os.fspath(path)
    return parse(text_of(name), name)


def parse(text: str, name: str = "model.toml") -> Model:
    """The model that `text` writes; `name` is the file's name in messages."""
    try:
        document, places, problems = document_of(text, name)
        if problems:
            raise ModelError.of(_with_others(problems, document, name, places))
        return Model.from_document(document, name, places)
    except RecursionError:
        what, remedy = "lists or tables are nested too deeply.", "Write them flat."
        raise refused(name, what, 1, 1, remedy) from None


def _with_others(
    problems: tuple[Problem, ...], document: dict[str, Any], name: str, places: Places
) -> list[Problem]:
    """The mistakes of syntax and, on other lines, those of the model."""
    lines = {problem.line for problem in problems}
    others = (p for p in resolve(document, name, places).problems if p.line not in lines)
    return sorted((*problems, *others), key=lambda problem: (problem.line, problem.column))


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the model's document to `path`, whole or not at all.

    Where `path` already holds a model file, its comments, order and layout
    stay and only entries that differ are changed.  Raises UsageError where the
    file cannot be written.
    """
    name = os.fspath(path)
    target = FilePath(name)
    try:
        old = target.read_text(encoding="utf-8") if target.exists() else ""
    except (OSError, UnicodeDecodeError):
        old = ""
    write_text(target, updated(old, _moved(model.document, model.path, name)))


def _moved(document: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    """`document` with the paths of the files it includes as seen from `new`, not `old`."""
    here, there = (os.path.dirname(os.path.abspath(path)) for path in (old or new, new))
    included = document.get("include", {})
    if here == there or not included:
        return document

    def seen(entry: Mapping[str, Any]) -> dict[str, Any]:
        path = os.path.relpath(os.path.join(here, entry["file"]), there)
        return {**entry, "file": path if not os.path.isabs(entry["file"]) else entry["file"]}

    return {**document, "include": {name: seen(entry) for name, entry in included.items()}}


def kept_in_result(text: str, model: Model) -> str:
    """The `text` of a model file as a result keeps it: files that it includes are named
    from the root, since the result may lie in another folder."""
    included = model.document.get("include", {})
    if not included:
        return text
    here = os.path.dirname(os.path.abspath(model.path))
    named = {n: {**e, "file": os.path.join(here, e["file"])} for n, e in included.items()}
    return updated(text, {**model.document, "include": named})


def updated(text: str, document: Mapping[str, Any]) -> str:
    """The TOML `text` changed to say `document`, its comments kept; a new text where it
    is not valid TOML or empty."""
    document = thaw(document)
    old = _loaded(text)
    if not old:
        return emitted(document)
    if old == document:
        return text
    from vbg.io._merge import merged

    new = merged(text, document)
    return new if _without_empty(_loaded(new)) == _without_empty(document) else emitted(document)


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError:
        return {}


def _without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """`document` less its empty tables, which mean nothing."""
    return {key: entry for key, entry in document.items() if entry != {}}
