"""Postures: every joint's frames by their definition, velocities by finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vbg.graph import expand
from vbg.model import Model, place
from vbg.spatial import axis_angle, quaternion_from_matrix, rotation_about, rotation_matrix
from vbg.tmm_bridge.mechanism.layout import lay_out

Z = np.array([0.0, 0.0, 1.0])
BODY = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
AXIS = [0.3, -0.5, 0.8]
ACROSS = [0.8, 0.48, 0.0]  # perpendicular to AXIS
KINDS = {
    "revolute": ({"axis": AXIS}, {"angle": 0.7, "speed": 1.1}),
    "prismatic": ({"axis": AXIS}, {"slide": 0.3, "speed": -0.6}),
    "cylindrical": (
        {"axis": AXIS},
        {"angle": 0.7, "speed": 1.1, "slide": 0.3, "slide_speed": -0.6},
    ),
    "helical": ({"axis": AXIS, "lead": 0.05}, {"angle": 0.7, "speed": 1.1}),
    "universal": (
        {"axis": AXIS, "axis2": ACROSS},
        {"angle": 0.7, "speed": 1.1, "angle2": -0.4, "speed2": 0.9},
    ),
    "fixed": ({}, None),
    "spherical": ({}, None),
    "planar": ({"axis": AXIS}, None),
    "point_on_line": ({"axis": AXIS}, {"slide": 0.3, "speed": -0.6}),
    "point_on_plane": ({"axis": AXIS}, None),
}


def relative(kind, part, start):
    """p_FM and R_FM that the definition of `kind` gives."""
    start = start or {}
    angle, slide = start.get("angle", 0.0), start.get("slide", 0.0)
    if kind == "universal":
        second = rotation_about([1, 0, 0], -np.pi / 2) @ rotation_about(Z, start["angle2"])
        return np.zeros(3), rotation_about(Z, angle) @ second
    if kind == "helical":
        slide = part["lead"] * angle
    return slide * Z, rotation_about(Z, angle)


def chain(kinds, *, later=0.0):
    """Bodies b0, b1, ... each carried by the one before, `later` seconds on."""
    bodies, joints = {}, {}
    for i, kind in enumerate(kinds):
        part, start = KINDS[kind]
        joint = {"kind": kind, "between": [f"b{i - 1}.B" if i else "ground", f"b{i}.A"], **part}
        if start:
            rates = {
                "angle": "speed",
                "slide": "slide_speed" if "slide_speed" in start else "speed",
            }
            rates["angle2"] = "speed2"
            moved = {n: start[n] + later * start[rates[n]] for n in rates if n in start}
            joint["initial"] = {**start, **moved}
        joints[f"j{i}"] = joint
        bodies[f"b{i}"] = {**BODY, "points": {"A": [-0.4, 0.1, 0.05], "B": [0.6, -0.2, 0.3]}}
    return Model(bodies=bodies, joints=joints)


def check_definition(model):
    poses, frames = place(model).poses, place(model).frames
    for name, frame in frames.items():
        part = model.document["joints"][name]
        first, second = poses.get(frame.first), poses[frame.second]
        R_WA, p_WA = (np.eye(3), np.zeros(3)) if first is None else (first.R_WB, first.p_WB)
        R_WF = R_WA @ frame.R_AF
        p_FM = R_WF.T @ (second.p_WB + second.R_WB @ frame.p_BM_B - p_WA - R_WA @ frame.p_AF_A)
        expected_p, expected_R = relative(part["kind"], part, part.get("initial"))
        assert_allclose(p_FM, expected_p, atol=1e-14)
        assert_allclose(R_WF.T @ second.R_WB @ frame.R_BM, expected_R, atol=1e-14)
        start = part.get("initial", {})
        assert frame.coordinates == tuple(
            start[n] for n in ("angle", "slide", "angle2") if n in start
        )
        if "axis" in part:
            assert_allclose(frame.R_AF[:, 2], np.array(AXIS) / np.linalg.norm(AXIS), atol=1e-15)
        if "axis2" in part:
            assert_allclose(frame.R_BM[:, 2], np.array(ACROSS) / np.linalg.norm(ACROSS), atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_placed_by_its_joint(kind):
    check_definition(chain([kind]))


def test_a_chain_of_all_kinds():
    check_definition(chain(list(KINDS)))


@pytest.mark.parametrize("kind", KINDS)
def test_axes_are_parallel_at_coordinate_zero(kind):
    model = chain([kind])
    if "initial" in model.document["joints"]["j0"]:
        model = model.edited(("joints", "j0", "initial"), None)
    assert_allclose(place(model).poses["b0"].R_WB, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_the_written_posture_gives_the_same_frames(kind):
    """Writing down where the joint puts a body changes nothing."""
    model = chain([kind, "revolute"])
    frames = place(model).frames
    written = model
    for name, pose in place(model).poses.items():
        quat = quaternion_from_matrix(pose.R_WB)
        written = written.edited(("bodies", name, "position"), pose.p_WB)
        written = written.edited(("bodies", name, "rotation"), {"quaternion": quat})
    check_definition(written)
    for name, frame in place(written).frames.items():
        assert_allclose(frame.R_AF, frames[name].R_AF, atol=1e-13)
        assert_allclose(frame.R_BM, frames[name].R_BM, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_grows_backwards_too(kind):
    """The joint's first body is placed from its second."""
    there = chain(["revolute", kind])
    pose = place(there).poses["b1"]
    quat = quaternion_from_matrix(pose.R_WB)
    only_tip = there.edited(("joints", "j0"), None)
    only_tip = only_tip.edited(("bodies", "b1", "position"), pose.p_WB)
    only_tip = only_tip.edited(("bodies", "b1", "rotation"), {"quaternion": quat})
    only_tip = only_tip.edited(("bodies", "b1", "velocity"), pose.v_WB)
    only_tip = only_tip.edited(("bodies", "b1", "angular_velocity"), pose.w_WB_B)
    expected, found = place(there).poses["b0"], place(only_tip).poses["b0"]
    assert_allclose(found.p_WB, expected.p_WB, atol=1e-14)
    assert_allclose(found.R_WB, expected.R_WB, atol=1e-14)
    assert_allclose(found.v_WB, expected.v_WB, atol=1e-13)
    assert_allclose(found.w_WB_B, expected.w_WB_B, atol=1e-13)


@pytest.mark.parametrize(
    "kinds",
    [["revolute"], ["helical"], ["cylindrical"], ["universal"], ["prismatic"], list(KINDS)],
    ids=lambda kinds: kinds[0] if len(kinds) == 1 else "all",
)
def test_velocities_are_the_rates_of_the_posture(kinds):
    step = 1e-6
    now, before, after = (place(chain(kinds, later=t)).poses for t in (0.0, -step, step))
    for name, pose in now.items():
        v = (after[name].p_WB - before[name].p_WB) / (2 * step)
        turn = pose.R_WB.T @ (after[name].R_WB - before[name].R_WB) / (2 * step)
        assert_allclose(pose.v_WB, v, atol=1e-8)
        assert_allclose(pose.w_WB_B, [turn[2, 1], turn[0, 2], turn[1, 0]], atol=1e-8)


def test_written_velocities_win():
    body = {"velocity": [1, 2, 3], "angular_velocity": [0, "60 rpm", 0]}
    model = chain(["spherical"])
    for key, value in body.items():
        model = model.edited(("bodies", "b0", key), value)
    pose = place(model).poses["b0"]
    assert_allclose(pose.v_WB, [1, 2, 3])
    assert_allclose(pose.w_WB_B, [0, 2 * np.pi, 0])


def test_what_was_written_is_told_from_what_was_inferred():
    model = chain(["revolute", "prismatic"]).edited(("joints", "j1", "initial"), None)
    model = model.edited(("bodies", "b1", "velocity"), [0.1, 0.2, 0.3])
    placed = place(model)
    assert placed.poses["b0"].is_guessed and placed.poses["b0"].written == set()
    assert placed.poses["b1"].written == {"velocity"}
    assert placed.frames["j0"].written == {"angle"}
    assert placed.frames["j1"].written == set()
    standing = place(model.edited(("bodies", "b1", "position"), [1.0, 2.0, 3.0]))
    assert not standing.poses["b1"].is_guessed
    assert_allclose(standing.poses["b1"].p_WB, [1.0, 2.0, 3.0], atol=0.0)


def test_both_solvers_begin_from_a_placed_model():
    """Given the value instead of the model, they start from its very poses."""
    placed = place(chain(["revolute", "spherical"]))
    assert expand(placed).placed is placed
    assert lay_out(placed).placed is placed


def test_a_drive_places_the_body_it_moves():
    model = chain(["revolute"]).edited(("joints", "j0", "initial"), None)
    driven = place(model.edited(("joints", "j0", "drive"), "0.7 + 1.1*sin(t)")).poses["b0"]
    started = place(chain(["revolute"])).poses["b0"]
    assert_allclose(driven.R_WB, started.R_WB, atol=1e-15)
    assert_allclose(driven.v_WB, started.v_WB, atol=1e-15)


def test_axis_on_second_is_its_axis():
    """The same line in both bodies, whatever their axes."""
    second = [0.0, 0.6, 0.8]
    model = chain(["revolute"]).edited(("joints", "j0", "axis_on_second"), second)
    pose, frame = place(model).poses["b0"], place(model).frames["j0"]
    assert_allclose(frame.R_BM[:, 2], second, atol=1e-15)
    assert_allclose(pose.R_WB @ second, frame.R_AF[:, 2], atol=1e-15)


def test_a_slider_crank_closes_from_two_angles():
    """The slider takes its place from the pin and its orientation from the rail."""
    text = {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}
    angle, r, l = 0.6, 0.1, 0.3
    slope = np.arcsin(r * np.sin(angle) / l)
    hinge = {"kind": "revolute", "axis": [0, -1, 0]}
    model = Model(
        bodies={
            "crank": {**text, "points": {"A": [0, 0, 0], "B": [r, 0, 0]}},
            "rod": {**text, "points": {"A": [0, 0, 0], "B": [l, 0, 0]}},
            "slider": text,
        },
        joints={
            "O": {**hinge, "between": ["ground", "crank.A"], "initial": {"angle": angle}},
            "rail": {"kind": "prismatic", "between": ["ground", "slider"], "axis": [1, 0, 0]},
            "P": {**hinge, "between": ["rod.B", "slider"]},
            "Q": {**hinge, "between": ["crank.B", "rod.A"], "initial": {"angle": -angle - slope}},
        },
    )
    slider, frames = place(model).poses["slider"], place(model).frames
    x = r * np.cos(angle) + l * np.cos(slope)
    assert_allclose(slider.p_WB, [x, 0, 0], atol=1e-15)
    assert_allclose(slider.R_WB, np.eye(3), atol=1e-15)
    assert frames["rail"].coordinates == pytest.approx((x,))
    assert frames["P"].coordinates == pytest.approx((slope,))


def test_a_rolling_disc_stands_on_its_plane():
    disc = {"kind": "rolling", "axis": [0, 0, 1], "axis2": [0, 1, 0], "radius": 0.25}
    model = Model(bodies={"disc": BODY}, joints={"floor": {**disc, "between": ["ground", "disc"]}})
    assert_allclose(place(model).poses["disc"].p_WB, [0, 0, 0.25], atol=1e-15)
    frame = place(model).frames["floor"]
    assert_allclose((frame.R_AF[:, 2], frame.R_BM[:, 2]), [[0, 0, 1], [0, 1, 0]], atol=1e-15)


def test_rotations_of_every_notation_agree():
    def rotation(written):
        return place(Model(bodies={"b": {**BODY, "rotation": written}})).poses["b"].R_WB

    a, b, c = 0.3, -0.8, 1.2
    X, Y, Z3 = np.eye(3)
    quat = axis_angle([0, 0.6, 0.8], a)
    assert_allclose(
        rotation({"axis": [0, 3, 4], "angle": a}), rotation({"quaternion": list(quat)}), atol=1e-15
    )
    assert_allclose(rotation({"quaternion": list(-quat)}), rotation_matrix(quat), atol=1e-15)
    fixed = rotation_about(Z3, c) @ rotation_about(Y, b) @ rotation_about(X, a)
    assert_allclose(rotation({"euler": [a, b, c]}), fixed, atol=1e-15)
    moving = rotation_about(Z3, a) @ rotation_about(X, b) @ rotation_about(Z3, c)
    assert_allclose(rotation({"euler": [a, b, c], "sequence": "ZXZ"}), moving, atol=1e-15)
