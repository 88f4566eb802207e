"""Editing the text of a model file in place, one table at a time.

Only the lines of the table that is edited are parsed and written again (by
tomlkit, which keeps comments, order and spelling); all other lines of the
file stay as they are, byte by byte.  That is also what makes an edit of a
model of thousands of parts instant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from vbg.errors import UsageError

Path = tuple[str | int, ...]

_HEADER = re.compile(r"[ \t]*\[(?!\[)(?P<keys>[^\n]*?)\][ \t]*(#[^\n]*)?\r?\n?\Z")
_ARRAY_HEADER = re.compile(r"[ \t]*\[\[(?P<keys>[^\n]*?)\]\][ \t]*(#[^\n]*)?\r?\n?\Z")
_KEY = re.compile(
    r"""\s*(?:"(?P<q>(?:[^"\\]|\\.)*)"|'(?P<l>[^']*)'|(?P<b>[A-Za-z0-9_-]+))\s*(\.|\Z)"""
)
# What changes the state of a scan: comments, strings, brackets.
_TOKEN = re.compile(
    r"""#[^\n]*|\"\"\"|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\[\]{}]""",
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The lines of one table, [start, stop) in the text, header included.

    `keys` is the table's path, () for what stands before the first header.
    Comments directly above a header belong to it.
    """

    keys: tuple[str, ...]
    start: int
    stop: int


def chunks(text: str) -> tuple[Chunk, ...]:
    """The tables of `text`, in order, covering all of it."""
    found: list[tuple[tuple[str, ...], int]] = [((), 0)]
    depth, quote, position, comment = 0, "", 0, -1
    for line in text.splitlines(keepends=True):
        header = None
        if depth == 0 and not quote:
            header = _HEADER.match(line) or _ARRAY_HEADER.match(line)
            if line.lstrip().startswith("#"):
                comment = position if comment < 0 else comment
        keys = _keys(header["keys"]) if header else None
        if keys:
            found.append((keys, comment if comment >= 0 else position))
        else:
            depth, quote = _scan(line, depth, quote)
        if not line.lstrip().startswith("#"):
            comment = -1
        position += len(line)
    starts = [start for _, start in found] + [len(text)]
    return tuple(Chunk(keys, starts[i], starts[i + 1]) for i, (keys, _) in enumerate(found))


def _scan(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Depth of brackets and open multi-line quote after `line`."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        token = _TOKEN.search(line, at)
        if token is None:
            break
        word = token[0]
        at = token.end()
        if word in ('"""', "'''"):
            quote = word
        elif word in "[{":
            depth += 1
        elif word in "]}":
            depth = max(0, depth - 1)
    return depth, quote


def _keys(text: str) -> tuple[str, ...] | None:
    """The keys of a header, or None if it is not one."""
    keys, at = [], 0
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None:
            return None
        keys.append(next(k for k in (key["q"], key["l"], key["b"]) if k is not None))
        at = key.end()
    return tuple(keys)


def line_of(text: str, path: Path) -> int:
    """The line, from 1, of the key at `path`, or of the table that should hold it."""
    chunk = _holder(chunks(text), path)
    body = text[chunk.start : chunk.stop]
    first = text.count("\n", 0, chunk.start) + 1
    rest = path[len(chunk.keys) :]
    for offset, line in enumerate(body.split("\n")):
        if rest and re.match(rf"""\s*["']?{re.escape(str(rest[0]))}["']?\s*[.=]""", line):
            return first + offset
    for offset, line in enumerate(body.split("\n")):
        if chunk.keys and line.lstrip().startswith("["):
            return first + offset
    return first


def path_at(text: str, line: int) -> Path:
    """What line `line`, from 1, is about: the path of its table, and the key that is written
    there, if one is; the inverse of `line_of`."""
    position = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
    own = next((c for c in reversed(chunks(text)) if c.start <= position), Chunk((), 0, 0))
    end = text.find("\n", position)
    depth, quote = 0, ""
    keys: tuple[str, ...] | None = None
    for row in text[own.start : end if end >= 0 else len(text)].split("\n"):
        if not depth and not quote:
            left, equals, _ = row.partition("=")
            keys = _keys(left.strip()) if equals else None
        if not _HEADER.match(row) and not _ARRAY_HEADER.match(row):
            depth, quote = _scan(row, depth, quote)
    return (*own.keys, *(keys or ()))


def _holder(tables: tuple[Chunk, ...], path: Path) -> Chunk:
    """The chunk whose header is the longest beginning of `path`."""
    return max(
        (chunk for chunk in tables if path[: len(chunk.keys)] == chunk.keys),
        key=lambda chunk: len(chunk.keys),
    )


def text_of(text: str, path: Path) -> str:
    """The lines of the table at `path` and of those inside it; all of `text` for ()."""
    if not path:
        return text
    own = [chunk for chunk in chunks(text) if chunk.keys and chunk.keys[: len(path)] == path]
    return "".join(text[chunk.start : chunk.stop] for chunk in own).strip() + "\n" if own else ""


def with_value(text: str, path: Path, value: Any) -> str:
    """`text` with the value at `path` set; tables that are missing are made.

    Raises
    ------
    UsageError
        the text around the value cannot be parsed, or the path leads through
        something that is no table.
    """
    chunk = _holder(chunks(text), path)
    rest = path[len(chunk.keys) :]
    if _has(text, chunk, rest[0]):
        return _edited(text, chunk, path, lambda container: _put(container, path[-1], value))
    if not chunk.keys and len(path) > 1:
        return _appended(text, path[:1], _nested(path, value))
    return _with_line(text, chunk, str(rest[0]), _nested(rest, value) if len(rest) > 1 else value)


def without_value(text: str, path: Path) -> str:
    """`text` without the key at `path`, be it a value or a whole table."""
    tables = chunks(text)
    own = [chunk for chunk in tables if chunk.keys[: len(path)] == path and chunk.keys]
    for chunk in reversed(own):
        text = text[: chunk.start] + text[chunk.stop :]
    if own:
        return text
    chunk = _holder(tables, path)
    return _edited(text, chunk, path, lambda container: _drop(container, path[-1]))


def with_table(text: str, path: tuple[str, ...], values: Mapping[str, Any]) -> str:
    """`text` with a new table at `path`, after the others of its kind."""
    return _appended(text, path, values)


def with_key(text: str, path: Path, name: str) -> str:
    """`text` with the key at `path`, of a value or of a table, spelled `name`.

    Raises
    ------
    UsageError
        the text around the key cannot be parsed, or it is no key of its own there.
    """
    if any(chunk.keys[: len(path)] == path for chunk in chunks(text)):
        return with_renamed(text, tuple(map(str, path)), name)
    chunk = _holder(chunks(text), path)
    if len(path) > len(chunk.keys) + 1:
        return _edited(text, chunk, path, lambda table: _respelled(table, str(path[-1]), name))
    body = text[chunk.start : chunk.stop]
    key = _spellings(str(path[-1]))
    found = re.search(rf"^([ \t]*){key}(?=[ \t]*=)", body, re.MULTILINE)
    if found is None:
        where = ".".join(map(str, path))
        raise UsageError(f"{where}: this key is not at the beginning of a line; edit the text.")
    body = body[: found.end(1)] + _spelled((name,)) + body[found.end() :]
    return text[: chunk.start] + body + text[chunk.stop :]


def _spellings(key: str) -> str:
    """A pattern of a key as it may be written."""
    key = re.escape(key)
    return rf"""(?:"{key}"|'{key}'|(?<![\w"'-]){key}(?![\w-]))"""


def _respelled(table: Any, key: str, name: str) -> InlineTable:
    """A table in one line with `key` spelled `name`: a key of the same letters further inside,
    or in a text, stays."""
    wanted = {name if k == key else k: v for k, v in table.unwrap().items()}
    written = table.as_string()
    for found in re.finditer(rf"{_spellings(key)}(?=\s*=)", written):
        tried = written[: found.start()] + _spelled((name,)) + written[found.end() :]
        try:
            other = tomlkit.value(tried)
        except TOMLKitError:
            continue
        if isinstance(other, InlineTable) and other.unwrap() == wanted:
            return other
    raise KeyError(key)


def with_renamed(text: str, path: tuple[str, ...], name: str) -> str:
    """`text` with the last key of the table at `path` spelled `name`."""
    for chunk in reversed(chunks(text)):
        if chunk.keys and chunk.keys[: len(path)] == path:
            keys = (*path[:-1], name, *chunk.keys[len(path) :])
            body = text[chunk.start : chunk.stop]
            head = re.search(r"^[ \t]*\[[^\n]*\]", body, re.MULTILINE)
            if head is not None:
                body = body[: head.start()] + f"[{_spelled(keys)}]" + body[head.end() :]
            text = text[: chunk.start] + body + text[chunk.stop :]
    return text


def texts(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """The texts inside a value of a file, with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from texts((*path, i), entry)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from texts((*path, key), entry)


def _has(text: str, chunk: Chunk, key: str | int) -> bool:
    """Whether the table of `chunk` itself has `key`, as a value or dotted."""
    try:
        container: Any = tomlkit.parse(text[chunk.start : chunk.stop])
    except TOMLKitError as error:
        raise _unreadable(".".join((*chunk.keys, str(key))), error) from error
    for step in chunk.keys:
        container = container[step]
    return key in container


def _unreadable(where: str, error: Exception) -> UsageError:
    return UsageError(
        f"{where}: the text of this table cannot be edited here ({error})."
        " Open it in your editor (ctrl+e) at this line."
    )


def _nested(path: Path, value: Any) -> dict[str, Any]:
    """The table that holds `value` at path[1:]."""
    out: Any = value
    for key in reversed(path[1:]):
        out = {str(key): out}
    return out


def _appended(text: str, path: Path, values: Mapping[Any, Any]) -> str:
    """`text` with a new table, after the last table with the same first key."""
    body = tomlkit.dumps({key: _inline(value) for key, value in values.items()})
    new = f"[{_spelled(path)}]\n{body}"
    same = [chunk for chunk in chunks(text) if chunk.keys[:1] == path[:1]]
    at = same[-1].stop if same else len(text)
    before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
    return (before + "\n\n" if before else "") + new + ("\n" + after if after else "")


def _spelled(keys: Path) -> str:
    """Keys as a header spells them."""
    return ".".join(
        str(k) if re.fullmatch(r"[A-Za-z0-9_-]+", str(k)) else tomlkit.item(str(k)).as_string()
        for k in keys
    )


def _edited(text: str, chunk: Chunk, path: Path, change: Any) -> str:
    """`text` with `change` applied to the container of `path` in `chunk`; what it answers
    takes the container's place."""
    body = text[chunk.start : chunk.stop]
    try:
        document = tomlkit.parse(body)
        container: Any = document
        around: Any = None
        for key in path[:-1]:
            if isinstance(container, MutableMapping) and key not in container:
                container[key] = tomlkit.inline_table()
            around, container = container, container[key]
        instead = change(container)
        if instead is not None:
            _put(around, path[-2], instead)
    except (TOMLKitError, KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(".".join(str(key) for key in path), error) from error
    changed = tomlkit.dumps(document)
    if changed and not changed.endswith("\n") and text[chunk.stop :]:
        changed += "\n"
    return text[: chunk.start] + changed + text[chunk.stop :]


def _drop(container: Any, key: str | int) -> None:
    container.pop(key, None)


def _put(container: Any, key: str | int, value: Any) -> Any:
    """Set one entry, keeping the comment behind the old one.  Answers a table to be put in
    the place of `container`, if that is one line and the entry is new."""
    if isinstance(container, InlineTable) and key not in container:
        return _longer(container, str(key), value)
    new = value if isinstance(value, InlineTable) else _inline(value)
    old = container.get(key) if isinstance(container, Mapping) else None
    if old is not None and hasattr(old, "trivia"):
        new.trivia.comment_ws = old.trivia.comment_ws
        new.trivia.comment = old.trivia.comment
    container[key] = new
    return None


def _longer(table: InlineTable, key: str, value: Any) -> InlineTable:
    """`table` with one more entry, the others spelled as they are."""
    before = table.as_string().rstrip().removesuffix("}").rstrip()
    joint = " " if before.endswith("{") else ", "
    longer = tomlkit.value(f"{before}{joint}{_spelled((key,))} = {_one_line(value)} }}")
    assert isinstance(longer, InlineTable)
    return longer


def _with_line(text: str, chunk: Chunk, key: str, value: Any) -> str:
    """`text` with a new line for `key` below the last line of the chunk's table."""
    body = text[chunk.start : chunk.stop]
    kept = body.rstrip()
    line = tomlkit.dumps({key: _inline(value)})
    rest = body[len(kept) :].lstrip("\r\n") if body[len(kept) :].strip("\r\n") else ""
    blank = body[len(kept) :].count("\n") - 1
    tail = "\n" * max(blank, 0) + rest
    return text[: chunk.start] + (kept + "\n" if kept else "") + line + tail + text[chunk.stop :]


def _inline(value: Any) -> Any:
    """`value` as one line of TOML."""
    return tomlkit.value(_one_line(value))


def _one_line(value: Any) -> str:
    """How TOML spells `value` in one line, with blanks where people put them."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_spelled((str(k),))} = {_one_line(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_one_line, value)) + "]"
    return tomlkit.item(value).as_string()
