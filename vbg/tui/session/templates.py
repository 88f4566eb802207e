"""The models that a new one can start from: the examples that come with vbg."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vbg.errors import UsageError
from vbg.platform.files import write_bytes
from vbg.tui.session import files

# No part yet: for those who start from nothing.
_EMPTY = """\
vbg = 1
name = "machine"

[simulate]
t_end = 2.0
output_step = 1e-3
"""
EMPTY = "empty"
FIRST = "a adds a part: a l a link, a j a joint, a p a parameter; ^n takes a template"


@dataclass(frozen=True, slots=True)
class Template:
    """A model to start from."""

    name: str
    description: str
    text: str
    file: Path = Path("template.toml")

    @property
    def stem(self) -> str:
        """What the new file is called."""
        return "machine" if self.name == EMPTY else self.name


def templates() -> tuple[Template, ...]:
    """The examples, in the installed package or beside it, and an empty one."""
    package = Path(__file__).resolve().parents[2]
    found = []
    for folder in (package / "examples", package.parent / "examples"):
        for file in sorted(folder.glob("*.toml")):
            text = file.read_text(encoding="utf-8")
            description = str(tomllib.loads(text).get("description", ""))
            found.append(Template(file.stem, description, text, file))
    found.append(Template(EMPTY, "no part yet: a adds them, one by one", _EMPTY))
    first = ("pendulum", EMPTY)
    found.sort(key=lambda t: (first.index(t.name) if t.name in first else len(first), t.name))
    return tuple(found)


def included(file: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """The files that the model in `file` includes, and where each goes beside `target`."""
    document = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for entry in document.get("include", {}).values():
        there, here = file.parent / entry["file"], target.parent / entry["file"]
        yield there, here
        yield from included(there, here)


def place(template: Template, target: Path) -> None:
    """Write the template to `target` and the files it includes beside it.

    Raises
    ------
    UsageError
        a file that it includes exists beside it, with another content.
    """
    parts = {here: there.read_bytes() for there, here in included(template.file, target)}
    for here, content in parts.items():
        if here.exists() and here.read_bytes() != content:
            raise UsageError(f"{here}, which {template.name} includes, exists with other content.")
    for here, content in parts.items():
        here.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(here, content)
    files.save(target, template.text, keep_old=False)


def free_file(stem: str) -> str:
    """`stem`.toml, or the first numbered name that no file has."""
    name, number = f"{stem}.toml", 2
    while Path(name).exists():
        name = f"{stem}-{number}.toml"
        number += 1
    return name
