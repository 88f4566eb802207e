"""Edges of surfaces: counted by hand, outlines by projection, and drawn for parts of CAD files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from vbg.draw.edges import edges_of
from vbg.draw.mesh import faces_of
from vbg.draw.text.wire import Camera, Scene, box, edge_pieces
from vbg.fields import Shape

SLOTTED = ((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3))


def test_a_box_has_twelve_features_and_a_cylinder_two_rims():
    found = edges_of(faces_of(Shape("box", {"x": 1.0, "y": 2.0, "z": 3.0})))
    assert len(found.ends) == 12 and found.sharp.all()
    found = edges_of(faces_of(Shape("cylinder", {"radius": 1.0, "length": 3.0})))
    z = found.ends[found.sharp][:, :, 2]
    assert len(found.ends) == 60 and len(z) == 40 and np.ptp(z, axis=1).max() == 0.0
    drawn, behind = found.seen(np.array([0.3, 0.4, 1.0]))  # and two lines where it turns away
    assert len(drawn) == 42 and 0 < behind.sum() < 20


@pytest.mark.parametrize("profile", [SLOTTED, SLOTTED[::-1]])
def test_a_profile_may_go_round_either_way(profile):
    measured = Shape("extrude", {"height": 1.0}, profile=profile)
    found = edges_of(faces_of(measured))
    assert len(found.ends) == 24 and found.sharp.all()
    on_top = (found.ends[:, :, 2] > 0.4).all(axis=1)
    assert (found.normals[on_top] @ [0, 0, 1] > 0.9).any(axis=1).all()
    # from above, what looks away are the eight edges below
    assert found.seen(np.array([0.01, 0.02, 1.0]))[1].sum() < 9


def test_the_outline_of_a_ball_is_its_hull_from_everywhere():
    faces = faces_of(Shape("sphere", {"radius": 1.0}))
    surface = edges_of(faces)
    corners = np.vstack(faces)
    for turned in Rotation.random(20, random_state=1).as_matrix():
        outline = surface.outline(turned[2]) @ turned[:2].T
        hull = ConvexHull(corners @ turned[:2].T)
        length = np.linalg.norm(outline[:, 1] - outline[:, 0], axis=1).sum()
        assert length == pytest.approx(hull.area, rel=1e-9)  # of a plane hull the perimeter


def test_a_surface_is_drawn_in_the_place_of_its_box_and_turns_with_it():
    from dataclasses import replace

    surface = edges_of(faces_of(Shape("extrude", {"height": 1.0}, profile=SLOTTED)))
    solid = replace(box((3.0, 3.0, 1.0)), surface=surface)
    R, p = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix(), np.array([1.0, 2.0, 3.0])
    scene = Scene((solid.placed(R, p, 2),))
    ends, _, inks = edge_pieces(scene, Camera())
    assert len(ends) == 24 * 8 and set(inks) == {2}
    local = (ends - p) @ R
    for piece in (ends, local):
        assert np.linalg.norm(piece[:, 1] - piece[:, 0], axis=1).min() > 0.0
    assert local[:, :, 0].min() == pytest.approx(0.0, abs=1e-12)
