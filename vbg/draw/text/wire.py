"""Wireframe views: parallel projection, hidden edges dashed.

Solids are convex.  An edge is hidden by its own solid when both faces beside
it look away from the viewer, and, piece by piece, by any other solid that a
ray from the edge to the viewer runs through.  Hidden pieces are dashed, so
depth is readable without colour or shading.  A solid with a surface of its own, of a CAD
file, shows features and outline of that, and hides no other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vbg.draw.edges import Edges
from vbg.draw.text.braille import Canvas, rows_of, segments
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows

INKS = ("", "ink1", "ink2", "ink3", "ink4", "ink5", "ink6", "focus", "dim")
FOCUS, DIM = 7, 8
_PIECES = 8  # pieces of an edge whose visibility is decided one by one
_SIDES = 8  # sides of the polygon that stands for a circle


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex polyhedron in world axes [m].

    corners : (n, 3);  edges : (m, 4) of two corners and the two faces beside;
    normals, offsets : (k, 3), (k,), the solid is normals @ p <= offsets.
    surface : edges of what it stands for, where it is only the box about that.
    """

    corners: np.ndarray
    edges: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    ink: int = 1
    surface: Edges | None = None

    def placed(self, R_WB: np.ndarray, p_WB: np.ndarray, ink: int) -> Solid:
        """The solid carried from body axes to the pose (R_WB (3, 3), p_WB (3,))."""
        corners = self.corners @ R_WB.T + p_WB
        normals = self.normals @ R_WB.T
        surface = None if self.surface is None else self.surface.placed(R_WB, p_WB)
        offsets = self.offsets + normals @ p_WB
        return Solid(corners, self.edges, normals, offsets, ink, surface)


@dataclass(frozen=True, eq=False)
class Scene:
    """What is seen: solids, lines with inks, names at points, arrows.

    lines and arrows : (n, 2, 3) ends in world axes, of arrows foot and tip.
    """

    solids: tuple[Solid, ...] = ()
    lines: tuple[tuple[np.ndarray, int], ...] = ()
    names: tuple[tuple[np.ndarray, str, str], ...] = ()
    arrows: tuple[tuple[np.ndarray, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Camera:
    """Parallel projection: `azimuth` and `elevation` [rad] of the viewer about
    the world's z axis, `centre` (3,) [m] shown in the middle, `scale` in dots per m."""

    azimuth: float = math.radians(-60.0)
    elevation: float = math.radians(25.0)
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: float = 100.0

    def axes(self) -> np.ndarray:
        """(3, 3), rows: right, up and towards the viewer, in world axes."""
        ca, sa = math.cos(self.azimuth), math.sin(self.azimuth)
        ce, se = math.cos(self.elevation), math.sin(self.elevation)
        return np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])


def polyhedron(corners: np.ndarray, faces: tuple[tuple[int, ...], ...]) -> Solid:
    """The convex solid with `corners` (n, 3) and planar `faces`, corner numbers in order."""
    middle = corners.mean(axis=0)
    normals, offsets = [], []
    beside: dict[tuple[int, int], list[int]] = {}
    for number, face in enumerate(faces):
        p = corners[list(face)]
        normal = np.cross(p[1] - p[0], p[2] - p[0])
        normal = normal / np.linalg.norm(normal)
        if normal @ (p[0] - middle) < 0:
            normal = -normal
        normals.append(normal)
        offsets.append(normal @ p[0])
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            beside.setdefault((min(a, b), max(a, b)), []).append(number)
    edges = [(a, b, at[0], at[-1]) for (a, b), at in beside.items()]
    return Solid(corners, np.array(edges), np.array(normals), np.array(offsets))


def box(size: tuple[float, float, float]) -> Solid:
    """A box of the lengths `size` [m] along x, y, z, about its middle."""
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    faces = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
    return polyhedron(signs * (np.array(size) / 2), faces)


def frustum(lower: float, upper: float, length: float) -> Solid:
    """A cylinder or cone about z: radii [m] at -length/2 and +length/2."""
    angle = 2 * math.pi * np.arange(_SIDES) / _SIDES
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(_SIDES)], axis=1)
    smallest = 1e-3 * max(lower, upper)
    down, up = np.array([0, 0, -length / 2]), np.array([0, 0, length / 2])
    corners = np.vstack([ring * max(lower, smallest) + down, ring * max(upper, smallest) + up])
    n = _SIDES
    walls = tuple((i, (i + 1) % n, (i + 1) % n + n, i + n) for i in range(n))
    return polyhedron(corners, (tuple(range(n)), tuple(range(n, 2 * n)), *walls))


def sphere(radius: float) -> Solid:
    """A sphere [m], as an octagonal barrel."""
    n = 8
    angle = 2 * math.pi * np.arange(n) / n
    rings = []
    for latitude in (-1.1, -0.4, 0.4, 1.1):
        ring = np.stack([np.cos(angle), np.sin(angle), np.full(n, math.tan(latitude))], axis=1)
        rings.append(radius * math.cos(latitude) * ring)
    walls = tuple(
        (r * n + i, r * n + (i + 1) % n, (r + 1) * n + (i + 1) % n, (r + 1) * n + i)
        for r in range(3)
        for i in range(n)
    )
    return polyhedron(np.vstack(rings), (tuple(range(n)), tuple(range(3 * n, 4 * n)), *walls))


def project(points: np.ndarray, camera: Camera, width: int, height: int) -> np.ndarray:
    """Points (n, 3) [m] to dots (n, 2): right, down, on `width` x `height` cells."""
    axes = camera.axes()
    seen = (np.asarray(points, dtype=float) - np.array(camera.centre)) @ axes[:2].T
    return np.stack([width + camera.scale * seen[:, 0], 2 * height - camera.scale * seen[:, 1]], 1)


def edge_pieces(scene: Scene, camera: Camera) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All edges in pieces: ends (n, 2, 3), hidden (n,) bool, ink (n,)."""
    towards = camera.axes()[2]
    ends, hidden, inks = [], [], []
    part = np.linspace(0.0, 1.0, _PIECES + 1)[:, None]
    for number, solid in enumerate(scene.solids):
        lines, behind = _edges(solid, towards)
        a, b = lines[:, :1], lines[:, 1:]
        points = a + part * (b - a)
        pieces = np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)
        covered = np.repeat(behind, _PIECES)
        middle = pieces.mean(axis=1)
        for other_number, other in enumerate(scene.solids):
            if other_number != number and other.surface is None:
                covered = covered | _covered(middle, towards, other)
        ends.append(pieces)
        hidden.append(covered)
        inks.append(np.full(len(pieces), solid.ink))
    if not ends:
        return np.zeros((0, 2, 3)), np.zeros(0, dtype=bool), np.zeros(0, dtype=int)
    return np.concatenate(ends), np.concatenate(hidden), np.concatenate(inks)


def _edges(solid: Solid, towards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges (n, 2, 3) that are drawn, and which of them look away."""
    if solid.surface is not None:
        return solid.surface.seen(towards)
    facing = solid.normals @ towards > 1e-9
    ends = np.stack([solid.corners[solid.edges[:, 0]], solid.corners[solid.edges[:, 1]]], axis=1)
    return ends, ~(facing[solid.edges[:, 2]] | facing[solid.edges[:, 3]])


def _covered(points: np.ndarray, towards: np.ndarray, solid: Solid) -> np.ndarray:
    """Whether the rays from `points` (n, 3) to the viewer run through `solid`."""
    rate = solid.normals @ towards
    room = solid.offsets - points @ solid.normals.T
    enter, leave = np.full(len(points), 1e-6), np.full(len(points), np.inf)
    outside = (room[:, np.abs(rate) < 1e-12] < 0).any(axis=1)
    for k in np.flatnonzero(np.abs(rate) >= 1e-12):
        at = room[:, k] / rate[k]
        if rate[k] > 0:
            leave = np.minimum(leave, at)
        else:
            enter = np.maximum(enter, at)
    return (leave > enter + 1e-6) & ~outside


def view(scene: Scene, camera: Camera, width: int, height: int, marks: Marks) -> Rows:
    """`scene` through `camera` in `width` x `height` cells, with the triad of axes."""
    canvas = Canvas.blank(width, height)
    ends, hidden, inks = edge_pieces(scene, camera)
    for covered, dash in ((True, (1, 3)), (False, (1, 0))):
        for ink in np.unique(inks):
            _draw(canvas, camera, ends[(hidden == covered) & (inks == ink)], int(ink), dash)
    overlay(canvas, scene, camera)
    return rows_of(canvas, marks.dots, INKS)


def _draw(
    canvas: Canvas, camera: Camera, ends: np.ndarray, ink: int, dash: tuple[int, int] = (1, 0)
) -> None:
    """Lines (n, 2, 3) [m] as dots."""
    flat = project(ends.reshape(-1, 3), camera, canvas.width, canvas.height).reshape(-1, 4)
    segments(canvas, flat, ink, dash)


def overlay(canvas: Canvas, scene: Scene, camera: Camera) -> None:
    """What is drawn over the solids: lines, arrows, the triad of axes, names."""
    for lines, ink in scene.lines:
        _draw(canvas, camera, lines, ink)
    for arrow, ink in scene.arrows:
        _draw(canvas, camera, arrow, ink)
        for one in arrow:
            _arrow_head(canvas, project(one, camera, canvas.width, canvas.height), ink)
    _triad(canvas, camera)
    for point, text, style in scene.names:
        column, row = project(point[None, :], camera, canvas.width, canvas.height)[0]
        if np.isfinite(column + row):
            _name(canvas, int(row // 4), int(column // 2) + 1, text, style)


def contour(solid: Solid, towards: np.ndarray) -> np.ndarray:
    """The edges (n, 2, 3) between faces that look to the viewer and faces that look away."""
    if solid.surface is not None:
        return solid.surface.outline(towards)
    facing = solid.normals @ towards > 0.0
    edges = solid.edges[facing[solid.edges[:, 2]] != facing[solid.edges[:, 3]]]
    return np.stack([solid.corners[edges[:, 0]], solid.corners[edges[:, 1]]], axis=1)


def _name(canvas: Canvas, row: int, column: int, text: str, style: str) -> None:
    """A name at the first place beside its point where it covers no other name."""
    size = len(text)
    for down, right in ((0, 0), (-1, 0), (1, 0), (0, -size - 2), (-1, -size - 2), (1, -size - 2)):
        taken = [(row + down, column + right + i) for i in range(-1, size + 1)]
        if not any(cell in canvas.labels for cell in taken):
            canvas.write(row + down, column + right, text, style)
            return


def _arrow_head(canvas: Canvas, flat: np.ndarray, ink: int) -> None:
    """The two barbs at the tip of a projected arrow, flat : (2, 2) dots."""
    along = flat[1] - flat[0]
    length = float(np.linalg.norm(along))
    if not length > 4.0:
        return
    along = along / length * 4.0
    across = np.array([-along[1], along[0]]) * 0.6
    tips = [np.concatenate([flat[1], flat[1] - along + side * across]) for side in (-1, 1)]
    segments(canvas, np.array(tips), ink)


def _triad(canvas: Canvas, camera: Camera) -> None:
    """World axes in the lower left corner."""
    if canvas.width < 30 or canvas.height < 8:
        return
    origin = np.array([12.0, 4 * canvas.height - 10.0])
    for axis, name in enumerate("xyz"):
        right, up, _ = camera.axes()[:, axis]
        tip = origin + 9.0 * np.array([right, -up])
        segments(canvas, np.concatenate([origin, tip])[None, :], DIM)
        if math.hypot(right, up) > 0.2:
            end = origin + 11.0 * np.array([right, -up])
            canvas.write(int(end[1] // 4), int(end[0] // 2), name, "dim")


def fitted(points: np.ndarray, camera: Camera, width: int, height: int) -> Camera:
    """`camera` moved and scaled so that `points` (n, 3) fill the picture."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        return camera
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    seen = (points - centre) @ camera.axes()[:2].T
    half = np.maximum(np.abs(seen).max(axis=0), 1e-9)
    scale = float(min(0.85 * width / half[0], 0.85 * 2 * height / half[1]))
    scale = min(scale, 1e9)
    x, y, z = (float(v) for v in centre)
    return Camera(camera.azimuth, camera.elevation, (x, y, z), scale)
