"""What makes a body physical: mass and inertia from its shape, all points from
its mass centre, and the inertias that no rigid body can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.fields import Shape
from vbg.model.forms.arrays import complete_flexible
from vbg.model.forms.shapes import MassProperties, mass_properties, with_mass
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.spatial import Array

# how far the largest moment may exceed the sum of the others before it is an
# error: published values of thin discs and rods are rounded to three digits
LOST = 1e-15  # of the largest principal moment: what is less is rounding
TRIANGLE_TOLERANCE = 0.01


def complete_body(
    reading: Reading, path: Path, written: Mapping[str, Any], values: dict[str, Any]
) -> Array:
    """Fill in mass and inertia of `values`, count points and shapes from the mass
    centre, check the inertia; the mass centre from the written origin, (3,) [m].

    `written` tells what is missing from what is wrong already.
    """
    origin = np.zeros(3)
    if "flexible" in written:
        complete_flexible(reading, path, written, values)
        return origin
    shapes: tuple[Shape, ...] = values.get("shape") or ()
    if shapes:
        solid = _weighed(reading, path, shapes, values)
        if solid is not None:
            origin = _take_from_solid(reading, path, values, solid)
    if values.get("com") is not None:
        origin = np.array(values["com"])
    _require(reading, path, written, values)
    if origin.any():
        _count_from(origin, values)
    values["com"] = None
    if values.get("inertia") is not None:
        allowed = bool(values.get("allow_unphysical_inertia"))
        _check_inertia(reading, (*path, "inertia"), values["inertia"], allowed=allowed)
    return origin


def _weighed(
    reading: Reading, path: Path, shapes: tuple[Shape, ...], values: dict[str, Any]
) -> MassProperties | None:
    """Mass properties of the solids, or None where nothing tells their density."""
    given = [shape for shape in shapes if shape.density]
    mass = values.get("mass")
    if not given:
        if mass is None:
            return None
        values["shape"] = with_mass(shapes, mass)
        return mass_properties(values["shape"])
    if len(given) < len(shapes):
        reading.fail_key(
            (*path, "shape"),
            f"{len(given)} of {len(shapes)} solids have a density.",
            "Give every solid a density, or none of them and the body a mass.",
        )
        return None
    solid = mass_properties(shapes)
    if mass is not None and abs(solid.mass - mass) > 1e-6 * mass:
        reading.fail(
            (*path, "mass"),
            f"the shape weighs {solid.mass:.6g} kg, but mass is {mass:.6g} kg.",
            "Leave out mass, or density.",
        )
        return None
    return solid


def _take_from_solid(
    reading: Reading, path: Path, values: dict[str, Any], solid: MassProperties
) -> Array:
    """Take mass and inertia from the solid where they are not written; its mass centre."""
    com = values.get("com")
    if values.get("inertia") is None:
        if any(s.measured is not None and not s.measured.closed for s in values["shape"]):
            what = "the surface of its file is not closed: it has no volume to weigh."
            reading.fail_key((*path, "shape"), what, "Write mass and inertia, too.")
        size = max(float(np.sqrt(np.trace(solid.inertia) / solid.mass)), 1e-12)
        if com is not None and np.linalg.norm(solid.centre - com) > 1e-6 * size:
            centre = ", ".join(f"{x:.6g}" for x in solid.centre)
            reading.fail(
                (*path, "com"),
                f"the mass centre of the shape is [{centre}] m.",
                "Leave out com, or write mass and inertia as well: the shape is then only drawn.",
            )
        J = solid.inertia
        values["inertia"] = tuple(
            float(x) for x in (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[1, 2], J[2, 0])
        )
        values["mass"] = solid.mass
        return solid.centre
    values.setdefault("mass", solid.mass)
    return np.zeros(3)


def _require(
    reading: Reading, path: Path, written: Mapping[str, Any], values: dict[str, Any]
) -> None:
    """Note a missing mass or inertia, unless what should give it is wrong itself."""
    shapes: tuple[Shape, ...] = values.get("shape") or ()
    if "shape" in written and (not shapes or any(shape.density for shape in shapes)):
        return
    if values.get("mass") is None and "mass" not in written:
        remedy = "Write mass, or give the shape a density."
        reading.fail_key(path, "the body has no mass.", remedy)
    elif values.get("inertia") is None and "inertia" not in written and not shapes:
        reading.fail_key(
            path,
            "the body has no inertia.",
            "Write inertia = { xx, yy, zz } about the mass centre, or a shape.",
        )


def _count_from(origin: Array, values: dict[str, Any]) -> None:
    """Shift points and solids so that they count from the mass centre `origin`."""

    def shifted(point: Any) -> tuple[float, ...]:
        return tuple(float(a - o) for a, o in zip(point, origin, strict=True))

    if values.get("points"):
        values["points"] = MappingProxyType({n: shifted(p) for n, p in values["points"].items()})
    if values.get("shape"):
        values["shape"] = tuple(
            replace(shape, position=shifted(shape.position)) for shape in values["shape"]
        )


def _check_inertia(
    reading: Reading, path: Path, inertia: tuple[float, ...], *, allowed: bool
) -> None:
    """Principal moments must be positive, and none greater than the sum of the others,
    unless the body says that this is `allowed`: then none may be zero."""
    moments = principal_moments(inertia)
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    sizes = np.abs(moments)
    if allowed and sizes.min() <= LOST * sizes.max():
        reading.fail(
            path,
            f"a principal moment is zero to rounding, found {shown} kg*m^2.",
            "A body turns about every axis: write a small moment, or weld it to its neighbour.",
        )
    elif not allowed and is_lost(inertia):
        reading.fail(
            path,
            f"the principal moments must be positive, by more than rounding, found {shown} kg*m^2.",
            "For a thin rod write the small moment about its axis; check xy, yz, zx. Published "
            "data that have a negative one are taken with allow_unphysical_inertia = true.",
        )
    elif not allowed and moments[2] > (moments[0] + moments[1]) * (1 + TRIANGLE_TOLERANCE):
        reading.fail(
            path,
            "no rigid body has a principal moment greater than the sum of the other two, "
            f"found {shown} kg*m^2 (triangle inequality).",
            "Check the units, and that it is taken about the mass centre. Published data that "
            "break it are taken with allow_unphysical_inertia = true.",
        )


def is_lost(inertia: tuple[float, ...]) -> bool:
    """Whether the smallest principal moment is none, or rounding of (xx, yy, zz, xy, yz, zx): on
    axes of their own they keep their digits, on others they are differences of the larger."""
    moments = principal_moments(inertia)
    return not moments[0] > (LOST * moments[2] if any(inertia[3:]) else 0.0)


def principal_moments(inertia: tuple[float, ...]) -> Array:
    """(3,) principal moments, smallest first, of (xx, yy, zz, xy, yz, zx)."""
    xx, yy, zz, xy, yz, zx = inertia
    if not (xy or yz or zx):
        return np.sort(np.array((xx, yy, zz)))
    return np.linalg.eigvalsh(np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]))
