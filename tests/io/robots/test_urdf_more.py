"""Robots with links that lack mass, motors behind gears, loops of a file beside; trees written as
robots."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from tests.io.robots.test_urdf import drive_loads, driven, toml_document
from vbg.cli.main import main
from vbg.errors import ModelError, UsageError
from vbg.io import urdf
from vbg.io.urdf.robot import read_robot
from vbg.model import Model
from vbg.spatial import quaternion_from_matrix

DOCS = Path(__file__).parents[3] / "docs" / "robots"
DELTA = DOCS / "delta.urdf"
LOOPS = DOCS / "delta-loops.toml"
MOVING = tuple(f"{what}{i}" for what in ("motor", "elbow", "swing") for i in (1, 2, 3))


@pytest.mark.parametrize("seed", range(2))
def test_links_without_mass_change_no_drive(seed):
    """The crosses of Cardan joints have none: loads of all drives by Newton and Euler on the
    file itself, where they weigh nothing."""
    rng = np.random.default_rng(seed)
    moving = (*MOVING, "sway", "tip")
    q, v, a = ({n: float(x) for n, x in zip(moving, rng.normal(size=11))} for _ in range(3))
    model, notes = urdf.read(DELTA)
    assert any("cross1, cross2, cross3, cross" in note for note in notes)
    start = vbg.start(driven(model, q, v, a))
    signals = start.outputs(0.0, start.state)
    expected = drive_loads(DELTA.read_text(), q, v, a)
    joints = toml_document(model)["joints"]
    for name in moving:
        body = joints[name]["between"][1].partition(".")[0]
        w, x, y, z = np.ravel(signals[f"{body}.rotation"])
        axis = Rotation.from_quat([x, y, z, w]).apply(joints[name]["axis"])
        assert axis @ np.ravel(signals[f"{name}.torque"]) == pytest.approx(
            expected[name], rel=1e-8, abs=1e-8
        )


def test_a_delta_robot_moves_its_platform_without_turning_it():
    model, _ = urdf.read(DELTA, loops=LOOPS)
    start = vbg.start(model)
    assert start.freedoms == 3
    assert start.position_residual < 1e-12
    solution = vbg.simulate(start, t_end=0.1, output_step=0.05)
    np.testing.assert_allclose(solution["platform.rotation"], [[1, 0, 0, 0]] * 3, atol=1e-6)
    assert solution["platform.position"][-1, 2] < solution["platform.position"][0, 2] - 0.01


def test_a_file_of_loops_takes_no_name_twice(tmp_path):
    beside = tmp_path / "loops.toml"
    beside.write_text('[joints.motor1]\nkind = "fixed"\n')
    with pytest.raises(ModelError, match=r"joints\.motor1 is a part of the robot already"):
        urdf.read(DELTA, loops=beside)
    beside.write_text("[joints")
    with pytest.raises(ModelError, match=r"loops\.toml"):
        urdf.read(DELTA, loops=beside)


WHEEL = """<robot name="wheel" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="wheel"><inertial><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.2"/></inertial></link>
  <link name="rim"><inertial><mass value="0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.2"/></inertial></link>
  <joint name="glue" type="fixed"><parent link="wheel"/><child link="rim"/></joint>
  <joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>
    <axis xyz="0 0 1"/><dynamics damping="0.5"/></joint>
  <transmission name="drive"><type>transmission_interface/SimpleTransmission</type>
    <joint name="axle"/>
    <actuator name="motor"><mechanicalReduction>20</mechanicalReduction>
      <drake:rotor_inertia value="1e-3"/></actuator></transmission>
</robot>"""


def test_a_rotor_behind_a_gear_and_a_link_of_inertia_alone():
    """(izz + izz of the rim + 20^2 rotor) speed' = -damping speed."""
    made = urdf.to_document(WHEEL, "wheel.urdf")
    assert made.notes == ()
    document = dict(made.document)
    document["joints"]["axle"]["initial"] = {"speed": 1.0}
    solution = vbg.simulate(Model.from_document(document), t_end=1.0, output_step=0.5)
    expected = np.exp(-0.5 * solution.time / (0.2 + 0.2 + 400 * 1e-3))
    np.testing.assert_allclose(solution["axle.speed"], expected, rtol=1e-7)
    text, _ = urdf.to_urdf(Model.from_document(document))
    again = dict(urdf.to_document(text, "again.urdf").document)
    again["joints"]["axle"]["initial"] = {"speed": 1.0}
    back = vbg.simulate(Model.from_document(again), t_end=1.0, output_step=0.5)
    np.testing.assert_allclose(back["axle.speed"], expected, rtol=1e-7)


def tree(rng: np.random.Generator) -> Model:
    """Bodies in general postures, held by joints of the format either way round; one floats."""
    bodies, joints, poses = {}, {}, {"ground": (np.zeros(3), np.eye(3))}
    for i in range(5):
        name, p = f"b{i}", rng.normal(size=3)
        R, Q = (Rotation.random(random_state=rng).as_matrix() for _ in range(2))
        J = Q @ np.diag([1.0, 1.2, 1.5]) @ Q.T
        keys = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("yz", 1, 2), ("zx", 2, 0))
        bodies[name] = {
            "mass": float(rng.uniform(0.5, 2.0)),
            "inertia": {key: float(J[a, b]) for key, a, b in keys},
            "position": p.tolist(),
            "rotation": {"quaternion": quaternion_from_matrix(R).tolist()},
        }
        if i != 3:
            ends = ["ground", *list(bodies)[:-1]][int(rng.integers(0, i + 1))], name
            joints[f"j{i}"] = joint(rng, {**poses, name: (p, R)}, *rng.permutation(ends))
        poses[name] = p, R
    return Model(name="tree", bodies=bodies, joints=joints)


def joint(rng, poses, a, b):
    """A joint whose frames are closed where the two bodies stand."""
    (p_A, R_A), (p_B, R_B) = poses[a], poses[b]
    point, axis = rng.normal(size=3), Rotation.random(random_state=rng).as_matrix()[:, 0]
    kind = str(rng.choice(("revolute", "prismatic", "fixed")))
    ends = [
        {"body": str(n), "at": (R.T @ (point - p)).tolist()}
        for n, p, R in ((a, p_A, R_A), (b, p_B, R_B))
    ]
    made = {"kind": kind, "between": ends}
    if kind != "fixed":
        made |= {"axis": (R_A.T @ axis).tolist(), "friction": {"viscous": 0.3}}
    return made


def accelerations(model: Model, speeds: dict[str, float]):
    """Of every body, from joint speeds at the written posture."""
    document = toml_document(model)
    for name, speed in speeds.items():
        if document["joints"][name]["kind"] != "fixed":
            document["joints"][name]["initial"] = {"speed": speed}
    start = vbg.start(Model.from_document(document))
    signals = start.outputs(0.0, start.state)
    return {n: (signals[f"{n}.position"], signals[f"{n}.acceleration"]) for n in model.bodies}


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_come_back_as_the_same_machine(seed):
    rng = np.random.default_rng(seed)
    model = tree(rng)
    text, left_out = urdf.to_urdf(model)
    assert left_out == ()
    made = urdf.to_document(text, "tree.urdf", keep_fixed=True)
    assert made.notes == ()
    again = Model.from_document(made.document)
    speeds = {name: float(rng.normal()) for name in model.joints}
    first, second = accelerations(model, speeds), accelerations(again, speeds)
    for name, (position, acceleration) in first.items():
        np.testing.assert_allclose(second[name][0], position, atol=1e-12)
        np.testing.assert_allclose(second[name][1], acceleration, atol=1e-10)


def test_what_a_robot_cannot_say_is_refused(tmp_path, capsys):
    loops, _ = urdf.read(DELTA, loops=LOOPS)
    with pytest.raises(UsageError, match=r"joints\.foot2 \(universal\)"):
        urdf.to_urdf(loops)
    four = Path(__file__).parents[3] / "examples" / "slider-crank.toml"
    assert main(["export", str(four), "--urdf", "-o", str(tmp_path / "s.urdf")]) == 2
    assert "joints.C (point_on_line)" in capsys.readouterr().err
    arm = tmp_path / "p.urdf"
    pendulum = Path(__file__).parents[3] / "examples" / "pendulum.toml"
    assert main(["export", str(pendulum), "--urdf", "-o", str(arm)]) == 0
    assert main(["import", str(arm), "-o", str(tmp_path / "p.toml")]) == 0


def _following(*pairs: tuple[str, str]) -> str:
    links = "".join(f'<link name="l{i}"/>' for i in range(len(pairs) + 1))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<axis xyz="0 0 1"/><mimic joint="{leader}" multiplier="2" offset="1"/></joint>'
        for i, (name, leader) in enumerate(pairs)
    )
    return f'<robot name="r">{links}{joints}</robot>'


def test_joints_that_follow_each_other_in_a_circle_are_named():
    for pairs in ([("a", "a")], [("x", "a"), ("a", "b"), ("b", "c"), ("c", "a")]):
        with pytest.raises(ModelError, match=r"a follows.*in a circle none leads"):
            read_robot(_following(*pairs), "r.urdf")
    long = [(f"j{i}", f"j{i + 1}") for i in range(3000)]
    assert len(read_robot(_following(*long), "r.urdf").joints) == 3000


@pytest.mark.parametrize("multiplier", ["0", "0.5"])
def test_a_joint_that_follows_nothing_that_moves_is_held_at_its_offset(multiplier, tmp_path):
    """No part of a joint that moves, or one that is fixed."""
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/>{inertia}</inertial></link>' for n in "ab"
    )
    ends = '<parent link="%s"/><child link="%s"/><axis xyz="0 0 1"/>'
    leads = "continuous" if multiplier == "0" else "fixed"
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="base"/>{links}<joint name="first" type="continuous">'
        f'{ends % ("base", "a")}<mimic joint="second" multiplier="{multiplier}" offset="0.3"/>'
        f'</joint><joint name="second" type="{leads}">{ends % ("a", "b")}</joint></robot>'
    )
    model, notes = urdf.read(tmp_path / "r.urdf")
    assert any("held at 0.3" in note for note in notes)
    run = vbg.simulate(model, t_end=0.1, output_step=0.05)
    assert run["first.angle"] == pytest.approx(0.3, abs=1e-12)


@pytest.mark.parametrize("lacks", ["<inertia>", "iyy", "<mass>", ""])
def test_what_an_inertial_lacks_is_named(lacks, tmp_path):
    moments = '<inertia ixx="0.1" iyy="0.2" izz="0.2"/>'
    inertial = '<inertial><mass value="2"/>' + moments + "</inertial>"
    cut = {"<inertia>": moments, "iyy": 'iyy="0.2" ', "<mass>": '<mass value="2"/>', "": ""}[lacks]
    whole = f'<link name="%s">{inertial}</link>'
    links = '<link name="base"/>' + whole % "arm" + whole.replace(cut, "") % "hand"
    joint = '<joint name="%s" type="revolute"><parent link="%s"/><child link="%s"/></joint>'
    text = links + joint % ("a", "base", "arm") + joint % ("b", "arm", "hand")
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{text}</robot>')
    _, notes = urdf.read(tmp_path / "r.urdf")
    told = [note for note in notes if note.startswith("No ")]
    assert told == ([f"No {lacks} in <inertial> of hand: taken as 0."] if lacks else [])


@pytest.mark.parametrize("value", ["1e308", "-1e200", "1e51"])
def test_numbers_beyond_all_machines_are_refused_wherever_they_stand(value, tmp_path):
    """Their squares are infinite: an offset of 1e308 m left an inertia without eigenvalues."""
    text = DELTA.read_text(encoding="utf-8")
    places = list(re.finditer(r'(?<=xyz=")-?[\d.]+|(?<=value=")[\d.]+', text))
    assert len(places) > 20
    for at in places[:: max(1, len(places) // 12)]:
        file = tmp_path / "far.urdf"
        file.write_text(text[: at.start()] + value + text[at.end() :], encoding="utf-8")
        with pytest.raises(ModelError):
            urdf.read(file)
