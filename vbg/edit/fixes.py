"""Fixes: edits that a problem suggests, each tried before it is offered.

A fix is offered only if the problem is gone with it and the model has fewer errors than
before, or as many and less doubt.  None invents a number of the engineer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vbg.edit.conflicts import conflict_fixes
from vbg.edit.mechanism import is_of_start, mechanism_fixes
from vbg.edit.proposals import Fix, proposals
from vbg.edit.syntax import syntax_fixes
from vbg.errors import ModelError, Problem, UsageError, VbgError

MOST = 4  # fixes offered for a problem
_LARGE = 600  # parts; of more, checking a fix before it is offered takes too long
_STEP = re.compile(r"\[(\d+)\]")
Path = tuple[str | int, ...]


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
    if problem.where == "file":
        return syntax_fixes(problem, text, file)
    if is_of_start(problem):
        return mechanism_fixes(problem, text, data, file)
    if sum(len(table) for table in data.values() if isinstance(table, Mapping)) > _LARGE:
        return ()
    before = problems_in(text, file)
    if (problem.where, problem.what) not in {(p.where, p.what) for p in before}:
        return conflict_fixes(problem, text, data, file)  # the bond graph told it
    found: list[Fix] = []
    for fix in _proposed(problem, data):
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
    parts = [_part(problem.where), *map(_part, fix.places)]
    known = {(p.where, p.what) for p in before}
    new = [p for p in after if p.severity == "error" and (p.where, p.what) not in known]
    # that a file has no machine in it is told once all it has can be read
    hidden = [p for p in new if p.where != "model"]
    return all(any(p.where.startswith(part) for part in parts) for p in hidden)


def _part(where: str) -> str:
    """The table and the name that a path begins with."""
    found = re.match(r"[^.\[]*(\.[^.\[]*)?", where)
    assert found is not None
    return found[0]


def _proposed(problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """What may mend the problem, not yet tried."""
    path = path_of(problem.where, data)
    return iter(()) if path is None else proposals(problem, path, data)


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
            data = {}  # the mistakes of syntax first
        errors = [p for p in problems_in(text, file) if p.severity == "error"]
        found = (fix for problem in errors for fix in fixes(problem, text, data, file))
        first = next((fix for fix in found if fix.sure), None)
        if first is None:
            return text, tuple(done)
        text = first.as_one(text).change_text(text)
        done.append(first.label)
