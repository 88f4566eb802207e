"""From one table of a document to the instance of its part, by the declared fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any

from vbg import units
from vbg.fields import EQUILIBRIUM, Field, alternatives, declared, required
from vbg.model.forms.axes import take_axes
from vbg.model.forms.bodies import complete_body
from vbg.model.forms.fmus import complete_fmu
from vbg.model.forms.forms import read_value
from vbg.model.forms.motions import motion_of
from vbg.model.forms.shapes import read_shapes
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, Scope
from vbg.model.values.values import unknown_keys
from vbg.plumbing.words import with_article

COORDINATE_NAMES = ("angle", "slide", "angle2")


@cache
def coordinates_of(joint: type) -> tuple[str, ...]:
    """Names of the free coordinates of a kind of joint: angle, slide, angle2."""
    start = declared(joint).get("initial")
    if start is None or start.of is None:
        return ()
    return tuple(name for name in declared(start.of) if name in COORDINATE_NAMES)


@cache
def _schema(part: type) -> tuple[Mapping[str, Field], tuple[str, ...], frozenset[str]]:
    """Declared fields, required ones, and the keys that may be written."""
    fields = declared(part)
    own = ("kind",) if hasattr(part, "kind") else ()
    return MappingProxyType(fields), required(part), frozenset((*fields, *own))


@cache
def _deeper(part: type) -> Mapping[str, str]:
    """Keys of the tables inside of a part's, with the key of theirs, where only one has them: an
    `angle` that stands beside `initial`.  A single letter means too much to be one of them."""
    tables = {key: declared(field.of) for key, field in declared(part).items() if field.of}
    holders = {
        key: [one for one in tables if key in tables[one]] for key in chain(*tables.values())
    }
    return {k: own[0] for k, own in holders.items() if len(own) == 1 and len(k) > 1}


def read_part(
    reading: Reading, scope: Scope, path: Path, part: type, entry: Mapping[str, Any]
) -> Any:
    """An instance of `part`, or None if anything in its table is wrong."""
    fields, needed, keys = _schema(part)
    before = len(reading.problems)
    whose = with_article(part.kind) if hasattr(part, "kind") else str(path[-1])
    if not entry.keys() <= keys:
        unknown_keys(reading, path, entry, sorted(keys), whose, _deeper(part))
    values: dict[str, Any] = {}
    found = [key for key in entry if key in fields and _is_found(fields[key], entry[key])]
    reading.balanced += [f"{path[1]}.{key}" for key in found]
    written = [key for key in entry if key in fields and key not in found]
    motion = _motion(scope, path, entry)
    for key in written:
        field = _of_motion(fields[key], motion)
        value = _read_field(reading, scope, (*path, key), entry[key], field)
        if value is not None:
            values[key] = value
    take_axes(reading, path, fields, values)
    complete = all(key in values for key in written)
    if path[0] == "bodies" and len(path) == 2:
        _finish_body(reading, scope, path, entry, values)
    if path[0] == "fmu" and len(path) == 2:
        complete_fmu(reading, path, entry, values)
    replaced = _replaced(reading, path, part, entry)
    values |= {key: None for key in needed if key in replaced}
    for key in needed:
        if key not in entry and key not in values:
            of_motion = {one: _of_motion(field, motion) for one, field in fields.items()}
            _lacks(reading, path, key, of_motion, alternatives(part).get(key, ()), whose)
    _check_between_or_on(reading, path, fields, entry)
    if not complete or len(reading.problems) > before:
        return None
    instance = part(**values)
    faults = list(instance.faults()) if hasattr(instance, "faults") else []
    for key, what, remedy in faults:
        where = (*path, key) if key in entry else path
        reading.fail(where, what, remedy)
    return None if faults else instance


def _is_found(field: Field, raw: Any) -> bool:
    """Whether a start value is left to the balance of the machine."""
    return field.balanced and isinstance(raw, str) and raw == EQUILIBRIUM


def _motion(scope: Scope, path: Path, entry: Mapping[str, Any]) -> str:
    """What a part between two points, on a joint or of a joint acts on: "slide" or "angle";
    empty if it is not known."""
    on = entry.get("on")
    if path[0] == "joints" and len(path) > 2:
        coordinates = scope.joints.get(str(path[1]), ())
    elif "between" in entry:
        return "slide"
    else:
        return motion_of(scope, on) if isinstance(on, str) else ""
    return coordinates[0].rstrip("2") if len(coordinates) == 1 else ""


def _of_motion(field: Field, motion: str) -> Field:
    """The field with the one unit of "N/m or N*m/rad" that fits the motion."""
    if not motion:
        return field
    by_motion = field.unit.split(" or ")
    if len(by_motion) != 2:
        return field
    return replace(field, unit=by_motion[1] if motion == "angle" else by_motion[0])


def _read_field(reading: Reading, scope: Scope, path: Path, raw: Any, declared_as: Field) -> Any:
    if declared_as.form == "shape":
        return read_shapes(reading, path, raw)
    if declared_as.form == "group" and declared_as.of is not None:
        table = reading.table(path, raw)
        return None if table is None else read_part(reading, scope, path, declared_as.of, table)
    return read_value(reading, scope, path, raw, declared_as)


def _replaced(reading: Reading, path: Path, part: type, entry: Mapping[str, Any]) -> set[str]:
    """Keys in whose place another one is written; two for one thing are a fault."""
    replaced = set()
    for key, others in alternatives(part).items():
        written = [one for one in (key, *others) if one in entry]
        if len(written) > 1:
            what = f"{' and '.join(written)} say the same thing twice."
            reading.fail((*path, written[-1]), what, f"Leave all out but one: {_or(key, *others)}.")
        elif written and key not in entry:
            replaced.add(key)
    return replaced


def _or(*keys: str) -> str:
    return " or ".join(keys)


def _lacks(
    reading: Reading,
    path: Path,
    key: str,
    fields: Mapping[str, Field],
    others: tuple[str, ...],
    whose: str,
) -> None:
    told = [f"{fields[one].doc}{units.in_brackets(fields[one].unit)}" for one in (key, *others)]
    instead = "".join(f"; or {one}: {doc}" for one, doc in zip(others, told[1:], strict=True))
    reading.fail_key(path, f"{whose} needs {key}: {told[0]}{instead}.")


def _check_between_or_on(
    reading: Reading, path: Path, fields: Mapping[str, Field], entry: Mapping[str, Any]
) -> None:
    """A part that offers both acts between two points or on a coordinate: exactly one."""
    if not {"between", "on"} <= fields.keys() or "nodes" in fields:
        return
    if ("between" in entry) == ("on" in entry):
        found = "both" if "on" in entry else "neither"
        reading.fail_key(path, f"needs either between or on, found {found}.")


def _finish_body(
    reading: Reading, scope: Scope, path: Path, entry: Mapping[str, Any], values: dict[str, Any]
) -> None:
    """Complete the body's values and make its points known to what comes after it."""
    name = str(path[1])
    origin = complete_body(reading, path, entry, values)
    points = values.get("points")
    flexible = entry.get("flexible")
    told = flexible if isinstance(flexible, Mapping) else entry
    if not points and isinstance(told.get("points"), Mapping):
        # a wrong point is reported once, not again by everything that uses it
        points = dict.fromkeys(told["points"], (0.0, 0.0, 0.0))
    scope.points[name] = points or {}
    if origin.any():
        scope.origins[name] = tuple(float(x) for x in origin)
