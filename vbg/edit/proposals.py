"""What may mend a problem: edits read from its words and from what is written, not yet tried."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from vbg import units
from vbg.edit.commands import AddTable, Command, Remove, RenameKey, ReplaceText, SetValue
from vbg.edit.source import texts
from vbg.errors import Problem

_MEANT = re.compile(r"(?:Did you mean|Write) '([^']*)'[?.]")
_QUOTED = re.compile(r"'([^']*)'")
_LIST = re.compile(r"There are these [^:]*: ([^.]*)\.\Z")
_REFERENCES = {"electric": "gnd", "hydraulic": "tank"}
# a number that no unit, name or product follows
_BARE = re.compile(r"(?<![\w.])\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.])(?=\s*(?:[-+)]|\Z))")
_AXES = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Fix:
    """A remedy that one key applies as one undo step; `sure` if there is no choice to be made."""

    label: str
    effect: str
    commands: tuple[Command, ...]
    sure: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """Where the edited things stand afterwards, if elsewhere."""
        moved = [(*c.path[:-1], c.name) for c in self.commands if isinstance(c, RenameKey)]
        added = [c.path for c in self.commands if isinstance(c, AddTable)]
        return tuple(_where(path) for path in (*moved, *added))

    def as_one(self, text: str) -> Command:
        """All commands as one edit of `text`."""
        if len(self.commands) == 1:
            return self.commands[0]
        for command in self.commands:
            text = command.change_text(text)
        return ReplaceText(text, self.label)


def proposals(problem: Problem, path: Path, data: Mapping[str, Any]) -> Iterator[Fix]:
    """What may mend the problem at `path`, the likeliest first."""
    meant = _MEANT.search(problem.remedy)
    listed = _LIST.search(problem.remedy)
    offers = [meant[1]] if meant else listed[1].split(", ")[:12] if listed else []
    for wrong in _QUOTED.findall(problem.what)[:1]:
        for right in offers:
            if right not in (wrong, "..."):
                yield from _respelled(path, data, wrong, right, sure=bool(meant))
    makers = (
        *(_grounded, _without, _left_out, _renamed, _moved, _deepened),
        *(_turned_round, _directed, _recast, _reconnected, _united),
    )
    yield from chain.from_iterable(maker(path, problem, data) for maker in makers)


def value_at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _respelled(
    path: Path, data: Mapping[str, Any], wrong: str, right: str, *, sure: bool
) -> Iterator[Fix]:
    """`wrong` written as `right`: the key at the end of the path, or a word in its value."""
    where = ".".join(map(str, path))
    if path[-1] == wrong:
        holder = value_at(data, path[:-1])
        if right not in holder:
            label = f"rename {where} to {right}"
            commands = (RenameKey(path, right, label),)
            yield Fix(label, f"{right}, not {wrong}", commands, sure)
    value = value_at(data, path)
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


def _set(path: Path, value: Any, effect: str, *, sure: bool = False) -> Fix:
    label = f"set {_where(path)} to {value}"
    return Fix(label, effect, (SetValue(path, value, label),), sure)


def _deleted(path: Path, effect: str) -> Fix:
    label = f"delete {_where(path)}"
    return Fix(label, effect, (Remove((path,), label),))


def _where(path: Path) -> str:
    return ".".join(map(str, path))


def _left_out(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """One of what contradicts each other, or is there twice or misspelled, is left out."""
    told = re.match(r"Leave out (\w+)(?:, or (\w+))?|Leave (\w+) out", problem.remedy)
    both = re.search(r"needs either (\w+) or (\w+), found both", problem.what)
    holders = [path, *([path[:-1]] if len(path) > 1 else [])]
    for found in filter(None, (told, both)):
        for key in filter(None, found.groups()):
            for holder, inside in ((h, value_at(data, h)) for h in holders):
                for at in _keyed(holder, inside, key):
                    yield _deleted(at, f"the rest says it without {key}")
    meant = _MEANT.search(problem.remedy)
    holder = value_at(data, path[:-1])
    if meant and isinstance(holder, Mapping) and meant[1] in holder and path[-1] != meant[1]:
        yield _deleted(path, f"{meant[1]} is there already")


def _keyed(path: Path, value: Any, key: str) -> Iterator[Path]:
    """Where `key` is in a table or in the shapes of a body."""
    if isinstance(value, Mapping):
        if key in value:
            yield (*path, key)
        elif "shape" in value:
            yield from _keyed((*path, "shape"), value["shape"], key)


def _renamed(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A name that is taken, or has a meaning of its own, with a number behind it."""
    if "Choose another name" in problem.remedy and len(path) == 2:
        taken = {name for table in data.values() if isinstance(table, Mapping) for name in table}
        name = next(
            f"{path[1]}{n}" for n in range(1, len(taken) + 2) if f"{path[1]}{n}" not in taken
        )
        label = f"rename {_where(path)} to {name}"
        yield Fix(label, "what refers to it stays as it is", (RenameKey(path, name, label),))


def _moved(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A part that stands in another table than its kind is of."""
    told = re.match(r"Write \[(\w+)\.", problem.remedy)
    if told is not None and len(path) == 3 and path[1] not in data.get(told[1], {}):
        old, new = path[:2], (told[1], str(path[1]))
        label = f"move {_where(old)} to {_where(new)}"
        commands = (Remove((old,), label), AddTable(new, value_at(data, old), label))
        yield Fix(label, f"its kind is one of {told[1]}", commands, sure=True)


def _deepened(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A key that stands beside the table that it belongs into."""
    told = re.match(r"Write (\w+) = \{ (\w+) = \.\.\. \}\.\Z", problem.remedy)
    if told is None or path[-1] != told[2] or not problem.what.startswith("unknown key"):
        return
    table, key = told.groups()
    inside = value_at(data, path[:-1]).get(table, {})
    if isinstance(inside, Mapping) and key not in inside:
        label = f"move {_where(path)} into {table}"
        new = SetValue((*path[:-1], table), {**inside, key: value_at(data, path)}, label)
        yield Fix(label, f"{key} is a key of {table}", (Remove((path,), label), new), sure=True)


_PAIRS = (("lower", "upper"), ("inner_radius", "radius"))


def _turned_round(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A sign that cannot be, or two values that stand in each other's place."""
    value = value_at(data, path)
    if re.match(r"must be (greater than|at least) \S+", problem.what) and _number(value) < 0:
        flipped = value.strip().removeprefix("-").lstrip() if isinstance(value, str) else -value
        yield _set(path, flipped, "its sign is turned")
    holder = value_at(data, path[:-1]) if path else {}
    for pair in _PAIRS:
        if (
            re.search("(is not|must be) below", problem.what)
            and isinstance(holder, Mapping)
            and set(pair) <= {*holder}
        ):
            label = f"exchange {pair[0]} and {pair[1]} of {_where(path[:-1])}"
            commands = tuple(
                SetValue((*path[:-1], one), holder[other], label)
                for one, other in (pair, pair[::-1])
            )
            yield Fix(label, "the smaller is below the larger", commands)


def _number(value: Any) -> float:
    """A number, or one before a unit; NaN for anything else."""
    found = (
        re.match(r"\s*-?[\d.]+(e[+-]?\d+)?(?=\s*([^\W\d]|\Z))", value)
        if isinstance(value, str)
        else None
    )
    if found is not None:
        return float(found[0])
    return (
        float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else math.nan
    )


def _directed(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """One of the three axes where a direction vanishes or is missing."""
    at = path if "direction must not vanish" in problem.what else None
    if re.search(r"needs axis: ", problem.what):
        at = (*path, "axis")
    for axis, name in zip(_AXES, "xyz", strict=True) if at is not None else ():
        yield _set(at or path, axis, f"along {name}")


def _recast(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """The same said as it is read: another form of a value."""
    value = value_at(data, path)
    told = re.search(r"For the parameter \w+ write (\S+)\.\Z", problem.remedy)
    if told is not None:
        yield _set(path, told[1], "a number times the parameter", sure=True)
    if problem.what.startswith("a quaternion") and isinstance(value, list):
        size = math.sqrt(sum(_number(entry) ** 2 for entry in value))
        if math.isfinite(size) and size > 0.0:
            yield _set(path, [_number(entry) / size for entry in value], "the same rotation")
    if "{ xx = ..." in problem.what and isinstance(value, list) and len(value) == 3:
        table = dict(zip(("xx", "yy", "zz"), value, strict=True))
        yield _set(path, table, "the same moments about x, y, z")
    if problem.what.startswith("ground has no points"):
        yield _set(path, "ground", "the origin of the world")
    if 'expected "a -> b"' in problem.what and isinstance(value, str) and len(value.split()) == 2:
        yield _set(path, " -> ".join(value.split()), "power positive from the first to the second")


def _reconnected(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """Another body at the second end of a part that is connected to itself."""
    ends = value_at(data, path)
    if "a part connected to itself" in problem.what and isinstance(ends, list) and len(ends) == 2:
        own = str(ends[0]).partition(".")[0]
        for name in ("ground", *data.get("bodies", {})):
            if name != own:
                yield _set((*path, 1), name, f"its second end is on {name}")


def _united(path: Path, problem: Problem, data: Mapping[str, Any]) -> Iterator[Fix]:
    """A number without a unit in a sum, in the unit of the others or in SI."""
    told = re.match(r"(\S+) has no unit beside one in (.+?); give", problem.what)
    value = value_at(data, path)
    size = abs(_number(told[1])) if told is not None else math.nan
    if told is None or not isinstance(value, str) or not math.isfinite(size):
        return
    unit = told[2]
    si = next((u for u in units.fitting(unit) if _is_si(u)), unit)
    senses = {unit: "as the others"} if si == unit else {unit: "as the others", si: "in SI"}
    for found in _BARE.finditer(value):
        if float(found[0]) == size:
            for there, effect in senses.items():
                new = f"{value[: found.end()]} {there}{value[found.end() :]}"
                yield _set(path, new, f"{found[0]} {effect}")


def _is_si(unit: str) -> bool:
    known = units.parse(unit)
    return known.factor == 1.0 and not (known.offset or known.cycles or known.turning)
