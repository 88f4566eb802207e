"""Frames: places with axes of their own, wherever a point or a direction is written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.errors import ModelError
from vbg.spatial import (
    axes_of_frame,
    axis_angle,
    quaternion_from_matrix,
    quaternion_product,
    rotation_matrix,
)
from vbg.tui.content.model import references

ROD = {"mass": 2.0, "inertia": {"xx": 0.02, "yy": 0.05, "zz": 0.04}}
TURN = {"euler": [0.3, -0.5, 0.7]}
RUN = {"t_end": 0.2, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}


def arm(**more):
    """A rod on a skew axis with a tool, and a plate that turns about the tool's x axis."""
    tables = {
        "bodies": {"rod": ROD | {"points": {"B": [0.4, 0.1, 0]}}, "plate": ROD},
        "frames": {
            "base": {"on": "ground", "position": [0.1, 0.2, 0.3], "rotation": TURN},
            "wrist": {"on": "rod.B", "rotation": {"axis": [0, 1, 0], "angle": "30 deg"}},
            "tool": {"on": "wrist", "position": [0, 0, 0.1], "rotation": TURN},
        },
        "joints": {
            "A": {"kind": "revolute", "between": ["base", "rod"], "axis": "base.y"},
            "B": {
                "kind": "revolute",
                "between": ["tool", "plate"],
                "axis": "-tool.x",
                "initial": {"speed": 3.0},
            },
        },
    }
    return tables | more


def quaternion(turn, degrees):
    return axis_angle(np.array(turn) / np.linalg.norm(turn), np.radians(degrees))


def test_signals_of_a_frame_follow_from_its_body_and_its_chain():
    """p_WF = p_WB + R_WB p_BF, R_WF = R_WB R_BF, v_WF = v_WB + w x R p_BF, in both solvers."""
    model = vbg.Model(**arm())
    R_tool = rotation_matrix(model.frames["tool"].rotation)
    R_BF = rotation_matrix(quaternion([0, 1, 0], 30.0)) @ R_tool
    p_BF = np.array([0.4, 0.1, 0]) + rotation_matrix(quaternion([0, 1, 0], 30.0)) @ [0, 0, 0.1]
    for run in (
        vbg.simulate(vbg.assemble(model), **RUN),
        vbg.tmm_bridge.simulate(model, **RUN),
    ):
        p, q = run["rod.position"], run["rod.rotation"]
        v, w_B = run["rod.velocity"], run["rod.angular_velocity"]
        for k in range(len(run.time)):
            R_WB = rotation_matrix(q[k])
            assert_allclose(run["tool.position"][k], p[k] + R_WB @ p_BF, atol=1e-12)
            assert_allclose(rotation_matrix(run["tool.rotation"][k]), R_WB @ R_BF, atol=1e-12)
            w_W = R_WB @ w_B[k]
            v_F = v[k] + np.cross(w_W, R_WB @ p_BF)
            assert_allclose(run["tool.velocity"][k], v_F, atol=1e-11)
            assert_allclose(run["tool.angular_velocity"][k], R_BF.T @ w_B[k], atol=1e-11)
        assert_allclose(run["base.position"], np.tile([0.1, 0.2, 0.3], (len(run.time), 1)))
        assert "base.velocity" not in run.signals


def test_an_axis_by_a_frame_is_the_axis_by_numbers():
    model = vbg.Model(**arm())
    R_G = rotation_matrix(model.frames["base"].rotation)
    assert_allclose(model.joints["A"].axis, R_G[:, 1], atol=1e-15)
    R_BF = rotation_matrix(
        quaternion_product(quaternion([0, 1, 0], 30.0), model.frames["tool"].rotation)
    )
    assert_allclose(model.joints["B"].axis, -R_BF[:, 0], atol=1e-15)


@pytest.mark.parametrize("turn", [90, -90, 180, 270])
@pytest.mark.parametrize("about", np.eye(3).tolist())
def test_axes_of_frames_at_right_angles_are_axes(about, turn):
    """No 2e-16 in directions and matrices; a turn as small as 1e-12 and any other stay whole."""
    quarter = quaternion(about, float(turn))
    chain = quaternion_product(quarter, quaternion(np.roll(about, 1), 90.0))
    for quat in (quarter, chain):
        assert sorted(np.abs(axes_of_frame(quat)).ravel()) == pytest.approx([0] * 6 + [1] * 3)
        assert (axes_of_frame(quat) == 0.0).sum() == 6
    slight = axis_angle(np.array(about), 1e-12)
    assert_allclose(axes_of_frame(slight), rotation_matrix(slight), rtol=0, atol=0)
    any_other = quaternion([0.3, -0.8, 0.5], 37.0)
    assert_allclose(axes_of_frame(any_other), rotation_matrix(any_other), rtol=0, atol=0)


@pytest.mark.parametrize("letter", "xyz")
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_axis_of_the_joints_own_frame_is_that_by_its_name(sign, letter):
    """`frame:z` on either end, in a joint and after reading an included part again."""
    tables = arm()
    frames = tables["frames"] | {"pad": {"on": "plate", "rotation": {"euler": [0.3, 0.9, -0.4]}}}
    made = []
    for on_first, on_second in (("tool.", "pad."), ("frame:", "frame:")):
        own = {
            "between": ["tool", "pad"],
            "axis": f"{sign}{on_first}{letter}",
            "axis_on_second": f"{sign}{on_second}{letter}",
        }
        joints = tables["joints"] | {"B": {"kind": "revolute", **own}}
        made.append(vbg.Model(**(tables | {"joints": joints, "frames": frames})).joints["B"])
    assert made[0].axis == made[1].axis
    assert made[0].axis_on_second == made[1].axis_on_second


@pytest.mark.parametrize("placed", [False, True])
def test_a_joint_between_two_frames_counts_from_where_they_agree(placed):
    """Denavit and Hartenberg: the angle is that between the x axes, about both z axes."""
    tables = arm()
    tables["frames"]["hub"] = {"on": "plate", "position": [0.2, 0, 0], "rotation": TURN}
    tables["joints"]["B"] = {"kind": "revolute", "between": ["tool", "hub"]}
    if placed:
        model = vbg.Model(**tables)
        pose = vbg.place(model).poses["plate"]
        about = pose.R_WB @ np.array(model.joints["B"].axis_on_second)
        turned = rotation_matrix(axis_angle(about, 0.6)) @ pose.R_WB
        hub = pose.p_WB + pose.R_WB @ model.joints["B"].between[1].at
        at = hub - turned @ model.joints["B"].between[1].at
        quat = list(map(float, quaternion_from_matrix(turned)))
        plate = ROD | {"position": list(map(float, at)), "rotation": {"quaternion": quat}}
        rod = vbg.place(model).poses["rod"]
        quat = list(map(float, quaternion_from_matrix(rod.R_WB)))
        at = list(map(float, rod.p_WB))
        rod = tables["bodies"]["rod"] | {"position": at, "rotation": {"quaternion": quat}}
        tables["bodies"] = {"rod": rod, "plate": plate}
    else:
        tables["joints"]["B"]["initial"] = {"angle": 0.6}
    model = vbg.Model(**tables)
    run = vbg.simulate(vbg.assemble(model), **RUN)
    assert_allclose(run["B.angle"][0], 0.6, atol=1e-9)
    for k in range(len(run.time)):
        R_tool, R_hub = (rotation_matrix(run[f"{n}.rotation"][k]) for n in ("tool", "hub"))
        turned = R_tool @ rotation_matrix(axis_angle([0, 0, 1], run["B.angle"][k]))
        assert_allclose(R_hub, turned, atol=1e-9)
        assert_allclose(run["tool.position"][k], run["hub.position"][k], atol=1e-9)
    other = vbg.tmm_bridge.simulate(model, **RUN)
    assert_allclose(other["B.angle"], run["B.angle"], atol=1e-8)


def test_a_fixed_joint_lays_frame_on_frame():
    tables = arm()
    tables["frames"]["hub"] = {"on": "plate", "position": [0.2, 0, 0], "rotation": TURN}
    tables["joints"]["B"] = {"kind": "fixed", "between": ["tool", "hub"]}
    placed = vbg.place(vbg.Model(**tables))
    frame = placed.frames["B"]
    R = [placed.poses[b].R_WB @ X for b, X in (("rod", frame.R_AF), ("plate", frame.R_BM))]
    assert_allclose(R[0], R[1], atol=1e-14)


FORCES = {
    "push": {"kind": "force", "on": "tool", "force": [1.0, "2*t", -3.0], "axes": "frame"},
    "twist": {"kind": "torque", "on": "tool", "torque": [0.1, 0.2, "t"], "axes": "frame"},
    "mount": {
        "kind": "bushing",
        "between": ["base", "plate"],
        "stiffness": [50, 60, 70, 2, 3, 4],
        "damping": [1, 2, 3, 0.1, 0.2, 0.3],
    },
    "strut": {"kind": "spring", "between": [{"body": "base", "at": [0, 0, 1]}, "tool"], "k": 20},
}


def test_forces_in_axes_of_frames_are_those_in_body_axes_turned():
    """The same machine written without frames, by matrices of the hand; and the second solver."""
    tables = arm(forces=FORCES)
    tables["bodies"]["plate"] = ROD | {"points": {"C": [0.0, 0.0, 0.0]}}
    model = vbg.Model(**tables)
    tool, base = (model.frames[name].end(name) for name in ("tool", "base"))
    R, G = rotation_matrix(tool.rotation), rotation_matrix(base.rotation)

    def turned(*components):
        return ["+".join(f"({c})*{float(r)!r}" for c, r in zip(components, row)) for row in R]

    six = np.kron(np.eye(2), G)
    on = {"body": "rod", "at": list(tool.at)}
    plain = {
        "push": FORCES["push"] | {"on": on, "force": turned(1, "2*t", -3), "axes": "body"},
        "twist": FORCES["twist"] | {"on": on, "torque": turned(0.1, 0.2, "t"), "axes": "body"},
        "mount": FORCES["mount"]
        | {
            "between": [{"body": "ground", "at": list(base.at)}, "plate"],
            "stiffness": (six @ np.diag(FORCES["mount"]["stiffness"]) @ six.T).tolist(),
            "damping": (six @ np.diag(FORCES["mount"]["damping"]) @ six.T).tolist(),
        },
        "strut": FORCES["strut"]
        | {"between": [{"body": "ground", "at": list(np.array(base.at) + G[:, 2])}, on]},
    }
    twin = vbg.Model(**(tables | {"forces": plain}))
    runs = [
        vbg.simulate(vbg.assemble(model), **RUN),
        vbg.simulate(vbg.assemble(twin), **RUN),
        vbg.tmm_bridge.simulate(model, **RUN),
    ]
    for signal in ("rod.position", "plate.position", "A.force", "B.torque", "mount.force"):
        scale = np.abs(runs[0][signal]).max()
        assert_allclose(runs[1][signal], runs[0][signal], atol=1e-8 * scale)
        assert_allclose(runs[2][signal], runs[0][signal], atol=1e-6 * scale)


def test_frames_of_an_included_file_are_ports_and_axes(tmp_path):
    (tmp_path / "hand.toml").write_text(
        """vbg = 1
[bodies.palm]
mass = 1
inertia = { xx = 0.01, yy = 0.02, zz = 0.03 }
[frames.flange]
on = "palm"
position = [0.1, 0, 0]
rotation = { euler = [0.3, -0.5, 0.7] }
[frames.stand]
on = "ground"
[ports]
mount = "flange"
"""
    )
    (tmp_path / "robot.toml").write_text(
        """vbg = 1
[include.left]
file = "hand.toml"
position = [0, 0, 2]
[joints.J]
kind = "revolute"
between = ["ground", "left.mount"]
axis = [0, 0, 1]
axis_on_second = "left.mount.z"
[measures]
high = "max(left_flange.position.z)"
"""
    )
    model = vbg.read(tmp_path / "robot.toml")
    assert set(model.frames) == {"left_flange", "left_stand"}
    assert model.joints["J"].between[1].frame == "left_flange"
    end = model.frames["left_flange"].end("left_flange")
    assert_allclose(model.joints["J"].axis_on_second, rotation_matrix(end.rotation)[:, 2])
    assert model.frames["left_stand"].end("left_stand").at == (0.0, 0.0, 2.0)
    run = vbg.simulate(vbg.assemble(model), **RUN)
    assert_allclose(run["left_flange.position"], 0.0, atol=1e-9)


def test_a_frame_on_a_node_of_a_beam_and_a_beam_on_a_frame():
    model = vbg.Model(
        beams={
            "boom": {
                "between": ["foot", "free"],
                "axis": "foot.z",
                "length": 1.0,
                "elements": 2,
                "section": {"rod": {"radius": 0.02}},
                "material": {"E": 7e10, "nu": 0.3, "density": 2700},
            }
        },
        frames={
            "tip": {"on": "boom.B", "rotation": {"axis": [0, 0, 1], "angle": "90 deg"}},
            "foot": {"on": "ground", "rotation": {"axis": [0, 1, 0], "angle": "90 deg"}},
        },
    )
    assert_allclose(model.beams["boom"].axis, [1, 0, 0], atol=1e-15)
    assert model.frames["tip"].on.body == "boom_2"
    assert set(model.frames) == {"tip", "foot"}


def test_what_is_written_is_what_is_read_again(tmp_path):
    model = vbg.Model(**arm(forces=FORCES))
    vbg.write(model, tmp_path / "arm.toml")
    assert vbg.read(tmp_path / "arm.toml").hash == model.hash
    parts = {"bodies": model.bodies, "frames": model.frames, "joints": model.joints}
    assert vbg.Model(**parts, forces=model.forces).hash == model.hash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("frames", "tool", "on", "wrst"), "unknown body 'wrst'. Did you mean 'wrist'?"),
        (("frames", "wrist", "on", "tool"), "frames stand on each other in a circle"),
        (("frames", "tool", "rotation", [1, 2]), "expected a table"),
        (("frames", "tool", "angle", 2), "unknown key 'angle' of a frame"),
        (("joints", "A", "axis", "base.w"), "expected a direction, found the text 'base.w'"),
        (("joints", "B", "axis_on_second", "frame:x"), "second end, on plate, is no frame"),
        (("joints", "A", "axis", "frame.z"), "unknown frame 'frame'"),
        (("joints", "A", "axis", "bse.z"), "unknown frame 'bse'. Did you mean 'base'?"),
        (("joints", "A", "axis", "tool.z"), "tool is a frame of rod, and axis counts in the axes"),
        (("joints", "B", "between", ["tool.x", "plate"]), "tool is a frame, which has no points"),
        (("joints", "B", "between", ["tool", "rod"]), "both ends are on rod"),
        (("forces", "push", "on", "rod"), "the part is not on a frame"),
        (("bodies", "tool", None, ROD), "the name 'tool' is taken"),
    ],
)
def test_what_is_wrong_is_told_once_with_its_name(change, said):
    tables = arm(forces=FORCES)
    table, name, key, value = change
    if key is None:
        tables[table] = tables[table] | {name: value}
    else:
        tables[table] = tables[table] | {name: tables[table][name] | {key: value}}
    with pytest.raises(ModelError) as error:
        vbg.Model(**tables)
    assert said in str(error.value)
    assert len(error.value.problems) == 1


def test_renaming_a_frame_renames_it_in_ends_and_axes():
    data = arm(forces=FORCES)
    changed = dict(references.renamed(data, ("frames", "tool"), "gripper"))
    assert changed[("joints", "B", "between", 0)] == "gripper"
    assert changed[("joints", "B", "axis")] == "-gripper.x"
    assert changed[("forces", "push", "on")] == "gripper"
    assert changed[("forces", "strut", "between", 1)] == "gripper"
    assert ("frames", "tool") not in changed


def test_a_film_has_the_frames_as_axes():
    from vbg.draw.film import film_of
    from vbg.draw.page import as_plain

    model = vbg.Model(**arm())
    run = vbg.simulate(vbg.assemble(model), **RUN)
    film = film_of(model, run)
    assert [(f.name, f.body) for f in film.frames] == [("base", -1), ("wrist", 0), ("tool", 0)]
    for frame in film.frames:
        assert_allclose(frame.axes @ frame.axes.T, np.eye(3), atol=1e-14)
    assert [f["name"] for f in as_plain(film)["frames"]] == ["base", "wrist", "tool"]
