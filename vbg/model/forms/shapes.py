"""Solids that a body is made of: reading them, and their mass, mass centre and inertia.

Each kind has its own axes with z along its axis.  Box, cylinder, sphere and
tube have their origin in the middle; a cone has it in the centre of its base,
with the tip at z = height.  A part of a STEP file has the file's axes and origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.fields import Field, Shape
from vbg.model.forms.compounds import BOOLEANS, PROFILES, read_boolean, read_profile
from vbg.model.forms.forms import read_rotation
from vbg.model.forms.steps import read_step, read_stl
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading, described
from vbg.model.values.values import read_direction, read_quantity, read_vector, unknown_keys
from vbg.plumbing.words import with_article
from vbg.spatial import Array, quaternion_from_matrix, rotation_between, rotation_matrix

Sizes = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Solid:
    """A kind of solid: the names of its lengths, its volume [m^3], the height of
    its mass centre on z [m], and its principal moments about the mass centre per mass [m^2].
    """

    sizes: tuple[str, ...]
    volume: Callable[[Sizes], float]
    centre: Callable[[Sizes], float]
    moments: Callable[[Sizes], tuple[float, float, float]]


def _middle(s: Sizes) -> float:
    return 0.0


def _box_moments(s: Sizes) -> tuple[float, float, float]:
    x, y, z = s["x"] ** 2, s["y"] ** 2, s["z"] ** 2
    return (y + z) / 12, (z + x) / 12, (x + y) / 12


def _cylinder_moments(s: Sizes) -> tuple[float, float, float]:
    across = s["radius"] ** 2 / 4 + s["length"] ** 2 / 12
    return across, across, s["radius"] ** 2 / 2


def _sphere_moments(s: Sizes) -> tuple[float, float, float]:
    moment = 0.4 * s["radius"] ** 2
    return moment, moment, moment


def _cone_moments(s: Sizes) -> tuple[float, float, float]:
    across = 0.15 * s["radius"] ** 2 + 0.0375 * s["height"] ** 2
    return across, across, 0.3 * s["radius"] ** 2


def _tube_moments(s: Sizes) -> tuple[float, float, float]:
    squares = s["radius"] ** 2 + s["inner_radius"] ** 2
    across = squares / 4 + s["length"] ** 2 / 12
    return across, across, squares / 2


SOLIDS: Mapping[str, Solid] = MappingProxyType(
    {
        "box": Solid(("x", "y", "z"), lambda s: s["x"] * s["y"] * s["z"], _middle, _box_moments),
        "cylinder": Solid(
            ("radius", "length"),
            lambda s: math.pi * s["radius"] ** 2 * s["length"],
            _middle,
            _cylinder_moments,
        ),
        "sphere": Solid(
            ("radius",), lambda s: 4 / 3 * math.pi * s["radius"] ** 3, _middle, _sphere_moments
        ),
        "cone": Solid(
            ("radius", "height"),
            lambda s: math.pi / 3 * s["radius"] ** 2 * s["height"],
            lambda s: s["height"] / 4,
            _cone_moments,
        ),
        "tube": Solid(
            ("radius", "inner_radius", "length"),
            lambda s: math.pi * (s["radius"] ** 2 - s["inner_radius"] ** 2) * s["length"],
            _middle,
            _tube_moments,
        ),
    }
)
LAST = 8 * np.finfo(float).eps  # of a sum of products of entries of a rotation
_LENGTH = Field("quantity", "a length of a solid", unit="m", above=0.0)
_DENSITY = Field("quantity", "mass per volume", unit="kg/m^3", above=1e-6)
FURTHER = ("step", "stl", *BOOLEANS, *PROFILES)
_NOT_ROUND = ("box", "sphere")  # solids without an axis of their own
_KEYS = ("density", "position", "rotation")
_SHAPED = "Write one with its sizes, such as { sphere = { radius = 0.1 }, density = 7850 }."


@dataclass(frozen=True, slots=True)
class MassProperties:
    """mass [kg]; mass centre [m] and inertia about it [kg*m^2], (3,) and (3, 3), in one frame."""

    mass: float
    centre: Array
    inertia: Array


def mass_properties(shapes: tuple[Shape, ...]) -> MassProperties:
    """Those of the solids together, in the axes in which they are placed.

    Each solid turned by R: J = R diag(J1, J2, J3) R^T; put together about the
    common mass centre by Steiner: J + m (d.d 1 - d d^T).
    """
    parts = [_one(shape) for shape in shapes]
    mass = sum(part.mass for part in parts)
    centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.centre - centre
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, centre, inertia)


def _one(shape: Shape) -> MassProperties:
    R = rotation_matrix(shape.rotation)
    if shape.measured is not None:
        found = shape.measured
        xx, yy, zz, xy, yz, zx = found.inertia
        J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        at = np.array(shape.position) + R @ np.array(found.centre)
        return MassProperties(shape.density * found.volume, at, shape.density * _turned(R, J))
    solid = SOLIDS[shape.kind]
    mass = shape.density * solid.volume(shape.sizes)
    centre = np.array(shape.position) + R[:, 2] * solid.centre(shape.sizes)
    moments = mass * np.array(solid.moments(shape.sizes))
    return MassProperties(mass, centre, _turned(R, np.diag(moments)))


def _turned(R: Array, J: Array) -> Array:
    """R J R^T.  What R, known to its last digit, leaves of a product of inertia that vanishes is
    none, and quarter turns exchange moments as they are: about an axis of the body 1e-16 of the
    largest moment would stay, as a product or between two moments that are the same."""
    near = np.round(R)
    R = np.where(np.abs(R - near) <= LAST, near, R)
    turned = R @ J @ R.T
    beside = ~np.eye(3, dtype=bool)
    return np.where(beside & (np.abs(turned) <= LAST * np.abs(J).max()), 0.0, turned)


def with_mass(shapes: tuple[Shape, ...], mass: float) -> tuple[Shape, ...]:
    """The same solids with one common density, so that they weigh `mass` together."""
    volume = sum(_volume(shape) for shape in shapes)
    return tuple(replace(shape, density=mass / volume) for shape in shapes)


def _volume(shape: Shape) -> float:
    if shape.measured is not None:
        return shape.measured.volume
    return SOLIDS[shape.kind].volume(shape.sizes)


def read_shapes(reading: Reading, path: Path, raw: Any) -> tuple[Shape, ...] | None:
    """One solid, or a list of them."""
    if not isinstance(raw, (list, tuple)):
        shape = _read_shape(reading, path, raw)
        return None if shape is None else (shape,)
    if not raw:
        reading.fail(path, "expected a solid or a list of solids, found an empty list.")
        return None
    shapes = [_read_shape(reading, (*path, i), entry) for i, entry in enumerate(raw)]
    return None if None in shapes else tuple(shapes)  # type: ignore[arg-type]


def _read_shape(reading: Reading, path: Path, raw: Any) -> Shape | None:
    table = reading.table(path, raw)
    if table is None:
        return None
    kinds = [key for key in table if key in SOLIDS]
    before = len(reading.problems)
    unknown_keys(reading, path, table, (*SOLIDS, *FURTHER, "part", "unit", *_KEYS), "a shape")
    kinds += [key for key in table if key in FURTHER]
    if not kinds and len(reading.problems) > before:
        return None
    if len(kinds) != 1:
        found = " and ".join(kinds) or described(raw)
        remedy = "Write a list of shapes for several." if kinds else _SHAPED
        known = ", ".join((*SOLIDS, *FURTHER))
        reading.fail_key(path, f"a shape is one of {known}, found {found}.", remedy)
        return None
    kind = kinds[0]
    solid: Mapping[str, Any] | None = {}
    given: dict[str, Any] | None
    if kind in ("step", "stl"):
        given = (read_step if kind == "step" else read_stl)(reading, path, table)
    elif kind in BOOLEANS:
        given = read_boolean(reading, (*path, kind), kind, table[kind], _read_shape)
    elif kind in PROFILES:
        solid = reading.table((*path, kind), table[kind])
        given = None if solid is None else read_profile(reading, (*path, kind), kind, solid)
    else:
        solid = reading.table((*path, kind), table[kind])
        given = {"sizes": _read_sizes(reading, (*path, kind), kind, solid or {})}
    if solid is None or given is None:
        return None
    if "density" in table:
        given["density"] = read_quantity(reading, (*path, "density"), table["density"], _DENSITY)
    if "position" in table:
        given["position"] = read_vector(reading, (*path, "position"), table["position"], "m")
    if "rotation" in table:
        given["rotation"] = read_rotation(reading, (*path, "rotation"), table["rotation"])
    if "axis" in solid and kind not in (*_NOT_ROUND, *FURTHER[:5]):
        given["rotation"] = _read_axis(reading, path, kind, table, solid)
    # None without a problem noted comes of a parameter that is wrong itself
    if None in given.values() or len(reading.problems) > before:
        return None
    given.setdefault("sizes", MappingProxyType({}))
    return Shape(kind, **given)


def _read_sizes(
    reading: Reading, path: Path, kind: str, table: Mapping[str, Any]
) -> Mapping[str, float] | None:
    names = SOLIDS[kind].sizes
    turned = () if kind in _NOT_ROUND else ("axis",)
    whose = with_article(kind)
    unknown_keys(reading, path, table, (*names, *turned), whose)
    sizes: dict[str, float] = {}
    for name in names:
        if name not in table:
            reading.fail_key(
                path,
                f"the {kind} has no {name}.",
                f"{whose.capitalize()} needs {', '.join(names)}.",
            )
            continue
        value = read_quantity(reading, (*path, name), table[name], _LENGTH)
        if value is not None:
            sizes[name] = value
    if sizes.get("inner_radius", 0.0) >= sizes.get("radius", math.inf):
        reading.fail(
            (*path, "inner_radius"),
            f"the inner radius {sizes['inner_radius']:g} m is not below "
            f"the radius {sizes['radius']:g} m.",
            "Make it smaller, or the radius larger.",
        )
    return MappingProxyType(sizes) if len(sizes) == len(names) else None


def _read_axis(
    reading: Reading, path: Path, kind: str, table: Mapping[str, Any], solid: Mapping[str, Any]
) -> tuple[float, ...] | None:
    """The rotation that turns the solid's z to its written `axis`."""
    if "rotation" in table:
        reading.fail_key(
            (*path, "rotation"), "the shape has an axis and a rotation.", "Give one of them."
        )
        return None
    axis = read_direction(reading, (*path, kind, "axis"), solid["axis"])
    if axis is None:
        return None
    quat = quaternion_from_matrix(rotation_between((0.0, 0.0, 1.0), axis))
    return tuple(float(component) for component in quat)
