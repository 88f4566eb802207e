"""Shapes as solids, by OpenCASCADE in its child process: to measure, to draw, to intersect, to
write."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from vbg import units
from vbg.errors import ModelError
from vbg.fields import Shape
from vbg.platform.files import write_bytes
from vbg.solids.asking import ask
from vbg.solids.occ import Array, Part
from vbg.solids.step import part_from_answer, part_of, stamp_of
from vbg.solids.stl import open_edges, triangles_of

MOST_FACETS = 5_000  # of an STL file, each a face of its solid
Place = tuple[Sequence[float], Sequence[float]]  # position [m], rotation (quaternion)


def part_from(shape: Shape) -> Part:
    """The solid where the shape places it, measured.

    Raises UsageError without OpenCASCADE; ModelError where nothing is left of it, for triangles
    (STL) that enclose nothing or are too many, and where OpenCASCADE fails over it, falls, or comes
    to no end.
    """
    return _built(_key(shape), mesh=False)[0]


def surface_of(shape: Shape) -> Array:
    """(n, 3, 3) corners of its surface, counterclockwise from outside [m].  Raises likewise."""
    return _built(_key(shape), mesh=True)[1]


@lru_cache(maxsize=64)
def _built(key: str, *, mesh: bool) -> tuple[Part, Array]:
    with Solids() as room:
        return room.built(json.loads(key), mesh=mesh)


def _key(shape: Shape) -> str:
    return json.dumps(_told(shape))


def _told(shape: Shape) -> dict[str, Any]:
    """What makes the solid, and of a file which state of it."""
    return {
        "kind": shape.kind,
        "unit": shape.unit,
        "sizes": dict(shape.sizes),
        "position": shape.position,
        "rotation": shape.rotation,
        "stamp": stamp_of(shape.path) if shape.kind in ("step", "stl") else None,
        "part": shape.part,
        "of": [_told(one) for one in shape.of],
        "profile": shape.profile,
    }


def _closed(file: str, unit: str) -> Array:
    """(n, 3, 3) corners [m] of a surface that encloses a solid."""
    triangles: Array = units.conversion(unit, "m")[0] * triangles_of(file)
    if missing := open_edges(triangles):
        raise ModelError(f"{file} encloses no solid: {missing} edges of its surface are open.")
    if len(triangles) > MOST_FACETS:
        raise ModelError(
            f"{file} has {len(triangles)} triangles, and OpenCASCADE takes minutes for more than "
            f"{MOST_FACETS}: give the body a coarser file for this, or solids."
        )
    return triangles


@dataclass(slots=True)
class Solids:
    """Solids kept in a folder while questions about them are asked, `with Solids() as room`."""

    _folder: Any = field(default_factory=lambda: tempfile.TemporaryDirectory(prefix="vbg-solid-"))
    _count: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def put(self, shape: Shape) -> tuple[str, Part]:
        """The file of its solid in this folder, and its measures.  Raises as `part_from`."""
        part = part_from(shape)
        return self._kept(part.made), part

    def built(self, told: dict[str, Any], *, mesh: bool) -> tuple[Part, Array]:
        """Measures of a shape, and its triangles where a `mesh` is asked for."""
        kind, folder = told["kind"], self._folder.name
        ready, size = self._with_files(told)
        job = {"do": "build", "shape": ready, "folder": folder, "left": "made", "mesh": mesh}
        found = ask(job, size, f"this {kind}", "make it")
        if not found["volume"] > 0.0:
            raise ModelError(f"nothing is left of this {kind}: its solids do not meet so.")
        part = part_from_answer(found, (Path(folder) / "made.bin").read_bytes())
        return part, np.load(Path(folder) / "made.npy") if mesh else np.zeros((0, 3, 3))

    def shared(self, first: tuple[str, Place], second: tuple[str, Place], what: str) -> Any:
        """What two solids of this folder share where they are placed [m^3], and the least extent of
        it along the axes [m].  Raises ModelError about `what` where OpenCASCADE fails."""
        solids = [{"solid": file, "place": place} for file, place in (first, second)]
        size = sum(os.path.getsize(file) for file, _ in (first, second))
        job = {"do": "common", "solids": solids, "folder": self._folder.name}
        return ask(job, size, what, "intersect them")

    def step(self, solids: Sequence[tuple[str, str, Place]], name: str) -> bytes:
        """The content of a STEP file: name, file and place of every solid."""
        told = [{"name": label, "solid": file, "place": place} for label, file, place in solids]
        size = sum(os.path.getsize(file) for _, file, _ in solids)
        job = {"do": "write", "solids": told, "name": name, "folder": self._folder.name}
        ask(job, size, "the machine", "write it")
        return (Path(self._folder.name) / "machine.step").read_bytes()

    def _kept(self, solid: bytes) -> str:
        path = self._next(".bin")
        write_bytes(path, solid)
        return path

    def _next(self, ending: str) -> str:
        """A file in this folder that is not there yet."""
        self._count += 1
        return str(Path(self._folder.name) / f"{self._count}{ending}")

    def _with_files(self, told: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The same with the parts of files as solids in this folder, and their size."""
        path, size = "", 0
        if told["kind"] == "stl":
            triangles = _closed(told["stamp"][1], told["unit"] or "m")
            path, size = self._next(".npy"), triangles.nbytes
            np.save(path, triangles)
        elif told["stamp"] is not None:
            solid = part_of(told["stamp"][1], told["part"]).made
            path, size = self._kept(solid), len(solid)
        inner = [self._with_files(one) for one in told["of"]]
        made = told | {"path": path, "of": [one for one, _ in inner]}
        return made, size + sum(more for _, more in inner)
