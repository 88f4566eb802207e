"""Fixes: edits that a problem suggests, each tried before it is offered.

A fix is offered only if the problem is gone with it and the model has fewer errors than
before, or as many and less doubt.  None invents a number of the engineer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vbg.edit.commands import Command, Remove, RenameKey, ReplaceText, SetValue
from vbg.edit.source import texts
from vbg.errors import ModelError, Problem, UsageError, VbgError

MOST = 4  # fixes offered for a problem
_LARGE = 600  # parts; of more, checking a fix before it is offered takes too long
_MEANT = re.compile(r"Did you mean '([^']*)'\?")
_QUOTED = re.compile(r"'([^']*)'")
_LIST = re.compile(r"There are these [^:]*: ([^.]*)\.\Z")
_STEP = re.compile(r"\[(\d+)\]")
_REFERENCES = {"electric": "gnd", "hydraulic": "tank"}
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Fix:
    """A remedy that one key applies as one undo step; `sure` if there is no choice to be made."""

    label: str
    effect: str
    commands: tuple[Command, ...]
    sure: bool = False

    def as_one(self, text: str) -> Command:
        """All commands as one edit of `text`."""
        if len(self.commands) == 1:
            return self.commands[0]
        for command in self.commands:
            text = command.change_text(text)
        return ReplaceText(text, self.label)


def problems_in(text: str, file: str) -> tuple[Problem, ...]:
    """What `check` says of a text: its errors, or what it doubts of the model."""
    from vbg.io import toml
    from vbg.model import check

    try:
        return check(toml.parse(text, file))
    except (ModelError, UsageError) as error:
        return error.problems or (Problem("error", "model", str(error)),)


def fixes(problem: Problem, text: str, data: Mapping[str, Any], file: str = "") -> tuple[Fix, ...]:
    """Up to four fixes of a problem of `text`, the likeliest first."""
    if sum(len(table) for table in data.values() if isinstance(table, Mapping)) > _LARGE:
        return ()
    before = problems_in(text, file)
    found: list[Fix] = []
    for fix in _proposals(problem, data):
        if len(found) == MOST:
            break
        if _helps(fix, problem, text, file, before):
            found.append(fix)
    return tuple(found)


def _helps(fix: Fix, problem: Problem, text: str, file: str, before: tuple[Problem, ...]) -> bool:
    """Whether the problem is gone with the fix, and nothing new is wrong but what it hid:
    in the same part, or doubts that are told once there is no error."""
    try:
        after = problems_in(fix.as_one(text).change_text(text), file)
    except VbgError:
        return False
    same = [p for p in after if (p.where, p.what) == (problem.where, problem.what)]
    if same:
        return False
    part = re.match(r"[^.\[]*(\.[^.\[]*)?", problem.where)
    known = {(p.where, p.what) for p in before}
    new = [p for p in after if p.severity == "error" and (p.where, p.what) not in known]
    return all(part is not None and p.where.startswith(part[0]) for p in new)


def _proposals(problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """What may mend the problem, not yet tried."""
    path = path_of(problem.where, data)
    if path is None:
        return
    meant = _MEANT.search(problem.remedy)
    listed = _LIST.search(problem.remedy)
    offers = [meant[1]] if meant else listed[1].split(", ")[:12] if listed else []
    for wrong in _QUOTED.findall(problem.what)[:1]:
        for right in offers:
            if right not in (wrong, "..."):
                yield from _respelled(path, data, wrong, right, sure=bool(meant))
    yield from _grounded(path, problem, data)
    yield from _without(path, problem, data)


def path_of(where: str, data: Mapping[str, Any]) -> Path | None:
    """The path of ``joints.hinge.axis[0]`` in `data`; None if there is no such place."""
    path: list[str | int] = []
    here: Any = data
    rest = where
    while rest:
        if isinstance(here, Mapping):
            # a name may have dots in it: the longest that fits
            names = [k for k in here if rest == k or rest.startswith((f"{k}.", f"{k}["))]
            if not names:
                return None
            step: str | int = max(names, key=len)
            rest = rest[len(str(step)) :].removeprefix(".")
        else:
            number = _STEP.match(rest)
            if number is None or not isinstance(here, list) or int(number[1]) >= len(here):
                return None
            step, rest = int(number[1]), rest[number.end() :].removeprefix(".")
        path.append(step)
        here = here[step]
    return tuple(path)


def _value(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _respelled(
    path: Path, data: Mapping[str, Any], wrong: str, right: str, *, sure: bool
) -> Iterator[Fix]:
    """`wrong` written as `right`: the key at the end of the path, or a word in its value."""
    where = ".".join(map(str, path))
    if path[-1] == wrong:
        holder = _value(data, path[:-1])
        if right not in holder:
            label = f"rename {where} to {right}"
            commands = (RenameKey(path, right, label),)
            yield Fix(label, f"{right}, not {wrong}", commands, sure)
    value = _value(data, path)
    for at, text in texts(path, value):
        word = re.compile(rf"(?<![\w]){re.escape(wrong)}(?![\w])")
        new = word.sub(right, text)
        if new != text:
            label = f"write {new} for {text} in {'.'.join(map(str, at))}"
            yield Fix(label, f"{right}, not {wrong}", (SetValue(at, new, label),), sure)


def _grounded(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A node of an island is the reference of its domain."""
    reference = _REFERENCES.get(str(path[0]))
    nodes = re.search(r"nodes (.+) have no path to", problem.what)
    if reference is None or nodes is None:
        return
    written = [
        ((path[0], name, "nodes", i), node)
        for name, part in data[str(path[0])].items()
        if isinstance(part, Mapping) and isinstance(part.get("nodes"), list)
        for i, node in enumerate(part["nodes"])
    ]
    # the second end of a source is most often the one that is grounded
    ends = [node for (*_, i), node in written if i == 1]
    island = nodes[1].split(", ")
    for node in sorted(island, key=lambda n: (-ends.count(n), n)):
        label = f"name node {node} {reference}"
        commands = tuple(SetValue(at, reference, label) for at, name in written if name == node)
        effect = f"{node} is the level that all others of the circuit count from"
        yield Fix(label, effect, commands)


def _without(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """What nothing uses is taken out."""
    if path[0] == "parameters" and len(path) == 2 and problem.severity == "note":
        label = f"delete parameters.{path[1]}"
        yield Fix(label, "nothing uses it", (Remove((path,), label),))


def mended(text: str, file: str) -> tuple[str, tuple[str, ...]]:
    """`text` with every error mended that has a sure fix, again until none has; what was done.

    Warnings and notes stay: they may be meant.
    """
    import tomllib

    done: list[str] = []
    while True:
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return text, tuple(done)
        errors = [p for p in problems_in(text, file) if p.severity == "error"]
        found = (fix for problem in errors for fix in fixes(problem, text, data, file))
        first = next((fix for fix in found if fix.sure), None)
        if first is None:
            return text, tuple(done)
        text = first.as_one(text).change_text(text)
        done.append(first.label)
