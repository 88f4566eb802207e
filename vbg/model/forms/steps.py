"""A solid of a STEP or STL file as a shape: which file, which part, and what it measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vbg import units
from vbg.errors import ModelError, UsageError
from vbg.fields import Measured
from vbg.model.text.allowed import refusal
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.solids.occ import Part
from vbg.solids.step import part_of
from vbg.solids.stl import enclosed, open_edges, triangles_of

THIN = 1e-9  # of its size: how thick a flat surface counts


def read_step(reading: Reading, path: Path, table: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a Shape from ``{ step = "crank.step", part = "NAME" }``; None, with
    problems noted, where the file or the part is not there."""
    written = reading.text((*path, "step"), table["step"])
    name = "" if "part" not in table else reading.text((*path, "part"), table["part"])
    if written is None or name is None:
        return None
    file = _found(reading, (*path, "step"), written)
    if file is None:
        return None
    try:
        part = part_of(file, name)
    except (ModelError, UsageError) as error:
        reading.fail((*path, "step"), str(error))
        return None
    return {"file": written, "path": file, "part": name, "measured": measured_of(part)}


def read_stl(reading: Reading, path: Path, table: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same of ``{ stl = "link.stl", unit = "mm" }``; without a unit the file is in metres."""
    written = reading.text((*path, "stl"), table["stl"])
    unit = "m" if "unit" not in table else reading.text((*path, "unit"), table["unit"])
    if written is None or unit is None:
        return None
    file = _found(reading, (*path, "stl"), written)
    if file is None:
        return None
    try:
        factor, _ = units.conversion(unit, "m")
    except ModelError as error:
        reading.fail((*path, "unit"), str(error))
        return None
    try:
        triangles = factor * triangles_of(file)
    except (ModelError, UsageError) as error:
        reading.fail((*path, "stl"), str(error))
        return None
    missing = open_edges(triangles)
    if missing and "density" in table:
        what = f"its surface is not closed ({missing} edges are open): it has no volume."
        reading.fail((*path, "stl"), what, "Leave density out, write mass and inertia.")
        return None
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    if missing:
        x, y, z = np.maximum(high - low, THIN * float((high - low).max()))
        volume, centre = float(x * y * z), (low + high) / 2
        J = volume / 12 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y])
    else:
        volume, centre, J = enclosed(triangles)
    part = Part("", volume, centre, J, low, high, None)
    measured = replace(measured_of(part), closed=not missing)
    given = "" if "unit" not in table else unit
    return {"file": written, "path": file, "unit": given, "measured": measured}


def _found(reading: Reading, path: Path, written: str) -> str | None:
    """The file, below the folder of the model that is opened; None, with the problem noted."""
    file = os.path.join(os.path.dirname(reading.file), written)
    told = refusal(written, file, os.path.realpath(reading.file or "model"))
    if told:
        reading.fail(path, told, "Put it there, or allow its folder: --allow-include DIR.")
        return None
    return file


def measured_of(part: Part) -> Measured:
    """What is kept of a part in a Shape."""
    J = part.inertia
    xx, yy, zz, xy, yz, zx = (
        float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
    )
    inertia = (xx, yy, zz, xy, yz, zx)
    box = _three(part.low), _three(part.high)
    return Measured(part.volume, _three(part.centre), inertia, *box, colour=part.colour)


def _three(vector: Any) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in vector)
    return x, y, z
