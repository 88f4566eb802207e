"""A joint that closes beside others that hold the same: how they share is not unique, the rest is.

A bar on a hinge with the axis a, caught by a weld to the ground: the weld's moment about the axis
takes the momentum out, a . L = -J_a w; how forces across and moments divide between the hinge and
the weld, in the impact and behind it, no mechanics of rigid bodies tells.
"""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import tail
from vbg.io import toml
from vbg.spatial import rotation_about
from vbg.tmm_bridge import simulate as second
from vbg.tmm_bridge.notes import channels_in
from vbg.validate import validate

CAUGHT = """
vbg = 1
gravity = [0, 0, {g}]
[bodies.bar]
mass = {mass}
inertia = {{ xx = {xx}, yy = {yy}, zz = {zz} }}
points = {{ root = {root} }}
[joints.hinge]
kind = "revolute"
between = ["ground", "bar.root"]
axis = {axis}
initial = {{ angle = -0.2, speed = {speed} }}
[joints.weld]
kind = "fixed"
between = ["ground", "bar.root"]
open = true
engage = "hinge.angle > {at}"
{more}
[simulate]
t_end = {t_end}
output_step = {step}
"""
ALL = {f"{n}.{v}.{c}" for n in ("hinge", "weld") for v in ("force", "torque") for c in "xyz"}
COSTS = {f"weld.{v}.{c}" for v in ("impulse", "moment") for c in "xyz"}


def caught(seed: int, more: str = "", at: float = 0.0) -> tuple[vbg.Model, np.ndarray, float]:
    """The bar, its axis, and its moment of inertia about it; lengths from 1e-2 to 1e2 m."""
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-2, 2)
    mass, speed = 2.0, random.uniform(2, 4)
    J = mass * size**2 * random.uniform(0.1, 0.15, 3)
    axis, root = random.normal(size=3), size * random.uniform(0.2, 0.5, 3)
    axis /= np.linalg.norm(axis)
    inertia = dict(zip(("xx", "yy", "zz"), J, strict=True))
    words = {"axis": axis.tolist(), "root": root.tolist(), "more": more, "at": at, "g": -0.3 * size}
    words |= {"t_end": 0.6 / speed, "step": 0.06 / speed, "mass": mass, "speed": speed}
    about = axis @ np.diag(J) @ axis + mass * np.sum(np.cross(axis, root) ** 2)
    return toml.parse(CAUGHT.format(**words, **inertia)), axis, float(about)


def speed_at_impact(model: vbg.Model, axis: np.ndarray, J: float) -> float:
    """By the energy of the way from -0.2 rad: the bar is written where the weld closes."""
    arm = -np.array(model.bodies["bar"].points["root"])
    fallen = arm - rotation_about(axis, -0.2) @ arm
    work = model.bodies["bar"].mass * np.array(model.gravity) @ fallen
    return float(np.sqrt(model.joints["hinge"].initial.speed ** 2 + 2.0 * work / J))


@pytest.mark.parametrize("more", ["", 'release = "hinge.angle > -1"'])
@pytest.mark.parametrize("seed", tail(range(6), 2))
def test_what_is_not_unique_behind_a_closing_is_told_and_the_rest_agrees(seed, more):
    """Be the weld closed from there on, or only for the instant of the impact."""
    model, axis, J = caught(seed, more)
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.verdict.result == "PASS", report.verdict.sentence
    marked = {c.name for c in report.verdict.channels if c.result == "NOT UNIQUE"}
    assert marked == (COSTS if more else COSTS | ALL)
    for solution in (vbg.simulate(model, rtol=1e-9), second(model, rtol=1e-9)):
        moment = solution["weld.moment"][-1] @ axis
        w = speed_at_impact(model, axis, J)
        assert moment == pytest.approx(-J * w, rel=1e-7)
        assert solution["weld.lost"][-1] == pytest.approx(0.5 * J * w**2, rel=1e-7)
    assert channels_in(second(model).notes) >= marked


def test_a_run_tells_at_any_rounding_from_when_on_efforts_are_not_unique():
    model, _, _ = caught(3)
    assert not any("not unique" in note.what for note in vbg.start(model).notes)
    for start in shaken(vbg.start(model)):
        solution = vbg.simulate(start)
        (told,) = (note for note in solution.notes if "not unique" in note.what)
        (event,) = (e for e in solution.audit.events if "closes" in e.what)
        assert f"from t = {event.time:.6g} s on, where weld closes" in told.what
        assert "all of hinge, all of weld" in told.what


def test_frictions_and_joints_that_are_open_have_no_part_in_it():
    """The hinge alone holds the bar: all its forces are unique, and the open weld's are zero."""
    model, _, _ = caught(4, at=3.0)
    assert not channels_in(second(model).notes)
