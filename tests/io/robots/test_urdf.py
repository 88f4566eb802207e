"""Robots from URDF files, against the recursive Newton-Euler method on the file itself."""

import re
import tomllib
import xml.etree.ElementTree as ET
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbg
from vbg.cli.main import main
from vbg.errors import ModelError
from vbg.io import urdf
from vbg.model import Model
from vbg.model.text.plain import thaw

ARM = Path(__file__).parents[1] / "urdf" / "arm.urdf"
GRAVITY = np.array([0.0, 0.0, -9.81])
MOVING = ("waist", "shoulder", "reach", "wrist", "pinch")


def vector(element, path, key, otherwise="0 0 0"):
    found = element.find(path)
    text = otherwise if found is None else found.get(key, otherwise)
    return np.array([float(word) for word in text.split()])


def place(element):
    return Rotation.from_euler("xyz", vector(element, "origin", "rpy")), vector(
        element, "origin", "xyz"
    )


def carried(joints, q, v, a):
    """Rotation, place, angular velocity, velocity and their rates of every link, in world axes,
    from the root to the tips."""
    order = []
    while len(order) < len(joints):
        for child, joint in joints.items():
            parent = joint.find("parent").get("link")
            if child not in order and (parent not in joints or parent in order):
                order.append(child)
    still = (Rotation.identity(), *np.zeros((5, 3)))
    motion = {}
    for child in order:
        joint = joints[child]
        R, p, w, u, alpha, acc = motion.get(joint.find("parent").get("link"), still)
        turn, shift = place(joint)
        arm = R.apply(shift)
        R, p = R * turn, p + arm
        u, acc = u + np.cross(w, arm), acc + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        name = joint.get("name")
        axis = vector(joint, "axis", "xyz", "1 0 0")
        axis = axis / np.linalg.norm(axis)
        if joint.get("type") == "prismatic":
            z = R.apply(axis)
            arm = q[name] * z
            p, u = p + arm, u + np.cross(w, arm) + v[name] * z
            acc = acc + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
            acc = acc + 2 * np.cross(w, v[name] * z) + a[name] * z
        elif joint.get("type") != "fixed":
            R = R * Rotation.from_rotvec(q[name] * axis)
            z = R.apply(axis)
            alpha = alpha + np.cross(w, v[name] * z) + a[name] * z
            w = w + v[name] * z
        motion[child] = (R, p, w, u, alpha, acc)
    return motion


def inertial_load(link, R, w, alpha, acc):
    """Force and torque about its origin that the mass of a link takes at its motion."""
    inertial = link.find("inertial")
    if inertial is None:
        return np.zeros((2, 3))
    turn, centre = place(inertial)
    m = float(inertial.find("mass").get("value"))
    e = inertial.find("inertia")
    xx, yy, zz, xy, xz, yz = (
        float(e.get(k, 0)) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    axes = (R * turn).as_matrix()
    J = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
    arm = R.apply(centre)
    f = m * (acc + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm)) - GRAVITY)
    return np.array([f, np.cross(arm, f) + J @ alpha + np.cross(w, J @ w)])


def drive_loads(text, q, v, a):
    """The load of every moving joint along its axis, by Newton and Euler from the root to the
    tips and back, in world axes, each link of the file by itself."""
    root = ET.fromstring(text)
    joints = {j.find("child").get("link"): j for j in root.findall("joint")}
    motion = carried(joints, q, v, a)
    links = {link.get("name"): link for link in root.findall("link")}
    loads = {}
    below = {child: np.zeros((2, 3)) for child in motion}  # force, torque about origin
    for child in reversed(motion):
        R, p, w, _, alpha, acc = motion[child]
        below[child] += inertial_load(links[child], R, w, alpha, acc)
        joint = joints[child]
        f, t = below[child]
        name, axis = joint.get("name"), vector(joint, "axis", "xyz", "1 0 0")
        z = R.apply(axis / np.linalg.norm(axis))
        if joint.get("type") == "prismatic":
            loads[name] = f @ z
        elif joint.get("type") != "fixed":
            loads[name] = t @ z
        parent = joint.find("parent").get("link")
        if parent in below:
            below[parent][0] += f
            below[parent][1] += t + np.cross(p - motion[parent][1], f)
    return loads


def driven(model: Model, q, v, a) -> Model:
    """The model with every coordinate driven, frictionless and without stops and followers."""
    document = toml_document(model)
    for name in [n for n in document["joints"] if n.endswith("_follows")]:
        del document["joints"][name]
    for name, joint in document["joints"].items():
        for key in ("initial", "friction", "stop"):
            joint.pop(key, None)
        if name in q:
            joint["drive"] = f"({q[name]!r}) + ({v[name]!r})*t + ({a[name]!r})*t**2/2"
    return Model.from_document(document, "driven")


def toml_document(model: Model):
    return deepcopy(thaw(model.document))


@pytest.mark.parametrize("keep_fixed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_drive_loads_are_those_of_the_file(seed, keep_fixed):
    rng = np.random.default_rng(seed)
    q, v, a = ({n: float(x) for n, x in zip(MOVING, rng.normal(size=5))} for _ in range(3))
    model, _ = urdf.read(ARM, keep_fixed=keep_fixed)
    start = vbg.start(driven(model, q, v, a))
    signals = start.outputs(0.0, start.state)
    expected = drive_loads(ARM.read_text(), q, v, a)
    document = toml_document(model)
    found = {}
    for name in MOVING:
        joint = document["joints"][name]
        body = joint["between"][1].partition(".")[0]
        w, x, y, z = np.ravel(signals[f"{body}.rotation"])
        axis = Rotation.from_quat([x, y, z, w]).apply(joint["axis"])
        what = "force" if joint["kind"] == "prismatic" else "torque"
        found[name] = axis @ np.ravel(signals[f"{name}.{what}"])
    for name in MOVING:
        assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-9)


def test_what_a_file_says_is_in_the_model():
    model, notes = urdf.read(ARM)
    shoulder = model.joints["shoulder"]
    assert shoulder.initial.angle == pytest.approx(1.2)  # zero is outside its limits
    assert (shoulder.stop.lower, shoulder.stop.upper) == (0.4, 2.0)
    assert model.joints["waist"].friction.viscous == 0.3
    assert model.joints["waist"].friction.coulomb == 0.1
    assert model.joints["pinch_follows"].ratio == -0.5
    assert model.joints["pinch"].initial.angle == pytest.approx(0.2)
    assert model.bodies["hand"].mass == pytest.approx(1.0)  # with the tool
    assert "tool" in model.bodies["hand"].points and "camera" in model.bodies["slide"].points
    assert "upper_arm" in model.bodies
    assert not [p for p in vbg.check(model) if p.severity == "error"]
    assert notes == ()


def test_a_free_base_floats():
    text = ARM.read_text().replace('<joint name="waist" type="continuous">', _FREE)
    made = urdf.to_document(text, "arm.urdf", free=True)
    assert (
        "waist" not in made.document["joints"] and "position" in made.document["bodies"]["column"]
    )


_FREE = '<joint name="waist" type="floating">'


_MACRO = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:a/>'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('type="prismatic"', 'type="sliding"', "joint reach: type 'sliding'"),
        ('<child link="hand"/>', '<child link="foot"/>', "names link 'foot'"),
        ('<child link="finger"/>', '<child link="hand"/>', "link hand has 2 parents"),
        ('<mass value="2.5"/>', '<mass value="-2.5"/>', "link upper arm: mass -2.5"),
        ('<mass value="2.5"/>', '<mass value="heavy"/>', "'heavy', which is no number"),
        ('xyz="0 0 0.1" rpy', 'xyz="0 0.1" rpy', "no three numbers"),
        ('lower="0.4"', 'lower="4"', "lower limit 4 above upper 2"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "joint pinch: the axis is zero"),
        ('<robot name="arm">', _MACRO, "has macros"),
        ('<robot name="arm">', '<robot name="arm"', "not readable as XML"),
    ],
)
def test_what_is_wrong_is_named(old, new, said):
    text = ARM.read_text()
    assert old in text
    with pytest.raises(ModelError) as caught:
        urdf.to_document(text.replace(old, new), "arm.urdf")
    assert said in str(caught.value) and "arm.urdf" in str(caught.value)


def test_entities_are_refused():
    bomb = '<!DOCTYPE r [<!ENTITY a "x">]><robot name="&a;"><link name="l"/></robot>'
    with pytest.raises(ModelError, match="declares entities"):
        urdf.to_document(bomb, "bomb.urdf")


def test_published_inertias_that_no_body_has_are_kept_and_told():
    """Link 3 of the Puma 560, diag(0.066, 0.086, 0.0125) (Armstrong, Khatib, Burdick 1986)."""
    text = ARM.read_text().replace(
        'ixx="0.009" iyy="0.0085" izz="0.001"', 'ixx="0.066" iyy="0.0125" izz="0.086"'
    )
    made = urdf.to_document(text, "arm.urdf")
    assert any("slide" in note and "triangle" in note for note in made.notes)
    model = Model.from_document(made.document, "arm.urdf")
    warned = [p for p in vbg.check(model) if p.where == "bodies.slide.inertia"]
    assert warned and warned[0].severity == "warning"
    assert sorted(np.linalg.eigvalsh(_matrix(model.bodies["slide"].inertia))) == pytest.approx(
        [0.0125, 0.066, 0.086]
    )


def _matrix(inertia):
    xx, yy, zz, xy, yz, zx = inertia
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def test_massless_ends_are_left_out_and_moments_of_zero_are_given():
    text = re.sub(r'<mass value="0.1"/>\s*<inertia [^>]*/>', '<mass value="0"/>', ARM.read_text())
    made = urdf.to_document(text, "arm.urdf")
    assert any("finger" in note for note in made.notes) and "pinch" not in made.document["joints"]
    flat = ARM.read_text().replace('ixx="0.009" iyy="0.0085" izz="0.001"', 'ixx="0" iyy="0"')
    made = urdf.to_document(flat, "arm.urdf")
    assert any("moment of inertia: slide" in note for note in made.notes)
    Model.from_document(made.document, "arm.urdf")


def test_import_from_the_command_line(tmp_path, capsys):
    out = tmp_path / "arm.toml"
    assert main(["import", str(ARM), "-o", str(out)]) == 0
    model = vbg.read(out)
    assert set(MOVING) < set(model.joints)
    assert main(["import", str(ARM), "-o", str(out), "--force", "--set", "a=1"]) == 2
    assert "no parameters" in capsys.readouterr().err


def test_the_gripper_of_the_page_closes_as_written():
    page = (Path(__file__).parents[3] / "docs" / "robots.md").read_text(encoding="utf-8")
    robot, closing = (
        re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("xml", "toml")
    )
    document = dict(urdf.to_document(robot, "gripper.urdf").document)
    document["joints"] = document["joints"] | tomllib.loads(closing)["joints"]
    start = vbg.start(Model.from_document(document, "gripper"))
    assert start.position_residual < 1e-12
    assert not [note for note in start.notes if "moved" in note.what]
    assert start.freedoms == 1
