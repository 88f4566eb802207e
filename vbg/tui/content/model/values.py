"""Values as they are typed in a field: TOML without the quotes that only TOML needs.

``[-l/2, 0, 0]`` is a list of an expression and two numbers, ``45 deg`` a text
with a unit, ``{ axis = [0, 1, 0], angle = 30 deg }`` a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vbg.errors import UsageError

_NUMBER = re.compile(r"[+-]?(\d[\d_]*)(\.\d[\d_]*)?([eE][+-]?\d+)?\Z")
_PLAIN = re.compile(r"[^\[\]{}\",=]*\Z")
_KEY = re.compile(r"\s*([\w-]+)\s*=")
_DEEPEST = 20


def shown(value: Any) -> str:
    """`value` as it is typed; `typed` reads it back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key} = {shown(entry)}" for key, entry in value.items())
        return "{ " + inside + " }" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(shown(entry) for entry in value) + "]"
    if isinstance(value, str):
        return (
            value if _safe(value) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        )
    return str(value)


def _number(value: float) -> str:
    text = repr(value)
    return text[:-2] if text.endswith(".0") and len(text) < 18 else text


def _safe(text: str) -> bool:
    """Whether `text` reads back as itself without quotes."""
    if text != text.strip() or not text or text in ("true", "false") or _NUMBER.match(text):
        return False
    outside = re.sub(r"\([^()]*\)", "", text)
    return bool(_PLAIN.match(outside)) and text.count("(") == text.count(")") and '"' not in text


def typed(text: str) -> Any:
    """The value that `text` writes.

    Raises
    ------
    UsageError
        brackets that do not match, with the column.
    """
    reader = _Reader(text)
    value = reader.value(0)
    reader.blanks()
    if reader.at < len(text):
        raise reader.wrong(f"{text[reader.at]!r} after the end of the value")
    return value


class _Reader:
    """Reads one value, from left to right."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0

    def wrong(self, what: str) -> UsageError:
        return UsageError(f"col {self.at + 1}: {what}.")

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self.wrong("brackets nested too deeply")
        self.blanks()
        first = self.text[self.at : self.at + 1]
        if first == "[":
            return self.entries("]", lambda: self.value(depth + 1))
        if first == "{":
            return dict(self.entries("}", lambda: self.pair(depth + 1)))
        if first == '"':
            return self.quoted()
        return self.scalar(top=depth == 0)

    def entries(self, close: str, read: Any) -> list[Any]:
        """Entries between brackets, separated by commas."""
        start = self.at
        self.at += 1
        found: list[Any] = []
        while True:
            self.blanks()
            if self.text[self.at : self.at + 1] == close:
                self.at += 1
                return found
            if self.at >= len(self.text):
                self.at = start
                raise self.wrong(f"this bracket is not closed by {close!r}")
            found.append(read())
            self.blanks()
            following = self.text[self.at : self.at + 1]
            if following == ",":
                self.at += 1
            elif following != close:
                raise self.wrong(f"expected ',' or {close!r}")

    def pair(self, depth: int) -> tuple[str, Any]:
        key = _KEY.match(self.text, self.at)
        if key is None:
            raise self.wrong("expected NAME = VALUE")
        self.at = key.end()
        return key[1], self.value(depth)

    def quoted(self) -> str:
        out: list[str] = []
        start = self.at
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return "".join(out)
            if character == "\\":
                self.at += 1
                character = self.text[self.at : self.at + 1]
            out.append(character)
            self.at += 1
        self.at = start
        raise self.wrong("this quote is not closed")

    def scalar(self, *, top: bool) -> Any:
        """A number, true, false, or a text up to a comma or closing bracket."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            depth += (character == "(") - (character == ")")
            if depth <= 0 and not top and character in ",]}":
                break
            self.at += 1
        text = self.text[start : self.at].strip()
        if not text and not top:
            raise self.wrong("a value is missing")
        return _scalar(text)


def _scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number = _NUMBER.match(text)
    if number is None:
        return text
    plain = text.replace("_", "")
    return float(plain) if number[2] or number[3] else int(plain)
