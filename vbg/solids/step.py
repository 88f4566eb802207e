"""STEP files: every solid of an assembly with its name, placed as it stands.

Lengths of the file, whatever their unit, are metres here.  A file is read by OpenCASCADE in a child
process, within limits: native code, and the files are strangers'.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vbg.errors import ModelError
from vbg.solids.asking import ask
from vbg.solids.occ import Array, Part
from vbg.solids.part21 import require_step
from vbg.solids.proposals import Proposal


def parts_of(path: str | os.PathLike[str]) -> tuple[Part, ...]:
    """The solids of a STEP file, names made unique by numbers.

    Raises UsageError where OpenCASCADE is not installed, ModelError for what is no STEP file,
    is damaged, or takes more processor time or memory than its size explains.
    """
    return _read(*stamp_of(path))


def part_of(path: str, name: str) -> Part:
    """The part of this name, or the only one.  Raises ModelError where there is none."""
    parts = parts_of(path)
    if not name and len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.name == name:
            return part
    listed = ", ".join(part.name for part in parts[:12])
    asked = f"no part {name!r}" if name else f"{len(parts)} parts, and none is chosen (part)"
    raise ModelError(f"{path} has {asked}; there are {listed}.")


def proposals_of(path: str | os.PathLike[str]) -> tuple[Proposal, ...]:
    """What the faces of every two of its solids suggest.  Raises as `parts_of`."""
    stamp = stamp_of(path)
    _read(*stamp)
    with tempfile.TemporaryDirectory(prefix="vbg-step-") as folder:
        found = _asked("propose", stamp, folder)
    return tuple(
        Proposal(
            one["first"],
            one["second"],
            one["kind"],
            np.array(one["point"]),
            None if one["axis"] is None else np.array(one["axis"]),
            one["evidence"],
        )
        for one in found
    )


def triangles_of(path: str, name: str) -> Array:
    """(n, 3, 3) corners of the surface of a part, counterclockwise from outside [m].  Raises
    as `part_of`."""
    part = part_of(path, name)
    return _triangles(*stamp_of(path))[part.name]


Stamp = tuple[str, str, int, int]


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """The file, its name as written, when it was changed and its size."""
    name = os.path.realpath(path)
    try:
        found = os.stat(name)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}.") from None
    return name, str(path), found.st_mtime_ns, found.st_size


def _asked(do: str, stamp: Stamp, folder: str) -> Any:
    """What the child says of a file.  Raises UsageError and ModelError, in one sentence."""
    file, shown, changed, size = stamp
    job = {"do": do, "file": file, "changed": changed, "size": size, "folder": folder}
    return ask(job, size, shown, "read it")


@lru_cache(maxsize=16)
def _read(*stamp: Any) -> tuple[Part, ...]:
    file, shown, _, _ = stamp
    require_step(file, shown)
    with tempfile.TemporaryDirectory(prefix="vbg-step-") as folder:
        found = _asked("read", stamp, folder)
        solids = [(Path(folder) / f"{k}.bin").read_bytes() for k in range(len(found))]
    return tuple(part_from_answer(one, solid) for one, solid in zip(found, solids, strict=True))


def part_from_answer(one: Mapping[str, Any], solid: bytes) -> Part:
    """What the child says of a solid, and its binary form."""
    centre, inertia, low, high = (np.array(one[k]) for k in ("centre", "inertia", "low", "high"))
    rest = tuple(one["within"]), one["colour"], one["doubtful"]
    return Part(one["name"], one["volume"], centre, inertia, low, high, solid, *rest)


@lru_cache(maxsize=16)
def _triangles(*stamp: Any) -> Mapping[str, Array]:
    parts = _read(*stamp)
    with tempfile.TemporaryDirectory(prefix="vbg-step-") as folder:
        _asked("mesh", stamp, folder)
        found = [np.load(Path(folder) / f"{k}.npy") for k in range(len(parts))]
    return {part.name: one for part, one in zip(parts, found, strict=True)}
