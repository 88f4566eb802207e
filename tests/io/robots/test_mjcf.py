"""MuJoCo's files: what is taken over moves as in MuJoCo itself."""

from __future__ import annotations

import tempfile

import psutil
import pytest

import vbg
from tests.io.random_mjcf import acceleration_error, random_mjcf
from tests.tail import tail
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io import mjcf
from vbg.io.mjcf import counting, document
from vbg.io.mjcf.files import require_own_files

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco model="arm">
<compiler angle="degree"/>
<option gravity="0 0.5 -9.81"/>
<default><geom density="1200"/><joint damping="0.2" armature="0.03"/></default>
<worldbody>
<geom type="plane" size="1 1 .1"/>
<body name="base" pos="0 0 0.4" euler="10 20 30">
 <joint name="yaw" type="hinge" axis="0 0 1" ref="15" range="-90 90" limited="true"/>
 <geom type="cylinder" size="0.08 0.2"/>
 <body name="upper" pos="0.1 0 0.2" euler="0 40 0">
  <joint name="shoulder" axis="0 1 0.2" pos="0 0 -0.05" stiffness="4" springref="20"/>
  <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.04"/>
  <body name="tool_mount" pos="0.5 0 0">
   <body name="tool" pos="0.02 0 0" quat="0.9 0.1 0.3 0.2">
    <joint name="extend" type="slide" axis="1 0 0.3" damping="3" armature="0.5" stiffness="50"/>
    <geom type="box" size="0.05 0.03 0.1" pos="0 0.02 0.05"/>
    <body name="lens" pos="0.1 0 0.05">
     <joint name="pan" axis="0 0 1" armature="0" damping="0"/>
     <joint name="tilt" axis="0 1 0" armature="0" damping="0"/>
     <geom type="sphere" size="0.03" pos="0.02 0.01 0"/>
    </body>
    <body name="cap" pos="-0.1 0 0.05"><geom type="sphere" size="0.02"/></body>
   </body>
  </body>
 </body>
</body>
<body name="drone" pos="1 1 1" euler="30 0 0">
 <freejoint name="fly"/>
 <inertial pos="0.01 0 0.02" mass="0.8" fullinertia="0.01 0.02 0.025 0.001 0.002 0.0005"/>
 <body name="pod" pos="0 0 -0.1">
  <joint name="gimbal" type="ball" damping="0" armature="0"/>
  <geom type="box" size="0.02 0.03 0.04" pos="0 0 -0.05"/>
 </body>
</body>
</worldbody>
<actuator><motor joint="yaw"/></actuator>
</mujoco>
"""

LOOP = """
<mujoco model="loop"><compiler angle="degree"/><worldbody>
<body name="crank"><joint name="drive" axis="0 1 0" damping="0.01"/>
 <geom type="capsule" fromto="0 0 0 0.1 0 0.1" size="0.01"/>
 <body name="rod" pos="0.1 0 0.1"><joint name="pin" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.01"/></body></body>
<body name="rocker" pos="0.5 0 0"><joint name="pivot" axis="0 1 0"/>
 <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.01"/></body>
</worldbody>
<equality><connect name="tie" body1="rod" body2="rocker" anchor="0.4 0 0"/></equality></mujoco>
"""


def written(tmp_path, text: str, name: str = "arm.xml"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("seed", range(2))
def test_bodies_accelerate_as_in_mujoco(tmp_path, seed):
    path = written(tmp_path, ARM)
    model, _ = mjcf.read(path)
    assert acceleration_error(mujoco.MjModel.from_xml_path(str(path)), model, seed) < 1e-9


# 26: a slide with a `ref`, and a joint on a body without mass; 87: nothing passive acts at all
SEEDS = tail((26, 87, 107, 17, 28, 30, 31, 48, 57, 66, 79, 104, 118), first=3)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_files_move_as_in_mujoco(tmp_path, seed):
    path = written(tmp_path, random_mjcf(seed))
    model, _ = mjcf.read(path)
    assert acceleration_error(mujoco.MjModel.from_xml_path(str(path)), model, seed) < 1e-9


def test_what_is_left_out_is_told(tmp_path, capsys):
    out = tmp_path / "arm.toml"
    assert main(["import", str(written(tmp_path, ARM)), "-o", str(out)]) == 0
    told = capsys.readouterr().err
    for said in ("yaw: its range -1.571 to 1.571", "1 actuator", "may touch"):
        assert said in told, told
    model = vbg.read(out)
    assert not [p for p in vbg.check(model) if p.severity == "error"]
    assert model.joints["pan"].kind == "universal" and model.joints["cap_weld"].kind == "fixed"
    assert model.bodies["upper"].shape and model.rotational["yaw_rotor"].J == 0.03


def test_points_that_are_held_together_close_a_loop(tmp_path):
    model, notes = mjcf.read(written(tmp_path, LOOP))
    start = vbg.start(model)
    assert start.freedoms == 1 and start.position_residual < 1e-12, notes
    assert model.joints["tie"].kind == "spherical"


FOLLOWS = """
<mujoco><worldbody>
<body name="hand"><freejoint/><geom size="0.1"/>
 <body name="left" pos="0.1 0 0"><joint name="a" axis="0 1 0" armature="0.01"/>
  <geom size="0.02" pos="0 0 0.1"/></body>
 <body name="right" pos="-0.1 0 0"><joint name="b" axis="0 1 0" stiffness="2"/>
  <geom size="0.02" pos="0 0 0.1"/></body></body>
<body name="a_rotor" pos="0 0 -0.2"><freejoint/><geom size="0.05"/></body>
</worldbody><equality><joint joint1="b" joint2="a" polycoef="0 -0.5 0 0 0"/>
<weld body1="hand" body2="a_rotor" anchor="0 0 0.1"/>
<weld body1="hand" body2="left" relpose="0 0 1 1 0 0 0"/></equality></mujoco>
"""


def test_joints_that_follow_and_bodies_that_are_welded(tmp_path):
    """The weld that the posture does not keep is left out and told; made names are free ones."""
    model, notes = mjcf.read(written(tmp_path, FOLLOWS))
    assert model.joints["equality0"].kind == "gear" and model.joints["equality0"].ratio == -0.5
    assert model.joints["equality1"].kind == "fixed" and "a_rotor_2" in model.rotational
    assert notes[0] == "the equality weld number 3 was left out."
    start = vbg.start(model)
    assert start.freedoms == 7 and start.position_residual < 1e-12


def test_numbers_that_are_none_are_named_and_nothing_is_left_behind(tmp_path, monkeypatch):
    """MuJoCo by itself reads them, and writes its warnings into a file beside."""
    monkeypatch.chdir(tmp_path)
    for text, said in ((' pos="inf 0 0"', "the pos of body 1 is no finite"), ("", "no finite")):
        joint = "" if text else '<joint stiffness="nan"/>'
        body = f'<body{text}>{joint}<geom size="0.1"/></body>'
        with pytest.raises(UsageError, match=said):
            mjcf.read(written(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>"))
    assert [path.name for path in tmp_path.iterdir()] == ["arm.xml"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<mujoco><worldbody><body/></mujoco>", "no XML"),
        (
            '<mujoco><worldbody><body name="b"><joint axis="1 0 0"/><joint axis="1 1 0"/>'
            '<geom size="1"/></body></worldbody></mujoco>',
            "b has the joints hinge, hinge",
        ),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        mjcf.read(written(tmp_path, text))


def test_files_that_it_names_lie_below_its_folder(tmp_path):
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    inside = tmp_path / "robot"
    inside.mkdir()
    arm = inside / "arm.xml"
    (inside / "part.xml").write_text('<mujoco><include file="../secret.xml"/></mujoco>')
    for body in (
        '<include file="../secret.xml"/>',
        '<asset><mesh name="m" file="../secret.xml"/></asset>',
        '<compiler meshdir=".."/><asset><mesh name="m" file="secret.xml"/></asset>',
        f'<include file="{tmp_path / "secret.xml"}"/>',
        '<asset><texture name="t" type="cube" fileup="../secret.xml"/></asset>',
        '<asset><model name="m" file="part.xml"/></asset>',
    ):
        arm.write_text(f"<mujoco>{body}</mujoco>")
        with pytest.raises(UsageError, match="not below the folder"):
            mjcf.read(arm)
    arm.write_text('<mujoco><include file="arm.xml"/></mujoco>')
    with pytest.raises(UsageError, match="MuJoCo refuses it"):
        mjcf.read(arm)
    arm.write_text('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>')
    with pytest.raises(UsageError, match="document types"):
        mjcf.read(arm)


def test_files_that_multiply_are_ended_and_nothing_is_left(tmp_path, monkeypatch):
    """MuJoCo's own reader makes copies as long as there is memory."""
    monkeypatch.setattr(document, "SECONDS", 2.0)
    monkeypatch.setattr(document, "MEMORY", 200_000_000)
    monkeypatch.setattr(counting, "MOST", 1e12)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    body = '<body><joint/><geom size="0.1"/></body>'
    many = f'<replicate count="3000"><replicate count="3000">{body}</replicate></replicate>'
    path = written(tmp_path, f"<mujoco><worldbody>{many}</worldbody></mujoco>")
    with pytest.raises(UsageError, match="cannot read it: it takes more than"):
        mjcf.read(path)
    assert [file.name for file in tmp_path.iterdir()] == ["arm.xml"]
    assert not psutil.Process().children()


@pytest.mark.parametrize(
    ("inside", "made"),
    [
        ('<replicate count="1000000000">{}</replicate>', 2e9),
        ('<replicate count="3000"><replicate count="3000">{}</replicate></replicate>', 1.8e7),
        ('<replicate count="4"><composite count="100 100 100"/></replicate>', 4e6),
        ('<replicate count="300000"><include file="part.xml"/></replicate>', 9e5),
        ('<replicate count="500000"><attach model="part"/></replicate>', 1.5e6),
    ],
)
def test_copies_are_counted_before_they_are_made(tmp_path, monkeypatch, inside, made):
    """However they are nested, in whichever file they stand."""
    monkeypatch.setattr(document, "_compiled", None)  # MuJoCo is not asked
    (tmp_path / "part.xml").write_text("<mujoco><body><geom/></body></mujoco>")
    asset = '<asset><model name="part" file="part.xml"/></asset>'
    body = inside.format("<body><geom/></body>")
    path = written(tmp_path, f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(UsageError, match=r"<replicate>.* at most 200000 are made") as told:
        mjcf.read(path)
    count = float(str(told.value).split("stand for ")[1].split()[0])
    assert made <= count < 1.7 * made


def test_copies_that_are_few_are_made(tmp_path):
    """The count of elements is that of the bodies which MuJoCo makes."""
    body = '<body><joint/><geom size="0.1"/></body>'
    arms = f'<replicate count="3" offset="1 0 0">{body}</replicate>'
    path = written(tmp_path, f"<mujoco><worldbody>{arms}</worldbody></mujoco>")
    assert require_own_files(str(path), str(path), set()) == 3 * 3 + 3
    assert len(mjcf.read(path)[0].bodies) == 3


@pytest.mark.parametrize(
    "inside",
    [
        '<option gravity="0 nan 0"/>',
        '<worldbody><body><joint ref="nan"/><geom size="1"/></body></worldbody>',
        '<worldbody><body><joint springref="inf"/><geom size="1"/></body></worldbody>',
    ],
)
def test_numbers_that_are_none_are_refused(tmp_path, inside):
    with pytest.raises(UsageError, match="no finite number"):
        mjcf.read(written(tmp_path, f"<mujoco>{inside}</mujoco>"))
