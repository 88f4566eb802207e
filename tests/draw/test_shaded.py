"""Shaded solids: areas in closed form, and every pixel against points tried along its ray."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbg.draw.text.marks import ASCII, UNICODE
from vbg.draw.text.shaded import cast, in_colour, in_dots
from vbg.draw.text.wire import Camera, Scene, box, contour, frustum, sphere
from vbg.spatial import rotation_matrix

FRONT = Camera(-np.pi / 2, 0.0, (0.0, 0.0, 0.0), 20.0)


def turned(rng: np.random.Generator):
    quat = rng.standard_normal(4)
    return rotation_matrix(quat / np.linalg.norm(quat))


@pytest.mark.parametrize("pitch", [1, 2])
def test_the_area_of_a_box_and_of_its_section(pitch):
    """From the front as wide and high as it is; cut open, the same area, at another brightness."""
    scene = Scene((box((2.0, 3.0, 1.0)),))
    for section in (None, np.zeros(3)):
        seen = cast(scene, FRONT, 60, 20, pitch, section)
        wanted = 2.0 * 1.0 * (FRONT.scale / pitch) ** 2
        assert np.count_nonzero(seen.face) == pytest.approx(wanted, rel=0.02)
    whole, cut = cast(scene, FRONT, 60, 20, 2), cast(scene, FRONT, 60, 20, 2, np.zeros(3))
    assert set(np.unique(cut.face)) - set(np.unique(whole.face)) and cut.face.max() == 7
    away = cast(scene, FRONT, 60, 20, 2, np.array([0.0, 2.0, 0.0]))
    assert not away.face.any(), "the plane is behind: nothing is left"


@pytest.mark.parametrize("seed", range(4))
def test_every_pixel_is_the_nearest_point_that_is_inside(seed):
    """Solids anywhere, overlapping: the twin tries points along the ray, one by one."""
    rng = np.random.default_rng(seed)
    kinds = (box((0.7, 1.1, 0.4)), frustum(0.5, 0.2, 0.9), sphere(0.5), frustum(0.3, 0.0, 1.0))
    solids = tuple(
        solid.placed(turned(rng), rng.uniform(-0.5, 0.5, 3), ink)
        for ink, solid in enumerate(kinds, 1)
    )
    camera = Camera(
        rng.uniform(-3, 3), rng.uniform(-1.2, 1.2), tuple(rng.uniform(-0.1, 0.1, 3)), 17.0
    )
    width, height, pitch = 30, 14, 2
    section = rng.uniform(-0.3, 0.3, 3) if seed % 2 else None
    seen = cast(Scene(solids), camera, width, height, pitch, section)
    right, up, towards = camera.axes()
    cut = np.inf if section is None else (section - np.array(camera.centre)) @ towards
    along = np.arange(2.0, -2.0, -1e-3)
    wrong, hits = 0, 0
    for row in range(0, 4 * height // pitch, 2):
        for column in range(0, 2 * width // pitch, 2):
            x = ((column + 0.5) * pitch - width) / camera.scale
            y = (2 * height - (row + 0.5) * pitch) / camera.scale
            points = np.array(camera.centre) + x * right + y * up + along[:, None] * towards
            first = [np.inf] * len(solids)
            for number, solid in enumerate(solids):
                inside = (points @ solid.normals.T <= solid.offsets).all(axis=1) & (along <= cut)
                if inside.any():
                    first[number] = int(np.argmax(inside))
            ink = 0 if min(first) == np.inf else solids[int(np.argmin(first))].ink
            hits += ink > 0
            wrong += ink != seen.ink[row, column]
    assert hits > 12
    assert wrong <= 2, "but for rays along an edge, or where two solids meet"


def test_light_comes_from_above_and_the_outline_is_closed():
    """The upper face of a box is the brightest; each corner of an outline is on two edges."""
    camera = replace(FRONT, azimuth=-1.05, elevation=0.43)
    solid = box((1.0, 1.0, 1.0))
    seen = cast(Scene((solid,)), camera, 40, 20, 1)
    by_face = {n: seen.brightness[seen.face == n].mean() for n in np.unique(seen.face) if n}
    top = 1 + int(np.argmax(solid.normals[:, 2]))
    assert len(by_face) == 3 and max(by_face, key=by_face.__getitem__) == top
    edges = contour(solid, camera.axes()[2])
    _, counts = np.unique(edges.reshape(-1, 3).round(9), axis=0, return_counts=True)
    assert len(edges) == 6 and (counts == 2).all()


def test_rows_fill_the_picture_in_every_set_of_characters():
    scene = Scene((box((1.0, 1.0, 1.0)),), names=((np.zeros(3), "[box]", "focus"),))
    camera = replace(FRONT, azimuth=-1.05, elevation=0.43)
    for rows in (
        in_dots(scene, camera, 40, 12, UNICODE, None),
        in_dots(scene, camera, 40, 12, ASCII, None),
        in_colour(scene, camera, 40, 12, UNICODE, None),
    ):
        text = ["".join(part for part, _ in row) for row in rows]
        assert len(text) == 12 and all(len(line) == 40 for line in text)
        assert any("[box]" in line for line in text)
    assert "".join(in_dots(scene, camera, 40, 12, ASCII, None)[6][0][0]).isascii()
    styles = {style for row in in_colour(scene, camera, 40, 12, UNICODE, None) for _, style in row}
    assert any(style.startswith("ink1:") and "|ink1:" in style for style in styles)
