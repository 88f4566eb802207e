"""Solids made of others, and of a profile: reading them, and what they measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from vbg.errors import ModelError, UsageError
from vbg.fields import Field, Measured, Shape
from vbg.model.forms.steps import measured_of
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.model.values.values import read_list, read_quantity, read_vector, unknown_keys
from vbg.plumbing.words import with_article
from vbg.solids.profiles import Array, crosses_itself, extruded, revolved

BOOLEANS = ("union", "cut", "common")
PROFILES = ("extrude", "revolve")
_HEIGHT = Field("quantity", "a length of a solid", unit="m", above=0.0)
_THIN = 1e-12  # of its box: the area of a profile that encloses nothing
Read = Callable[[Reading, Path, Any], Shape | None]


def read_boolean(
    reading: Reading, path: Path, kind: str, raw: Any, read: Read
) -> dict[str, Any] | None:
    """The fields of a union, a cut (the first less the others) or what is common to all, from
    a list of shapes; measured by OpenCASCADE."""
    from vbg.solids.made import part_from

    entries = read_list(reading, path, raw, 0, "shapes")
    if entries is None:
        return None
    if len(entries) < 2:
        reading.fail(path, f"{with_article(kind)} needs two shapes or more.", "")
        return None
    shapes = [read(reading, (*path, i), entry) for i, entry in enumerate(entries)]
    found = tuple(shape for shape in shapes if shape is not None)
    if len(found) < len(shapes):
        return None
    if any(shape.density for shape in found):
        reading.fail(path, f"the density stands beside the {kind}, not in its shapes.", "")
        return None
    try:
        part = part_from(Shape(kind, MappingProxyType({}), of=found))
    except (ModelError, UsageError) as error:
        reading.fail(path, str(error))
        return None
    return {"of": found, "measured": measured_of(part)}


def read_profile(
    reading: Reading, path: Path, kind: str, table: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The fields of an extrude or a revolve: the corners of its profile, and its height."""
    lengths = ("height",) if kind == "extrude" else ()
    unknown_keys(reading, path, table, ("profile", *lengths, "axis"), f"a shape {kind}")
    for name in ("profile", *lengths):
        if name not in table:
            reading.fail_key(path, f"the {kind} has no {name}.", "")
            return None
    entries = read_list(reading, (*path, "profile"), table["profile"], 0, "corners")
    if entries is None:
        return None
    corners = [
        read_vector(reading, (*path, "profile", i), entry, ("m",), 2)
        for i, entry in enumerate(entries)
    ]
    height = read_quantity(reading, (*path, "height"), table["height"], _HEIGHT) if lengths else 0.0
    if None in corners or height is None:
        return None
    profile = tuple((float(x), float(y)) for x, y in corners)  # type: ignore[misc]
    fault = _fault(kind, profile)
    if fault:
        reading.fail((*path, "profile"), fault)
        return None
    volume, centre, J = extruded(profile, height) if lengths else revolved(profile)
    measured = _measured(kind, profile, height, volume, centre, J)
    sizes = {"height": height} if lengths else {}
    return {"profile": profile, "sizes": MappingProxyType(sizes), "measured": measured}


def _fault(kind: str, profile: tuple[tuple[float, float], ...]) -> str:
    """What is wrong with a profile; empty if nothing is."""
    if len(profile) < 3:
        return f"a profile has three corners or more, found {len(profile)}."
    if kind == "revolve" and min(r for r, _ in profile) < 0.0:
        return "a profile that is turned lies at r >= 0; its corners are [r, z]."
    if crosses_itself(profile):
        return "the profile crosses itself."
    size = max(max(x) - min(x) for x in zip(*profile, strict=True))
    if not abs(_area(profile)) > _THIN * size**2:
        return "the profile encloses nothing."
    return ""


def _area(profile: tuple[tuple[float, float], ...]) -> float:
    following = (*profile[1:], profile[0])
    pairs = zip(profile, following, strict=True)
    return 0.5 * sum(x * v - u * y for (x, y), (u, v) in pairs)


def _measured(
    kind: str,
    profile: tuple[tuple[float, float], ...],
    height: float,
    volume: float,
    centre: Array,
    J: Array,
) -> Measured:
    (a, b), (c, d) = ((min(x), max(x)) for x in zip(*profile, strict=True))
    if kind == "extrude":
        low, high = (a, c, -height / 2), (b, d, height / 2)
    else:
        low, high = (-b, -b, c), (b, b, d)
    x, y, z = (float(v) for v in centre)
    xx, yy, zz, xy, yz, zx = (
        float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
    )
    return Measured(volume, (x, y, z), (xx, yy, zz, xy, yz, zx), low, high)
