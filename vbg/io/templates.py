"""The examples as templates of new models, and the files that go with each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def templates() -> dict[str, Path]:
    """Name -> file of the examples: in the installed package, or beside it in a checkout; those
    with matrices of finite elements stand in a folder of their own."""
    package = Path(__file__).resolve().parents[1]
    folders = (package / "examples", package.parent / "examples")
    each = ("*.toml", "finite-elements/*.toml")
    files = [file for folder in folders for which in each for file in folder.glob(which)]
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def beside(template: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """Where each file that `template` needs goes beside `target`, and the file: what it includes,
    matrices of its flexible bodies and the script that wrote them."""
    document = tomllib.loads(template.read_text("utf-8"))
    for name in _matrices(document):
        for needed in (Path(name), Path(template.with_suffix(".py").name)):
            if (template.parent / needed).is_file():
                yield target.parent / needed, template.parent / needed
    for entry in document.get("include", {}).values():
        copy, file = target.parent / entry["file"], template.parent / entry["file"]
        yield copy, file
        yield from beside(file, copy)


def _matrices(document: Mapping[str, Any]) -> Iterator[str]:
    """Files of the matrices of flexible bodies."""
    for body in document.get("bodies", {}).values():
        for value in body.get("flexible", {}).values():
            if isinstance(value, str) and value.endswith(".npy"):
                yield value
