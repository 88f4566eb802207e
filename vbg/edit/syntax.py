"""Fixes of text that is no TOML, each tried before it is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vbg.edit.commands import ReplaceText
from vbg.edit.proposals import Fix
from vbg.errors import ModelError, Problem
from vbg.model.text.syntax import load, quoted

_BARE = re.compile(r"(\s*[\w.\"'-]+\s*=\s*)([^\s\"'\[{#][^\"'\[{#]*?)(\s*(?:#.*)?)\Z")
_HEADER = re.compile(r"\s*\[")
Mistakes = tuple[Problem, ...]


def mistakes(text: str, file: str) -> Mistakes:
    """What is wrong with `text` as TOML."""
    try:
        return load(text, file)[2]
    except ModelError as error:
        return error.problems


def syntax_fixes(problem: Problem, text: str, file: str) -> tuple[Fix, ...]:
    """What mends the mistake on the line of `problem`: it is gone, and fewer are left."""
    before = mistakes(text, file)
    found: list[Fix] = []
    for label, effect, better, sure in _proposed(problem, text):
        after = mistakes(better, file)
        if len(after) < len(before) and problem.line not in {p.line for p in after}:
            found.append(Fix(label, effect, (ReplaceText(better, label),), sure))
    return tuple(found)


def _proposed(problem: Problem, text: str) -> Iterator[tuple[str, str, str, bool]]:
    """Label, effect, text, and whether only this can be meant."""
    lines = text.split("\n")
    at = problem.line - 1
    if not 0 <= at < len(lines):
        return
    line, number = lines[at], problem.line

    def with_line(*new: str) -> str:
        return "\n".join((*lines[:at], *new, *lines[at + 1 :]))

    bare = _BARE.match(line)
    if bare:
        value = quoted(bare[2])
        label = f"line {number}: write {value}"
        yield (
            label,
            "a number with a unit, an expression, a text",
            with_line(f"{bare[1]}{value}{bare[3]}"),
            True,
        )
    for mark in "\"'":
        if line.count(mark) % 2:
            whole = line.rstrip()
            yield f"line {number}: close the text with {mark}", "", with_line(whole + mark), False
    yield from _closed(problem, lines)
    if problem.what.startswith(("not valid TOML: Cannot", "not TOML: Cannot")):
        end = at + 1
        if _HEADER.match(line):
            while end < len(lines) and not _HEADER.match(lines[end]):
                end += 1
            effect = "the first of the same name stays"
        else:
            effect = "the value written first stays"
        without = "\n".join((*lines[:at], *lines[end:]))
        yield f"delete {line.strip()} of line {number}", effect, without, False


def _closed(problem: Problem, lines: list[str]) -> Iterator[tuple[str, str, str, bool]]:
    """A list or table closed at the end of the line that opened it."""
    for mark, end in ("[]", "{}"):
        for at in range(min(problem.line, len(lines)) - 1, -1, -1):
            line = lines[at]
            if line.count(mark) > line.count(end) and not _HEADER.match(line):
                body, note, words = line.partition("#")
                told = f"{body.rstrip().rstrip(',')}{end}" + (f"  {note}{words}" if note else "")
                better = "\n".join((*lines[:at], told, *lines[at + 1 :]))
                yield f"line {at + 1}: close it with {end}", "", better, False
                break
