"""Shaded solids: rays in parallel projection, in dithered dots or in half blocks of colour.

A ray through the pixel at P towards the viewer, p(s) = P + s t, is inside a convex solid
n_k . p <= o_k from the largest (o_k - n_k . P) / (n_k . t) with n_k . t < 0 to the smallest with
n_k . t > 0: the face of the latter is seen, at the depth s.  Light falls from above the viewer's
left shoulder (Lambert).  A section takes away what is nearer to the viewer than a plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from vbg.draw.text.braille import Canvas, characters, rows_of
from vbg.draw.text.marks import LEVELS, Marks
from vbg.draw.text.rows import Rows
from vbg.draw.text.wire import INKS, Camera, Scene, Solid, overlay, project

_LIGHT = np.array([-0.42, 0.62, 0.66])  # right, up, towards the viewer
_AMBIENT = 0.22
_CUT = 0.55  # brightness of what a section lays open
# thresholds of ordered dithering (Bayer 1973)
_BAYER = (np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) + 0.5) / 16.0


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen in each pixel, (rows, columns): brightness 0 to 1, ink, and the face by a
    number of its own; 0 where nothing is."""

    brightness: np.ndarray
    ink: np.ndarray
    face: np.ndarray


def cast(
    scene: Scene,
    camera: Camera,
    width: int,
    height: int,
    pitch: int,
    section: np.ndarray | None = None,
) -> Picture:
    """`scene` in `width` x `height` cells by pixels of `pitch` x `pitch` dots (2 x 4 a cell).

    section : (3,) [m] a point of the plane, across the line of sight, at which solids are cut.
    """
    columns, rows = 2 * width // pitch, 4 * height // pitch
    axes, centre = camera.axes(), np.array(camera.centre)
    x = ((np.arange(columns) + 0.5) * pitch - width) / camera.scale
    y = (2 * height - (np.arange(rows) + 0.5) * pitch) / camera.scale
    depth = np.full((rows, columns), -np.inf)
    seen = Picture(np.zeros((rows, columns)), np.zeros((rows, columns), int),
                   np.zeros((rows, columns), int))  # fmt: skip
    cut = np.inf if section is None else float((section - centre) @ axes[2])
    number = 1
    for solid in scene.solids:
        corners = project(solid.corners, camera, width, height) / pitch
        if np.isfinite(corners).all():
            low = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0)
            high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 1, [columns, rows])
            if (low < high).all():
                window = np.s_[low[1] : high[1], low[0] : high[0]]
                part = (x[low[0] : high[0]], y[low[1] : high[1]])
                _put(seen, depth, window, solid, part, (axes, centre), cut, number)
        number += len(solid.normals) + 1
    return seen


def _put(
    seen: Picture,
    depth: np.ndarray,
    window: tuple[slice, slice],
    solid: Solid,
    part: tuple[np.ndarray, np.ndarray],
    view: tuple[np.ndarray, np.ndarray],
    cut: float,
    number: int,
) -> None:
    """One solid, where it is nearer than what is seen already."""
    axes, centre = view
    x, y = part
    turned = solid.normals @ axes.T  # along right, up and towards the viewer
    room = (
        (solid.offsets - solid.normals @ centre)[:, None, None]
        - turned[:, 0][:, None, None] * x[None, None, :]
        - turned[:, 1][:, None, None] * y[None, :, None]
    )
    rate = turned[:, 2]
    front, back, along = rate > 1e-9, rate < -1e-9, np.abs(rate) <= 1e-9
    at = room[front] / rate[front][:, None, None]
    leave, face = at.min(axis=0), np.flatnonzero(front)[at.argmin(axis=0)]
    enter = (room[back] / rate[back][:, None, None]).max(axis=0)
    near = np.minimum(leave, cut)
    hit = (near > enter) & (room[along] >= 0.0).all(axis=0) & (near > depth[window])
    lit = _AMBIENT + (1.0 - _AMBIENT) * np.clip(turned @ _LIGHT / np.linalg.norm(_LIGHT), 0.0, 1.0)
    open_ = cut < leave
    depth[window][hit] = near[hit]
    seen.brightness[window][hit] = np.where(open_, _CUT, lit[face])[hit]
    seen.ink[window][hit] = solid.ink
    seen.face[window][hit] = (number + np.where(open_, len(rate), face))[hit]


def in_dots(
    scene: Scene, camera: Camera, width: int, height: int, marks: Marks, section: np.ndarray | None
) -> Rows:
    """The solids as dithered dots with lines where faces meet: they need no colour."""
    canvas = Canvas.blank(width, height)
    picture = cast(scene, camera, canvas.width, canvas.height, 1, section)
    rows, columns = picture.face.shape
    threshold = np.tile(_BAYER, (rows // 4 + 1, columns // 4 + 1))[:rows, :columns]
    dots = (picture.face > 0) & ((picture.brightness > threshold) | _borders(picture.face))
    for ink in np.unique(picture.ink[dots]):
        at = np.nonzero(dots & (picture.ink == ink))
        canvas.paint(at[0], at[1], int(ink))
    overlay(canvas, scene, camera)
    return rows_of(canvas, marks.dots, INKS)


def _borders(face: np.ndarray) -> np.ndarray:
    """Where the face to the right or below is another one."""
    found = np.zeros(face.shape, dtype=bool)
    found[:, :-1] |= face[:, :-1] != face[:, 1:]
    found[:-1] |= face[:-1] != face[1:]
    found[:, 1:] |= (face[:, :-1] == 0) & (face[:, 1:] > 0)
    found[1:] |= (face[:-1] == 0) & (face[1:] > 0)
    return found


def in_colour(
    scene: Scene, camera: Camera, width: int, height: int, marks: Marks, section: np.ndarray | None
) -> Rows:
    """The solids in the colours of their inks, two pixels a cell; a style "UPPER|LOWER" names
    two of them, "ink3:7" one at 7 of `LEVELS`."""
    canvas = Canvas.blank(width, height)
    picture = cast(scene, camera, canvas.width, canvas.height, 2, section)
    overlay(canvas, scene, camera)
    lines = characters(canvas, marks.dots)
    level = np.rint(picture.brightness * LEVELS).astype(int)
    out = []
    for row in range(canvas.height):
        cells = []
        for column in range(canvas.width):
            upper, lower = (
                f"{INKS[picture.ink[r, column]]}:{level[r, column]}"
                if picture.ink[r, column]
                else ""
                for r in (2 * row, 2 * row + 1)
            )
            label, line = canvas.labels.get((row, column)), str(lines[row, column])
            if label is not None:
                cells.append(label)
            elif line != " ":
                cells.append((line, f"{INKS[canvas.ink[row, column]]}|{lower or upper}"))
            elif upper or lower:
                cells.append((marks.upper_half, f"{upper}|{lower}"))
            else:
                cells.append((" ", ""))
        spans = groupby(cells, key=lambda cell: cell[1])
        out.append(tuple(("".join(text for text, _ in span), style) for style, span in spans))
    return tuple(out)
