"""Which values of a document refer to which parts, by the declared forms of their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vbg.edit.source import texts
from vbg.fields import Field, declared
from vbg.model.catalogue import JOINT_NODE, TABLES
from vbg.tui.content.model.fields import part_class
from vbg.tui.content.model.tree import ends_in_short
from vbg.tui.state.items import Item

Path = tuple[str | int, ...]

_ENDS = ("ends", "end", "span", "end or coordinate")
_EXPRESSIONS = ("signal", "signals", "condition", "wires", "outputs", "expression", "expressions")
_NAMING = (*_ENDS, "direction", "coordinate", "coordinates", "nodes", *_EXPRESSIONS)


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name)
    return table if isinstance(table, Mapping) else {}


def names(data: Mapping[str, Any]) -> set[str]:
    """All names that a new part or parameter must not have."""
    return {name for table in (*TABLES, "parameters") for name in _table(data, table)} | {"ground"}


def free_name(data: Mapping[str, Any], stem: str) -> str:
    """`stem` with the first number that makes it new."""
    taken = names(data)
    number = 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def points_of(data: Mapping[str, Any], body: str) -> Mapping[str, Any]:
    part = _table(data, "bodies").get(body)
    points = part.get("points") if isinstance(part, Mapping) else None
    return points if isinstance(points, Mapping) else {}


def end_items(data: Mapping[str, Any], taken: list[Any]) -> tuple[Item, ...]:
    """The attachments there are; those on a body that is taken are refused."""
    used = {end["body"] if isinstance(end, Mapping) else end.split(".")[0] for end in taken}
    items = []
    for body in ("ground", *_table(data, "bodies")):
        refusal = f"{body} is the first one already" if body in used else ""
        where = "origin of the world" if body == "ground" else "mass centre"
        flexible = _table(data, "bodies").get(body, {}).get("flexible")
        if isinstance(flexible, Mapping):  # parts hold its points only
            held = [f"{body}.{point}" for point in _table(flexible, "points")]
            items += [Item(e, e, "point of a flexible body", refusal) for e in held]
            continue
        items.append(Item(body, body, where, refusal))
        for point, at in points_of(data, body).items():
            from vbg.tui.content.model.values import shown

            items.append(Item(f"{body}.{point}", f"{body}.{point}", shown(at), refusal))
    for frame, part in _table(data, "frames").items():
        refusal = f"{frame} is the first one already" if frame in used else ""
        items.append(Item(frame, frame, f"frame on {_where(part)}", refusal))
    for beam in _table(data, "beams"):
        refusal = f"{beam} is the first one already" if beam in used else ""
        items += [Item(f"{beam}.{e}", f"{beam}.{e}", "end of a beam", refusal) for e in "AB"]
    return tuple(items)


def usual_end(data: Mapping[str, Any], items: tuple[Item, ...], taken: list[Any]) -> str:
    """The end that a second one usually is: of the first body that may be held and that no joint
    holds yet, a named point rather than the mass centre, about which nothing would swing."""
    joined = {str(end).split(".")[0] for j in _table(data, "joints").values() for end in _ends(j)}
    free = [item.key for item in items if not item.refusal and item.key.split(".")[0] not in joined]
    on_bodies = [key for key in free if key.split(".")[0] in _table(data, "bodies")]
    if not taken or not on_bodies:
        return ""
    body = on_bodies[0].split(".")[0]
    return next((key for key in on_bodies if key.startswith(f"{body}.")), body)


def _ends(joint: Any) -> Iterator[Any]:
    """What a joint is between."""
    between = joint.get("between") if isinstance(joint, Mapping) else None
    for end in between if isinstance(between, list) else ():
        yield end.get("body", "") if isinstance(end, Mapping) else end


def place_items(data: Mapping[str, Any], taken: list[Any]) -> tuple[Item, ...]:
    """Of each body that is not taken, a place that has no name yet; the key is BODY@."""
    used = {end["body"] if isinstance(end, Mapping) else end.split(".")[0] for end in taken}
    return tuple(
        Item(f"{body}@", f"{body} at ...", "a place of your own: [x, y, z] in its axes")
        for body in ("ground", *_table(data, "bodies"))
        if body not in used and "flexible" not in _table(data, "bodies").get(body, {})
    )


def _where(frame: Any) -> str:
    on = frame.get("on", "?") if isinstance(frame, Mapping) else "?"
    return str(on.get("body", "?") if isinstance(on, Mapping) else on)


def coordinate_items(data: Mapping[str, Any]) -> tuple[Item, ...]:
    """The free coordinates there are: joints with one, and one-dimensional nodes."""
    items = []
    for name, joint in _table(data, "joints").items():
        kind = joint.get("kind", "") if isinstance(joint, Mapping) else ""
        part = part_class(data, ("joints", name))
        fields = declared(part) if part is not None else {}
        if "initial" in fields:
            words = f"{kind} {ends_in_short(joint.get('between', ''))}".strip()
            items.append(Item(f"joints.{name}", f"joints.{name}", words))
    for table in ("rotational", "translational"):
        nodes = {
            str(node)
            for part in _table(data, table).values()
            if isinstance(part, Mapping)
            for node in part.get("nodes", ())
            if not str(node).startswith(JOINT_NODE)
        }
        items += [Item(f"{table}.{node}", f"{table}.{node}", "node") for node in sorted(nodes)]
    return tuple(items)


def _naming_values(data: Mapping[str, Any]) -> Iterator[tuple[Path, Field, Any]]:
    """Every written value whose field may name another part."""
    for table in TABLES:
        for name, part in _table(data, table).items():
            if not isinstance(part, Mapping):
                continue
            cls = part_class(data, (table, name))
            if cls is None:
                continue
            for key, field in declared(cls).items():
                if key in part and field.form in _NAMING:
                    yield (table, name, key), field, part[key]
    for name, measure in _table(data, "measures").items():
        yield ("measures", name), Field("expression", ""), measure
    outputs = _table(data, "outputs")
    if "keep" in outputs:
        yield ("outputs", "keep"), Field("outputs", ""), outputs["keep"]


def _refers(field: Field, text: str, target: Path) -> bool:
    """Whether `text` in a field of this form names the part at `target`."""
    table, name = str(target[0]), str(target[1])
    if field.form == "nodes" and text == f"{JOINT_NODE}{name}":
        return table == "joints"
    if field.form in _ENDS and text.split(".")[0] == name:
        return table in ("bodies", "frames", "beams")
    if field.form == "direction":
        return table == "frames" and text.strip(" -").partition(".")[0] == name
    if text == f"{table}.{name}" or text.startswith(f"{table}.{name}."):
        return True
    if field.form in _EXPRESSIONS:
        owner = table if table == "signals" else ""
        words = re.findall(r"[^\W\d][\w-]*(?:\.[\w-]+)*", text)
        return any(
            (w == name and (owner or field.form == "outputs")) or w.startswith(f"{name}.")
            for w in words
        )
    return False


def users_of(data: Mapping[str, Any], target: Path) -> tuple[Path, ...]:
    """Paths of the values that refer to the part at `target`."""
    if len(target) != 2 or target[0] == "parameters":
        return ()
    return tuple(
        at
        for path, field, value in _naming_values(data)
        for at, text in texts(path, value)
        if at[:2] != target and _refers(field, text, target)
    )


def renamed(
    data: Mapping[str, Any], target: tuple[str, ...], name: str
) -> tuple[tuple[Path, str], ...]:
    """The values that must change when the part at `target` is called `name`."""
    table, old = target
    word = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    if table == "parameters":
        return tuple(
            (path, word.sub(name, text))
            for path, text in texts((), dict(data))
            if path[:1] not in (("name",), ("description",))
            and path[-1] not in ("kind", "note", "unit")
            and word.search(text)
            and path != target
        )
    changes = []
    for path, field, value in _naming_values(data):
        for at, text in texts(path, value):
            if _refers(field, text, target):
                if text.startswith(f"{table}.{old}"):
                    new = f"{table}.{name}" + text[len(f"{table}.{old}") :]
                elif field.form in _ENDS:
                    new = name + text[len(old) :]
                elif field.form == "direction":
                    new = text.replace(old, name, 1)
                else:
                    new = word.sub(name, text)
                changes.append((at, new))
    return tuple(changes)
