"""Rows of styled text, measured in cells.

A picture is a tuple of rows, a row a tuple of spans (text, style word).  The
style words are ``""``, dim, bold, title, focus, ok, warn, error, note, cursor,
bar and ink0 ... ink6; who prints the rows decides what they look like.  Text
is never interpreted: brackets, escapes and control characters are only shown.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

Span = tuple[str, str]
Row = tuple[Span, ...]
Rows = tuple[Row, ...]

ELLIPSIS = "…"


@lru_cache(maxsize=4096)
def cell_width(character: str) -> int:
    """Cells that one printable character takes: 0, 1 or 2."""
    if character < "\u0300":
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    """`text` with every control and format character replaced by a middle dot."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "·" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text
    )


def cells(text: str) -> int:
    """Cells that `text` takes."""
    return len(text) if text.isascii() else sum(cell_width(c) for c in text)


def clip(text: str, width: int) -> str:
    """`text` in at most `width` cells, an ellipsis for what is cut."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    taken, used = [], 0
    for character in text:
        used += cell_width(character)
        if used > width - 1:
            break
        taken.append(character)
    return "".join(taken) + ELLIPSIS


def shortened(name: str, width: int) -> str:
    """A dotted `name` in at most `width` cells that keeps its last part: crank.pos….x."""
    head, dot, tail = name.rpartition(".")
    if cells(name) <= width or not head or cells(tail) + 3 > width:
        return clip(name, width)
    return clip(head, width - cells(tail) - 1) + dot + tail


def pad(text: str, width: int) -> str:
    """`text` clipped or filled with blanks to exactly `width` cells."""
    text = clip(text, width)
    return text + " " * (width - cells(text))


def row_width(row: Row) -> int:
    """Cells that `row` takes."""
    return sum(cells(text) for text, _ in row)


def fit(row: Row, width: int, style: str = "") -> Row:
    """`row` clipped or filled to exactly `width` cells; `style` of the filling."""
    out: list[Span] = []
    left = width
    for text, word in row:
        size = cells(text)
        if size <= left:
            out.append((text, word))
            left -= size
            continue
        cut = clip(text, left)
        out.append((cut, word))
        left -= cells(cut)
        break
    if left > 0:
        out.append((" " * left, style))
    return tuple(out)


def plain(rows: Rows) -> list[str]:
    """The text of `rows` without styles, trailing blanks removed."""
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def wrap(text: str, width: int) -> list[str]:
    """`text` broken at blanks into lines of at most `width` cells; indents are kept."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        indent = paragraph[: len(paragraph) - len(paragraph.lstrip(" "))]
        line = ""
        for word in paragraph.split():
            if line and cells(line) + 1 + cells(word) > width:
                lines.append(line)
                line = indent + word
            else:
                line = f"{line} {word}" if line else indent + word
            while cells(line) > width > 0:
                head = clip(line, width + 1)[:-1] or line[:1]
                lines.append(head)
                line = line[len(head) :]
        lines.append(line)
    return lines
