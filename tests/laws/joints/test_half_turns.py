"""Frames that a joint holds together, turned against each other by any angle up to half a turn.

What is told of them is that angle, of the rotation of M against F or, where only z_M is held to
z_F, between these: no sine of it, which half a turn has as little of as none.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.io import toml
from vbg.spatial import (
    axis_angle,
    perpendicular,
    quaternion_from_matrix,
    rotation_about,
    rotation_matrix,
)
from vbg.tmm_bridge import simulate as second

PAIR = """
vbg = 1
gravity = [0, 0, 0]
[bodies.a]
mass = 2
inertia = {{ xx = {xx}, yy = {yy}, zz = {zz} }}
position = {position}
rotation = {{ quaternion = {rotation} }}
[frames.f]
on = "ground"
position = {at}
rotation = {{ quaternion = {R_WF} }}
[frames.g]
on = "a"
position = {arm}
rotation = {{ quaternion = {R_BG} }}
[joints.l]
kind = "{kind}"
between = ["f", "g"]
{more}
[simulate]
t_end = 0.02
output_step = 0.01
"""

WHOLE = ("fixed", "prismatic")  # these hold all turns, the others z_M to z_F
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "planar")
ANGLES = (math.pi, 0.3, math.pi - 1e-6, 2.2, math.pi / 2, math.pi - 0.02, 1.5, 3.0)
CASES = [(kind, angle) for angle in ANGLES for kind in KINDS]
SOLVERS = (vbg.simulate, second)


def turned(kind: str, angle: float, seed: int, more: str) -> vbg.Model:
    """A body whose frame g lies on f but for a turn by the angle, about any axis, or about any
    across z_F where z_M alone is held, behind any turn about z_F; lengths from 1e-3 to 1e3 m."""
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-3, 3)
    R_WF, R_BG = (quaternion_from_matrix(any_rotation(random)) for _ in range(2))
    axis, about = random.normal(size=3), 0.0
    if kind not in WHOLE:
        axis[2], about = 0.0, random.uniform(-3, 3)
    R_FM = rotation_about(axis / np.linalg.norm(axis), angle) @ rotation_about([0, 0, 1], about)
    R_WB = rotation_matrix(R_WF) @ R_FM @ rotation_matrix(R_BG).T
    at, arm = size * random.normal(size=(2, 3))
    inertia = dict(zip(("xx", "yy", "zz"), 2 * size**2 * random.uniform(0.9, 1.1, 3), strict=True))
    vectors = {
        "position": at - R_WB @ arm,
        "rotation": quaternion_from_matrix(R_WB),
        "at": at,
        "arm": arm,
        "R_WF": R_WF,
        "R_BG": R_BG,
    }
    words = {name: values.tolist() for name, values in vectors.items()}
    return toml.parse(PAIR.format(kind=kind, more=more, **words, **inertia))


def any_rotation(random: np.random.Generator) -> np.ndarray:
    return rotation_matrix(np.divide(quat := random.normal(size=4), np.linalg.norm(quat)))


def facing(model: vbg.Model, solution: vbg.Solution) -> np.ndarray:
    """R_FM of the first row."""
    R_WB = rotation_matrix(solution["a.rotation"][0])
    R_WF, R_BG = (rotation_matrix(model.frames[name].rotation) for name in "fg")
    return R_WF.T @ R_WB @ R_BG


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize(("kind", "angle"), tail(CASES, 10))
def test_a_joint_that_is_to_close_is_refused_by_the_angle_of_its_frames(kind, angle, solve):
    more = 'open = true\nengage = "t > 0.005"'
    solution = solve(turned(kind, angle, KINDS.index(kind), more))
    assert solution.status.code == "failed"
    (told,) = re.findall(r"([\d.]+) rad", solution.status.sentence)
    assert " m " not in solution.status.sentence
    assert float(told) == pytest.approx(angle, rel=2e-3)


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_closes_where_its_frames_have_met(kind, solve):
    more = 'open = true\nengage = "t > 0.005"'
    solution = solve(turned(kind, 3e-7, 7, more))
    assert solution.status.code == "finished" and solution["l.open"][-1] == 0.0


def test_whether_frames_have_met_holds_at_any_rounding():
    for kind in ("fixed", "planar"):
        model = turned(kind, math.pi, 3, 'open = true\nengage = "t > 0.005"')
        for start in shaken(vbg.start(model)):
            assert "3.14 rad" in vbg.simulate(start).status.sentence


@pytest.mark.parametrize(("kind", "angle"), tail(CASES, 10))
@pytest.mark.parametrize("cut", ["", 'release = "t > 1"'])
def test_a_body_that_is_written_turned_is_turned_back(kind, angle, cut):
    """By the bond graphs, which tell the angle, and by the transfer matrices, in their tree or cut.
    Where the angle about z_F is free, a body may turn more than its axis, never less."""
    model = turned(kind, angle, 10 + KINDS.index(kind), cut)
    first, other = vbg.simulate(model), second(model)
    for solution in (first, other):
        assert solution.status.code == "finished"
        R_FM = facing(model, solution)
        np.testing.assert_allclose(R_FM[:, 2], [0, 0, 1], atol=1e-10)
        if kind in WHOLE:
            np.testing.assert_allclose(R_FM, np.eye(3), atol=1e-10)
        told = " ".join(problem.what for problem in solution.notes)
        by = math.radians(float(re.findall(r"turned by ([\d.e-]+) deg", told)[0]))
        assert by == pytest.approx(angle, rel=1e-3) or (kind not in WHOLE and by > angle)
    (warned,) = (p.what for p in first.notes if p.severity == "warning")
    assert f"open by {math.degrees(angle):.4g} deg" in warned


def test_turns_across_frames_are_those_of_their_rotation():
    """Both solvers' own measures, of random frames, half a turn among them."""
    from vbg.assemble.start.constraints.facing import tilt_of, turn_of
    from vbg.tmm_bridge.kernels.motion.cuts import C_F, C_M
    from vbg.tmm_bridge.mechanism.facing import turn_across

    random, cut = np.random.default_rng(5), np.zeros(36)
    for angle in (0.0, 1e-12, math.pi, *random.uniform(0, math.pi, 100)):
        R_WF, axis = any_rotation(random), random.normal(size=3)
        axis /= np.linalg.norm(axis)
        cut[C_F : C_F + 9] = R_WF.T.ravel()
        R_FM = rotation_about(axis, angle)
        cut[C_M : C_M + 9] = (R_WF @ R_FM).T.ravel()
        for turn in (turn_of(R_FM), turn_across(cut, whole=True)):
            assert np.linalg.norm(turn) == pytest.approx(angle, abs=1e-9)
            np.testing.assert_allclose(rotation_of(turn), R_FM, atol=1e-9)
        across = perpendicular([0, 0, 1]) if angle == 0.0 else np.array([axis[1], -axis[0], 0])
        R_FM = rotation_about(across / np.linalg.norm(across), angle)
        R_FM = R_FM @ rotation_about([0, 0, 1], random.uniform(-3, 3))
        cut[C_M : C_M + 9] = (R_WF @ R_FM).T.ravel()
        for tilt in (np.append(tilt_of(R_FM[:, 0], R_FM[:, 2]), 0), turn_across(cut, whole=False)):
            assert np.linalg.norm(tilt) == pytest.approx(angle, abs=1e-9)
            np.testing.assert_allclose(rotation_of(tilt)[:, 2], R_FM[:, 2], atol=1e-9)


def rotation_of(vector: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(vector)
    axis = vector / angle if angle > 0 else np.array([1.0, 0.0, 0.0])
    return rotation_matrix(axis_angle(axis, float(angle)))
