"""The walks of `docs/first-hour.md`: the keys of its tables, and what is seen after each row."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.tui.terminal import ROOT, Terminal

PAGE = ROOT / "docs" / "first-hour.md"
_NAMED = {"Enter": "Enter", "Esc": "Escape", "Tab": "Tab", "Down": "Down", "Up": "Up"}
_NAMED |= {"Right": "Right", "Left": "Left", "Space": "Space", "^s": "C-s", "^u": "C-u"}


@dataclass(frozen=True)
class Row:
    """Keys that are pressed one after the other, and the text that the screen shows then."""

    keys: tuple[str, ...]
    seen: str


def walk(title: str) -> tuple[Row, ...]:
    """The rows of the table below the heading `title`."""
    section = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(title))
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        keys = tuple(re.findall(r"`([^`]+)`", cells[0])) if line.startswith("| `") else ()
        if keys:
            rows.append(Row(keys, re.findall(r"\*\*(.+?)\*\*", cells[1])[0]))
    return tuple(rows)


def play(terminal: Terminal, title: str) -> None:
    """Press what the table says; each row must show what it promises."""
    for row in walk(title):
        for key in row.keys:
            if key in _NAMED:
                terminal.keys(_NAMED[key])
            else:
                terminal.type(key)
        terminal.wait(row.seen)
