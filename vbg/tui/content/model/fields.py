"""The fields of a part as rows of the inspector, from the catalogue's declarations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Row, cells, pad, printable
from vbg.errors import Problem
from vbg.fields import Field, alternatives, declared, required
from vbg.tui.content.model.values import shown

Path = tuple[str | int, ...]

_TEXT = Field("text", "")
MODEL_FIELDS = {
    "name": Field("text", "name of the model"),
    "description": Field("text", "what it is, in a sentence"),
    "gravity": Field("vector", "acceleration of gravity, world axes", unit="m/s^2", size=3),
}
_MODEL_DEFAULTS = {"gravity": "[0, 0, -9.81]"}
INCLUDE_FIELDS = {
    "file": Field("text", "the model file, beside this one"),
    "parameters": Field("expression", "values in place of those of the file: { l = 2*L }"),
    "position": Field("vector", "where its world origin stands here", unit="m", size=3),
}
MEASURE_FIELDS = {
    "expression": Field("text", "what a run is to answer: max(A.angle), final(C.voltage)"),
    "unit": Field("text", "in which it is told, such as deg; default: SI"),
}
PARAMETER_FIELDS = {
    "value": Field("expression", "number, expression in parameters, or a text with a unit"),
    "unit": Field("text", "SI unit of the value"),
    "note": Field("text", "what it is"),
}


FUNCTION_FIELDS = {
    "arguments": Field("expression", 'names in SI, ["v"], or with units, { v = "km/h" }'),
    "value": Field("expression", "expression in arguments, parameters and other functions"),
    "unit": Field("text", "unit of the value; without it SI"),
    "note": Field("text", "what it is"),
}
TABLES_OF_FIELDS = {"include": INCLUDE_FIELDS, "functions": FUNCTION_FIELDS}


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One line of the inspector: a field that is written, or could be."""

    path: Path
    label: str
    declared: Field
    written: bool
    value: Any = None
    default: str = ""
    needed: bool = False


def exists(data: Any, path: Path) -> bool:
    """Whether a part is written; a table that is none may be to come."""
    if len(path) == 1:
        return True
    for key in path:
        if not (hasattr(data, "get") and key in data):
            return False
        data = data[key]
    return True


def part_class(data: Mapping[str, Any], path: Path) -> type | None:
    """The class of the part or settings table at `path`; None if there is none."""
    if path in (("simulate",), ("outputs",)):
        from vbg.model.resolve.settings import Outputs, Simulate

        return Simulate if path == ("simulate",) else Outputs
    if len(path) < 2:
        return None
    from vbg.model.catalogue import ONLY_KIND, catalogue

    table, name = str(path[0]), path[1]
    kinds = catalogue().get(table, {})
    holder = data.get(table)
    part = holder.get(name) if isinstance(holder, Mapping) else None
    kind = ONLY_KIND.get(table)
    if isinstance(part, Mapping):
        kind = part.get("kind", kind)
    return kinds.get(kind) if isinstance(kind, str) else None


def field_rows(data: Mapping[str, Any], path: Path) -> tuple[FieldRow, ...]:
    """The fields of what is at `path` (two keys long at most)."""
    path = path[:2]
    written: Any
    if not path:
        return tuple(
            replace(_row((), name, field, data), default=_MODEL_DEFAULTS.get(name, ""))
            for name, field in MODEL_FIELDS.items()
        )
    if path[0] == "parameters":
        return _named_rows(data, path, PARAMETER_FIELDS, "value")
    if path[0] == "measures":
        return _named_rows(data, path, MEASURE_FIELDS, "expression")
    if len(path) == 1 and path[0] not in ("simulate", "outputs"):
        return ()
    if path[0] in TABLES_OF_FIELDS:
        holder = data.get(path[0])
        entry = holder.get(path[1]) if isinstance(holder, Mapping) else None
        written = entry if isinstance(entry, Mapping) else {}
        keys = TABLES_OF_FIELDS[path[0]]
        return tuple(_row(path, name, field, written) for name, field in keys.items())
    part = part_class(data, path)
    written = data
    for key in path:
        written = written.get(key, {}) if isinstance(written, Mapping) else {}
    if not isinstance(written, Mapping):
        return (FieldRow(path, "value", _TEXT, True, written),)
    if part is None:
        return tuple(FieldRow((*path, k), str(k), _TEXT, True, v) for k, v in written.items())
    rows = list(_class_rows(part, path, written))
    known = set(declared(part)) | {"kind"}
    rows += [
        FieldRow((*path, key), f"{key} ?", _TEXT, True, value)
        for key, value in written.items()
        if key not in known
    ]
    return tuple(rows)


def _named_rows(
    data: Mapping[str, Any], path: Path, declared: Mapping[str, Field], plain: str
) -> tuple[FieldRow, ...]:
    """The rows of a parameter or a measure: a table, or only what is called `plain` in one."""
    table = data.get(str(path[0]))
    if len(path) < 2 or not isinstance(table, Mapping):
        return ()
    value = table.get(path[1])
    if isinstance(value, Mapping):
        return tuple(_row(path, name, f, value) for name, f in declared.items())
    return (FieldRow(path, plain, declared[plain], True, value),)


def _row(path: Path, name: str, field: Field, written: Mapping[str, Any]) -> FieldRow:
    return FieldRow((*path, name), name, field, name in written, written.get(name))


def _class_rows(part: type, path: Path, written: Mapping[str, Any]) -> tuple[FieldRow, ...]:
    """Rows of a declared class; sub-tables and points are spread out."""
    instead = alternatives(part)
    needed = [key for key in required(part) if not {*instead.get(key, ())} & written.keys()]
    defaults = {f.name: f.default for f in fields(part)}
    rows: list[FieldRow] = []
    for name, field in declared(part).items():
        value = written.get(name)
        at = (*path, name)
        if field.form == "group" and field.of is not None and not isinstance(value, str):
            inner = value if isinstance(value, Mapping) else {}
            for row in _class_rows(field.of, at, inner):
                rows.append(_relabelled(row, f"{name}.{row.label}", needed=False))
            continue
        if field.form == "points":
            points = value if isinstance(value, Mapping) else {}
            point = Field("vector", "point in body axes", unit="m", size=3)
            rows += [FieldRow((*at, k), f"point {k}", point, True, v) for k, v in points.items()]
            rows.append(
                FieldRow((*at, "+"), "add a point", Field("text", "name of a new point"), False)
            )
            continue
        rows.append(
            FieldRow(
                at, name, field, name in written, value, _default(defaults[name]), name in needed
            )
        )
    return tuple(rows)


def _relabelled(row: FieldRow, label: str, *, needed: bool) -> FieldRow:
    return FieldRow(row.path, label, row.declared, row.written, row.value, row.default, needed)


def _default(value: Any) -> str:
    plain = isinstance(value, (bool, int, float, str)) and value is not MISSING
    return shown(value) if plain else ""


def as_typed(field: Field, value: Any) -> str:
    """The value as it is edited: free text as it is, the rest as `shown`."""
    return value if field.form == "text" and isinstance(value, str) else shown(value)


def unit_of(field: Field) -> str:
    """The unit to print; nothing for pure numbers."""
    return "" if field.unit == "1" else field.unit


def field_row(
    row: FieldRow, width: int, marks: Marks, *, current: bool, problem: Problem | None
) -> Row:
    """How a field looks."""
    style = "cursor" if current else ""
    left = marks.cursor if current else " "
    name_width = min(max(14, width * 2 // 5), 22)
    if problem is not None:
        mark, mark_style = (
            (marks.error, "error") if problem.severity == "error" else (marks.warn, "warn")
        )
    else:
        mark, mark_style = (" ", "")
    if row.written:
        value, value_style = as_typed(row.declared, row.value), style
    elif row.needed:
        value, value_style = "required", style or "error"
    else:
        value, value_style = row.default or "-", style or "dim"
    unit = unit_of(row.declared)
    room = max(width - name_width - 3, 8)
    if unit and cells(value) + cells(unit) + 1 <= room:
        value_text = pad(printable(value), room - cells(unit) - 1) + " " + unit
    else:
        value_text = pad(printable(value), room)
    return (
        (left, style or "focus"),
        (pad(printable(row.label), name_width), style or ("" if row.written else "dim")),
        (f"{mark} ", mark_style),
        (value_text, value_style),
    )


def problem_of(problems: tuple[Problem, ...], path: Path) -> Problem | None:
    """The worst problem at `path` or inside it."""
    if not problems:
        return None
    from vbg.model.text.places import spelled

    where = spelled(path)
    inside = [
        p for p in problems if p.where == where or p.where.startswith((where + ".", where + "["))
    ]
    return min(inside, key=lambda p: ("error", "warning", "note").index(p.severity), default=None)


def about(part: type | None) -> str:
    """What the part is, from its documentation: the first paragraph."""
    text = inspect.getdoc(part) if part is not None else ""
    return " ".join((text or "").split("\n\n")[0].split())
