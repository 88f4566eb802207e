"""New parts: kind, ends, required fields, name; the catalogue says what is asked."""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any

from vbg.edit.commands import AddTable, SetValue
from vbg.errors import UsageError, VbgError
from vbg.fields import Field, alternatives, declared, required
from vbg.model.catalogue import REFERENCE_NODES
from vbg.model.samples import sample
from vbg.tui.actions import Handler, Refusal
from vbg.tui.actions.model import drafts, solids
from vbg.tui.actions.model.editing import ask_ends, judge_name, judge_value, value_of
from vbg.tui.content.model import references
from vbg.tui.content.model.fields import MEASURE_FIELDS, FieldRow, about, unit_of
from vbg.tui.content.model.values import shown, typed
from vbg.tui.state.items import Item
from vbg.tui.tasks import checking

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_TITLES = {
    "joints": "Add a joint",
    "forces": "Add a force",
    "electric": "Add an electric part",
    "hydraulic": "Add a hydraulic part",
    "rotational": "Add a rotational part",
    "translational": "Add a translational part",
    "signals": "Add a signal",
    "bondgraph": "Add a vertex",
}
# The kind that is marked first.
_USUAL = {
    "joints": "revolute",
    "forces": "spring",
    "electric": "voltage_source",
    "hydraulic": "pressure_source",
    "signals": "expression",
}
# What is offered first for a required field of each form.
# Of the distance of the two points: it begins in the middle of its stroke.
_SPANNED = {"length": 0.75, "stroke": 0.5}
_OFFERS: dict[str, str] = {
    "direction": "[0, 0, 1]",
    "vector": "[0, 0, 0]",
    "quantity": "1",
    "signal": "0",
    "signals": "[0, 0, 0]",
    "expression": "0",
    "count": "1",
}


def summary(part: type) -> str:
    """One line on a part: of its module, or of its class."""
    module = sys.modules.get(part.__module__)
    text = inspect.getdoc(module) if module is not None else ""
    return (text or about(part)).splitlines()[0]


@cache
def removed(kind: str) -> int | None:
    """Freedoms that a joint of this kind takes away: the constraint sources in the
    bond graph of one body on it; None where one body alone cannot show it."""
    import vbg
    from vbg.model.catalogue import catalogue

    part = catalogue()["joints"][kind]
    values: dict[str, Any] = {"kind": kind, "between": ["ground", "a"]}
    for name, field in declared(part).items():
        if name in required(part) and name not in values:
            values[name] = typed(_OFFERS.get(field.form, "1"))
    body = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}, "position": [0, 0, 1]}
    try:
        graph = vbg.expand(vbg.Model(bodies={"a": body}, joints={"j": values}))
    except VbgError:
        return None
    sources = (v for v in graph.vertices.values() if v.kind == "Sc" and v.part == "joints.j")
    return sum(source.size for source in sources)


def preview(part: Any) -> str:
    """What a part would bring, before it is added."""
    text = about(part)
    if getattr(part, "table", "") == "joints":
        count = removed(part.kind)
        if count:
            return f"Removes {count} of 6 freedoms; outputs force and torque. {text}"
    return text


async def _add(table: str, app: Desk) -> None:
    """Ask for a part of `table`, and add it as one undo step."""
    from vbg.model.catalogue import ONLY_KIND, catalogue

    kinds = catalogue().get(table, {})
    if table in ONLY_KIND:
        await _add_part(app, table, kinds[ONLY_KIND[table]])
        return
    items = tuple(Item(kind, kind, summary(part)) for kind, part in kinds.items())
    usual = _USUAL.get(table, "")
    kind = await app.choose(
        _TITLES[table], items, start=usual, preview=lambda kind: preview(kinds[kind])
    )
    if kind is not None:
        await _add_part(app, table, kinds[kind])


async def _add_on(app: Desk) -> None:
    """A part that acts on the free coordinate of a joint: first which, then on what."""
    from vbg.model.catalogue import catalogue

    parts = {
        f"{table}.{kind}": part
        for table, kinds in catalogue().items()
        for kind, part in kinds.items()
        if ("on" in declared(part) and "coordinate" in declared(part)["on"].form)
        or (kind in ("torque", "force") and table == "forces")
    }
    items = tuple(Item(key, key, summary(part)) for key, part in parts.items())
    chosen = await app.choose("Add on a joint", items, preview=lambda key: preview(parts[key]))
    if chosen is None:
        return
    part = parts[chosen]
    selected = app.work.selection
    here = f"joints.{selected[1]}" if selected[:1] == ("joints",) and len(selected) > 1 else ""
    joint = await app.choose(
        "On which joint", references.coordinate_items(app.work.data), start=here
    )
    if joint is not None:
        await _add_part(app, chosen.split(".")[0], part, {"on": joint})


async def _add_part(app: Desk, table: str, part: Any, given: dict[str, Any] | None = None) -> None:
    from vbg.model.catalogue import ONLY_KIND

    start: dict[str, Any] = {} if table in ONLY_KIND else {"kind": part.kind}
    start |= given or {}
    values = await drafts.taken_up(app, table, part.kind, start)
    if values is None:
        return
    fields = declared(part)
    if {"between", "on"} <= set(fields) and not {"between", "on"} & {*values, *required(part)}:
        attached = await _attached(app, part, values)
        if attached is None:
            drafts.keep(app, table, part.kind, values, len(start))
            return
        values |= attached
    for name in _asked(part, values):
        answer = await _ask_field(app, (table, part), name, fields[name], values)
        if answer is None:
            drafts.keep(app, table, part.kind, values, len(start))
            return
        values |= answer
    stem = {"bodies": "body", "joints": "J"}.get(table, part.kind)
    taken = references.names(app.work.data)
    new = await app.ask(
        f"Name of the new {part.kind}",
        references.free_name(app.work.data, stem),
        lambda text: judge_name(text, taken),
        about=preview(part),
    )
    if not new:
        drafts.keep(app, table, part.kind, values, len(start))
    else:
        drafts.done(app, table, part.kind)
        app.do(AddTable((table, new), values, f"add {table}.{new}"))
        app.select((table, new))
        app.main.activate("inspector")


async def _attached(app: Desk, part: Any, values: dict[str, Any]) -> dict[str, Any] | None:
    """Where a part acts that may act between two points or on a coordinate."""
    title = f"{part.kind}: where does it act"
    where = "between"
    if references.coordinate_items(app.work.data):
        items = (
            Item("between", "between two points", "of bodies or the ground"),
            Item("on", "on a joint", "or on a one-dimensional node"),
        )
        chosen = await app.choose(title, items)
        if chosen is None:
            return None
        where = chosen
    of = ("", part)
    return await _ask_field(app, of, where, declared(part)[where], values)


def _asked(part: type, values: dict[str, Any]) -> tuple[str, ...]:
    """The fields that must be asked for: required ones, and where the part is attached."""
    fields = declared(part)
    instead = alternatives(part)
    asked = [
        name
        for name in fields
        if name in required(part) and not {name, *instead.get(name, ())} & values.keys()
    ]
    attached = {"between", "on"} & set(fields) or {"nodes"} & set(fields)
    if attached and not attached & {*asked, *values}:
        asked.insert(0, "between" if "between" in fields else sorted(attached)[0])
    if {"length", "stroke"} <= set(fields) and "length" not in values:
        # the stroke counts from there: 0 is never meant between two points
        asked.insert(asked.index("stroke") if "stroke" in asked else len(asked), "length")
    if "mass" in fields:
        asked += [name for name in ("mass", "inertia") if name not in values]
    return tuple(asked)


async def _ask_field(
    app: Desk, of: tuple[str, Any], name: str, field: Field, values: dict[str, Any]
) -> dict[str, Any] | None:
    """What is written for a field of a part that is being made, by its key; `of` is its table and
    class."""
    title = f"{of[1].kind}: {name}"
    chosen: Any = None
    if field.form in ("ends", "end", "span") and name != "on":
        chosen = await ask_ends(app, title, field)
    elif field.form == "coordinate":
        chosen = await app.choose(title, references.coordinate_items(app.work.data))
    elif field.form == "coordinates":
        chosen = await _ask_coordinates(app, title, field)
    elif field.form == "choice":
        chosen = await app.choose(title, tuple(Item(c, c) for c in field.choices))
    elif name == "on":
        items = (
            *references.coordinate_items(app.work.data),
            *references.end_items(app.work.data, []),
        )
        chosen = await app.choose(title, items)
    else:
        return await _ask_text(app, of, name, field, values)
    return None if chosen is None else {name: chosen}


async def _ask_text(
    app: Desk, of: tuple[str, Any], name: str, field: Field, values: dict[str, Any]
) -> dict[str, Any] | None:
    """A value in words; ``bore = 50 mm`` where another key may stand in the place of this one."""
    table, part = of
    unit = f" [{unit_of(field)}]" if unit_of(field) else ""
    fields, others = declared(part), alternatives(part).get(name, ())
    instead = "".join(f", or {one} = ...: {fields[one].doc} [{fields[one].unit}]" for one in others)

    def read(text: str) -> tuple[str, Any]:
        key, equals, told = text.partition("=")
        if equals and key.strip() in others:
            return key.strip(), value_of(fields[key.strip()], told.strip())
        return name, value_of(field, text)

    def judge(text: str) -> tuple[str, bool]:
        try:
            key, value = read(text)
        except UsageError as error:
            return str(error), False
        if value is None:
            return "a value is required", False
        return checking.judge_new(app.work, table, values, key, value)

    text = await app.ask(
        f"{part.kind}: {name}",
        _offer(app, of, name, field, values),
        judge,
        about=f"{field.doc}{unit}{instead}{_in_axes(table, name, field)}"
        f"{_known_nodes(app, table, field)}{_told_span(app, part, name, values)}",
    )
    return None if text is None else dict([read(text)])


def _in_axes(table: str, name: str, field: Field) -> str:
    """How the axes of the world lie, where the axis of a joint is asked for."""
    if (table, name) != ("joints", "axis"):
        return ""
    turns = "" if "sliding" in field.doc else ", about [0, 1, 0] it turns in the x-z plane"
    return f"; z is up{turns}"


def _told_span(app: Desk, part: Any, name: str, values: Mapping[str, Any]) -> str:
    """The distance at the start, which is length + s."""
    span = _span(app, part, name, values)
    return f"; the two points are {span:.4g} m apart at the start: length + s" if span else ""


def _known_nodes(app: Desk, table: str, field: Field) -> str:
    """What nodes there are, where nodes are asked for: that of the surroundings, and those that
    parts of the table are on."""
    if field.form != "nodes":
        return ""
    outside = REFERENCE_NODES.get(table)
    around = f"; {outside} is the surroundings" if outside else ""
    parts = app.work.data.get(table, {}).values()
    found = dict.fromkeys(str(n) for p in parts for n in p.get("nodes", ()) or ())
    return around + (f". Nodes so far: {', '.join(found)}" if found else "; any name makes a node")


def _offer(app: Desk, of: tuple[str, Any], name: str, field: Field, values: dict[str, Any]) -> str:
    """What stands in the field at first: what it usually is, or as in the sample of its kind."""
    table, part = of
    if table == "joints" and name == "axis":
        return _usual_axis(app, values)
    if field.form == "signals" and str(values.get("on", "")).startswith("joints."):
        return "1"
    if field.form == "inertia":
        return "{ xx = 0.01, yy = 0.01, zz = 0.01 }"
    if field.form == "nodes":
        return f"[{', '.join(_usual_nodes(table, part, field))}]"
    value = _sampled(table, part.kind).get(name)
    span = _span(app, part, name, values)
    if span is not None:
        value = float(f"{_SPANNED[name] * span:.2g}")
    fits = field.form in ("quantity", "signal") and value is not None
    if fits and checking.judge_new(app.work, table, values, name, value)[1]:
        return shown(value)
    return _OFFERS.get(field.form, "")


def _span(app: Desk, part: Any, name: str, values: Mapping[str, Any]) -> float | None:
    """How far apart the two points are that a length and its stroke are between [m]; None for
    other fields, and for two points in one place."""
    two = name in _SPANNED and isinstance(values.get("between"), list)
    if not (two and set(_SPANNED) <= set(declared(part))):
        return None
    return checking.apart(app.work, values["between"]) or None


def _usual_nodes(table: str, part: Any, field: Field) -> list[str]:
    """Nodes that a part is usually on: supply and surroundings by their names, others a, b ...;
    those of its sample where its ports have names of their own."""
    letters = [chr(ord("a") + i) for i in range(max(field.size, 1))]
    sampled: list[str] = list(_sampled(table, part.kind).get("nodes", letters))
    if table == "hydraulic":
        named = dict.fromkeys(node for node in sampled if node not in ("p", "tank"))
        return [dict(zip(named, letters)).get(node, node) for node in sampled]
    if table == "electric" and len(letters) == 2:
        return ["a", "gnd"]
    return sampled if len(letters) > 2 else letters


@cache
def _sampled(table: str, kind: str) -> Mapping[str, Any]:
    """The values of the sample that `vbg parts` prints of this kind."""
    parts: Mapping[str, Any] = tomllib.loads(sample(table, kind)).get(table, {})
    return next((p for p in parts.values() if p.get("kind", kind) == kind), {})


def _usual_axis(app: Desk, values: dict[str, Any]) -> str:
    """That of the last joint of its kind, or else one across gravity, so that a plane
    machine hangs in the x-z plane."""
    kind = values.get("kind")
    joints = app.work.data.get("joints", {}).values()
    same = [
        j["axis"]
        for j in joints
        if isinstance(j, Mapping) and j.get("kind") == kind and "axis" in j
    ]
    if same:
        return shown(same[-1])
    return "[0, 1, 0]" if kind == "revolute" else "[1, 0, 0]"


async def _ask_coordinates(app: Desk, title: str, field: Field) -> list[str] | None:
    chosen: list[str] = []
    for number in range(field.size or 2):
        items = references.coordinate_items(app.work.data)
        free = tuple(item for item in items if item.key not in chosen)
        answer = await app.choose(f"{title} {number + 1}", free)
        if answer is None:
            return None
        chosen.append(answer)
    return chosen


async def _add_parameter(app: Desk) -> None:
    taken = references.names(app.work.data)
    name = await app.ask("Name of the parameter", "", lambda text: judge_name(text, taken))
    if not name:
        return
    row = FieldRow(("parameters", name), "value", Field("expression", ""), False, needed=True)
    text = await app.ask(
        f"Value of {name}",
        "1",
        lambda text: judge_value(app, row, text),
        about="0.3, or 2*L, or 30 deg",
    )
    if text is not None:
        value = value_of(Field("expression", ""), text)
        app.do(SetValue(("parameters", name), value, f"add parameter {name}"))
        app.select(("parameters", name))


async def _add_measure(app: Desk) -> None:
    taken = app.work.data.get("measures", {})
    stem = next(f"measure{n}" for n in count(1) if f"measure{n}" not in taken)
    name = await app.ask("Name of the measure", stem, lambda text: judge_name(text, taken))
    if not name:
        return
    row = FieldRow(("measures", name), "expression", MEASURE_FIELDS["expression"], False)
    joint = next(iter(references.coordinate_items(app.work.data)), None)
    signal = f"{joint.key.split('.')[1]}.speed" if joint is not None else "energy.kinetic"
    text = await app.ask(
        f"What {name} is",
        f"max({signal})",
        lambda text: judge_value(app, replace(row, needed=True), text),
        about="max, min, final, mean, rms, peak ... of a signal; `vbg parts measures` lists all",
    )
    if text is not None:
        app.do(SetValue(("measures", name), text, f"add measure {name}"))
        app.select(("measures", name))


def _empty(table: str, app: Desk) -> str:
    from vbg.model.catalogue import catalogue

    if not catalogue().get(table):
        return f"there are no parts for {table} in this vbg"
    data = app.work.data
    held = any(data.get(name) for name in ("bodies", "frames", "beams"))
    if table == "joints" and not held:
        return "there is no body to hold yet: a l adds a link"
    if table == "forces" and not held and not references.coordinate_items(data):
        return "there is no body to act on yet: a l adds a link"
    return ""


_BY_ID = {
    "add.body": "bodies",
    "add.frame": "frames",
    "add.beam": "beams",
    "add.fmu": "fmu",
    "add.joint": "joints",
    "add.force": "forces",
    "add.electric": "electric",
    "add.hydraulic": "hydraulic",
    "add.rotational": "rotational",
    "add.translational": "translational",
    "add.signal": "signals",
    "add.vertex": "bondgraph",
}

HANDLERS: dict[str, Handler] = {
    **{id: partial(_add, table) for id, table in _BY_ID.items()},
    "add": lambda app: app.main.set_prefix("a"),
    "add.on": _add_on,
    "add.solid": solids.add,
    "add.parameter": _add_parameter,
    "add.measure": _add_measure,
}
REFUSALS: dict[str, Refusal] = {id: partial(_empty, table) for id, table in _BY_ID.items()}
