"""The models that a new one can start from: the examples that come with vbg."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from vbg.errors import UsageError
from vbg.io.templates import beside
from vbg.io.templates import templates as examples
from vbg.platform.files import write_bytes
from vbg.tui.session.kept import files

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
    """The examples of `vbg new`, and an empty one."""
    found = []
    for name, file in examples().items():
        text = file.read_text(encoding="utf-8")
        description = str(tomllib.loads(text).get("description", ""))
        found.append(Template(name, description, text, file))
    found.append(Template(EMPTY, "no part yet: a adds them, one by one", _EMPTY))
    first = ("pendulum", EMPTY)
    found.sort(key=lambda t: (first.index(t.name) if t.name in first else len(first), t.name))
    return tuple(found)


def place(template: Template, target: Path) -> None:
    """Write the template to `target` and the files it needs beside it.

    Raises
    ------
    UsageError
        a file that it needs exists beside it, with another content.
    """
    needed = beside(template.file, target) if template.file.is_file() else ()
    parts = {here: there.read_bytes() for here, there in needed}
    for here, content in parts.items():
        if here.exists() and here.read_bytes() != content:
            raise UsageError(f"{here}, which {template.name} needs, exists with other content.")
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
