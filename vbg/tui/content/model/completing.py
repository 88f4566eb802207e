"""What may be written at a place of a model's text: keys, kinds, names, units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from vbg import units
from vbg.edit.source import path_at, text_of
from vbg.fields import Field, declared
from vbg.model.catalogue import JOINT_NODE, ONLY_KIND, catalogue
from vbg.tui.content.model import references
from vbg.tui.content.model.fields import (
    MODEL_FIELDS,
    PARAMETER_FIELDS,
    TABLES_OF_FIELDS,
    part_class,
)
from vbg.tui.content.model.tree import SETTINGS, TITLES
from vbg.tui.state.items import Item

Path = tuple[str | int, ...]

_KEY = re.compile(r"([\w-]+)\s*=")
_ROTATIONS = ("axis", "angle", "quaternion", "euler")
_WORD = re.compile(r"[\w.:-]*\Z")
_UNIT = re.compile(r"[\"']\s*[+-]?[\d.]+(?:[eE][+-]?\d+)?\s+(\S*)\Z")


def known_at(data: Mapping[str, Any], holder: Path) -> Mapping[str, Field]:
    """The keys that are declared for the table at `holder`, with their fields."""
    if not holder:
        return MODEL_FIELDS
    known_tables = {"parameters": PARAMETER_FIELDS, **TABLES_OF_FIELDS}
    if holder[0] in known_tables:
        return known_tables[str(holder[0])] if len(holder) > 1 else {}
    start = 1 if holder[0] in SETTINGS else 2
    part = part_class(data, holder[:start])
    fields: Mapping[str, Field] = {}
    if part is not None and len(holder) >= start:
        fields = declared(part)
    for key in holder[start:]:
        fields = _inside(fields.get(str(key)))
    return fields


def _inside(field: Field | None) -> Mapping[str, Field]:
    """The keys of the table that is a field's value."""
    if field is None:
        return {}
    if field.form == "inertia":
        names = ("xx", "yy", "zz", "xy", "yz", "zx")
        return {name: Field("quantity", "moment of inertia", field.unit) for name in names}
    if field.form == "rotation":
        return {name: Field("text", "one way to write a rotation") for name in _ROTATIONS}
    return declared(field.of) if field.of is not None else {}


def field_at(data: Mapping[str, Any], path: Path) -> Field | None:
    """The declaration of the field at `path`, of those inside other fields too."""
    if len(path) == 2 and path[0] == "parameters":
        return PARAMETER_FIELDS["value"]
    return known_at(data, path[:-1]).get(str(path[-1]))


def completions(
    data: Mapping[str, Any], text: str, line: int, column: int
) -> tuple[int, tuple[Item, ...]]:
    """What fits at `column` of `line`, from 0 and 1: the column where it begins, and the items,
    whose keys are the texts to write there."""
    rows = text.split("\n")
    before = rows[line - 1][:column]
    word = _WORD.search(before)
    start = word.start() if word is not None else column
    if before.lstrip().startswith("["):
        tables = (Item(f"{table}.", table, TITLES[table]) for table in TITLES)
        settings = (Item(table, table, "settings") for table in SETTINGS)
        return start, _beginning((*tables, *settings), before[start:])
    path = path_at(text, line)
    if "=" not in before:
        table = path_at("\n".join([*rows[: line - 1], ""]), line)
        others = text_of("\n".join([*rows[: line - 1], *rows[line:]]), table)
        return start, _beginning(_keys(data, table, others), before[start:])
    inside = before.count("{") > before.count("}")
    if inside:
        name, equals, _ = re.split(r"[{,]", before)[-1].partition("=")
        if not equals:
            return start, _beginning(_keys(data, path, before), before[start:])
        path = (*path, name.strip())
    return _value_at(data, path, before, start)


def _value_at(
    data: Mapping[str, Any], path: Path, before: str, start: int
) -> tuple[int, tuple[Item, ...]]:
    """What fits in a value, of which `before` is written: units behind a number, else names."""
    field = Field("text", "") if path[-1] == "kind" else field_at(data, path)
    if field is None:
        return start, ()
    found = _UNIT.search(before)
    if found is not None and field.form in ("quantity", "vector", "inertia"):
        names = (Item(name, name, "unit") for name in units.fitting(field.unit))
        return found.start(1), _beginning(names, found[1])
    items = _values(data, path, field)
    if before.count('"') % 2 == 0 and field.form != "flag":
        items = tuple(Item(f'"{i.key}"', i.label, i.detail, i.refusal) for i in items)
    return start, _beginning(items, before[start:])


def _beginning(items: Iterable[Item], word: str) -> tuple[Item, ...]:
    """Those that begin with `word`; if there is none, those that contain it."""
    every = [item for item in items if not item.refusal]
    wanted = word.lower()
    found = [item for item in every if item.label.lower().startswith(wanted)]
    return tuple(found or (item for item in every if wanted in item.label.lower()))


def _keys(data: Mapping[str, Any], holder: Path, others: str) -> tuple[Item, ...]:
    """The keys that may still be written in the table at `holder` beside those in `others`."""
    written = set(_KEY.findall(others))
    items = [
        Item(f"{n} = ", n, _about(f)) for n, f in known_at(data, holder).items() if n not in written
    ]
    of_a_kind = len(holder) == 2 and holder[0] in catalogue() and holder[0] not in ONLY_KIND
    if of_a_kind and "kind" not in written:
        items.insert(0, Item("kind = ", "kind", "what it is"))
    return tuple(items)


def _about(field: Field) -> str:
    return f"{field.doc} [{field.unit}]" if field.unit not in ("1", "") else field.doc


def _values(data: Mapping[str, Any], path: Path, field: Field) -> tuple[Item, ...]:
    """What can be the value, or one of the values, of a field."""
    form = field.form
    if path[-1] == "kind":
        kinds = catalogue().get(str(path[0]), {})
        return tuple(Item(kind, kind, _first_line(part)) for kind, part in kinds.items())
    if form == "choice":
        return tuple(Item(choice, choice, field.doc) for choice in field.choices)
    if form == "flag":
        return (Item("true", "true", field.doc), Item("false", "false", field.doc))
    items: list[Item] = []
    if form in ("ends", "end", "span", "end or coordinate"):
        items += references.end_items(data, [])
    if form in ("coordinate", "coordinates", "end or coordinate"):
        items += references.coordinate_items(data)
    if form == "direction":
        axes = (f"{frame}.{letter}" for frame in _table(data, "frames") for letter in "xyz")
        items += [Item(axis, axis, "axis of the frame") for axis in axes]
    if form == "nodes":
        items += _nodes(data, str(path[0]))
    if form in ("signal", "signals", "condition", "outputs"):
        items += [Item(str(name), str(name), "signal") for name in _table(data, "signals")]
    if form in (
        "quantity",
        "vector",
        "expression",
        "signal",
        "condition",
        "matrix",
        "inertia",
        "points",
    ):
        items += [Item(str(name), str(name), "parameter") for name in _table(data, "parameters")]
    return tuple(items)


def _nodes(data: Mapping[str, Any], table: str) -> list[Item]:
    """The nodes that parts of `table` have, and joints where those can be nodes."""
    nodes = {
        str(node)
        for part in _table(data, table).values()
        if isinstance(part, Mapping) and isinstance(part.get("nodes"), list)
        for node in part["nodes"]
    }
    items = [Item(node, node, "node") for node in sorted(nodes)]
    if table in ("rotational", "translational"):
        names = (f"{JOINT_NODE}{name}" for name in _table(data, "joints"))
        items += [Item(name, name, "joint") for name in names if name not in nodes]
    return items


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name)
    return table if isinstance(table, Mapping) else {}


def _first_line(part: type) -> str:
    return (part.__doc__ or "").strip().split("\n")[0]
