"""The elements of a parameter file, each with its line; small damage repaired and told.

The file that the paper prints is no XML: tags with spaces, a misspelt pair
(``<rigidodies>2</rigidbodies>``), a closing tag without its slash, a container that is
never closed, ``...`` for what was left out.  A parser for XML cannot read it, so this one
knows the schema, mends exactly those mistakes, and refuses everything that it does not
know.  It reads every character once, expands no entities and knows no document types:
there is nothing in it that a hostile file could make large or slow.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import unescape

from vbg.errors import ModelError, Problem
from vbg.io.mstmmsim.schema import MANY, ONE, children_of

LONGEST_TAG = 80  # characters; the longest of the format has 23
ELLIPSIS = "..."


@dataclass(slots=True)
class Element:
    """One element: its tag as the schema spells it, its line, its text or its children."""

    tag: str
    line: int
    parent: str = ""
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find(self, tag: str) -> Element | None:
        """The child of that tag, of which there is at most one."""
        return next((child for child in self.children if child.tag == tag), None)

    def said(self, tag: str) -> str:
        """The text of the child of that tag; empty where it is missing or "null"."""
        found = self.find(tag)
        return "" if found is None or found.text == "null" else found.text


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "open", "close", "empty" or "text"
    content: str
    line: int


def refused(
    file: str, element: Element | int, where: str, what: str, remedy: str = ""
) -> ModelError:
    """The error with the place of `element` (or a line)."""
    line = element if isinstance(element, int) else element.line
    return ModelError.of([Problem("error", where, what, remedy, file, line, 1)])


def parse(text: str, file: str) -> tuple[Element, tuple[Problem, ...]]:
    """The element <model>, and a note for every repair.

    Raises ModelError, with the line, for what is not in the schema.
    """
    builder = _Builder(file)
    tokens = list(_tokens(text, file))
    for index, token in enumerate(tokens):
        if token.kind == "text":
            builder.write(token)
        elif token.kind == "close":
            builder.close(token)
        else:
            following = (t for t in tokens[index + 1 : index + 3] if t.kind == "close")
            builder.open(token, _canonical(next(following, token).content))
            if token.kind == "empty":
                builder.close(token)
    return builder.end(), tuple(builder.notes)


def _tokens(text: str, file: str) -> Iterator[_Token]:
    """Tags and the texts between them, in one pass."""
    at, line = 0, 1
    while True:
        start = text.find("<", at)
        between = text[at:] if start < 0 else text[at:start]
        if between.strip():
            leading = between[: len(between) - len(between.lstrip())]
            yield _Token("text", between.strip(), line + leading.count("\n"))
        line += between.count("\n")
        if start < 0:
            return
        end, token = _tag(text, start, line, file)
        if token is not None:
            yield token
        line += text.count("\n", start, end)
        at = end


def _tag(text: str, start: int, line: int, file: str) -> tuple[int, _Token | None]:
    """Where the tag at `start` ends, and its token; None for a comment or a heading."""
    for opening, closing in (("<!--", "-->"), ("<?", "?>")):
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            if end < 0:
                raise refused(file, line, opening, f"what begins with {opening} never ends.")
            return end + len(closing), None
    if text.startswith("<!", start):
        raise refused(
            file,
            line,
            "<!",
            "refused: the file declares a document type, entities or raw data.",
            "A parameter file needs none of them; remove them.",
        )
    end = text.find(">", start, start + LONGEST_TAG)
    content = text[start + 1 : end].strip()
    if end < 0 or not content or "<" in content:
        raise refused(file, line, "<", "a tag begins here and does not end.", "Close it with >.")
    if "=" in content:
        raise refused(
            file,
            line,
            f"<{content.split()[0]}>",
            "the elements of a parameter file have no attributes.",
            "Write what it says as an element.",
        )
    if content.startswith("/"):
        return end + 1, _Token("close", content[1:], line)
    if content.endswith("/"):
        return end + 1, _Token("empty", content[:-1], line)
    return end + 1, _Token("open", content, line)


def _canonical(tag: str) -> str:
    return "".join(tag.lower().split()).replace("_", "")


class _Builder:
    """Puts elements into each other while the tokens come."""

    def __init__(self, file: str):
        self._file = file
        self._stack = [Element("", 1)]
        self.notes: list[Problem] = []

    def _note(self, line: int, where: str, what: str) -> None:
        self.notes.append(Problem("note", where, what, "", self._file, line, 1))

    def _allowed(self, element: Element) -> list[str]:
        return list(children_of(element.tag, element.parent))

    def open(self, token: _Token, closed_as: str) -> None:
        """Begin an element.  `closed_as` is the name of the closing tag that follows its text."""
        name = _canonical(token.content)
        allowed = self._allowed(self._stack[-1])
        if name not in allowed and closed_as in allowed and _alike(name, closed_as):
            self._note(token.line, f"<{token.content}>", f"is taken as <{closed_as}>.")
            name = closed_as
        while name not in self._allowed(self._stack[-1]):
            last = self._stack[-1]
            if name == last.tag:
                self._note(token.line, f"<{name}>", f"is taken as </{name}>.")
                self._pop()
                return
            if not any(name in self._allowed(element) for element in self._stack[:-1]):
                raise self._unknown(token, name)
            self._note(last.line, f"<{last.tag}>", f"is not closed; taken to end at <{name}>.")
            self._pop()
        self._stack.append(Element(name, token.line, self._stack[-1].tag))

    def _unknown(self, token: _Token, name: str) -> ModelError:
        last = self._stack[-1]
        allowed = self._allowed(last)
        near = difflib.get_close_matches(name, allowed, n=1)
        there = f"There are {', '.join(allowed)}." if allowed else "It holds text only."
        where = f"<{last.tag}>" if last.tag else "the file"
        return refused(
            self._file,
            token.line,
            f"<{token.content}>",
            f"unknown in {where}.",
            (f"Did you mean {near[0]}? " if near else "") + there,
        )

    def close(self, token: _Token) -> None:
        """End the element that is meant: the open one of that name, or nearly that name."""
        name = _canonical(token.content)
        last = self._stack[-1]
        if name not in (element.tag for element in self._stack[1:]):
            if not _alike(name, last.tag):
                raise refused(
                    self._file, token.line, f"</{token.content}>", "closes nothing that is open."
                )
            self._note(token.line, f"</{token.content}>", f"is taken as </{last.tag}>.")
            name = last.tag
        while self._stack[-1].tag != name:
            self._note(self._stack[-1].line, f"<{self._stack[-1].tag}>", "is not closed.")
            self._pop()
        self._pop()

    def _pop(self) -> None:
        element = self._stack.pop()
        holds = children_of(element.tag, element.parent)
        found = Counter(child.tag for child in element.children)
        for tag, often in holds.items():
            if (often == ONE and not found[tag]) or (often != MANY and found[tag] > 1):
                what = f"needs <{tag}>." if not found[tag] else f"holds <{tag}> {found[tag]} times."
                raise refused(self._file, element, f"<{element.tag}>", what)
        self._stack[-1].children.append(element)

    def write(self, token: _Token) -> None:
        """Text; in a container there is none, but for the dots of what a paper leaves out."""
        last = self._stack[-1]
        text = unescape(token.content, {"&quot;": '"', "&apos;": "'"})
        if not self._allowed(last):
            last.text = f"{last.text} {text}".strip()
        elif text == ELLIPSIS:
            self._note(token.line, f"<{last.tag}>", "'...' stands for something left out.")
        else:
            shown = text if len(text) < 40 else text[:40] + ELLIPSIS
            raise refused(
                self._file, token.line, f"<{last.tag}>", f"holds elements, no text: {shown!r}."
            )

    def end(self) -> Element:
        """The whole; elements that are still open end here."""
        while len(self._stack) > 1:
            self._note(self._stack[-1].line, f"<{self._stack[-1].tag}>", "is not closed.")
            self._pop()
        if not self._stack[0].children:
            raise refused(self._file, 1, "<model>", "missing; not a parameter file of MSTMMSim?")
        if len(self._stack[0].children) > 1:
            raise refused(self._file, self._stack[0].children[1], "<model>", "stands twice.")
        return self._stack[0].children[0]


def _alike(name: str, other: str) -> bool:
    return len(other) > 5 and difflib.SequenceMatcher(None, name, other).ratio() > 0.8
