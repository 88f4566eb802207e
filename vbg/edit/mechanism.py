"""Fixes of what the start of a mechanism says: redundant, locked, unclosed, contradicting drives.

Each is tried by assembling the machine with it.  A joint is made freer only where all it is
written with is its kind, its ends and its axis, and in kinds whose constraints are among its
own, so that every motion there was is still one; whether it starts in the same posture is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import Command, Remove, SetValue
from vbg.edit.proposals import Fix
from vbg.errors import ModelError, Problem, UsageError, VbgError

if TYPE_CHECKING:
    from vbg.assemble.start.start import Start

# Kinds with fewer constraints of the same ones, and how many fewer.
_FREER = {
    "revolute": (("cylindrical", 1), ("spherical", 2), ("point_on_line", 3)),
    "prismatic": (("cylindrical", 1), ("point_on_line", 3)),
    "cylindrical": (("point_on_line", 2),),
    "universal": (("spherical", 1),),
}
_PLAIN = {"kind", "between", "axis", "axis_on_second"}
_WITHOUT_AXIS = {"spherical": ("axis", "axis_on_second"), "point_on_line": ("axis_on_second",)}
_OF_START = re.compile(
    r"constraint directions? (is|are) redundant;|the mechanism is locked|cannot be closed"
    r"|its drive cannot be followed|no velocities satisfy"
)
_ROWS = 5  # constraints of the joint that is taken out for being there twice
_LARGE = 60  # parts; of more, trying is not done while somebody waits
_TRIALS = 16  # starts that are tried for one problem
_MOST = 4
_SAME = 1e-6  # of the machine's size: less is the same posture
_MOVED = "it starts in another posture"
Path = tuple[str | int, ...]


def is_of_start(problem: Problem) -> bool:
    """Whether the start of the mechanism says this, not the check of the text."""
    return _OF_START.search(problem.what) is not None


def mechanism_fixes(
    problem: Problem, text: str, data: Mapping[str, Any], file: str = ""
) -> tuple[Fix, ...]:
    """Up to four fixes of a problem of the start of `text`, the smallest first."""
    if sum(len(t) for t in data.values() if isinstance(t, Mapping)) > _LARGE:
        return ()
    trials = _Trials(text, file)
    unique = "redundant;" in problem.what
    found = iter(_unique(data, trials)) if unique else _movable(problem, data, trials)
    return tuple(islice(found, _MOST))


@dataclass
class _Trials:
    """Starts of the text with edits; no more than `_TRIALS`."""

    text: str
    file: str
    done: int = 0

    def start(self, commands: tuple[Command, ...]) -> Start | None:
        """The start with the edits; None if it has errors or enough has been tried."""
        self.done += 1
        if self.done > _TRIALS:
            return None
        text = self.text
        try:
            for command in commands:
                text = command.change_text(text)
            return start_of(text, self.file)
        except VbgError:
            return None


def start_of(text: str, file: str) -> Start:
    """The start of the machine that `text` describes.

    Raises VbgError where the model has errors, or cannot be assembled."""
    from vbg.assemble import assemble_start
    from vbg.io import toml
    from vbg.model import check

    model = toml.parse(text, file)
    errors = [problem for problem in check(model) if problem.severity == "error"]
    if errors:
        raise ModelError.of(errors)
    return assemble_start(model)


def start_problems(text: str, file: str) -> tuple[Problem, ...]:
    """What the start of a model says that has no errors; nothing of one that has."""
    try:
        return start_of(text, file).notes
    except (ModelError, UsageError):
        return ()  # the check of the text has said it
    except VbgError as error:
        return error.problems


def _unique(data: Mapping[str, Any], trials: _Trials) -> list[Fix]:
    """With which the motion stays and the forces of the joints are unique."""
    base = trials.start(())
    if base is None or not base.dependent:
        return []
    names = {constraint.split(".")[0] for constraint in base.redundant}
    joints = [name for name in reversed(list(data.get("joints", {}))) if name in names]
    found: dict[frozenset[str], Fix] = {}
    for first in [name for name in joints if _freer(data, name)][:_MOST]:
        others = [name for name in joints if name != first]
        labels, commands, after = _freed(data, [first, *others], base, trials)
        if labels and frozenset(labels) not in found:
            fix = Fix(
                " and ".join(labels), f"all joint forces are unique; {_kept(base, after)}", commands
            )
            found[frozenset(labels)] = fix
    if base.dependent >= _ROWS:
        for name in joints:
            label = f"delete joints.{name}"
            commands = (Remove((("joints", name),), label),)
            without = trials.start(commands)
            if without is not None and (without.freedoms, without.dependent) == (base.freedoms, 0):
                effect = f"the others hold it; {_kept(base, without)}"
                found[frozenset([label])] = Fix(label, effect, commands)
    return sorted(found.values(), key=lambda fix: (_MOVED in fix.effect, len(fix.commands)))


def _kept(base: Start, after: Start) -> str:
    """Whether the machine starts as it did: the same motion then, as no constraint is new."""
    import numpy as np

    first, second = (start.outputs(0.0, start.state) for start in (base, after))
    places = [name for name in first if name.endswith(".position") and name in second]
    size = max((float(np.abs(first[name]).max()) for name in places), default=0.0)
    same = all(np.abs(first[n] - second[n]).max() <= _SAME * size for n in places)
    return "the motion stays" if same else _MOVED


def _freed(
    data: Mapping[str, Any], joints: list[str], base: Start, trials: _Trials
) -> tuple[list[str], tuple[Command, ...], Start]:
    """Joints made freer, one after the other, until nothing is redundant; nothing if some is."""
    left, now = base.dependent, base
    labels: list[str] = []
    commands: tuple[Command, ...] = ()
    for name in joints:
        for kind, freed in reversed(_freer(data, name)):
            if freed > left:
                continue
            label, more = _made(data, name, kind)
            after = trials.start((*commands, *more))
            if after is None or (after.freedoms, after.dependent) != (base.freedoms, left - freed):
                continue
            left, now = left - freed, after
            labels.append(label)
            commands = (*commands, *more)
            break
        if not left:
            return labels, commands, now
    return [], (), base


def _freer(data: Mapping[str, Any], name: str) -> tuple[tuple[str, int], ...]:
    """Freer kinds of a joint, each with how many constraints are gone."""
    written = data.get("joints", {}).get(name)
    if not isinstance(written, Mapping) or not {*written} <= _PLAIN:
        return ()
    return _FREER.get(str(written.get("kind")), ())


def _made(data: Mapping[str, Any], name: str, kind: str) -> tuple[str, tuple[Command, ...]]:
    """The edits that make a joint one of another kind."""
    label = f"make joints.{name} {kind}"
    written = data["joints"][name]
    surplus = [key for key in _WITHOUT_AXIS.get(kind, ()) if key in written]
    commands: tuple[Command, ...] = (SetValue(("joints", name, "kind"), kind, label),)
    for key in surplus:
        commands = (*commands, Remove((("joints", name, key),), label))
    return label, commands


def _movable(problem: Problem, data: Mapping[str, Any], trials: _Trials) -> Iterator[Fix]:
    """With which the machine starts, and moves if it was locked."""
    count = 0
    for fix in _candidates(problem, data):
        after = trials.start(fix.commands)
        if after is None or ("locked" in problem.what and not after.freedoms):
            continue
        yield fix
        count += 1
        if count == _MOST:
            return


def _candidates(problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """What may let the machine start: fewer drives, less said of the start, freer joints."""
    joints = data.get("joints", {})
    if "locked" not in problem.what:
        yield from _left_out(data, "joints", ("drive",), "the motion of the others decides")
        if "cannot be closed" in problem.what:
            yield from _left_out(data, "joints", ("axis_on_second",), "the axis is as written once")
            yield from _left_out(
                data, "bodies", ("position", "rotation"), "its joints say where it is"
            )
        yield from _left_out(data, "joints", ("initial",), "it starts as the others have it")
        yield from _left_out(
            data, "bodies", ("velocity", "angular_velocity"), "its joints say how it moves"
        )
    if "no velocities" in problem.what or "drive cannot" in problem.what:
        return
    here = problem.where.removeprefix("joints.")
    names = sorted(joints, key=lambda name: name != here)
    freed = [(steps, name, kind) for name in names for kind, steps in _freer(data, name)]
    for _, name, kind in sorted(freed, key=lambda entry: entry[0]):
        label, commands = _made(data, name, kind)
        yield Fix(label, "what it held beside its axis is free", commands)


def _left_out(
    data: Mapping[str, Any], table: str, keys: tuple[str, ...], effect: str
) -> Iterator[Fix]:
    """Each part of `table` without `keys`."""
    for name, written in data.get(table, {}).items():
        there = [key for key in keys if isinstance(written, Mapping) and key in written]
        if there:
            label = f"delete {' and '.join(there)} of {table}.{name}"
            yield Fix(label, effect, (Remove(tuple((table, name, k) for k in there), label),))
