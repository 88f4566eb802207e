"""Plain data: the document of a model as nested tables, lists, strings and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.fields import Attachment, Field, Shape, alternatives

SCALARS = (str, float, int, bool)
INERTIA_KEYS = ("xx", "yy", "zz", "xy", "yz", "zx")


def plain(value: Any) -> Any:
    """`value` as a document holds it: parts as tables, arrays and tuples as lists;
    keys whose value is None are left out.  Unknown objects stay, for the reader to refuse.
    """
    if type(value) in SCALARS:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Attachment):
        return _attachment(value)
    if isinstance(value, Shape):
        return _shape(value)
    if is_dataclass(value) and not isinstance(value, type):
        return part_table(value)
    return value


def part_table(part: Any) -> dict[str, Any]:
    """The table that reads as `part`: its kind and the fields that differ from their default, a
    diameter without the area that follows from it."""
    table: dict[str, Any] = {}
    others = alternatives(type(part))
    if getattr(part, "table", "bodies") not in ("bodies", "frames"):
        table["kind"] = part.kind
    for entry in fields(part):
        value = getattr(part, entry.name)
        if any(getattr(part, other) is not None for other in others.get(entry.name, ())):
            continue
        default = entry.default if entry.default_factory is MISSING else entry.default_factory()
        if value is not None and value != default:
            table[entry.name] = _written(value, entry.metadata.get("field"))
    return table


def _written(value: Any, field: Field | None) -> Any:
    if field is not None and field.form == "rotation":
        return {"quaternion": plain(value)}
    if field is not None and field.form == "inertia":
        entries = dict(zip(INERTIA_KEYS, plain(value), strict=True))
        return {key: entry for key, entry in entries.items() if entry or key in ("xx", "yy", "zz")}
    return plain(value)


def _attachment(end: Attachment) -> Any:
    if end.frame:
        return end.frame
    if end.point:
        return f"{end.body}.{end.point}"
    return {"body": end.body, "at": list(end.at)} if any(end.at) else end.body


def _shape(shape: Shape) -> dict[str, Any]:
    table: dict[str, Any] = {shape.kind: dict(shape.sizes)}
    if shape.of:
        table = {shape.kind: [_shape(one) for one in shape.of]}
    if shape.profile:
        table[shape.kind]["profile"] = [list(corner) for corner in shape.profile]
    if shape.kind == "step":
        table = {"step": shape.file} | ({"part": shape.part} if shape.part else {})
    if shape.kind == "stl":
        table = {"stl": shape.file} | ({"unit": shape.unit} if shape.unit else {})
    if shape.density:
        table["density"] = shape.density
    if any(shape.position):
        table["position"] = list(shape.position)
    if tuple(shape.rotation) != (1.0, 0.0, 0.0, 0.0):
        table["rotation"] = {"quaternion": list(shape.rotation)}
    return table


def freeze(value: Any) -> Any:
    """A read-only copy of plain data: mapping proxies and tuples."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return tuple(freeze(entry) for entry in value)
    return value


def thaw(value: Any) -> Any:
    """A changeable copy of frozen plain data: dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thaw(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(entry) for entry in value]
    return value
