"""From what is written to resolved values: one function for each form of field.

Each takes the reading, the scope of names, the path, what is written and the
field's declaration, and gives the value, or None with a problem noted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg import expressions
from vbg.errors import counted
from vbg.fields import Field
from vbg.model.forms.arrays import read_array
from vbg.model.forms.axes import read_axis
from vbg.model.forms.beginnings import read_beginning
from vbg.model.forms.fmus import (
    read_selection,
    read_unit_ports,
    read_values,
    read_wires,
)
from vbg.model.forms.references import REFERENCES
from vbg.model.forms.samples import read_samples
from vbg.model.text.names import is_name
from vbg.model.text.places import Path
from vbg.model.text.plain import INERTIA_KEYS
from vbg.model.values.reading import Reading, Scope, described
from vbg.model.values.values import (
    in_bounds,
    read_direction,
    read_list,
    read_quantity,
    read_vector,
    unknown_keys,
)
from vbg.spatial import axis_angle, quaternion_product


def read_value(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """The resolved value of one field; None, with problems noted, if it is wrong."""
    return _READERS[declared.form](reading, scope, path, raw, declared)


def _quantity(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_quantity(reading, path, raw, declared)


def _vector(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_vector(reading, path, raw, declared.unit, declared.size)


def _direction(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    if isinstance(raw, str):
        return read_axis(reading, scope, path, raw)
    return read_direction(reading, path, raw)


def _matrix(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    size = declared.size
    entries = read_list(reading, path, raw, size, "rows, or numbers of the diagonal")
    if entries is None:
        return None
    if not any(isinstance(entry, (list, tuple)) for entry in entries):
        diagonal = read_vector(reading, path, entries, declared.unit, len(entries))
        if diagonal is None:
            return None
        return tuple(
            tuple(value if i == j else 0.0 for j in range(len(diagonal)))
            for i, value in enumerate(diagonal)
        )
    rows = [
        read_vector(reading, (*path, i), row, declared.unit, size or len(entries))
        for i, row in enumerate(entries)
    ]
    return None if None in rows else tuple(rows)


def _table(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    entries = read_list(reading, path, raw, 0, "rows")
    if entries is None:
        return None
    columns = declared.columns or (declared.unit,)
    rows: list[tuple[float, ...]] = []
    for i, row in enumerate(entries):
        found = read_vector(reading, (*path, i), row, columns, declared.size)
        if found is not None and rows and len(found) != len(rows[0]):
            what = f"this row has {counted(len(found), 'number')}, the first one {len(rows[0])}."
            reading.fail((*path, i), what, "Give all rows as many.")
            found = None
        if found is not None:
            rows.append(found)
    return tuple(rows) if len(rows) == len(entries) else None


_ROTATION_FORMS = "{ axis, angle }, { quaternion } or { euler, sequence }"


def _rotation(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_rotation(reading, path, raw)


def read_rotation(reading: Reading, path: Path, raw: Any) -> tuple[float, ...] | None:
    """The unit quaternion (w, x, y, z), w >= 0, of a written rotation."""
    table = reading.table(path, raw)
    if table is None:
        return None
    keys = set(table)
    if keys == {"axis", "angle"}:
        axis = read_direction(reading, (*path, "axis"), table["axis"])
        angle = reading.number((*path, "angle"), table["angle"], "rad")
        if axis is None or angle is None:
            return None
        return _as_quaternion(axis_angle(axis, angle))
    if keys == {"quaternion"}:
        return _quaternion(reading, (*path, "quaternion"), table["quaternion"])
    if "euler" in keys and keys <= {"euler", "sequence"}:
        return _euler(reading, path, table)
    found = ", ".join(sorted(map(str, keys))) or "nothing"
    reading.fail(path, f"expected {_ROTATION_FORMS}, found {found}.")
    return None


def _as_quaternion(quat: Any) -> tuple[float, ...]:
    quat = -quat if quat[0] < 0 else quat
    return tuple(float(component) for component in quat)


def _quaternion(reading: Reading, path: Path, raw: Any) -> tuple[float, ...] | None:
    quat = read_vector(reading, path, raw, size=4)
    if quat is None:
        return None
    length = math.hypot(*quat)
    if abs(length - 1) > 1e-2:
        reading.fail(
            path,
            f"a quaternion [w, x, y, z] has length 1, found {length:.4g}.",
            "Divide it by its length.",
        )
        return None
    scale = 1.0 if abs(length - 1) < 4e-16 else length  # a resolved one reads as itself
    return _as_quaternion(np.array(quat) / scale)


def _euler(reading: Reading, path: Path, table: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Three turns about the letters of `sequence`: lower case about fixed axes in
    the order written, upper case about the axes that turn with the body."""
    sequence = table.get("sequence", "xyz")
    fixed = isinstance(sequence, str) and sequence.islower()
    if (
        not isinstance(sequence, str)
        or len(sequence) != 3
        or not (sequence.islower() or sequence.isupper())
        or set(sequence.lower()) - set("xyz")
    ):
        reading.fail(
            (*path, "sequence"),
            "expected three letters of xyz (fixed axes) or XYZ (moving axes), "
            f"found {described(sequence)}.",
        )
        return None
    angles = read_vector(reading, (*path, "euler"), table["euler"], "rad")
    if angles is None:
        return None
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    for letter, angle in zip(sequence.lower(), angles, strict=True):
        turn = axis_angle(np.eye(3)["xyz".index(letter)], angle)
        quat = quaternion_product(turn, quat) if fixed else quaternion_product(quat, turn)
    return _as_quaternion(quat)


def _points(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    table = reading.table(path, raw)
    if table is None:
        return None
    points: dict[str, tuple[float, ...] | None] = {}
    for name, entry in table.items():
        if not is_name(name):
            reading.fail_key(
                (*path, name), f"{name!r} cannot name a point.", "Use letters, digits, _ and -."
            )
            points[name] = None
            continue
        points[name] = read_vector(reading, (*path, name), entry, declared.unit)
    return None if None in points.values() else MappingProxyType(points)


def _inertia(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    if not isinstance(raw, Mapping):
        what = f"expected a table {{ xx = ..., yy = ..., zz = ... }}, found {described(raw)}."
        numbers = isinstance(raw, list) and all(type(value) in (int, float) for value in raw)
        remedy = ""
        if numbers and len(raw) == 3:
            listed = (f"{key} = {described(v)}" for key, v in zip(("xx", "yy", "zz"), raw))
            remedy = f"Write {{ {', '.join(listed)} }}."
        reading.fail(path, what, remedy)
        return None
    table = raw
    unknown_keys(reading, path, table, INERTIA_KEYS, "an inertia")
    values = []
    for key in INERTIA_KEYS:
        if key in table:
            values.append(reading.number((*path, key), table[key], declared.unit))
        elif len(key) == 2 and key[0] == key[1]:
            reading.fail_key(path, f"the inertia has no {key}.", "xx, yy and zz are all needed.")
            values.append(None)
        else:
            values.append(0.0)
    return None if None in values else tuple(values)


def _choice(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    text = reading.text(path, raw)
    if text is None or text in declared.choices:
        return text
    reading.fail(
        path,
        f"{expressions.shown(text)} is not one of {', '.join(declared.choices)}.",
        reading.hint(text, declared.choices, "choices"),
    )
    return None


def _count(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    value = reading.number(path, raw, declared.unit)
    if value is None:
        return None
    if value != round(value):
        reading.fail(path, f"expected a whole number, found {value:.6g}.")
        return None
    return int(value) if in_bounds(reading, path, value, declared) else None


def _flag(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    if isinstance(raw, bool):
        return raw
    reading.fail(path, f"expected true or false, found {described(raw)}.")
    return None


def _free_text(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return reading.text(path, raw)


def _samples(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_samples(reading, path, raw, declared.size, declared.columns or ("",))


def _array(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_array(reading, path, raw, declared.size)


def _beginning(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_beginning(reading, scope, path, raw)


_READERS: Mapping[str, Callable[..., Any]] = {
    "quantity": _quantity,
    "vector": _vector,
    "matrix": _matrix,
    "direction": _direction,
    "rotation": _rotation,
    "points": _points,
    "inertia": _inertia,
    "table": _table,
    "choice": _choice,
    "count": _count,
    "flag": _flag,
    "text": _free_text,
    "beginning": _beginning,
    "samples": _samples,
    "array": _array,
    "wires": read_wires,
    "unit ports": read_unit_ports,
    "selection": read_selection,
    "values": read_values,
    **REFERENCES,
}
