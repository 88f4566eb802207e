"""Where each key and value of a TOML text stands: a scanner of text that is known to be valid.

`tomllib` gives the values and says nothing of places; this walks the same text
once more and keeps places only, so that every message can name line and column.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from vbg.model.text.places import Path, Place, Places

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!"")|"{1,2}(?="""))*"""'
    r"|'''(?:[^']|'(?!'')|'{1,2}(?='''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n\r]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def scan_places(text: str) -> Places:
    """The places of all keys and values of `text`, which `tomllib` has accepted."""
    scanner = _Scanner(text)
    scanner.document()
    starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def place(offset: int) -> Place:
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    return Places(
        {path: place(offset) for path, offset in scanner.keys.items()},
        {path: place(offset) for path, offset in scanner.values.items()},
    )


class _Scanner:
    """One pass over one text; private to `scan_places`."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.keys: dict[Path, int] = {}
        self.values: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}  # how many [[tables]] a path has so far

    def _skip(self, pattern: re.Pattern[str] = _BLANK) -> None:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def document(self) -> None:
        table: Path = ()
        self._skip()
        while self.at < len(self.text):
            if self._next() == "[":
                table = self._header()
            else:
                self._entry(table)
            self._skip()

    def _header(self) -> Path:
        start = self.at
        many = self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        path: Path = ()
        steps = self._key()
        for i, (step, _) in enumerate(steps):
            path = (*path, step)
            if many and i == len(steps) - 1:
                self.counts[path] = self.counts.get(path, 0) + 1
            self.keys.setdefault(path, start)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
            self.keys.setdefault(path, start)
        self.at += 2 if many else 1
        return path

    def _entry(self, table: Path) -> None:
        path = table
        for step, offset in self._key():
            path = (*path, step)
            self.keys.setdefault(path, offset)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[tuple[str, int]]:
        """The steps of a dotted key with their offsets; stops at what follows it."""
        steps = []
        while True:
            self._skip(_SPACE)
            start = self.at
            if self._next() in ('"', "'"):
                self._skip(_STRING)
                steps.append((_unquoted(self.text[start : self.at]), start))
            else:
                self._skip(_BARE_KEY)
                steps.append((self.text[start : self.at], start))
            self._skip(_SPACE)
            if self._next() != ".":
                return steps
            self.at += 1

    def _value(self, path: Path) -> None:
        self.values[path] = self.at
        first = self._next()
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        elif first in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_BARE_VALUE)

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        self._skip()
        while self._next() not in ("]", ""):
            self._value((*path, index))
            index += 1
            self._skip()
            if self._next() == ",":
                self.at += 1
                self._skip()
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        self._skip()
        while self._next() not in ("}", ""):
            self._entry(path)
            self._skip()
            if self._next() == ",":
                self.at += 1
                self._skip()
        self.at += 1


def _unquoted(text: str) -> str:
    """The key that a quoted key spells."""
    if text[:1] == "'":
        return text[1:-1]

    def escaped(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])

    return _ESCAPE.sub(escaped, text[1:-1])
