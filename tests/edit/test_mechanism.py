"""Fixes of a mechanism's start: redundant, unclosed, locked, contradicting drives."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.edit.test_fixes import ROOT
from tests.tail import tail
from vbg.edit.fixes import fixes, mended
from vbg.edit.mechanism import start_of, start_problems
from vbg.io import toml

DOOR = """\
vbg = 1

[bodies.door]
mass = 20.0
inertia = { xx = 3, yy = 2, zz = 1 }
points = { low = [-0.5, 0, -1], high = [-0.5, 0, 1] }

[joints.low]
kind = "revolute"
between = [{ body = "ground", at = [0, 0, -1] }, "door.low"]
axis = [0, 0, 1]

[joints.high]
kind = "revolute"
between = [{ body = "ground", at = [0, 0, 1] }, "door.high"]
axis = [0, 0, 1]
"""
_BODY = """\
[bodies.{name}]
mass = 1.0
inertia = {{ xx = 1e-3, yy = 1e-2, zz = 1e-2 }}
points = {{ l = [0, 0, 0], r = [{length}, 0, 0] }}
"""
WINDOW = (
    "vbg = 1\n"
    + "".join(_BODY.format(name=n, length=size) for n, size in zip("abc", (0.2, 0.6, 0.4)))
    + """
[joints.A]
kind = "revolute"
between = ["ground", "a.l"]
axis = [0, 1, 0]
initial = { angle = "-60 deg" }

[joints.D]
kind = "revolute"
between = [{ body = "ground", at = [0.5, 0, 0] }, "c.l"]
axis = [0, 1, 0]
initial = { angle = "-100 deg" }

[joints.B]
kind = "revolute"
between = ["a.r", "b.l"]
axis = [0, 1, 0]

[joints.C]
kind = "revolute"
between = ["b.r", "c.r"]
axis = [0, 1, 0]

[simulate]
t_end = 0.2
output_step = 0.02
"""
)
_LAST = 'between = ["b.r", "c.r"]\naxis = [0, 1, 0]\n'


def told(text: str, words: str):
    """The one problem of the start with these words, and its fixes."""
    (problem,) = (p for p in start_problems(text, "m.toml") if words in p.what)
    return problem, fixes(problem, text, tomllib.loads(text), "m.toml")


def with_fix(text: str, fix) -> str:
    return fix.as_one(text).change_text(text)


def test_a_door_on_two_hinges_hangs_on_one_or_on_freer_ones():
    _, found = told(DOOR, "redundant")
    labels = [fix.label for fix in found]
    assert {"delete joints.low", "delete joints.high"} <= {*labels}
    assert any("point_on_line" in label and "spherical" in label for label in labels)
    for fix in found:
        start = start_of(with_fix(DOOR, fix), "m.toml")
        assert (start.freedoms, start.dependent) == (1, 0), fix.label
    assert mended(DOOR, "m.toml") == (DOOR, ()), "which one, the engineer says"


@pytest.mark.parametrize("scale", tail([1.0, 1e-2], 1))
def test_a_freer_joint_of_a_loop_leaves_the_motion(scale):
    """The crank turns as before, in a machine of any length."""
    text = closed(scaled(scale))
    _, found = told(text, "redundant")
    kept = [fix for fix in found if "motion stays" in fix.effect]
    assert kept and list(found[: len(kept)]) == kept, "these come first"
    before = vbg.simulate(toml.parse(text, "m.toml"))
    for fix in kept[:2]:
        after = vbg.simulate(toml.parse(with_fix(text, fix), "m.toml"))
        assert np.allclose(before["A.angle"], after["A.angle"], rtol=0, atol=1e-6), fix.label


def closed(text: str) -> str:
    """The window with its angles written so that it closes: a quarter turned, by the law of
    cosines."""
    crank, coupler, rocker, base = 0.2, 0.6, 0.4, 0.5
    across = math.hypot(base, crank)  # from the crank's end to the rocker's hinge
    inside = math.acos((across**2 + coupler**2 - rocker**2) / (2 * across * coupler))
    along = inside - math.atan2(crank, base)  # of the coupler, above x
    tip = (coupler * math.cos(along), crank + coupler * math.sin(along))
    rocking = math.atan2(tip[1], tip[0] - base)
    text = text.replace("-60 deg", f"{-math.pi / 2!r} rad").replace("-100 deg", f"{-rocking!r} rad")
    relative = f"initial = {{ angle = {math.pi / 2 - along!r} }}"
    return text.replace('"b.l"]\naxis = [0, 1, 0]\n', f'"b.l"]\naxis = [0, 1, 0]\n{relative}\n')


def scaled(scale: float) -> str:
    """The window with lengths times `scale`, and as long to fall by as much of its height."""
    text = WINDOW
    for length in (0.2, 0.6, 0.4, 0.5):
        text = text.replace(f"{length}, 0, 0]", f"{length * scale!r}, 0, 0]")
    for moment in (1e-3, 1e-2):
        text = text.replace(f"= {moment:.0e}".replace("e-0", "e-"), f"= {moment * scale**2!r}")
    for time in (0.2, 0.02):
        text = text.replace(f"= {time}\n", f"= {time * scale**0.5!r}\n")
    return text


def test_joints_with_more_than_an_axis_are_left():
    """Friction, stops, a drive are of the kind that is written."""
    text = WINDOW.replace(_LAST, _LAST + "friction = { viscous = 0.1 }\n")
    _, found = told(text, "redundant")
    assert [fix.label for fix in found] == ["make joints.B point_on_line"]


@pytest.mark.slow
def test_an_axis_that_is_written_twice_differently_is_left_out():
    text = WINDOW.replace(_LAST, _LAST + "axis_on_second = [1, 1, 0]\n")
    problem, found = told(text, "cannot be closed")
    assert problem.severity == "error"
    assert found[0].label == "delete axis_on_second of joints.C"
    for fix in found:
        assert start_of(with_fix(text, fix), "m.toml").freedoms


@pytest.mark.slow
def test_of_drives_that_contradict_each_other_one_is_deleted():
    text = WINDOW.replace('-60 deg" }', '-60 deg" }\ndrive = "t - 1.05"')
    text = text.replace('-100 deg" }', '-100 deg" }\ndrive = "3*t + 1"')
    (problem,) = (p for p in start_problems(text, "m.toml") if p.severity == "error")
    found = fixes(problem, text, tomllib.loads(text), "m.toml")
    assert {fix.label for fix in found} >= {f"delete drive of joints.{n}" for n in "AD"}


@pytest.mark.slow
def test_a_locked_mechanism_gets_a_freer_joint():
    text = DOOR.replace('"door.high"]\naxis = [0, 0, 1]', '"door.high"]\naxis = [0, 1, 0]')
    problem, found = told(text, "")
    assert "locked" in problem.what or "closed" in problem.what
    assert found
    for fix in found:
        assert start_of(with_fix(text, fix), "m.toml").freedoms, fix.label


@pytest.mark.slow
def test_check_fix_lists_them(tmp_path: Path):
    file = tmp_path / "door.toml"
    file.write_text(DOOR)
    command = [sys.executable, "-m", "vbg.cli", "check", "--fix", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0 and file.read_text() == DOOR
    assert "joints: choice 1: delete joints." in done.stderr
