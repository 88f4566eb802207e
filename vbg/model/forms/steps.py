"""A solid of a STEP file as a shape: which file, which part, and what it measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from vbg.errors import ModelError, UsageError
from vbg.fields import Measured
from vbg.model.text.allowed import refusal
from vbg.model.text.places import Path
from vbg.model.values.reading import Reading
from vbg.solids.step import Part, part_of


def read_step(reading: Reading, path: Path, table: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a Shape from ``{ step = "crank.step", part = "NAME" }``; None, with
    problems noted, where the file or the part is not there."""
    written = reading.text((*path, "step"), table["step"])
    name = "" if "part" not in table else reading.text((*path, "part"), table["part"])
    if written is None or name is None:
        return None
    file = os.path.join(os.path.dirname(reading.file), written)
    told = refusal(written, file, os.path.realpath(reading.file or "model"))
    if told:
        remedy = "Put it there, or allow its folder: --allow-include DIR."
        reading.fail((*path, "step"), told, remedy)
        return None
    try:
        part = part_of(file, name)
    except (ModelError, UsageError) as error:
        reading.fail((*path, "step"), str(error))
        return None
    return {"file": written, "path": file, "part": name, "measured": measured_of(part)}


def measured_of(part: Part) -> Measured:
    """What is kept of a part in a Shape."""
    J = part.inertia
    xx, yy, zz, xy, yz, zx = (
        float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
    )
    inertia = (xx, yy, zz, xy, yz, zx)
    box = _three(part.low), _three(part.high)
    return Measured(part.volume, _three(part.centre), inertia, *box)


def _three(vector: Any) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in vector)
    return x, y, z
