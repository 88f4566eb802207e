"""Text that is not valid TOML: what is wrong, and reading on after the usual mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from vbg.errors import ModelError, Problem

MAX_REPAIRS = 30

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")
_STATEMENT = re.compile(r"""(\s*[\w."'-]+\s*=\s*)([^\s"'\[{][^"'\[{#]*?)(\s*(?:#.*)?)\Z""")
_BARE_EXPRESSION = re.compile(r"\s*[\w.-]+\s*=\s*[+-]?[0-9.eE+-]*\s*[A-Za-z_(*/^]")


_STATEMENTS = "A line is KEY = VALUE, [TABLE] or a comment after #."
_REMEDIES = (
    ("Cannot", "A key or a table is written twice."),
    ("Expected '='", _STATEMENTS),
    ("Expected newline", "Begin a new line; a text with quotes in it stands in '...'."),
    ("Invalid value", 'A value is a number, a text in quotes, [a list] or { a = "table" }.'),
    ("Unclosed inline table", "Close it with } on the same line, its entries parted by commas."),
    ("Unclosed array", "Close it with ], its entries parted by commas."),
    (r"Illegal character '\n'", "Close the quotes on the same line."),
    ("Illegal character", r"Remove it, or write it as \uXXXX in a text."),
    ("Found invalid character", r"Remove it, or write it as \uXXXX in a text."),
    ("Invalid initial character", "A key has letters, digits, _ and -; others stand in quotes."),
    ("Unterminated string", "Close its quotes."),
    ('Expected "', "Close the text with the quotes it began with."),
    (
        "Expected ']",
        "A table is named [so], one of a list of tables [[so]]; other letters than a to z stand in "
        'quotes: [bodies."größe"].',
    ),
    ("Unescaped", r"In double quotes a backslash is written \\; in single ones it is itself."),
)
"""What helps, by how `tomllib` begins its message; else `_STATEMENTS`."""


def load(text: str, name: str) -> tuple[dict[str, Any], str, tuple[Problem, ...]]:
    """The document of `text`, the text it was read from, and the mistakes of syntax.

    The usual mistake is a value without its quotes, ``mass = 3 kg``.  Reading
    goes on with the quotes in place, so that all such mistakes, and those of
    the model, are told at once.  Raises ModelError where that does not help.
    """
    problems: list[Problem] = []
    while len(problems) < MAX_REPAIRS:
        try:
            return tomllib.loads(text), text, tuple(problems)
        except tomllib.TOMLDecodeError as error:
            problem = _syntax_error(name, text, str(error))
        except ValueError:
            what = "a number has too many digits, or a date is impossible."
            remedy = "Write numbers with an exponent (1e30), dates as texts."
            problem = Problem("error", "file", what, remedy, name, 1, 1)
        if problems and problem.line <= problems[-1].line:
            break
        problems.append(problem)
        text = _with_quotes(text, problem.line)
    raise ModelError.of(problems)


def _syntax_error(name: str, text: str, message: str) -> Problem:
    """What `tomllib` says, as a problem with its place and the usual cause."""
    match = _PLACE.search(message)
    what = _PLACE.sub("", message)
    line, column = text.count("\n") + 1, 1
    if match and match[1]:
        line, column = int(match[1]), int(match[2])
    written = (text.split("\n")[line - 1 : line] or [""])[0]
    remedy = next((said for begin, said in _REMEDIES if what.startswith(begin)), _STATEMENTS)
    if not what.startswith("Cannot") and _BARE_EXPRESSION.match(written):
        remedy = 'Texts, expressions and numbers with a unit stand in quotes: "2*L", "3 mm".'
    return Problem("error", "file", f"not valid TOML: {what}.", remedy, name, line, column)


def _with_quotes(text: str, line: int) -> str:
    """`text` with the value on `line` in quotes, if it is a bare one."""
    lines = text.split("\n")
    match = _STATEMENT.match(lines[line - 1])
    if match:
        lines[line - 1] = f"{match[1]}{quoted(match[2])}{match[3]}"
    return "\n".join(lines)


def quoted(text: str) -> str:
    """`text` as a basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    named = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    return '"' + "".join(_character(c, named) for c in escaped) + '"'


def _character(c: str, named: Mapping[str, str]) -> str:
    if c in named:
        return named[c]
    return c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}"
