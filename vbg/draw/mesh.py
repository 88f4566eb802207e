"""Solids as polygons in body axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.fields import Shape
from vbg.model.forms.shapes import FURTHER
from vbg.spatial import rotation_matrix

Array = NDArray[np.float64]
Faces = tuple[Array, ...]

SIDES = 20  # of the polygon that stands for a circle
RINGS = 8  # of a sphere


def faces_of(shape: Shape) -> Faces:
    """The outer surface of `shape`, polygons (k, 3) in the body's axes [m]."""
    s = shape.sizes
    if shape.kind in FURTHER:
        faces = _measured(shape)
    elif shape.kind == "box":
        faces = _box(s["x"], s["y"], s["z"])
    elif shape.kind == "sphere":
        faces = _sphere(s["radius"])
    elif shape.kind == "cone":
        faces = _frustum(s["radius"], 0.0, 0.0, s["height"])
    else:  # of a tube the outer wall is drawn
        half = s["length"] / 2
        faces = _frustum(s["radius"], s["radius"], -half, half)
    turn, place = rotation_matrix(np.array(shape.rotation)), np.array(shape.position)
    return tuple(face @ turn.T + place for face in faces)


def _measured(shape: Shape) -> Faces:
    """Of a part of a STEP file, a boolean solid or one of a profile, in its own axes."""
    from dataclasses import replace

    if shape.kind == "extrude":
        return _prism(np.array(shape.profile), shape.sizes["height"])
    if shape.kind == "revolve":
        return _turned(np.array(shape.profile))
    if shape.kind == "stl":
        from vbg import units
        from vbg.solids.stl import triangles_of

        factor, _ = units.conversion(shape.unit or "m", "m")
        return tuple(factor * triangles_of(shape.path))
    if shape.kind == "step":
        from vbg.solids.step import triangles_of as of_part

        return tuple(of_part(shape.path, shape.part))
    from vbg.solids.made import surface_of

    alone = replace(shape, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0))
    return tuple(surface_of(alone))


def _prism(profile: Array, height: float) -> Faces:
    low, high = (np.column_stack([profile, np.full(len(profile), z)]) for z in _ends(height))
    following = np.roll(np.arange(len(profile)), -1)
    walls = [np.array([low[i], low[j], high[j], high[i]]) for i, j in enumerate(following)]
    return (*walls, low[::-1], high)


def _ends(height: float) -> tuple[float, float]:
    return -height / 2, height / 2


def _turned(profile: Array) -> Faces:
    angle = 2 * np.pi * np.arange(SIDES + 1) / SIDES
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = [np.column_stack([r * around, np.full(SIDES + 1, z)]) for r, z in profile]
    pairs = zip(rings, [*rings[1:], rings[0]], strict=True)
    return tuple(np.array([a[i], a[i + 1], b[i + 1], b[i]]) for a, b in pairs for i in range(SIDES))


def _box(x: float, y: float, z: float) -> Faces:
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    corners = signs * np.array([x, y, z]) / 2
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return tuple(corners[list(face)] for face in faces)


def _frustum(lower: float, upper: float, bottom: float, top: float) -> Faces:
    """Cylinder or cone about z: radii at the heights `bottom` and `top`."""
    angle = 2 * np.pi * np.arange(SIDES + 1) / SIDES
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(SIDES + 1)])
    a = ring * lower + [0.0, 0.0, bottom]
    b = ring * upper + [0.0, 0.0, top]
    walls = [np.array([a[i], a[i + 1], b[i + 1], b[i]]) for i in range(SIDES)]
    caps = [a[:-1][::-1]] + ([b[:-1]] if upper > 0.0 else [])
    return (*walls, *caps)


def _sphere(radius: float) -> Faces:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, RINGS + 1)
    longitude = 2 * np.pi * np.arange(SIDES + 1) / SIDES
    grid = radius * np.array(
        [
            [[np.cos(u) * np.cos(v), np.cos(u) * np.sin(v), np.sin(u)] for v in longitude]
            for u in latitude
        ]
    )
    return tuple(
        np.array([grid[i, j], grid[i, j + 1], grid[i + 1, j + 1], grid[i + 1, j]])
        for i in range(RINGS)
        for j in range(SIDES)
    )
