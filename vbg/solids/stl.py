"""Triangles of STL files, and what a closed surface of them encloses.

A file has no unit.  Volume, mass centre and inertia are sums over the tetrahedra between the
origin and every triangle (a, b, c), signed by the way round it is written::

    V = det(a, b, c) / 6,   s = a + b + c,
    integral of r rᵀ = det(a, b, c) / 120 (s sᵀ + a aᵀ + b bᵀ + c cᵀ)
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError

Array = NDArray[np.float64]
HEAD, RECORD = 84, 50  # bytes of a binary file before its triangles, and of each
MOST = 2_000_000  # triangles


def triangles_of(path: str | os.PathLike[str]) -> Array:
    """(n, 3, 3) corners, in the file's unit.  Raises ModelError for what is no STL file."""
    name = os.path.realpath(path)
    try:
        found = os.stat(name)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}.") from None
    return _read(name, str(path), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=64)
def _read(name: str, shown: str, _time: int, size: int) -> Array:
    if size > HEAD + RECORD * MOST:
        raise ModelError(f"{shown} has more than {MOST} triangles.")
    with open(name, "rb") as file:
        content = file.read()
    count = int.from_bytes(content[80:84], "little") if size >= HEAD else -1
    if size == HEAD + RECORD * count:
        kind = np.dtype([("numbers", "<f4", (4, 3)), ("rest", "<u2")])
        corners = np.frombuffer(content, kind, count, HEAD)["numbers"][:, 1:].astype(float)
    else:
        text = content.decode("ascii", "replace")
        if not text.lstrip().startswith("solid"):
            raise ModelError(f"{shown} is no STL file, or is cut off.")
        words = re.findall(r"vertex\s+(\S+)\s+(\S+)\s+(\S+)", text)
        try:
            corners = np.array(words, dtype=float).reshape(-1, 3, 3)
        except ValueError:
            raise ModelError(f"{shown} is a damaged STL file.") from None
    if not len(corners) or not np.isfinite(corners).all():
        raise ModelError(f"{shown} has no triangles, or corners that are no numbers.")
    return corners


def enclosed(triangles: Array) -> tuple[float, Array, Array]:
    """Volume, centre (3,) and inertia about it per density (3, 3), of a closed surface."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    det = np.einsum("ni,ni->n", a, np.cross(b, c))
    volume, s = float(det.sum()) / 6.0, a + b + c
    centre = det @ s / 24.0 / volume
    second: Any = sum(np.einsum("n,ni,nj->ij", det, v, v) for v in (s, a, b, c)) / 120.0
    C = second - volume * np.outer(centre, centre)
    if volume < 0.0:  # written the other way round
        volume, C = -volume, -C
    return volume, centre, np.trace(C) * np.eye(3) - C


def open_edges(triangles: Array) -> int:
    """How many edges are not shared by two triangles that pass them in opposite directions."""
    size = float(np.abs(triangles).max()) or 1.0
    keys = np.round(triangles.reshape(-1, 3) / size * 1e6).astype(np.int64)
    _, numbers = np.unique(keys, axis=0, return_inverse=True)
    corners = numbers.reshape(-1, 3)
    edges = np.concatenate([corners[:, (i, (i + 1) % 3)] for i in range(3)])
    edges = edges[edges[:, 0] != edges[:, 1]]
    forward = edges[:, 0] < edges[:, 1]
    signs = np.where(forward, 1, -1)
    _, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    return int(np.count_nonzero(np.bincount(np.ravel(which), weights=signs)))
