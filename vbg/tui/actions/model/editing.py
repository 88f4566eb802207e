"""Edits of the selected part: fields, names, removal, undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vbg import expressions
from vbg.edit.commands import AddTable, Remove, Rename, SetValue
from vbg.errors import ModelError, UsageError
from vbg.fields import Field
from vbg.tui.actions import Handler, Refusal
from vbg.tui.content.model import fields, references, values
from vbg.tui.content.model.fields import FieldRow
from vbg.tui.panes.edit import Inspector
from vbg.tui.state.items import Item
from vbg.tui.tasks import checking

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

_NUMBERS = ("quantity", "vector", "direction", "expression", "inertia", "signal", "signals")
_BY_CHOICE = ("choice", "ends", "end", "span", "coordinate", "flag")


def inspector(app: Desk) -> Inspector:
    pane = app.main.panes["inspector"]
    assert isinstance(pane, Inspector)
    return pane


async def _edit(app: Desk) -> None:
    row = inspector(app).marked
    if row is None:
        return
    app.main.activate("inspector")
    if row.path[-1] == "+":
        await _add_point(app, row)
    elif row.declared.form in _BY_CHOICE:
        await _edit_by_choice(app, row)
    else:
        await _edit_as_text(app, row)


async def _edit_as_text(app: Desk, row: FieldRow) -> None:
    """Type the value; units, names and bounds are checked while typing."""
    old = fields.as_typed(row.declared, row.value) if row.written else row.default
    text = await app.ask(
        f"{'.'.join(map(str, row.path))}",
        old,
        lambda text: judge_value(app, row, text),
        about=_about(row),
    )
    if text is None or (row.written and text == old):
        return
    measured = _measured(app, row, text)
    if measured is not None:
        was = f"{old} {app.work.data['parameters'][row.path[1]]['unit']}"
        label = f"set {'.'.join(map(str, row.path))} {was} → {text.strip()}"
        app.do(SetValue(row.path[:-1], measured, label))
        return
    set_field(app, row, value_of(row.declared, text))


def _measured(app: Desk, row: FieldRow, text: str) -> dict[str, Any] | None:
    """The table of a parameter whose unit stands beside its value, and which is typed with a
    unit of its own: both change.  None for every other text."""
    if len(row.path) != 3 or row.path[0] != "parameters" or row.path[2] != "value":
        return None
    table = app.work.data["parameters"][row.path[1]]
    if not isinstance(table, Mapping) or "unit" not in table:
        return None
    try:
        _, unit = expressions.parse_prefix(text)
    except ModelError:
        return None
    value = text.strip().removesuffix(unit)
    return {**table, "value": values.typed(value), "unit": unit} if unit else None


def _about(row: FieldRow) -> str:
    unit = fields.unit_of(row.declared)
    kind = f" [{unit}]" if unit else ""
    numbers = row.declared.form in _NUMBERS
    return f"{row.declared.doc}{kind}.{' Expressions and units are fine: 2*L, 45 deg.' * numbers}"


def value_of(declared: Field, text: str) -> Any:
    """What is written into the file; None for an emptied field."""
    if declared.form == "text":
        return text or None
    if not text.strip():
        return None
    value = values.typed(text)
    if declared.form in ("nodes", "coordinates", "outputs", "signals", "vector", "direction"):
        if isinstance(value, str) and "," in value:
            return values.typed(f"[{text}]")
        if not isinstance(value, (list, str)) and declared.form == "signals":
            return [value]
    return value


def judge_value(app: Desk, row: FieldRow, text: str) -> tuple[str, bool]:
    """The message on a typed text, and whether it may be accepted."""
    measured = _measured(app, row, text)
    if measured is not None:
        return checking.judge(app.work, row.path[:-1], measured)
    try:
        value = value_of(row.declared, text)
    except UsageError as error:
        return str(error), False
    if value is None:
        return (
            ("the field is taken out", True) if not row.needed else ("a value is required", False)
        )
    return checking.judge(app.work, row.path, value)


def set_field(app: Desk, row: FieldRow, value: Any) -> None:
    """Write the value, or take the field out if it is None; one undo step."""
    where = ".".join(map(str, row.path))
    if value is None:
        if row.written:
            app.do(Remove((row.path,), f"remove {where}"))
        return
    before = f"{fields.as_typed(row.declared, row.value)} → " if row.written else ""
    label = f"set {where} {before}{fields.as_typed(row.declared, value)}"
    app.do(SetValue(row.path, value, label))


async def _edit_by_choice(app: Desk, row: FieldRow) -> None:
    if row.declared.form == "flag":
        set_field(app, row, not row.value)
        return
    if row.declared.form == "choice":
        items = tuple(Item(choice, choice) for choice in row.declared.choices)
        chosen = await app.choose(row.label, items, start=str(row.value or row.default))
        if chosen is not None:
            set_field(app, row, chosen)
    elif row.declared.form == "coordinate":
        items = references.coordinate_items(app.work.data)
        chosen = await app.choose(row.label, items, start=str(row.value))
        if chosen is not None:
            set_field(app, row, chosen)
    else:
        ends = await ask_ends(app, row.label, row.declared, row.value)
        if ends is not None:
            set_field(app, row, ends)


async def ask_ends(app: Desk, title: str, field: Field, known: Any = None) -> Any | None:
    """Points of bodies, chosen from those there are or given by their coordinates; the second
    not on the first's body; `known` ones are marked.  One where the field has one, else two."""
    both = field.form in ("ends", "span")
    free = (Item("free", "free", "held by nothing"),) * (field.form == "span")
    marked = [str(end) for end in (known if isinstance(known, list) else [known, ""])]
    ends: list[Any] = []
    for name in ("first", "second") if both else ("point",):
        data = app.work.data
        items = (*references.end_items(data, ends), *free, *references.place_items(data, ends))
        what = f"end {'AB'[len(ends)]}" if free else f"{name} body and point"
        start = marked[len(ends)] if len(ends) < len(marked) else ""
        start = start or references.usual_end(data, items, ends)
        chosen: Any = await app.choose(f"{title}: {what}", items, start=start)
        if chosen is not None and chosen.endswith("@"):
            chosen = await _ask_place(app, f"{title}: {chosen[:-1]} at", chosen[:-1])
        if chosen is None:
            return None
        ends.append(chosen)
    return ends if both else ends[0]


async def _ask_place(app: Desk, title: str, body: str) -> dict[str, Any] | None:
    """A place on a body by its coordinates."""
    declared = Field("vector", "", unit="m", size=3)

    def judge(text: str) -> tuple[str, bool]:
        try:
            value = value_of(declared, text)
        except UsageError as error:
            return str(error), False
        if not isinstance(value, list) or len(value) != 3:
            return "three coordinates are needed: [x, y, z]", False
        part = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}, "points": {"A": value}}
        return checking.judge_new(app.work, "bodies", part, "points", part["points"])

    axes = "in the world, z up" if body == "ground" else "in the body's axes, from its mass centre"
    text = await app.ask(title, "[0, 0, 0]", judge, about=f"{axes} [m]; expressions are fine: 2*L")
    return None if text is None else {"body": body, "at": value_of(declared, text)}


async def _add_point(app: Desk, row: FieldRow) -> None:
    known = references.points_of(app.work.data, str(row.path[1]))
    name = await app.ask("Name of the new point", "", lambda text: judge_name(text, known))
    if not name:
        return
    at = (*row.path[:-1], name)
    declared = Field("vector", "point in body axes", unit="m", size=3)
    point = replace(row, path=at, declared=declared, needed=True)
    text = await app.ask(
        ".".join(map(str, at)),
        "[0, 0, 0]",
        lambda t: judge_value(app, point, t),
        about=_about(point),
    )
    if text is not None:
        app.do(SetValue(at, value_of(declared, text), f"add point {row.path[1]}.{name}"))


def judge_name(text: str, taken: Any) -> tuple[str, bool]:
    """Whether `text` can be the name of something new."""
    from vbg.model.text.names import is_name

    if not is_name(text):
        return "a name is a letter, then letters, digits, _ or -", False
    if text in taken:
        return f"{text} exists already", False
    return "", True


async def _delete(app: Desk) -> None:
    """Delete the marked field, or the part; asks only if others refer to it."""
    work = app.work
    row = inspector(app).marked
    if app.main.active == "inspector" and row is not None:
        if row.written and not row.needed:
            set_field(app, row, None)
        return
    name = work.part_name
    users = references.users_of(work.data, work.selection)
    if users:
        whom = ", ".join(".".join(map(str, path[:2])) for path in users[:4])
        answer = await app.choose(
            f"Delete {name}? It is used by {whom}",
            (Item("only", f"delete {name} only"), Item("all", "delete those that use it, too")),
        )
        if answer is None:
            return
        paths = {path[:2] for path in users} if answer == "all" else set()
        paths = {path for path in paths if path[0] not in ("bodies", "parameters")}
    else:
        paths = set()
    everything = (work.selection, *sorted(paths, key=str))
    app.do(Remove(everything, f"delete {'.'.join(map(str, work.selection))}"))


async def _rename(app: Desk) -> None:
    work = app.work
    path = tuple(map(str, work.selection))
    taken = references.names(work.data) - {path[1]}
    name = await app.ask(f"Rename {path[1]}", path[1], lambda text: judge_name(text, taken))
    if name is None or name == path[1]:
        return
    changed = references.renamed(work.data, path, name)
    app.do(Rename(path, name, changed, f"rename {path[1]} → {name}"))
    app.select((path[0], name))


def _copy(app: Desk) -> None:
    work = app.work
    table, name = (str(key) for key in work.selection)
    part = work.data[table][name]
    new = references.free_name(work.data, name.rstrip("0123456789"))
    values_of = dict(part) if isinstance(part, Mapping) else {"value": part}
    app.do(AddTable((table, new), values_of, f"copy {name} as {new}"))
    app.select((table, new))


async def _history(app: Desk) -> None:
    document = app.work.document
    items = tuple(
        Item(
            str(i),
            f"{i}  {snapshot.label or 'as opened'}",
            "here" if i == document.position else "",
        )
        for i, snapshot in enumerate(document.snapshots)
    )
    chosen = await app.choose("History", items, start=str(document.position))
    if chosen is not None:
        document.go(int(chosen))


def _undo(app: Desk) -> None:
    label = app.work.document.undo()
    app.work.say(f"redo: {label}", "dim")


def _redo(app: Desk) -> None:
    label = app.work.document.redo()
    app.work.say(f"undo: {label}", "dim")


def _no_part(app: Desk) -> str:
    return "" if len(app.work.selection) == 2 else "mark a part first"


def _nothing_to_delete(app: Desk) -> str:
    if app.main.active == "inspector":
        row = inspector(app).marked
        if row is None or not row.written:
            return "this field is not written"
        return "this field is required" if row.needed else ""
    return _no_part(app)


def _no_copy(app: Desk) -> str:
    if app.work.selection[:1] == ("parameters",):
        return "a parameter is added with a p"
    return _no_part(app)


HANDLERS: dict[str, Handler] = {
    "edit.field": _edit,
    "edit.delete": _delete,
    "edit.rename": _rename,
    "edit.copy": _copy,
    "edit.text": lambda app: app.main.activate("source"),
    "undo": _undo,
    "redo": _redo,
    "history": _history,
}
REFUSALS: dict[str, Refusal] = {
    "edit.field": lambda app: "" if inspector(app).marked else "nothing to edit here",
    "edit.delete": _nothing_to_delete,
    "edit.rename": _no_part,
    "edit.copy": _no_copy,
    "undo": lambda app: "" if app.work.document.undo_label else "nothing to undo",
    "redo": lambda app: "" if app.work.document.redo_label else "nothing to redo",
}
