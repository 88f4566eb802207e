"""Edges of a surface of polygons: those that a drawing by lines shows.

An edge between two faces is a feature where their normals turn by more than `SHARP`, or where there
is one face only; any other is seen where it is the outline: one of its faces looks to the
viewer, the other away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbg.draw.mesh import Faces

Array = NDArray[np.float64]
SHARP = np.cos(np.radians(30.0))
SAME = 1e-6  # of the size: corners nearer than this are one


@dataclass(frozen=True, eq=False)
class Edges:
    """ends : (n, 2, 3) [m];  normals : (n, 2, 3) of the faces beside, twice the same at an open
    edge;  sharp : (n,) which are features."""

    ends: Array
    normals: Array
    sharp: NDArray[np.bool_]

    def placed(self, R_WB: Array, p_WB: Array) -> Edges:
        """Carried from body axes to the pose (R_WB (3, 3), p_WB (3,))."""
        return Edges(self.ends @ R_WB.T + p_WB, self.normals @ R_WB.T, self.sharp)

    def seen(self, towards: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Those that are drawn, (m, 2, 3), and which of them have both faces away from the
        viewer, in whose direction `towards` points."""
        facing = self.normals @ towards > 1e-9
        drawn = self.sharp | (facing[:, 0] != facing[:, 1])
        return self.ends[drawn], ~facing[drawn].any(axis=1)

    def outline(self, towards: Array) -> Array:
        """Those (m, 2, 3) between a face that looks to the viewer and one that looks away."""
        facing = self.normals @ towards > 0.0
        return self.ends[facing[:, 0] != facing[:, 1]]


def edges_of(faces: Faces) -> Edges:
    """The edges of polygons (k, 3) whose corners all go round the same way, seen from outside."""
    corners, counts = np.vstack(faces), np.array([len(face) for face in faces])
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    behind = np.arange(1, len(corners) + 1)
    behind[first + counts - 1] = first
    middle = corners.mean(axis=0)
    area = np.add.reduceat(np.cross(corners - middle, corners[behind] - middle), first)
    length = np.linalg.norm(area, axis=1)
    normals = area / np.where(length > 0.0, length, 1.0)[:, None]
    if np.einsum("ni,ni->", area, corners[first] - middle) < 0.0:  # they enclose less than nothing
        normals = -normals
    owner = np.repeat(np.arange(len(faces)), counts)

    size = float(np.ptp(corners, axis=0).max()) or 1.0
    keys = np.round((corners - middle) / (SAME * size)).astype(np.int64)
    _, number = np.unique(keys, axis=0, return_inverse=True)
    number = np.ravel(number)
    pairs = np.sort(np.stack([number, number[behind]], axis=1), axis=1)
    real = (pairs[:, 0] != pairs[:, 1]) & (length[owner] > 0.0)
    pairs, owner = pairs[real], owner[real]
    ends = np.stack([corners, corners[behind]], axis=1)[real]

    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, owner, ends = pairs[order], owner[order], ends[order]
    new = np.ones(len(pairs), bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    begin = np.flatnonzero(new)
    last = np.append(begin[1:], len(pairs)) - 1
    beside = np.stack([normals[owner[begin]], normals[owner[last]]], axis=1)
    sharp = (last == begin) | (np.einsum("ni,ni->n", beside[:, 0], beside[:, 1]) < SHARP)
    return Edges(ends[begin], beside, sharp)
