"""Matrices of numbers, written in the model file or read from a .npy file of NumPy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.elements.flexible import Elastic
from vbg.errors import ModelError
from vbg.model.text.allowed import refusal
from vbg.model.text.names import is_name
from vbg.model.text.npy import read_npy
from vbg.model.text.places import Path
from vbg.model.values.reading import LARGEST, Reading, described
from vbg.model.values.values import read_list, read_vector
from vbg.physics.craig_bampton import FiniteElements, reduce
from vbg.spatial import Array

OWN = ("mass", "inertia", "com", "points", "allow_unphysical_inertia")  # what the matrices tell
WEIGHT = 0.01  # how far a written mass may be from that of the matrices


def read_array(reading: Reading, path: Path, raw: Any, size: int) -> Array | None:
    """(rows, columns) of a file or of written rows, `size` columns (0: any); None, with the
    problem noted, where it is none."""
    if isinstance(raw, str):
        return _of_file(reading, path, raw, size)
    entries = read_list(reading, path, raw, 0, "rows, or the name of a .npy file")
    if entries is None:
        return None
    wide = size or (len(entries[0]) if entries and isinstance(entries[0], (list, tuple)) else 1)
    found = [read_vector(reading, (*path, i), row, "", wide) for i, row in enumerate(entries)]
    return None if None in found else np.array(found, dtype=float)


def _of_file(reading: Reading, path: Path, written: str, size: int) -> Array | None:
    file = os.path.join(os.path.dirname(reading.file), written)
    told = refusal(written, file, os.path.realpath(reading.file or "model"))
    if told:
        reading.fail(path, told, "Put it there, or allow its folder: --allow-include DIR.")
        return None
    try:
        found = read_npy(file, size)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        remedy = "Write it with numpy.save(file, array)."
        reading.fail(path, f"cannot read {written} as a .npy file: {told}.", remedy)
        return None
    largest = float(np.abs(found).max())
    if not largest <= LARGEST:
        what = f"{written} has an entry that is no finite number, or above {LARGEST:g}."
        reading.fail(path, what, "Look at its units.")
        return None
    return found


def complete_flexible(
    reading: Reading, path: Path, entry: Mapping[str, Any], values: dict[str, Any]
) -> None:
    """Reduce the matrices of a flexible body; mass and inertia are theirs."""
    where, given = (*path, "flexible"), values.get("flexible")
    for key in OWN:
        if key in entry and key != "mass":
            what = "follows from the matrices of the flexible body."
            remedy = "Name its places in flexible.points." if key == "points" else "Leave it out."
            reading.fail_key((*path, key), what, remedy)
    if given is None:
        return
    points = _points(reading, (*where, "points"), given.points)
    if points is None:
        return
    mesh = FiniteElements(given.M, given.K, given.nodes)
    try:
        modes = reduce(mesh, points, modes=given.modes, frequency=given.frequency)
    except ModelError as error:
        reading.fail(where, str(error))
        return
    written = values.get("mass")
    if written is not None and abs(written - modes.mass) > WEIGHT * modes.mass:
        what = f"M weighs {modes.mass:.6g} kg, but mass is {written:.6g} kg."
        reading.fail((*path, "mass"), what, "Are M and K in kg, m, N? Leave out mass where M is.")
        return
    values |= {"mass": modes.mass, "inertia": tuple(map(float, modes.inertia)), "com": None}
    for key in ("start", "start_speed"):
        if getattr(given, key) is not None and len(getattr(given, key)) != modes.count:
            found = len(getattr(given, key))
            what = f"the body has {modes.count} modal coordinates, found {found} values."
            reading.fail((*where, key), what, "Write one for each.")
            return
    still = (0.0,) * modes.count
    values["flexible"] = Elastic(
        modes, given.damping, given.start or still, given.start_speed or still
    )
    values["points"] = MappingProxyType({})


def _points(
    reading: Reading, path: Path, table: Mapping[str, Any]
) -> dict[str, tuple[int, ...]] | None:
    """Nodes of each point; None, with problems noted, where one is wrong."""
    found: dict[str, tuple[int, ...]] = {}
    for name, raw in table.items():
        if not is_name(name):
            what = f"{name!r} cannot name a point."
            reading.fail_key((*path, name), what, "Use letters, digits, _ and -.")
            return None
        nodes = raw if isinstance(raw, (list, tuple)) else [raw]
        if not nodes or any(type(node) is not int for node in nodes):
            what = f"expected a node's number, or a list of them, found {described(raw)}."
            reading.fail((*path, name), what, "Nodes count from 0.")
            return None
        found[name] = tuple(nodes)
    return found
